#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# mpi4py.bats - row M4: MPI and torch in one script. Row M7: submitit, which sets the variables itself.

load helpers

setup_file()
{
    needs_root || return 0
    python_of small
    cluster_up --nodes 2 --cpus 4 --gpus 2 --mpi pmix
}

equal_ranks()
{
    everybody ranks world=4 nodes=2 "$@" || return 1
    [ "$(grep -c ' equal=True ' "$out")" -eq 4 ] || explain "MPI's rank and torch's differ"
}

@test "mpi4py after a roll call over PMIx: MPI_Init finds its server as ever" {
    attempt 90 srun --ddp=exchange=pmix -N2 --ntasks-per-node=2 python "$ours/mpi_rank.py"
    equal_ranks n1=0,1 n2=2,3
    unsaid RC6
}

@test "mpi4py under srun --ddp and under mpirun inside a job, ranks by node in turn" {
    attempt 90 srun --ddp -N2 --ntasks-per-node=2 -m cyclic python "$ours/mpi_rank.py"
    equal_ranks n1=0,2 n2=1,3
    attempt 90 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by node rollcall exec -- python "$ours/mpi_rank.py"
    equal_ranks n1=0,2 n2=1,3
}

# bats test_tags=all
@test "mpi4py under mpirun without Slurm" {
    from=n1 attempt 90 mpirun "${over_rsh[@]}" -np 4 rollcall exec -- python "$ours/mpi_rank.py"
    equal_ranks n1=0,1 n2=2,3
}

# Lightning asks MPI as soon as mpi4py can be imported.
# bats test_tags=all
@test "Lightning beside mpi4py, under mpirun without Slurm" {
    from=n1 trains 150 mpirun "${over_rsh[@]}" -np 4 rollcall exec -- python "$programs/lit.py"
}

# MPI has one rank a node there, and no variable keeps Lightning from asking: the manual's first line is for that.
# bats test_tags=all
@test "Lightning beside mpi4py, one task a node: it takes MPI's ranks; one task a worker helps" {
    succeeds 150 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 python "$programs/lit.py"
    [ "$(grep -c 'world=2 .* environment=MPIEnvironment' "$out")" -eq 2 ]
    trains 150 srun --ddp -N2 --ntasks-per-node=2 --gpus-per-node=2 python "$programs/lit.py"
}

@test "submitit: nothing is set, and its own export works" {
    export SUBMITIT_EXECUTOR=slurm
    answers 'nothing count=4' 60 srun --ddp -N2 --ntasks-per-node=2 "$whoami"
    trains 60 srun --ddp -N2 --ntasks-per-node=2 python "$ours/submitit_export.py"
}

# MPI_Init of a task would join the launch, and Lightning calls it.
@test "--ddp=alone: MPI and Lightning beside mpi4py are a job of one, under srun and under mpirun" {
    attempt 90 srun --mpi=pmix -N2 -n2 rollcall exec --ddp=alone -- python "$ours/mpi_rank.py"
    succeeded
    [ "$(grep -c ' rank=0 world=1 .* equal=True ' "$out")" -eq 2 ] || explain "not two jobs of one"
    attempt 90 salloc -N2 --ntasks-per-node=1 mpirun -np 2 rollcall exec --ddp=alone -- python "$ours/mpi_rank.py"
    succeeded
    [ "$(grep -c ' rank=0 world=1 .* equal=True ' "$out")" -eq 2 ] || explain "not two jobs of one"
    attempt 90 srun --mpi=pmix -N1 -n1 rollcall exec --ddp=alone -- python "$programs/lit.py" --devices 1 --num-nodes 1
    everybody ranks world=1 nodes=1
}
