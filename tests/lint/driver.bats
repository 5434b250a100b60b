#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What tests/run and the demo share (tests/setup.bash): they run from any folder, and one at a time.

load helper

# tree FOLDER: one with a script that says where it runs, leaves something to keep and does what it is told
tree()
{
    mkdir -p "$1/tests"
    cp -R "$top"/tests/setup{,.bash} "$1/tests"
    cat > "$1/script" << 'END'
#!/bin/bash
. "$(dirname "${BASH_SOURCE[0]}")/tests/setup.bash"
run_elsewhere script "$@"
only_one "$ROLLCALL_TOP" script
[ ! -e "$ROLLCALL_TOP/build/kept" ] || echo again
mkdir -p "$ROLLCALL_TOP/build"
touch "$ROLLCALL_TOP/build/kept"
echo "in $ROLLCALL_TOP with $1"
eval "$2"
END
    chmod 755 "$1/script"
    printf '%s\n' tests/setup/{fetch,packages,python}.bash tests/setup.bash script > "$1/MANIFEST"
}

# Not one of bats' own folders, which may lie below /tmp.
setup()
{
    folder=$(mktemp -d /var/tmp/rollcall-driver.XXXXXX)
    chmod 755 "$folder"
}

teardown()
{
    rm -rf --one-file-system "$folder"
}

@test "a folder in which nothing is in the way is where it runs, with a CDPATH as well" {
    tree "$folder/plain"
    cd "$folder"
    CDPATH=. run -0 plain/script word true
    [ "$output" = "in $folder/plain with word" ]
}

@test "a long path, a blank, /tmp, a home of mode 700, umask 077 or a configuration in place: it runs in a copy, what is built is kept, nothing is left" {
    below_tmp=$(mktemp -d /tmp/rollcall-driver.XXXXXX)
    tree "$folder/in place"
    touch "$folder/in place/config.status"
    mkdir -m 700 "$folder/home"
    tree "$folder/closed"
    chmod 700 "$folder/closed"
    for where in "$folder/home/tree" "$folder/closed"  "$folder/a blank" "$folder/$(printf 'long%.0s' {1..20})" "$folder/in place" "$below_tmp/tree"; do
        tree "$where"
        run -0 "$where/script" 'a word' true
        [[ ${lines[0]} == "setup: $where "*": running in /var/tmp/rollcall-tree."* ]]
        copy=${lines[0]##* }
        [ "${lines[1]}" = "in $copy with a word" ]
        [ ! -e "$copy" ]
        run -0 "$where/script" 'a word' true
        [ "${lines[1]}" = again ]
        [ -e "$where/build/kept" ]
        # an interrupt
        setsid -w "$where/script" word 'touch "$ROLLCALL_TOP/build/begun"; kill -INT 0; sleep 60' 3>&- || true
        [ -e "$where/build/begun" ]
        rm "$where/build/begun"
        [ ! -e "$copy" ]
        [ -e "$where/build/kept" ]
    done
    rm -rf --one-file-system "$below_tmp"
}

@test "an archive without .git and without MANIFEST gets its list of files, whatever is built there" {
    tree "$folder/archive"
    rm "$folder/archive/MANIFEST"
    touch -d 2001-02-03 "$folder/archive/autogen.sh"
    printf '%s\n' '*.o' /build/ > "$folder/archive/.gitignore"
    touch "$folder/archive/x.o"
    run -0 "$folder/archive/script" word true
    [ "$output" = "in $folder/archive with word" ]
    expect_same "$(printf "%s\n" .gitignore autogen.sh script tests/setup{.bash,/{fetch,packages,python}.bash})" "$(cat "$folder/archive/MANIFEST")"
    [ "$(date -r "$folder/archive/MANIFEST" +%Y)" = 2001 ]
}

@test "a second one beside the first says so in a line, and leaves it alone" {
    for where in "$folder/plain" "$folder/a blank"; do
        tree "$where"
        "$where/script" first "until [ -e $folder/on ]; do sleep 0.1; done" > "$folder/first" 2>&1 3>&- &
        first=$!
        until grep -qs '^in ' "$folder/first"; do sleep 0.1; done
        run -1 "$where/script" second true
        [ "$output" = "setup: another script of $where is running: start this one when it has ended" ]
        touch "$folder/on"
        wait "$first"
        run -0 "$where/script" third true
        rm "$folder/on" "$folder/first"
    done
}

@test "PYTHON without its folder is found under sudo as well, whose PATH is another one" {
    run -0 env PYTHON=python3 bash -c '. "$0/tests/setup.bash"; setup_python_has() { true; }; need_python; echo "$PYTHON"' "$top"
    [ "$output" = "$(command -v python3)" ]
}

@test "need_python: PYTHON that is not there or may not be run -> the cause, and no list of modules" {
    : > "$folder/python"
    for python in "$folder/none" "$folder/python"; do
        run -1 env PYTHON="$python" bash -c '. "$0/tests/setup.bash"; need_python' "$top"
        [[ ${lines[0]} == *"$python: "* ]] # No such file or directory, Permission denied
        [ "${lines[1]}" = "setup: PYTHON=$python does not run: correct it, or unset PYTHON" ]
    done
}

@test "where there is no apt, programs and headers are looked for, and what is missing is named" {
    mkdir "$folder/bin"
    for program in bash dirname cc gcc true printf env; do
        ln -s "$(command -v "$program")" "$folder/bin/$program"
    done
    run -0 env PATH="$folder/bin" bash -c '. "$0/tests/setup.bash"; need_packages gcc libc6-dev' "$top"
    run -1 env PATH="$folder/bin" bash -c '. "$0/tests/setup.bash"; need_packages gcc libtool nosuchprogram' "$top"
    [ "$output" = "setup: these programs and headers are missing: libtoolize nosuchprogram. Install them (in Debian: gcc libtool nosuchprogram)" ]
}

# A root folder of its own below $folder/root, with this machine's programs and the tree's setup.bash
inside_chroot()
{
    mkdir -p "$folder"/root/{usr,proc,dev,tree/tests}
    ln -sf usr/bin usr/lib usr/lib64 usr/sbin "$folder/root"
    cp -R "$top"/tests/setup{,.bash} "$folder/root/tree/tests"
    run unshare --mount $([ "$EUID" -eq 0 ] || echo --map-root-user) sh -c '
        [ "$2" != mounted ] || mount --bind "$1" "$1"
        cd "$1" && mount --rbind /usr usr && [ "$2" = empty ] || { mount --rbind /proc proc && mount --rbind /dev dev; }
        exec chroot . /bin/bash -c ". /tree/tests/setup.bash; $3"' - "$folder/root" "$1" "$2"
}

@test "a chroot, a machine without /proc, a full disk: one line says so at once" {
    inside_chroot furnished need_nodes
    echo "$output"
    [ "$status" -eq 1 ]
    [ "$output" = 'setup: / is a chroot, in which no virtual nodes of a Slurm can be: use systemd-nspawn or a container' ]
    inside_chroot mounted need_nodes
    [ "$output" = 'setup: / is a chroot, in which no virtual nodes of a Slurm can be: use systemd-nspawn or a container' ]
    inside_chroot furnished 'need_machine 1 && echo enough; unset PYTHON HOME PIP_FIND_LINKS PIP_EXTRA_INDEX_URL
        PIP_INDEX_URL=x need_machine 999000000; need_machine 999000000'
    echo "$output"
    [ "${lines[0]}" = enough ]
    [[ ${lines[1]} == 'setup: /tree has '*' MB of disk left, and 999000000 MB are needed' ]]
    # with CUDA
    [[ ${lines[2]} == *' 999006800 MB are needed' ]]
    inside_chroot empty 'need_machine 1'
    [ "$output" = 'setup: there is no /proc or no /dev: mount them' ]
    # and all of it comes before anything is fetched
    for script in tests/run contrib/demo/demo; do
        grep -nE '^ *(need_machine|need_nodes|\[ -z .*need_nodes)|need_packages|need_python' "$top/$script" | sed 's/.*\(need_[a-z]*\).*/\1/' |
            awk '/packages|python/ { exit } { print }' > "$folder/first"
        expect_same $'need_machine\nneed_nodes' "$(cat "$folder/first")"
    done
}

@test "what is fetched is seen: what, for how long, how large, and no line is cut; the rest is in the log" {
    run -0 bash -c '. "$0/tests/setup.bash"
        text="pip install torch, lightning and the other modules that a run of the demo needs"
        work() { setup_watch "$text" "$1" sleep 16; echo the rest; result=kept; }
        setup_shown="    %-9s\n" shown "$1/log" work "$1"; echo "$? $result"' "$top" "$folder"
    local text='pip install torch, lightning and the other modules that a run of the demo needs'
    expect_same "    $text"$'\n'"    N s, 1 MB: $text"$'\n0 kept' "$(sed 's/ [0-9]* s,/ N s,/' <<< "$output")"
    [ "$(tail -n 1 "$folder/log")" = 'the rest' ]
}

# driver: the folder is a tree with tests/run and what it starts, and belongs to somebody who has no rights; $folder/bin
# is first in PATH, $as runs a command as that user
driver()
{
    mkdir -p "$folder/tests/slow" "$folder/build" "$folder/bin"
    cp -R "$top"/tests/{run,layer,setup,setup.bash,series.bash,cluster/leftout.bash} "$folder/tests"
    touch "$folder/MANIFEST"
    printf '#!/bin/sh\necho "all install:" > Makefile\n' > "$folder/configure"
    chmod 755 "$folder" "$folder/configure"
    as=(env PATH="$folder/bin:$PATH" MINICLUSTER_STATE="$folder/state")
    [ "$EUID" -ne 0 ] || {
        chown -R 65534:65534 "$folder"
        as+=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    }
}

@test "a user who has sudo runs the tests of a real Slurm as root, one who has not is told so, and none is skipped" {
    driver
    # virtual nodes can be here
    printf '#!/bin/sh\ncase "$*" in -v) ;; *unshare*) stat -c %%d:%%i / ;; *) echo "sudo $*" ;; esac\n' > "$folder/bin/sudo"
    chmod 755 "$folder/bin/sudo"
    run -0 "${as[@]}" "$folder/tests/run" cluster
    [[ ${lines[-1]} == "sudo -- env "*" tests/harness cluster" ]]
    printf '#!/bin/sh\nexit 1\n' > "$folder/bin/sudo"
    run -1 "${as[@]}" "$folder/tests/run" cluster
    [ "$output" = 'tests/run: cluster needs root: become root, install sudo, or name other layers' ]
    run -1 "${as[@]}" bash -c '. "$0/leftout.bash"; needs_root; echo skipped' "$folder/tests"
    [ "$output" = 'these tests need root' ]
}

@test "clusters whose tests are running stay, also those of root's tests; the others end" {
    driver
    # a process that there is, and a number that no process can have
    "${as[@]}" mkdir -p "$folder"/state/{rollcall-1,packages-1,rollcall-4194305,rollcall-demo}
    run -0 "${as[@]}" bash -c 'eval "$(sed -n "/^end_left_clusters()/,/^}/p" "$MINICLUSTER_STATE/../tests/layer")"
        as_root() { touch "$MINICLUSTER_STATE/$4.ended"; }
        cd "$MINICLUSTER_STATE/.." && end_left_clusters; ls "$MINICLUSTER_STATE"'
    [ "$(grep -F .ended <<< "$output")" = rollcall-4194305.ended ]
}

@test "a layer of tests that is interrupted leaves nothing in /var/tmp" {
    driver
    printf '@test "slow" {\n    echo "$BATS_RUN_TMPDIR" > "%s/began.new"\n    mv "%s"/began{.new,}\n    sleep 60\n}\n' \
        "$folder" "$folder" > "$folder/tests/slow/slow.bats"
    setsid "${as[@]}" "$folder/tests/layer" slow > "$folder/log" 2>&1 3>&- &
    layer=$!
    until [ -e "$folder/began" ]; do
        kill -0 "$layer"
        sleep 0.1
    done
    temporary=$(< "$folder/began")
    [[ $temporary == /var/tmp/rollcall-tests.*/slow ]]
    kill -TERM -- "-$layer"
    wait "$layer" || true
    [ ! -e "${temporary%/slow}" ]
}

@test "tests/bare: settings of apt and pip -> the files and folders that they name" {
    printf '%s\n' '[global]' 'cert = /etc/ssl/own.crt' 'find-links = /opt/wheels/' '# a comment: /opt/old' \
        'extra-index-url = file:///opt/pypi/simple https://user:word@host/simple' > "$folder/pip.conf"
    printf '%s\n' 'deb [signed-by=/usr/share/keyrings/own.gpg] file:/srv/debian bookworm main' \
        'Acquire::https::CAInfo "/etc/ssl/apt.crt";' '// "/etc/ssl/none.crt"' > "$folder/apt.conf"
    run -0 bash -c 'eval "$(sed -n "/^places()/,/^}/p" "$0/tests/bare")"; places "$@"' "$top" "$folder"/{pip,apt}.conf
    expect_same $'/etc/ssl/apt.crt\n/etc/ssl/own.crt\n/opt/pypi\n/opt/wheels\n/srv/debian\n/usr/share/keyrings/own.gpg' "$output"
}
