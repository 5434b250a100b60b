#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# lightning.bats - rows L1 to L5: Lightning under mpirun in a job and without Slurm, under srun, by itself.

load helpers

cluster=(--nodes 2 --cpus 4 --gpus 2 --mpi pmix)

# With --all under other series, too: as under salloc, which is.
@test "L1: mpirun in a batch job" {
    batch 150 -N2 --ntasks-per-node=2 \
        <<< "mpirun -np 4 --map-by ppr:2:node rollcall exec -- python $programs/lit.py"
    everybody ranks world=4 nodes=2
}

# demo.bats shows this one, too
# bats test_tags=all,newest
@test "L2: mpirun under salloc" {
    trains 150 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node rollcall exec -- python "$programs/lit.py"
}

# bats test_tags=all
@test "L2, L4, L5: without Slurm, from a salloc shell, pytorch_lightning, Fabric, torchrun" {
    from=n1 trains 150 mpirun "${over_rsh[@]}" -np 4 rollcall exec -- python "$programs/lit.py"
    trains 150 salloc -N2 --ntasks-per-node=1 --gpus-per-node=2 srun --ddp python "$programs/lit.py"
    trains 150 salloc -N2 --ntasks-per-node=2 mpirun -np 4 --map-by ppr:2:node \
        rollcall exec -- python "$programs/lit.py" --package pytorch_lightning
    trains 150 srun --ddp -N2 -n4 -c2 python "$programs/fabric.py"
    trains 150 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node rollcall exec -- python "$programs/fabric.py"
    trains 150 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 torchrun "$programs/lit.py"
}

# bats test_tags=series
@test "L3: srun --ddp without --ntasks-per-node" {
    trains 150 srun --ddp -N2 -n4 -c2 python "$programs/lit.py"
    # Lightning's requeueing needs its Slurm environment
    [ "$(grep -c 'environment=SLURMEnvironment' "$out")" -eq 4 ]
}

# bats test_tags=series
@test "L3: an uneven layout is named, with the option that cures it" {
    identifies 60 srun --ddp -N2 -n4 "$whoami"
    said 'RC301.*--ntasks-per-node'
    [ "$(grep -c RC301 "$err")" -eq 1 ]
}

@test "You set --ntasks=4: what the pages say instead of it, in the job script, trains; --ntasks=4 does not" {
    cure='#SBATCH --nodes=2 --ntasks-per-node=2'
    for page in README.md README.ja.md docs/symptoms.md; do
        grep -qF -e "$cure" "$tree/$page" || explain "$page has another cure"
    done
    batch 150 -N2 --ntasks=4 <<< "srun rollcall exec -- python $programs/lit.py"
    failed
    said 'You set .--ntasks=4.'
    said "RC301: 4 tasks are spread unevenly over 2 nodes \(3 here\); .*use 2 on each \(the job's --ntasks-per-node=2\)"
    batch 150 <<< "$cure"$'\n'"srun rollcall exec -- python $programs/lit.py"
    everybody ranks world=4 nodes=2
}

@test "L4, L5: Lightning starts its own workers, one task a node; pytorch_lightning without --ntasks-per-node" {
    trains 150 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 python "$programs/lit.py"
    trains 150 srun --ddp -N2 -n4 -c2 python "$programs/lit.py" --package pytorch_lightning
}
