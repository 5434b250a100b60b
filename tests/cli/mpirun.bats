#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# rollcall exec under a real mpirun on this node.

load helper

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1

setup_file()
{
    command -v mpirun > /dev/null
}

# on N CMD...: rollcall exec CMD in N ranks
on()
{
    local n=$1
    shift
    timeout 120 mpirun --oversubscribe -np "$n" "$rollcall" exec "$@"
}

@test "four ranks, each once, all with the same size and master" {
    run -0 --separate-stderr on 4 -- python3 "$top/tests/cluster/programs/whoami.py"
    [ -z "$stderr" ]
    rolls=$(sed -n 's/^ROLL //p' <<< "$output")
    jq -s -e 'map(.id) | length == 4 and
        (map(.RANK) | sort) == ["0", "1", "2", "3"] and (map(.LOCAL_RANK) | sort) == ["0", "1", "2", "3"] and
        all(.WORLD_SIZE == "4" and .LOCAL_WORLD_SIZE == "4" and .NODE_RANK == "0" and .RANK == .LOCAL_RANK) and
        (map([.MASTER_ADDR, .MASTER_PORT]) | unique | length) == 1' <<< "$rolls"
    prints $'equal\nequal\nequal\nequal' on 4 -- sh -c '[ "$RANK" = "$OMPI_COMM_WORLD_RANK" ] && echo equal'
}

@test "show: one line a task, without colours, though Open MPI gives tasks a terminal" {
    export TERM=xterm
    run -0 --separate-stderr timeout 60 mpirun --oversubscribe -np 3 "$rollcall" show
    [[ $output != *$'\e'* && -z $stderr ]]
    [ "$(tr -d '\r' <<< "$output" | awk '/ ok$/ { print $1, $3 }' | xargs)" = '0 0 1 1 2 2' ]
    [ "$(grep -c verdict <<< "$output")" = 1 ]
    run -0 timeout 60 mpirun --oversubscribe -np 2 "$rollcall" show --long
    [[ $output != *$'\e'* ]]
    [ "$(grep -c '^  world size ' <<< "$output")" = 1 ]
}

@test "two mpiruns at once have two master ports" {
    cd "$BATS_TEST_TMPDIR"
    # each waits for the other, so that both hold theirs
    meets='echo "$MASTER_PORT" >> "$0"; until [ -e "$1" ]; do sleep 0.1; done'
    on 2 -- sh -c "$meets" a b &
    first=$!
    on 2 -- sh -c "$meets" b a
    # by its number: bats' own time limit is a child of this shell, too
    wait "$first"
    [ "$(sort -u a b | wc -l)" = 2 ]
}

@test "mpirun of one process: rank 0 of 1" {
    prints '0 1 0 1 0 127.0.0.1 ' timeout 120 mpirun --bind-to none -np 1 "$rollcall" exec -- sh -c "$print_names"
}

@test "a master port that is taken ends the job with one error and without a run" {
    cat > "$BATS_TEST_TMPDIR/taken.py" <<'PYTHON'
import os, socket, subprocess, sys
s = socket.socket()
s.bind(("", 0))
s.listen()
os.environ["MASTER_PORT"] = str(s.getsockname()[1])
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
errors = [l for l in done.stderr.splitlines() if l.startswith("rollcall: error RC405")]
print(done.returncode, len(errors))
PYTHON
    prints '1 1' timeout 60 python3 "$BATS_TEST_TMPDIR/taken.py" \
        mpirun --oversubscribe -np 2 "$rollcall" exec -- sleep 20
}

@test "torch: rollcall.apply() in the script is all that plain mpirun needs, and a laptop" {
    python=${PYTHON:-python3}
    "$python" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)' ||
        skip "PYTHON has no torch"
    cat > "$BATS_TEST_TMPDIR/reduce.py" <<'PYTHON'
import datetime, os, socket
import rollcall
applied = rollcall.apply(alone=True)
port = int(os.environ["MASTER_PORT"])
if applied.identity.rank == 0:  # the port is nobody else's, and torch listens there all the same
    try:
        socket.socket().bind(("", port))
        os.write(1, b"the port is free\n")
    except OSError:
        os.write(1, b"held\n")
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
assert (dist.get_rank(), dist.get_world_size()) == applied.identity[:2]
t = torch.tensor([float(dist.get_rank() + 1)])
dist.all_reduce(t)
os.write(1, f"rank {dist.get_rank()} sum {int(t.item())}\n".encode())
dist.destroy_process_group()
os._exit(0)  # see tests/cluster/programs/toy.py: a thread of gloo's may abort while Python ends
PYTHON
    script=("$python" "$BATS_TEST_TMPDIR/reduce.py")
    alone=(env PYTHONPATH="$prefix/share/rollcall/python" timeout 120)
    run -0 --separate-stderr "${alone[@]}" mpirun --oversubscribe -np 2 "${script[@]}"
    echo "$output"
    [ "$(grep '^rank\|^held' <<< "$output" | sort | xargs)" = 'held rank 0 sum 3 rank 1 sum 3' ]
    run -0 --separate-stderr "${alone[@]}" "${script[@]}"
    [ "$(sort <<< "$output" | xargs)" = 'held rank 0 sum 1' ]
    [[ $stderr == *'rollcall: there is no launcher: this process is alone, rank 0 of 1'* ]]
}
