#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# --ddp=alone, on each environment that was recorded: tests/cluster/alone.bats and tests/frameworks have the real programs.

load helper

setup_file()
{
    unpack_vectors
}

# Of the process itself, and of a rollcall in it, which has only what the first one left.
@test "alone: each recorded environment -> rank 0 of 1, also for a later rollcall" {
    python3 - "$rollcall" "$vectors" <<'PYTHON'
import glob, json, os, subprocess, sys

rollcall, vectors = sys.argv[1:]
names = sorted(glob.glob(vectors + "/*.env"))
assert len(names) > 300, len(names)
for name in names:
    with open(name, errors="surrogateescape") as file:
        lines = [line for line in file.read().split("\n") if "=" in line and line[0] not in "#@ "]
    env = dict(line.split("=", 1) for line in lines)
    env = {key: value for key, value in env.items() if key not in ("ROLLCALL", "LD_PRELOAD", "PYTHONPATH")}
    env["PATH"] = os.environ["PATH"]
    done = subprocess.run([rollcall, "exec", "--ddp=alone", "--", "sh", "-c", '"$0" show --json && env', rollcall],
                          env=env, capture_output=True, errors="surrogateescape")
    assert done.returncode == 0 and not done.stderr, (name, done)
    shown, end = json.JSONDecoder().raw_decode(done.stdout)
    assert shown["launcher"] == "alone" and shown["messages"] == [], (name, shown)
    assert (shown["identity"]["rank"], shown["identity"]["world_size"], shown["identity"]["nnodes"]) == (0, 1, 1), name
    left = dict(line.split("=", 1) for line in done.stdout[end:].split("\n") if "=" in line)
    assert (left["RANK"], left["WORLD_SIZE"], left["MASTER_ADDR"]) == ("0", "1", "127.0.0.1") \
        or shown["mode"] == "launcher" and "RANK" not in left, (name, left)
    for key in left:
        assert not key.startswith(("PMIX_", "PMI_", "OMPI_COMM_WORLD_", "SLURM_STEP_ID")), (name, key)
        assert not key.endswith("_RANK") or key in ("PET_NODE_RANK", "ROLE_RANK") or left[key] == "0", (name, key, left[key])
PYTHON
}

# None of its numbers came from the launch.
@test "alone: every task holds a port of its own, and what the script exported for the job does not count" {
    for task in "${task_0[*]}" "${task_3[*]}"; do
        run --separate-stderr env $task MASTER_ADDR=192.0.2.9 MASTER_PORT=29500 JAX_COORDINATOR_ADDRESS=n9:1 \
            "$rollcall" exec --ddp=alone -- sh -c 'echo $MASTER_ADDR $MASTER_PORT $JAX_COORDINATOR_ADDRESS; sleep 0.2'
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
        [[ $output =~ ^127\.0\.0\.1\ ([0-9]+)\ 127\.0\.0\.1:([0-9]+)$ ]]
        [ "${BASH_REMATCH[1]}" -ne 29500 ]
        [ "${BASH_REMATCH[2]}" -eq $((BASH_REMATCH[1] + 1)) ]
    done
}

@test "alone: several GPUs -> no LOCAL_RANK, so that Lightning starts its workers; nproc=1 sets it; nproc=2 is launcher mode" {
    numbers='echo rank=$RANK local=$LOCAL_RANK pet=$PET_NPROC_PER_NODE ids=$JAX_LOCAL_DEVICE_IDS'
    run -0 env "${task_0[@]}" CUDA_VISIBLE_DEVICES=0,1 "$rollcall" exec --ddp=alone -- sh -c "$numbers"
    [ "$output" = 'rank=0 local= pet= ids=0,1' ]
    run -0 env "${task_0[@]}" CUDA_VISIBLE_DEVICES=0,1 "$rollcall" exec --ddp=alone,nproc=1 -- sh -c "$numbers"
    [ "$output" = 'rank=0 local=0 pet= ids=' ]
    run -0 env "${task_0[@]}" CUDA_VISIBLE_DEVICES=0,1 "$rollcall" exec --ddp=alone,nproc=2 -- sh -c "$numbers"
    [ "$output" = 'rank= local= pet=2 ids=0,1' ]
    run -0 env "${task_0[@]}" CUDA_VISIBLE_DEVICES=1 "$rollcall" exec --ddp=alone -- sh -c "$numbers"
    [ "$output" = 'rank=0 local=0 pet= ids=' ]
}

@test "alone: more variables than a plan has room for -> RC502 names the number" {
    many=()
    for i in {1..140}; do many+=("PMIX_T$i=x"); done
    run -1 --separate-stderr env "${task_0[@]}" "${many[@]}" "$rollcall" exec --ddp=alone -- true
    [[ $stderr == *'RC502: more than 128 variables have to be set or unset; nothing is set; '* ]]
}
