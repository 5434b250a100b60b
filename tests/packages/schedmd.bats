#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The plugin's package beside SchedMD's own packages of Slurm (slurm-smd), which conflict with Debian's. No repository
# has them: apt is told, in a status file made here, that they are installed, and simulates the rest. Their fields are
# those of debian/control in Slurm 24.11.

load helper

# the status file: this machine without any Slurm, and what may need it
setup_file()
{
    python3 - > "$BATS_FILE_TMPDIR/status" << 'PYTHON'
import re
with open("/var/lib/dpkg/status", encoding="utf-8") as file:
    here = dict(re.findall(r"^(Package: (?:.*)\n)((?:.+\n)+)", file.read(), re.M))
names = {head: head.split()[1] for head in here}
needs = {head: set(re.findall(r"[a-z0-9][a-z0-9+.-]+", " ".join(re.findall(r"^(?:Pre-)?Depends:(.*)", text, re.M))))
         for head, text in here.items()}
gone = {name for name in names.values() if "slurm" in name or "rollcall" in name}
while more := {names[head] for head in here if needs[head] & gone} - gone:
    gone |= more
print("\n".join(head + text for head, text in here.items() if names[head] not in gone))
PYTHON
}

setup()
{
    status_file=$BATS_TEST_TMPDIR/status
    cp "$BATS_FILE_TMPDIR/status" "$status_file"
    cp -R "$top/packaging/debian" "$BATS_TEST_TMPDIR/debian"
}

# installed NAME VERSION [FIELD...]
installed()
{
    printf '%s\n' "Package: $1" 'Status: install ok installed' 'Maintainer: SchedMD' 'Architecture: amd64' "Version: $2" \
        'Description: Slurm' "${@:3}" '' >> "$status_file"
}

# SchedMD's packages of that version, on a login or compute node
schedmd_has()
{
    installed slurm-smd "$1" 'Conflicts: slurm-wlm, slurm-wlm-basic-plugins, slurm-wlm-plugins'
    installed slurm-smd-client "$1" "Depends: slurm-smd (= $1)" 'Conflicts: slurm-client, slurm-client-emulator'
    installed slurm-smd-dev "$1" "Depends: slurm-smd (= $1)" 'Conflicts: slurm-wlm-basic-plugins-dev, libslurm-dev'
}

# simulated ARGUMENT...: what apt-get would do
simulated()
{
    apt-get -s -y --no-install-recommends -o Dir::State::status="$status_file" -o Dir::State::extended_states=/dev/null "$@"
}

# packed NAME SERIES NEXT: an empty package with the fields that debian/rules gives it
packed()
{
    local folder=$BATS_TEST_TMPDIR/$1
    mkdir -p "$folder/DEBIAN"
    (cd "$BATS_TEST_TMPDIR" && : > debian/files && dpkg-gencontrol "-p$1" "-P$folder" "-v1-1${2:++slurm$2}" \
        -Vrollcall:Version=1-1 "-Vslurm:Series=${2:-}" "-Vslurm:Next=${3:-}" -Vshlibs:Depends=libc6 -Vmisc:Depends=libc6) >&2
    dpkg-deb --build "$folder" "$folder.deb" >&2
    printf '%s\n' "$folder.deb"
}

@test "beside SchedMD's packages of its series the plugin's is installed, and nothing is removed" {
    schedmd_has 24.11.5-1
    run -0 simulated install "$(packed rollcall)" "$(packed slurm-wlm-rollcall 24.11 24.12~)"
    grep -q '^Inst slurm-wlm-rollcall ' <<< "$output"
    run -1 grep -E '^Remv |^Inst slurm-wlm-basic' <<< "$output"
}

@test "beside those of another series it is refused" {
    schedmd_has 25.05.1-1
    run ! simulated install "$(packed rollcall)" "$(packed slurm-wlm-rollcall 24.11 24.12~)"
    [[ $output == *'slurm-smd (< 24.12~) but 25.05.1-1 is'* ]]
}

@test "what the build needs: SchedMD's headers where they are, else Debian's" {
    run -0 simulated build-dep "$BATS_TEST_TMPDIR"
    grep -q '^Inst libslurm-dev ' <<< "$output"
    schedmd_has 24.11.5-1
    run -0 simulated build-dep "$BATS_TEST_TMPDIR"
    run -1 grep -E '^Remv |^Inst libslurm-dev' <<< "$output"
}
