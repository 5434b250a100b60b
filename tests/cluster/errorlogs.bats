#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# errorlogs.bats - jobs that fail for real, each into a file, and what rollcall explain says of that file.

load helpers

made=RC711

setup_file()
{
    needs_root || return 0
    cluster_up --nodes 2 --cpus 4 --gpus 2
    cat > "$shared/store.py" << 'END'
import datetime, os, sys
import torch
import torch.distributed as dist

case, soon = sys.argv[1], datetime.timedelta(seconds=3)
if case == "uninitialized":
    dist.all_reduce(torch.zeros(1))
elif case == "timeout":
    dist.TCPStore("127.0.0.1", int(os.environ["MASTER_PORT"]), 2, True, soon)
elif case == "nobody":
    dist.TCPStore("127.0.0.1", 1, 2, False, soon)
elif case == "mpi":
    dist.init_process_group("mpi")
else:
    dist.init_process_group("gloo", timeout=soon)
    if case == "twice":
        dist.init_process_group("gloo")
END
}

# explained ID|WORDS COMMAND...: it fails, and this is the first entry of what it has printed
explained()
{
    local expected=$1 first
    shift
    attempt 60 "$@"
    failed || return 1
    cat "$out" "$err" > "$shared/job.out"
    first=$("$ROLLCALL_PREFIX/bin/rollcall" explain --json "$shared/job.out" | jq -r '.found[0] | .id // .cause')
    [[ $first == "$expected"* ]] || explain "'$expected' is not the first entry: $first"
}

@test "torch's own failures -> their entries" {
    explained 'The script takes its rank from the environment' srun -N1 -n1 python "$shared/store.py" env
    explained '`init_process_group` was not called' srun --ddp -N1 -n1 python "$shared/store.py" uninitialized
    explained 'The script calls `init_process_group`, and a framework' srun --ddp -N1 -n1 python "$shared/store.py" twice
    explained 'One task never arrived.' srun --ddp -N1 -n1 python "$shared/store.py" timeout
    explained 'This task waits for rank 0' srun --ddp -N1 -n1 python "$shared/store.py" nobody
    explained 'The script asks for the backend' srun --ddp -N1 -n1 python "$shared/store.py" mpi
    explained 'The line goes on with `EADDRINUSE`' env MASTER_PORT=23456 MASTER_ADDR=n1 WORLD_SIZE=1 RANK=0 \
        srun -N1 -n2 -w n1 sh -c 'python "$0" env && sleep 10' "$shared/store.py"
}

@test "failures of torchrun, Lightning and gloo on their own -> their entries" {
    local alone=(env MASTER_ADDR=127.0.0.1 MASTER_PORT=23457 WORLD_SIZE=1 RANK=0)
    explained '`GLOO_SOCKET_IFNAME` names an interface' "${alone[@]}" GLOO_SOCKET_IFNAME=nosuch0 \
        srun -N1 -n1 python "$shared/store.py" env
    explained 'In a step of several nodes a script calls' srun -N1 -n1 torchrun --nnodes=2 --rdzv-backend=c10d \
        --rdzv-endpoint=127.0.0.1:23458 --rdzv-conf=join_timeout=5 "$shared/store.py" env
    explained '`--nproc_per_node=$SLURM_GPUS_PER_NODE`' srun -N1 -n1 torchrun --nproc-per-node=a100:2 "$shared/store.py" env
    explained '`devices` must be the number' srun -N1 --ntasks-per-node=1 python "$programs/lit.py" --devices=2 --num-nodes=1
    explained 'The same for nodes.' srun -N1 --ntasks-per-node=1 python "$programs/lit.py" --devices=1 --num-nodes=2
}

@test "Slurm's and the system's -> their entries" {
    explained 'The step asks for more' salloc -N1 -n1 srun -n64 true
    gcc -fsanitize=address -o "$shared/checked" -xc - <<< 'int main(void) { return 0; }'
    explained '`torchrun` or a script starts a program' srun -N1 -n1 \
        env LD_PRELOAD="$ROLLCALL_PREFIX/lib/librollcall-preload.so" "$shared/checked"
    explained '`--ddp worker` with a blank' srun --ddp worker -N1 -n1 true
    explained 'Each connection between two ranks' srun -N1 -n1 sh -c \
        'ulimit -n 10; exec python -c "import os; [os.dup(0) for i in range(20)]"'
    explained 'This is your script' srun -N1 -n1 python -c \
        'import argparse; argparse.ArgumentParser().parse_args()' --ddp
}

@test "rollcall's errors -> their ids" {
    explained RC407 env MASTER_ADDR=n2 srun --ddp -N1 -n2 -w n1 true
    explained RC201 srun --ddp=wrong -N1 -n1 true
    explained RC409 srun --ddp=addr=nosuch0 -N2 -n2 true
    explained RC711 srun --ddp=watch -N1 -n2 python -c 'import torch; raise RuntimeError("of both")'
}
