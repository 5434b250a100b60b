#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# meeting.bats - nodes that meet late, are suspended or are ended meanwhile, and a terminal that nobody reads.

load helpers
load faults

setup_file()
{
    needs_root || return 0
    faults_up --nodes 3 --cpus 8 --conf LaunchParameters=use_interactive_step \
        --conf 'InteractiveStepOptions="--interactive hostname"'
}

teardown()
{
    [ -z "${left_out:-}" ] || return 0
    faults_end
    login scancel --user="$(id -un)"
}

# started COMMAND...: in the background on the login node, as $pid; $out and $err get what it prints
started()
{
    : > "$out"
    : > "$err"
    "$minicluster" run --name "$MINICLUSTER_NAME" login timeout -k 5 $((60 * patience)) "$@" > "$out" 2> "$err" 3>&- \
        < /dev/null &
    pid=$!
}

# until_there COMMAND...: waits until it succeeds
until_there()
{
    local tries
    for tries in {1..300}; do
        ! "$@" || return 0
        sleep 0.1
    done
    explain "after $tries tries: $*"
}

ended()
{
    status=0
    wait "$pid" || status=$?
}

# runs NODE NAME: a program with these arguments
runs()
{
    on "$1" sh -c 'cat /proc/[0-9]*/cmdline 2> /dev/null | tr "\0" " "' | grep -qF "$2"
}

@test "deadline: nodes that come one after the other, each within it -> all meet" {
    inject n2 <<< 'sleep 3'
    inject n3 <<< 'sleep 6'
    meets 3 30 --ddp=deadline=5 -N3 -n3
    unsaid 'rollcall: '
    # six times in all
    inject n2 <<< 'sleep 2'
    inject n3 <<< 'sleep 60'
    meets 2 40 --ddp=deadline=3 -N3 -n3 || true
    said 'RC601: nothing from n3 \(task 2\) within the deadline of 3 s'
    nothing_remains
}

# bats test_tags=series
@test "scancel while nodes meet -> nothing is said, and every helper ends, however slow it is" {
    local name
    # a program of the helper's that does not end by itself and never reads a signal's answer
    printf '#!/bin/sh\ncase $1 in lookup | inventory) exec sleep 4711 ;; esac\nexec %s/rollcall-exchange "$@"\n' \
        "$shared/real" > "$shared/slow"
    chmod 755 "$shared/slow"
    on n2 mount --bind "$shared/slow" "$helper"
    started srun --ddp=deadline=60 -N2 -n2 -w n1,n2 true
    until_there runs n2 'sleep 4711'
    login scancel --user="$(id -un)"
    ended
    unsaid 'RC6(13|21)'
    until_there eval '! runs n2 "sleep 4711"'
    nothing_remains
    # the look-up, of a step whose nodes have met
    printf '#!/bin/sh\n[ "$1" != lookup ] || exec sleep 4711\nexec %s/rollcall-exchange "$@"\n' "$shared/real" > "$shared/slow"
    for name in scancel kill; do
        started srun --ddp -N2 -n2 -w n1,n2 true
        until_there runs n2 'sleep 4711'
        if [ $name = scancel ]; then
            login scancel --user="$(id -un)"
        else
            kill -KILL $(pgrep -f '^srun --ddp -N2 -n2 -w n1,n2 true')
        fi
        ended
        unsaid 'RC6(13|21)'
        until_there eval '! runs n2 "sleep 4711"'
        nothing_remains
    done
}

@test "scontrol suspend for longer than all deadlines -> the step goes on when it is resumed" {
    local id
    inject n3 <<< 'sleep 5'
    # a busy machine takes more than a second to suspend the step
    started srun --ddp=deadline=4 -N3 -n3 sh -c 'echo "port $RANK $MASTER_PORT"'
    until_there runs n3 'sleep 5'
    id=$(login squeue --noheader -o %A)
    login scontrol suspend "$id"
    sleep 16
    login scontrol resume "$id"
    ended
    one_port 3
    unsaid 'RC613'
    nothing_remains
}

@test "scontrol suspend after the deadline, while a node has yet to call -> its tasks start when they are resumed" {
    local id
    rm -f "$shared/sleeping"
    inject n3 <<< 'sleep 4711 & echo $! > '"$shared/sleeping"'; wait'
    started srun --ddp=deadline=1 -N3 -n6 sh -c 'echo "port $RANK $MASTER_PORT"'
    until_there eval '[ "$(grep -c "^port [0-3] " "$out")" = 4 ] && [ -s "$shared/sleeping" ]'
    id=$(login squeue --noheader -o %A)
    login scontrol suspend "$id"
    on n3 kill "$(cat "$shared/sleeping")"
    # longer than all that waits on n3
    sleep 18
    login scontrol resume "$id"
    ended
    one_port 6
    unsaid 'RC613'
    nothing_remains
}

@test "standard error that nobody reads -> the nodes get their answer, and the tasks start" {
    inject n3 <<< 'exec sleep 600'
    cat > "$shared/full" << END
#!/bin/bash
rm -f $shared/pipe; mkfifo $shared/pipe
sleep 600 < $shared/pipe & reader=\$!
exec 2> $shared/pipe
head -c 65536 /dev/zero >&2
srun --ddp=deadline=2,check=warn -N3 -n3 sh -c 'echo "port \$RANK \$MASTER_PORT" >> $shared/ports' &
srun=\$!
until [ \$(grep -c port $shared/ports) -ge 2 ]; do sleep 0.1; done
kill \$srun \$reader
END
    : > "$shared/ports"
    attempt 40 bash "$shared/full"
    [ "$(grep -c '^port [01] ' "$shared/ports")" -eq 2 ] || explain "$(cat "$shared/ports")"
    login scancel --user="$(id -un)"
    nothing_remains
}

# bats test_tags=series
@test "the login shell's ulimit -Sn 300 -> rank 0's task may open a file for each rank and 512, the others 300" {
    attempt 60 sh -c 'ulimit -Sn 300 && exec srun --propagate=NOFILE --ddp -N2 -n2 sh -c "echo \$RANK \$(ulimit -Sn)"'
    succeeded
    [ "$(sort "$out")" = $'0 514\n1 300' ] || explain 'other limits'
}

# bats test_tags=series
@test "salloc --ddp with use_interactive_step -> the shell is no step of tasks: nothing is said" {
    attempt 60 salloc --ddp -N2
    succeeded
    said '^n1$'
    unsaid 'rollcall: '
}

# bats test_tags=series
@test "--export=NONE with ROLLCALL=auto -> the tasks have their ranks, as with --ddp" {
    local words='echo "rank $RANK of $WORLD_SIZE"; [ -z "$SEEN" ]'
    attempt 60 env ROLLCALL=auto SEEN=yes srun --export=NONE -N2 -n4 /bin/sh -c "$words"
    succeeded
    [ "$(sort "$out")" = "$(printf 'rank %s of 4\n' 0 1 2 3)" ] || explain 'not these ranks'
    printf '#!/bin/sh\n#SBATCH --export=NONE -N2 -n4\nexport PATH=%q ROLLCALL=auto\nsrun /bin/sh -c %q\nROLLCALL=off srun /bin/sh -c %q\n' \
        "$PATH" "$words" 'echo "off ${RANK-none}"' > "$shared/job"
    attempt 60 sbatch --wait -o "$shared/job.out" "$shared/job"
    [ "$(grep -c '^rank [0-3] of 4$' "$shared/job.out")" -eq 4 ] || explain "$(cat "$shared/job.out")"
    [ "$(grep -c '^off none$' "$shared/job.out")" -eq 4 ] || explain "$(cat "$shared/job.out")"
    # off for the tasks only: the nodes call srun's server nevertheless
    attempt 60 env ROLLCALL=auto srun --export=ROLLCALL=off -N2 -n4 /bin/sh -c 'echo "off ${RANK-none}"'
    [ "$(grep -c '^off none$' "$out")" -eq 4 ] || explain "not four tasks without ranks"
    unsaid 'rollcall: '
    # a step in a task of such a step, which was not asked
    attempt 60 env ROLLCALL=auto srun --export=NONE -N1 -n1 /bin/sh -c \
        "PATH='$PATH' srun --overlap -n1 /bin/sh -c 'echo inner \${RANK-none}'"
    said '^inner none$'
}
