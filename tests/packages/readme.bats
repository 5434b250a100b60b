#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# readme.bats - what README.md and docs say to install with, typed in root folders of Debian 12 that have never seen
# rollcall: by an administrator, and by a user without rights. tests/cluster/readme.bats has all other commands.

load helper
load ../pages

teardown()
{
    cluster_down
}

# need_machine KIND PACKAGE...: $root, a Debian 12 of this test's own with these packages, and the source in /src
need_machine()
{
    local kept=$roots/readme-$1
    shift
    MINICLUSTER_ROOTS=$kept "$make_root" 22.05 "$@" > "$BATS_TEST_TMPDIR/make-root" 2>&1 ||
        { cat "$BATS_TEST_TMPDIR/make-root"; return 1; }
    root=$BATS_TEST_TMPDIR/root
    cp -a --reflink=auto "$kept/22.05" "$root"
    mkdir "$root/src"
    (cd "$top" && git ls-files -z | tar -c --null -T -) | tar -xC "$root/src" --no-same-owner
}

# typed COMMAND: by root, in the source's folder
typed()
{
    echo "\$ $1"
    inside "$root" sh -c 'cd /src && eval "$1"' - "$1"
}

@test "an administrator: what docs/admin.md says to type, and srun --ddp works" {
    mapfile -t commands < <(page_lines "$top/docs/admin.md" '## Install')
    [ "${#commands[@]}" -ge 4 ]
    [[ ${commands[0]} == "apt-get install "* ]]
    read -ra packages <<< "${commands[0]#apt-get install }"
    need_machine administrator "${packages[@]}"
    printf 'include /etc/slurm/plugstack.conf.d/*.conf\n' > "$root/etc/slurm/plugstack.conf"
    for command in "${commands[@]:1}"; do
        case $command in
            srun\ *)
                cluster_up
                echo "\$ $command"
                run -0 --separate-stderr login $command
                echo "$output$stderr"
                for rank in 0 1 2 3; do
                    grep -qE "^ *$rank .* ok$" <<< "$output"
                done
                ;;
            scontrol\ *) run -0 login $command ;;
            *) typed "$command" > "$BATS_TEST_TMPDIR/log" 2>&1 || { tail -n 40 "$BATS_TEST_TMPDIR/log"; return 1; } ;;
        esac
    done
    [ -n "$MINICLUSTER_NAME" ]
    no_node_is_drained
}

# As a reader types them, one after the other, in one shell, but those that want Slurm.
@test "a user without rights, and a C or Python programmer: from the source to the ranks of mpirun" {
    {
        page_lines "$top/docs/user.md" '## Install' | grep -v '^srun '
        page_lines "$top/docs/developer.md" '## C'
        page_lines "$top/docs/developer.md" '## Python'
    } > "$BATS_TEST_TMPDIR/commands"
    [ "$(wc -l < "$BATS_TEST_TMPDIR/commands")" -ge 6 ]
    # what the README says it needs, and what the programmer has
    packages=$(sed -nE 's/.*You need a C compiler, (.*) and ([a-z-]+):$/\1 \2/p' "$top/README.md")
    [[ $packages == *make*autoconf* ]]
    need_machine user gcc ${packages//,/} python3
    { echo 'mpirun() { command mpirun --oversubscribe "$@"; }'; cat "$BATS_TEST_TMPDIR/commands"; } > "$root/commands"
    inside "$root" sh -c 'useradd --create-home reader && chown -R reader /src'
    run inside "$root" sh -c 'ip link set lo up && exec setpriv --reuid=reader --regid=reader --clear-groups \
        env HOME=/home/reader USER=reader sh -ev -c "cd /src && . /commands"'
    grep -vE '^ *(CC|CCLD|GEN|checking) ' <<< "$output" | tail -n 60
    [ "$status" -eq 0 ]
    [ "$(grep -cE '^I am rank [01] of 2, the master is [^ :]+:[0-9]+$' <<< "$output")" -eq 2 ]
    [ "$(grep -cE '^openmpi: rank [01] of 2, local rank [01], node 0 of 1$' <<< "$output")" -eq 2 ]
    [ "$(grep -cE '^Identity\(rank=[01], world_size=2, ' <<< "$output")" -eq 2 ]
}
