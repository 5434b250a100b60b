#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The wall: whatever a script does, nothing outside of the rehearsal's folder changes, and it ends in time.

load behind

# On this machine, the walls that its kernel has; at least one.
setup_file()
{
    local kind
    walls=
    for kind in landlock namespaces; do
        scratch=$(mktemp -d)
        ! "$libexec/rollcall-rehearse" wall --by=$kind "$scratch" -- true || walls+=" $kind"
        rm -rf "$scratch"
    done
    [ -n "$walls" ]
    export walls
    make_hostile
}

# A filter whose system calls no hook sees.
make_hostile()
{
    export hostile=/var/tmp/rollcall-hostile.$$
    mkdir -m 755 "$hostile"
    gcc -o "$hostile/tac" "$BATS_TEST_DIRNAME/hostile.c"
}

teardown_file()
{
    rm -rf "$hostile"
}

# What the outside is like: names, sizes, modes, owners, times, contents.
outside()
{
    find "$home" ! -path "$home" -printf '%p %s %m %u %T@ %C@ %l\n' | sort
    find "$home" -type f -exec cksum {} + | sort
}

# unchanged LINES: the script LINES, behind each wall, leaves the outside as it was
unchanged()
{
    local kind before after
    mkdir -p "$home/old/deep"
    echo text > "$home/file"
    echo text > "$home/keep"
    echo text > "$home/old/deep/file"
    ln -sfn file "$home/link"
    [ ${#user[@]} -eq 0 ] || be_user
    for kind in $walls; do
        before=$(outside)
        behind --by="$kind" --seconds=15 <<< "$1"
        after=$(outside)
        [ "$before" = "$after" ] || { diff <(echo "$before") <(echo "$after"); return 1; }
        rm -rf "$scratch"
    done
}

writes='echo new > file; echo more >> file; : > other; mkdir -p a/b; rm -f file; rm -rf old; mv link moved
cp keep copy; chmod 777 keep; touch -t 200001010000 file; sed -i s/text/word/ old/deep/file; truncate -s 0 link
ln -f file hard; ln -sf other link; tee file < keep; cat > old/deep/file < keep; install keep installed
dd if=keep of=file; mktemp ./XXXXXX; mkfifo fifo; rmdir old/deep; find . -delete; exec > file; echo last'

@test "a script that writes, removes and renames: -> its folder stays as it is, for root and for a user" {
    unchanged "$writes"
    be_user
    unchanged "$writes"
}

@test "system calls that no hook sees: -> none changes a file, reaches a process or a network" {
    local port kind
    setsid sleep 600 3>&- &
    victim=$!
    echo text > "$home/file"
    port=$(free_port)
    for kind in $walls; do
        for who in root user; do
            [ $who = root ] || be_user
            PATH=$hostile:$PATH behind --by="$kind" <<< "tac '$home/file' $victim $port"
            diff <(grep -vxE 'started|end' <<< "$output") /dev/null
            # Landlock knows which programs may start
            [ "$kind" != landlock ] || is_output end
            [ "$(ls "$home")" = file ]
            [ "$(cat "$home/file")" = text ]
            kill -0 "$victim"
            rm -rf "$scratch"
            user=()
            chown -R "$UID" "$home"
        done
    done
    kill "$victim"
}

# Not kill -1: behind a broken wall it would end all that who runs the tests has.
@test "kill of a process, a group, the parent, init: -> no process outside has a signal" {
    local kind
    setsid sleep 600 3>&- &
    victim=$!
    for kind in $walls; do
        behind --by="$kind" <<< "kill -9 $victim -$victim \$PPID; kill -CONT 1; echo end"
        kill -0 "$victim"
        rm -rf "$scratch"
    done
    kill "$victim"
}

@test "a connection by /dev/tcp and /dev/udp: -> refused" {
    behind <<< 'exec 3<>/dev/tcp/127.0.0.1/22 || echo no tcp; echo x > /dev/udp/127.0.0.1/53 || echo no udp'
    is_output 'no tcp' 'no udp'
}

@test "setuid and static programs: -> the stand-in" {
    local static
    static=$(command -v bash-static)
    behind <<< "su -c id; $static -c 'echo static'; cp $static ./mine && ./mine -c 'echo mine'"
    is_output ''
    [ "$(cut -d ' ' -f 4 "$requests")" = su$'\n'"$static"$'\n./mine' ]
}

@test "loops that ignore signals, in groups and sessions of their own: -> the time ends them all" {
    local kind
    for kind in $walls; do
        SECONDS=0
        behind --by="$kind" --seconds=2 <<< 'trap "" TERM INT HUP; echo $BASHPID > /dev/null
(trap "" TERM; while :; do :; done) &
setsid bash -c "exec -a rollcall-left-$PPID bash -c \"trap : TERM; while :; do :; done\"" &
while :; do :; done'
        [ "$status $(cat "$scratch/ended")" = '124 time' ]
        [ $SECONDS -lt 15 ]
        run pgrep -f "script[.]sh|rollcall-left"
        [ "$status" = 1 ]
        rm -rf "$scratch"
    done
}

@test "a fork bomb: -> it ends at a bound, with all its processes" {
    local kind
    for kind in $walls; do
        SECONDS=0
        behind --by="$kind" --seconds=20 <<< 'bomb() { bomb | bomb & }; bomb; wait; while :; do :; done' > /dev/null
        [[ "$status $(cat "$scratch/ended")" =~ ^124\ (processes|time)$ ]]
        [ $SECONDS -lt 40 ]
        rm -rf "$scratch"
    done
}

@test "a script that starts itself: -> it ends at a depth of 40" {
    behind <<< 'bash "$0"; echo end'
    [ "$status" = 0 ]
    [ "$(grep -c end <<< "$output")" -gt 30 ]
    grep -q '^depth' "$scratch/notes"
}

@test "a file of more than 64 MB: -> cut there" {
    behind <<< 'yes > big; ls -l big | { read -r _ _ _ _ size _; echo $size; }'
    is_output 67108864
}

@test "SIGTERM to the wall: -> every process ends, with it" {
    scratch=$(mktemp -d)
    "$libexec/rollcall-rehearse" wall "$scratch" -- bash -c 'trap "" TERM; echo up > up; while :; do :; done' 3>&- &
    wall=$!
    until [ -e "$scratch/files$home/up" ]; do sleep 0.05; done
    kill "$wall"
    status=0
    wait "$wall" || status=$?
    [ "$status" = 124 ]
    run kill -0 "$wall"
    [ "$status" = 1 ]
}

@test "no folder, no command, a folder that is too long: -> status 4 and one line" {
    fails_with 4 usage "$libexec/rollcall-rehearse" wall
    fails_with 4 usage "$libexec/rollcall-rehearse" wall "$home"
    fails_with 4 /nowhere "$libexec/rollcall-rehearse" wall /nowhere -- true
    mkdir -p "$home/$(printf 'a%.0s' {1..210})"
    fails_with 4 aaa "$libexec/rollcall-rehearse" wall "$home"/a* -- true
}

@test "Unix sockets of other programs: zsh -> denied" {
    python3 -c 'import socket, time
s = socket.socket(socket.AF_UNIX); s.bind("'"$home"'/socket"); s.listen(); time.sleep(60)' 3>&- &
    server=$!
    until [ -S "$home/socket" ]; do sleep 0.02; done
    behind <<< "zsh -c 'zmodload zsh/net/socket; zsocket $home/socket && echo connected'"
    kill "$server"
    is_output ''
}

@test "the rehearsal's own files: links, FIFOs and an emptied file in their place -> denied; the wall ends all" {
    unchanged 'ln -s '"$home"'/keep "$TMPDIR/../ended"; ln -s '"$home"'/keep "$TMPDIR/../code0.py"
mkfifo "$TMPDIR/f"; (exec -a left-over bash -c "read x < $TMPDIR/f") &
: > "$TMPDIR/../bounds"; : > "$TMPDIR/../programs"; kill -0 $!; read -t 1 < "$TMPDIR/f"'
    run pgrep -f "^left-over"
    [ "$status" -eq 1 ]
}
