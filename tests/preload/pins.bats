#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# pins.bats - a launcher's worker goes to the cores that its task carries for it, and nobody else goes anywhere.
#
# Here is one worker at a time; the tests of the cluster have torchrun's and Lightning's own.

load helper

pins=$(dirname "$preload")/librollcall-pins.so

setup_file()
{
    need_preload
    [ -f "$pins" ]
    gcc -O2 -Wall -Wextra -Werror -o "$bin/mask" "$here/programs/mask.c"
    musl-gcc -O2 -Wall -Wextra -Werror -o "$bin/mask-musl" "$here/programs/mask.c"
    gcc -O2 -Wall -Wextra -Werror -static -o "$bin/mask-static" "$here/programs/mask.c"
    gcc -O2 -Wall -Wextra -Werror -pthread -o "$bin/children" "$here/programs/children.c"
    gcc -O2 -o "$bin/envexec" "$here/programs/envexec.c"
}

# Two hardware threads, on which everything here runs; a worker has one of them.
setup()
{
    read -r first second _ < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))')
    [ -n "${second:-}" ] || skip "a machine with one hardware thread"
    taskset -p -c "$first,$second" $$ > /dev/null
    all=$first,$second
    in_launcher=("${task_environment[@]}" ROLLCALL_SCOPE=slurm:42.7/3/launcher/29500 ROLLCALL_PINS="$first $second")
    torchrun=(TORCHELASTIC_RUN_ID=42.7 RANK=5 LOCAL_RANK=1 WORLD_SIZE=8 LOCAL_WORLD_SIZE=2)
    lightning=(PET_NNODES=2 NODE_RANK=1 WORLD_SIZE=4 LOCAL_RANK=1)
}

# worker [NAME=VALUE...] PROGRAM...: as torchrun starts it in a task of launcher mode, with the one library and with
# the other, which binds and does no more
worker()
{
    local with_pins
    worker_with "$pins" "$@"
    with_pins="$status $output $stderr"
    worker_with "$preload" "$@"
    [ "$status $output $stderr" = "$with_pins" ] || {
        echo "with $pins: $with_pins; with $preload: $status $output $stderr"
        return 1
    }
}

worker_with()
{
    local library=$1
    shift
    run --separate-stderr env -i "${in_launcher[@]}" "${torchrun[@]}" LD_PRELOAD="$library" "$@"
}

# said LINE...: that is all of the output, and nothing is wrong
said()
{
    [ "$status" -eq 0 ] && [ -z "$stderr" ] && [ "$output" = "$(printf '%s\n' "$@")" ] || {
        echo "status $status, $stderr, said: $output, expected: $*"
        return 1
    }
}

# worker_says OUTPUT [NAME=VALUE...] PROGRAM...: both, with $nl between lines
worker_says()
{
    worker "${@:2}"
    said "$1"
}

nl=$'\n'
mask_of_python='import os; print(*sorted(os.sched_getaffinity(0)), sep=",", end=" "); print(os.getenv("ROLLCALL_PINNED", "-"))'

@test "torchrun's worker has the cores of its LOCAL_RANK: in C, in musl, in Python" {
    local rank=0 cpu
    for cpu in "$first" "$second"; do
        worker_says "$cpu $rank" LOCAL_RANK=$rank "$bin/mask"
        worker_says "$cpu $rank" LOCAL_RANK=$rank "$bin/mask-musl"
        worker_says "$cpu $rank" LOCAL_RANK=$rank python3 -c "$mask_of_python"
        rank=$((rank + 1))
    done
}

@test "Lightning's, which has the stamp of its task; and one that has lost what srun says" {
    local library
    for library in "$preload" "$pins" "$preload:$pins" "$pins:$preload"; do
        run --separate-stderr env -i "${in_launcher[@]}" "${lightning[@]}" LD_PRELOAD="$library" "$bin/mask"
        said "$second 1"
        run --separate-stderr env -i ROLLCALL_PINS="$first $second" "${torchrun[@]}" LD_PRELOAD="$library" "$bin/mask"
        said "$second 1"
        # one node, where nobody says so
        run --separate-stderr env -i "${in_launcher[@]}" "${lightning[@]:1}" WORLD_SIZE=2 LD_PRELOAD="$library" "$bin/mask"
        said "$second 1"
    done
}

@test "lists may have ranges, be of several threads, and share them" {
    worker_says "$all 1" ROLLCALL_PINS="$first-$first $first,$second-$second" "$bin/mask"
    worker_says "$first 0" ROLLCALL_PINS="$first-$first $first,$second-$second" LOCAL_RANK=0 "$bin/mask"
    worker_says "$second 1" ROLLCALL_PINS="$first,$second $second" "$bin/mask"
    worker_says "$all 0" ROLLCALL_PINS="$all" LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 "$bin/mask"
}

@test "no list, no LOCAL_RANK, or none of these workers: the mask stays" {
    local value library
    worker_says "$all -" env -u ROLLCALL_PINS "$bin/mask"
    worker_says "$all -" env -u LOCAL_RANK "$bin/mask"
    # the preload library has a word on it as well
    for library in "$preload" "$pins"; do
        for value in '' 2 -1 01 ' 1' '1 ' 0x1 1.0 x 4294967295 18446744073709551617; do
            worker_with "$library" LOCAL_RANK="$value" "$bin/mask"
            [ "$output" = "$all -" ]
        done
        # it is another count of workers that those cores were dealt out to
        for value in '' 1 3 02 x; do
            worker_with "$library" LOCAL_WORLD_SIZE="$value" "$bin/mask"
            [ "$output" = "$all -" ]
        done
    done
    worker_says "$all -" env -u LOCAL_WORLD_SIZE WORLD_SIZE=8 "$bin/mask"
    worker_says "$all -" env -u LOCAL_WORLD_SIZE -u WORLD_SIZE "$bin/mask"
    for value in 2 8 x ''; do
        run --separate-stderr env -i "${in_launcher[@]}" "${lightning[@]}" WORLD_SIZE="$value" LD_PRELOAD="$preload" \
            "$bin/mask"
        said "$all -"
    done
}

@test "a list that cannot be read, or one with threads that are not there: the mask stays" {
    local list
    for list in '' ' ' "$first" "$first " " $first $second" "$first  $second" "$first $second " "$first,$second" \
        "$first $second,8191" "$first $second-8191" "$first $second,99999" "$first $second," "$first ${second}x" \
        "$first -$second" "$first 0x$second" "$first $second-" $'0\n1' "$(printf '%s ' {1..5000})$first"; do
        worker_says "$all -" ROLLCALL_PINS="$list" "$bin/mask"
    done
}

@test "somebody has bound it since: that holds" {
    worker_says "$first -" taskset -c "$first" "$bin/mask"
    worker_says "$second -" taskset -c "$second" "$bin/mask"
    # of two workers with cores in common one is bound already
    worker_says "$first -" ROLLCALL_PINS="$all $first" taskset -c "$first" "$bin/mask"
}

@test "cores that are no worker's: nobody gets them" {
    worker_says "$first 1" ROLLCALL_PINS="$first $first" "$bin/mask"
    worker_says "$first 0" ROLLCALL_PINS="$first" LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 "$bin/mask"
}

@test "a worker that is marked stays where it is started, whatever the mark says" {
    local value
    for value in '' 0 1 x; do
        worker_says "$all $value" ROLLCALL_PINNED="$value" "$bin/mask"
    done
}

@test "ROLLCALL=off, or a value of ROLLCALL that cannot be read: the mask stays" {
    worker_says "$all -" ROLLCALL=off "$bin/mask"
    worker_says "$all -" ROLLCALL=off,watch=off "$bin/mask"
    worker_with "$preload" ROLLCALL=bnid=none "$bin/mask"
    [ "$output" = "$all -" ]
    [[ $stderr == "rollcall: error RC"* ]]
}

@test "a launch further inside, and the task itself: no worker of that launcher, and the list is gone" {
    # what rollcall has to set here it sets; so the process is another launch's
    run --separate-stderr env -i "${task_environment[@]}" "${torchrun[@]:1}" ROLLCALL_PINS="$first $second" \
        LD_PRELOAD="$preload" sh -c "$bin/mask; echo \${ROLLCALL_PINS-gone}"
    said "$all -" gone
    worker_with "$preload" env -u TORCHELASTIC_RUN_ID OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=1 \
        OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_MCA_ess_base_jobid=7 ROLLCALL_PINNED=0 \
        sh -c "$bin/mask; echo \$RANK \${ROLLCALL_PINS-gone}"
    said "$all -" "1 gone"
}

@test "what the worker starts has the worker's mask: fork, vfork, clone, posix_spawn, execve, a shell" {
    local way
    for way in fork vfork clone posix_spawn posix_spawnp execve; do
        worker_says "$second 1" "$bin/children" "$way" own "$bin/mask"
    done
    worker_says "$first 0" LOCAL_RANK=0 "$bin/children" system own "$bin/mask"
    # an environment of its own, in which it is not marked: its mask is no longer that of all
    worker_says "$second -" "$bin/children" fork given "$bin/mask"
}

@test "a worker that has gone elsewhere since: so does what it starts" {
    worker_says "$second 1$nl$all 1" "$bin/mask" "$all" "$bin/mask"
    worker_says "$second 1$nl$first 1$nl$all 1" "$bin/mask" "$first" "$bin/mask" "$all" sh -c "$bin/mask"
}

@test "Python's data loaders: fork, spawn, forkserver; also where the worker has gone elsewhere since" {
    cat > "$BATS_TEST_TMPDIR/loaders.py" <<'PYTHON'
import multiprocessing, os, sys


def mask(_):
    return ",".join(map(str, sorted(os.sched_getaffinity(0))))


if __name__ == "__main__":
    for where in (sys.argv[1], sys.argv[2]):
        os.sched_setaffinity(0, map(int, where.split(",")))
        for way in ("fork", "spawn"):
            with multiprocessing.get_context(way).Pool(2) as pool:
                print(way, *sorted(set(pool.map(mask, range(8)))))
    # its server is started once, so only now
    with multiprocessing.get_context("forkserver").Pool(2) as pool:
        print("forkserver", *sorted(set(pool.map(mask, range(8)))))
PYTHON
    worker python3 "$BATS_TEST_TMPDIR/loaders.py" "$second" "$all"
    said "fork $second" "spawn $second" "fork $all" "spawn $all" "forkserver $all"
}

@test "shells and env are no workers: who they start is one, also behind a static shell" {
    local shell
    for shell in sh bash dash mksh zsh fish tcsh "busybox sh" bash-static; do
        worker_says "$second 1$nl$second 1" $shell -c "$bin/mask; $bin/mask-musl"
    done
    worker bash -c "ROLLCALL_PINNED= $bin/mask; echo \${ROLLCALL_PINNED-none}"
    said "$all " none
    worker_says "$second 1" env A=1 nice timeout 60 setsid -w env "$bin/mask"
    printf '#!/bin/sh\nexec "$@"\n' > "$BATS_TEST_TMPDIR/wrapper"
    chmod 755 "$BATS_TEST_TMPDIR/wrapper"
    worker_says "$second 1" "$BATS_TEST_TMPDIR/wrapper" "$bin/mask"
    worker_says "$all -$nl$second 1" "$bin/mask-static" "$all" "$bin/mask"
}

# The real one refuses "--physcpubind" with a thread that is not in its own mask: torchrun --numa-binding starts it.
@test "numactl has the whole mask to choose from, and what it chooses holds" {
    cp "$bin/mask" "$BATS_TEST_TMPDIR/numactl"
    worker_says "$all -$nl$first -" "$BATS_TEST_TMPDIR/numactl" "$first" "$bin/mask"
    worker LOCAL_RANK=0 sh -c "exec $BATS_TEST_TMPDIR/numactl $second python3 -c '$mask_of_python'"
    said "$all -" "$second -"
    if command -v numactl > /dev/null; then
        worker_says "$first -" numactl --physcpubind="$first" "$bin/mask"
    fi
}

@test "a launcher is no worker, whatever is in its environment" {
    cp "$bin/mask" "$BATS_TEST_TMPDIR/torchrun"
    worker_says "$all -" "$BATS_TEST_TMPDIR/torchrun"
    worker_says "$all -" bash -c "exec -a torchrun $bin/mask"
}

@test "more variables than the shim's table: neither mark nor binding" {
    local n entries library
    for n in 5000 66000; do
        mapfile -t entries < <(seq -f 'FILLER_%g=x' "$n")
        for library in "$preload" "$pins"; do
            block "$BATS_TEST_TMPDIR/block" "${in_launcher[@]}" "${torchrun[@]}" LD_PRELOAD="$library" "${entries[@]}"
            run --separate-stderr "$bin/envexec" "$BATS_TEST_TMPDIR/block" "$bin/mask"
            if [ "$n" = 5000 ]; then
                said "$second 1"
            else
                said "$all -"
            fi
        done
    done
}

@test "ROLLCALL_DEBUG says it, once" {
    worker ROLLCALL_DEBUG=1 sh -c "$bin/mask"
    [ "$output" = "$second 1" ]
    [ "$stderr" = "rollcall: the worker with LOCAL_RANK=1 is bound to hardware threads '$second'" ]
}

@test "who is no worker with lists asks the kernel nothing; a worker asks for its mask and its name" {
    local calls=readlinkat,sched_getaffinity,sched_setaffinity
    # asked ENTRY...: with these in its environment
    asked()
    {
        block "$BATS_TEST_TMPDIR/block" "$@"
        strace -e trace="$calls" -o "$BATS_TEST_TMPDIR/trace" "$bin/envexec" "$BATS_TEST_TMPDIR/block" /bin/true
        sed -n 's/^\(readlinkat\|sched_[gs]etaffinity\)(.*/\1/p' "$BATS_TEST_TMPDIR/trace"
    }
    for library in "$preload" "$pins"; do
        [ -z "$(asked "${in_launcher[@]}" LD_PRELOAD="$library")" ]
        [ -z "$(asked "${task_environment[@]}" "${torchrun[@]}" LD_PRELOAD="$library")" ]
        [ -z "$(asked "${in_launcher[@]}" "${torchrun[@]}" ROLLCALL_PINNED=1 LD_PRELOAD="$library")" ]
        [ "$(asked "${in_launcher[@]}" "${torchrun[@]}" LD_PRELOAD="$library")" = \
            $'sched_getaffinity\nreadlinkat\nsched_setaffinity' ]
    done
}

@test "the library of the pins gives nobody an identity" {
    run -0 --separate-stderr in_task LD_PRELOAD="$pins" env
    [ -z "$stderr" ]
    [[ $output != *RANK=* && $output != *ROLLCALL* ]]
    run --separate-stderr "$bin/envexec" NULL "$bin/mask"
    said "$all -"
}
