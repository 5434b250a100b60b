#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# environment.bats - environment blocks that are not what one expects, and programs that treat theirs badly.

load helper

setup_file()
{
    need_preload
    local program
    for program in probe envexec walk-cleared auxv setenv-all; do
        gcc -O2 -Wall -Wextra -Werror -o "$bin/$program" "$here/programs/$program.c"
    done
    musl-gcc -O2 -o "$bin/auxv-musl" "$here/programs/auxv.c"
    musl-gcc -O2 -o "$bin/probe-musl" "$here/programs/probe.c"
    for program in no-environ move-environ; do
        gcc -shared -fPIC -o "$bin/$program.so" "$here/programs/$program.c"
    done
    gcc -shared -fPIC -nostdlib -x c -o "$bin/empty.so" /dev/null
}

# with_block ENTRY... -- PROGRAM...: the task's environment and these entries
with_block()
{
    local entries=()
    while [ "$1" != -- ]; do
        entries+=("$1")
        shift
    done
    shift
    block "$BATS_TEST_TMPDIR/block" "${task_environment[@]}" "LD_PRELOAD=$preload" "${entries[@]}"
    "$bin/envexec" "$BATS_TEST_TMPDIR/block" "$@"
}

many()
{
    seq -f 'FILLER_%g=x' "$1"
}

# The task's variables and LD_PRELOAD are part of the count.
with_count()
{
    local entries
    mapfile -t entries < <(many $(($1 - ${#task_environment[@]} - 1)))
    shift
    with_block "${entries[@]}" -- "$@"
}

# All names that a task gets, stale: then a variable that goes leaves a slot that no new one takes.
stale=(RANK=9 WORLD_SIZE=9 LOCAL_RANK=9 LOCAL_WORLD_SIZE=9 NODE_RANK=9 GROUP_RANK=9 GROUP_WORLD_SIZE=9 MASTER_ADDR=n2
    MASTER_PORT=1 ROLLCALL_SCOPE=other SLURM_NTASKS_PER_NODE=9)

@test "no environment at all: envp {NULL} and envp NULL" {
    : > "$BATS_TEST_TMPDIR/empty"
    prints '' "$bin/envexec" "$BATS_TEST_TMPDIR/empty" "$bin/probe" RANK
    prints '' "$bin/envexec" NULL "$bin/probe" RANK
}

@test "environ is NULL when the constructor runs" {
    # the last library of the list is initialised first
    prints '' in_task LD_PRELOAD="$preload:$bin/no-environ.so" "$bin/probe" RANK
}

@test "environ was moved to the heap before the constructor runs" {
    run -0 in_task LD_PRELOAD="$preload:$bin/move-environ.so" "$bin/probe" "${names[@]}" MOVED
    expect "${identity[@]}" MOVED=1
}

@test "a name that stands there twice is there once afterwards" {
    run -0 with_block RANK=8 WORLD_SIZE=77 RANK=9 RANK=10 -- "$bin/probe" "${names[@]}"
    expect "${identity[@]}"
}

@test "a name that must be absent and stands there twice is gone" {
    run -0 with_block PET_NNODES=1 X=1 PET_NNODES=2 -- "$bin/probe" PET_NNODES X
    expect X=1
    [[ $output != *PET_NNODES* ]]
}

@test "entries without '=', with a leading '=', empty ones and names like ours are kept" {
    local odd=(RANK NOVALUE =leading '' RANK_X=1 RAN=2 rank=3 LOCAL_RANKS=4 $'WORLD_SIZE\xff=5' 'A=b=c' =)
    local want
    run -0 with_block "${odd[@]}" -- /usr/bin/env -0
    with_block "${odd[@]}" -- /usr/bin/env -0 > "$BATS_TEST_TMPDIR/out"
    for want in "${odd[@]}"; do
        grep -zqxF -- "$want" "$BATS_TEST_TMPDIR/out"
    done
    grep -zqxF RANK=3 "$BATS_TEST_TMPDIR/out"
}

@test "everything that is not in the plan is passed on, byte for byte and in its order" {
    local file=$BATS_TEST_TMPDIR
    {
        printf 'V%d=%s\0' $(seq 1 400)
        printf 'LONG=%s\0' "$(head -c 131000 /dev/zero | tr '\0' y)"
        printf 'UTF8=\xff\xfe\0NEWLINE=a\nb\0'
        printf '%s\0' "${task_environment[@]}" "LD_PRELOAD=$preload"
    } > "$file/block"
    "$bin/envexec" "$file/block" /usr/bin/env -0 > "$file/out"
    # what the shim adds stands behind the rest
    head -z -n "$(tr -dc '\0' < "$file/block" | wc -c)" "$file/out" | cmp - "$file/block"
    grep -zqx RANK=3 "$file/out"
}

@test "a program that walks the array it had before clearenv()" {
    local i
    for i in 1 2 3 4 5; do
        prints "RANK=3 kept=some" in_task "$bin/walk-cleared"
    done
}

@test "the auxiliary vector is still found behind the environment (Go does it so)" {
    local program
    for program in auxv auxv-musl; do
        prints "auxv ok" with_block PET_NNODES=1 "${stale[@]}" RANK=2 PET_NNODES=2 -- "$bin/$program"
    done
}

@test "the old array, which musl hands to main, has no hole where a variable went" {
    run -0 with_block PET_NNODES=1 "${stale[@]}" PET_NNODES=2 PET_RDZV_ID=3 RANK=8 X=1 -- \
        "$bin/probe-musl" PET_NNODES X PET_RDZV_ID "${names[@]}"
    grep -qxF 'envp X=1' <<< "$output"
    [[ $output != *PET_* ]]
    local pair
    for pair in "${identity[@]}"; do
        grep -qxF "envp $pair" <<< "$output"
    done
}

@test "setenv, putenv and unsetenv work on what the shim left" {
    prints "RANK=changed WORLD_SIZE=(unset) PUT=1 added=499" in_task "$bin/setenv-all"
}

@test "the table's limit: up to 65,534 variables after the change, beyond it nothing is changed and one line says so" {
    local n added
    added=$(($(with_count 100 /usr/bin/env | wc -l) - 100))
    [ "$added" -gt 9 ]
    for n in 4097 $((65534 - added)); do
        run -0 --separate-stderr with_count "$n" "$bin/probe" "${names[@]}" FILLER_1 FILLER_4000
        expect "${identity[@]}" FILLER_1=x FILLER_4000=x
        [ -z "$stderr" ]
    done
    for n in $((65535 - added)) 66000; do
        run -0 --separate-stderr with_count "$n" "$bin/probe" "${names[@]}" FILLER_1 FILLER_4000 ROLLCALL_SCOPE
        expect FILLER_1=x FILLER_4000=x
        [ "${#lines[@]}" -eq 6 ]
        [[ $stderr == "rollcall: error RC503: the environment of $n variables has no room for the job's; "* ]]
    done
}

@test "hostile values change nothing and are said once" {
    local value
    for value in '' ' 3' '3 ' +3 -1 007 3.0 3x 0x3 NaN 4 4294967295 4294967296 18446744073709551616 \
        "$(printf '9%.0s' {1..10000})" $'\e[31m' $'3\n4' '%s%n'; do
        run -0 --separate-stderr in_task "SLURM_PROCID=$value" "$bin/probe" RANK WORLD_SIZE ROLLCALL_SCOPE
        [ -z "$output" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ ${stderr_lines[0]} =~ ^rollcall:\ error\ RC1[0-9][0-9]:\  ]]
        [[ $stderr != *$'\e'* ]]
    done
    # of a name that stands there twice the first counts, as in getenv
    run -0 --separate-stderr with_block SLURM_PROCID=x -- "$bin/probe" RANK WORLD_SIZE
    expect RANK=3 WORLD_SIZE=4
    [ -z "$stderr" ]
}

@test "values of a mebibyte end in time" {
    local big
    big=$(head -c 130000 /dev/zero | tr '\0' 1)
    run -0 timeout 5 env -i "${task_environment[@]}" "SLURM_STEP_TASKS_PER_NODE=$big" "SLURM_GTIDS=$big" \
        "SLURM_STEP_NODELIST=n[$big]" LD_PRELOAD="$preload" "$bin/probe" RANK
    [[ $output != *RANK=* ]]
}

# The step's other GPUs are not known to the preload: such a task has its own alone, as device 0.
@test "a task with a GPU of its own: LOCAL_RANK is 0, and nothing else is another number" {
    bound=(CUDA_VISIBLE_DEVICES=1 SLURM_GPUS_ON_NODE=2 SLURM_STEP_GPUS=1 SLURMD_TRES_BIND=gres/gpu:per_task:1)
    show='echo "$RANK $LOCAL_RANK $LOCAL_WORLD_SIZE $SLURM_LOCALID $CUDA_VISIBLE_DEVICES $JAX_LOCAL_DEVICE_IDS"'
    run in_task "${bound[@]}" sh -c "$show; exec bash -c '$show; env sh -c '\''$show'\'"
    [ "$output" = $'3 0 2 1 1 0\n3 0 2 1 1 0\n3 0 2 1 1 0' ]
    run in_task CUDA_VISIBLE_DEVICES=0,1 SLURM_GPUS_ON_NODE=2 sh -c "$show"
    [ "$output" = '3 1 2 1 0,1 ' ]
    run in_task CUDA_VISIBLE_DEVICES=0,1 SLURM_GPUS_ON_NODE=2 ROLLCALL=gpus=own sh -c "$show"
    [ "$output" = '3 0 2 1 1 0' ]
    run in_task CUDA_VISIBLE_DEVICES= SLURM_GPUS_ON_NODE=2 sh -c "$show"
    [ "$output" = '3 1 2 1  ' ]
}
