# SPDX-License-Identifier: BSD-3-Clause
# helper.bash - what all preload tests share; sourced by the .bats files.
#
# Environment: ROLLCALL_PRELOAD, the library under test; by default that of the
# build folder ROLLCALL_BUILD (build/release).

bats_require_minimum_version 1.5.0

load ../prints

here=$BATS_TEST_DIRNAME
top=$(cd "$here/../.." && pwd)
preload=${ROLLCALL_PRELOAD:-${ROLLCALL_BUILD:-$top/build/release}/shim/.libs/librollcall-preload.so}
bin=$BATS_FILE_TMPDIR

# Task 3 of 4, two on each of two nodes, as Slurm's srun describes it.
task_environment=(
    PATH="$PATH" HOME=/nonexistent LANG=C.UTF-8
    SLURM_JOB_ID=42 SLURM_STEP_ID=7 SLURM_PROCID=3 SLURM_LOCALID=1 SLURM_NODEID=1 SLURM_GTIDS=2,3
    SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=2 SLURM_NNODES=2
    'SLURM_STEP_TASKS_PER_NODE=2(x2)' 'SLURM_STEP_NODELIST=n[1-2]' SLURM_DISTRIBUTION=block
)
# ... and what makes it RANK 0.
rank_0=(SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_GTIDS=0,1)
plain_environment=(PATH="$PATH" HOME=/nonexistent LANG=C.UTF-8)

# What the shim makes of it, in a stable order.
names=(RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE NODE_RANK GROUP_RANK GROUP_WORLD_SIZE MASTER_ADDR MASTER_PORT)

# in_task [NAME=VALUE...] PROGRAM...: runs the program as that task, with the shim.
in_task()
{
    env -i "${task_environment[@]}" LD_PRELOAD="$preload" "$@"
}

outside()
{
    env -i "${plain_environment[@]}" LD_PRELOAD="$preload" "$@"
}

# The environment blocks that env cannot make: block FILE ENTRY...
block()
{
    local file=$1
    shift
    printf '%s\0' "$@" > "$file"
}

need_preload()
{
    [ -f "$preload" ] || {
        echo "no library at $preload: make it first, or name it in ROLLCALL_PRELOAD" >&2
        return 1
    }
}

# beside_stranger PORT COMMAND...: while another program listens there
beside_stranger()
{
    local port=$1 status=0
    shift
    coproc python3 -c '
import socket, sys
listener = socket.create_server(("", int(sys.argv[1])))
print("listening", flush=True)
sys.stdin.read()' "$port" 3>&-
    read -r _ <&"${COPROC[0]}"
    "$@" || status=$?
    eval "exec ${COPROC[1]}>&-"
    wait "$COPROC_PID"
    return "$status"
}

# A test of static programs with a dynamic one, or the other way round, would show nothing.
is_dynamic()
{
    readelf -lW "$(command -v "$1")" | grep -q INTERP
}

is_static()
{
    [ "$(readelf -lW "$(command -v "$1")" | grep -c INTERP)" -eq 0 ]
}

# expect NAME=VALUE... in the output of the last `run probe ...`, seen alike by
# getenv, in environ and in main's third argument, once each.
expect()
{
    local pair how line
    local -A seen=() names_seen=()
    while IFS= read -r line; do
        seen[$line]=$((${seen[$line]:-0} + 1))
        line=${line%%=*}
        names_seen[$line]=$((${names_seen[$line]:-0} + 1))
    done <<< "${output:--}"
    for pair; do
        for how in getenv environ envp; do
            [ "${seen[$how $pair]:-0}" = 1 ] || {
                echo "$how $pair: seen ${seen[$how $pair]:-0} times in:"$'\n'"$output"
                return 1
            }
        done
        [ "${names_seen[environ ${pair%%=*}]}" = 1 ] || {
            echo "${pair%%=*} stands ${names_seen[environ ${pair%%=*}]} times in environ"
            return 1
        }
    done
}

identity=(RANK=3 WORLD_SIZE=4 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 NODE_RANK=1 GROUP_RANK=1 GROUP_WORLD_SIZE=2
    MASTER_ADDR=n1)
identity_line='3 4 1 2 1 1 2 n1'
shell_line='echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $NODE_RANK $GROUP_RANK $GROUP_WORLD_SIZE $MASTER_ADDR'
