# SPDX-License-Identifier: BSD-3-Clause
# helper.bash - what the tests of the command share.
#
# ROLLCALL_PREFIX is an installed tree (bin/rollcall, lib/librollcall.so, ...); PYTHON an interpreter, where it
# has torch the tests that need it use it. tests/prefix.bash has the defaults.

bats_require_minimum_version 1.5.0

load ../prefix
load ../prints

top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
prefix=$ROLLCALL_PREFIX
rollcall=$prefix/bin/rollcall
recordings=$top/tests/vectors
vectors=${BATS_FILE_TMPDIR:-}/vectors

# unpack_vectors: each recorded task as $vectors/NAME.env, for show --from; called in setup_file
unpack_vectors()
{
    python3 -B "$recordings/recordings.py" unpack "$vectors"
}

# Whoever runs the tests may be a task of something.
for name in ${!SLURM_@} ${!OMPI_@} ${!PMIX_@} ${!PMI_@} ${!PET_@} ${!TORCHELASTIC_@} ${!ROLLCALL@} RANK WORLD_SIZE \
    LOCAL_RANK LOCAL_WORLD_SIZE NODE_RANK GROUP_RANK GROUP_WORLD_SIZE MASTER_ADDR MASTER_PORT LD_PRELOAD NO_COLOR COLUMNS; do
    case $name in
        ROLLCALL_PREFIX | ROLLCALL_NCCL) ;;
        *) unset -v "$name" ;;
    esac
done
unset -v name

# Task 3 of 4, two on each of two nodes; task 0 of the same step. The nodes are called by their addresses, which
# need no resolver.
step=(SLURM_JOB_ID=42 SLURM_STEP_ID=7 SLURM_STEP_NUM_TASKS=4 SLURM_NTASKS=4 SLURM_STEP_NUM_NODES=2 SLURM_NNODES=2
    'SLURM_STEP_TASKS_PER_NODE=2(x2)' 'SLURM_STEP_NODELIST=192.0.2.[1-2]' SLURM_DISTRIBUTION=block)
task_3=("${step[@]}" SLURM_PROCID=3 SLURM_LOCALID=1 SLURM_NODEID=1 SLURM_GTIDS=2,3)
task_0=("${step[@]}" SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_GTIDS=0,1)
# after task_0 where it holds the step's port for longer: no other test's, nor another run's
own_job=SLURM_JOB_ID=$((1000 + RANDOM))

# One task a node, node 0.
agent_0=(SLURM_JOB_ID=42 SLURM_STEP_ID=8 SLURM_STEP_NUM_TASKS=2 SLURM_NTASKS=2 SLURM_STEP_NUM_NODES=2 SLURM_NNODES=2
    'SLURM_STEP_TASKS_PER_NODE=1(x2)' 'SLURM_STEP_NODELIST=192.0.2.[1-2]' SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0
    SLURM_GTIDS=0)

# with [NAME=VALUE...] CMD...: in that environment and nothing else
with()
{
    env -i PATH="$PATH" HOME="$BATS_TEST_TMPDIR" LANG=C.UTF-8 "$@"
}

# with_names 'LINE...' [NAME=VALUE...] CMD...: like with; CMD sees these lines for /etc/hosts, and no other
# resolver, no network, and what $before, run as root there, has changed
with_names()
{
    local folder=$BATS_TEST_TMPDIR as_root=()
    printf '%s\n' '127.0.0.1 localhost' "$1" > "$folder/hosts"
    echo "hosts: ${resolver:-files}" > "$folder/nsswitch.conf"
    echo 'nameserver 192.0.2.53' > "$folder/resolv.conf"
    shift
    [ "$EUID" -eq 0 ] || as_root=(--map-root-user)
    unshare "${as_root[@]}" --mount --net sh -c '
        for file in hosts nsswitch.conf resolv.conf; do
            mount --bind "$0/$file" "$(readlink -f "/etc/$file")" || exit 99
        done
        eval "$1" || exit 98
        shift
        exec "$@"' "$folder" "${before:-:}" env -i PATH="$PATH" HOME="$folder" LANG=C.UTF-8 "$@"
}

# The values of names, in this order, as a program sees them; "-" where one is not there.
names='RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE NODE_RANK MASTER_ADDR'
print_names='for n in '$names'; do eval "printf \"%s \" \"\${$n--}\""; done; echo'

# A free port, and none that another test's bind(0) or connection gets meanwhile.
free_port()
{
    python3 -c 'import random, socket
s = socket.socket()
while True:
    try:
        s.bind(("", random.randrange(10240, 20000)))
        break
    except OSError:
        pass
print(s.getsockname()[1])'
}

# fails_with STATUS TEXT CMD...: exits so, says nothing on standard output and one line with TEXT on standard error
fails_with()
{
    local expected=$1 text=$2 status=0
    shift 2
    "$@" > "$BATS_TEST_TMPDIR/out" 2> "$BATS_TEST_TMPDIR/err" || status=$?
    if [ "$status" != "$expected" ] || [ -s "$BATS_TEST_TMPDIR/out" ] ||
        [ "$(wc -l < "$BATS_TEST_TMPDIR/err")" != 1 ] || ! grep -qF -- "$text" "$BATS_TEST_TMPDIR/err"; then
        echo "$*"
        echo "status $status, not $expected with '$text':"
        cat "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/err"
        return 1
    fi
}

# open_server KIND ARG...: server.py in the background, until close_server or the end of the test
open_server()
{
    local folder=$BATS_TEST_TMPDIR/server
    mkdir -p "$folder"
    rm -f "$folder"/*
    coproc server { exec python3 "$BATS_TEST_DIRNAME/server.py" "$1" "$folder" "${@:2}" 3>&- > /dev/null; }
    server_pid=$server_PID
    until [ -e "$folder/port" ]; do
        kill -0 "$server_pid" || return 1
        sleep 0.05
    done
    at_server=("SLURM_ROLLCALL_SERVER=0123456789abcdef0123456789abcdef $(cat "$folder/port") 42.7"
        SLURM_LAUNCH_NODE_IPADDR=127.0.0.1 SLURM_SRUN_COMM_HOST=localhost)
}

close_server()
{
    local pid=$server_pid
    server_pid=
    # shellcheck disable=SC1083,SC2154 # of coproc
    exec {server[1]}>&-
    wait "$pid"
}

teardown()
{
    [ -z "${server_pid:-}" ] || kill "$server_pid" || true
}
