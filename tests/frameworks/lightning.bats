#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# lightning.bats - rows L1 to L5 with Lightning 2.1, the oldest that starts with this torch.

load helpers

setup_file()
{
    needs_root || return 0
    python_of lightning-2.1
    cluster_up --nodes 2 --cpus 4 --gpus 2 --mpi pmix
}

@test "the version is 2.1" {
    attempt 60 python -c 'from importlib.metadata import version
print(version("lightning"), version("pytorch_lightning"))'
    said '^2\.1\.0 2\.1\.0$'
}

# bats test_tags=all
@test "L1, L2, L4, L5: mpirun, its own workers, pytorch_lightning, Fabric, torchrun" {
    batch 150 -N2 --ntasks-per-node=2 \
        <<< "mpirun -np 4 --map-by ppr:2:node rollcall exec -- python $programs/lit.py"
    everybody ranks world=4 nodes=2
    from=n1 trains 150 mpirun "${over_rsh[@]}" -np 4 rollcall exec -- python "$programs/lit.py"
    trains 150 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 python "$programs/lit.py"
    trains 150 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 \
        python "$programs/lit.py" --package pytorch_lightning
    trains 150 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node rollcall exec -- python "$programs/fabric.py"
    trains 150 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 torchrun "$programs/lit.py"
}

@test "L3: srun --ddp without --ntasks-per-node" {
    trains 150 srun --ddp -N2 -n4 -c2 python "$programs/lit.py"
    [ "$(grep -c 'environment=SLURMEnvironment' "$out")" -eq 4 ]
}
