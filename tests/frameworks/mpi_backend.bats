#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# mpi_backend.bats - row T6 with torch's mpi backend: MPI numbers the processes, and RANK must be the same.
#
# PyPI's torch has no mpi backend, Debian 13's has: the nodes are those of that root folder (Slurm 24.11, Open
# MPI 5), and so is their Python.

# bats file_tags=all

export SERIES=24.11
load helpers

cluster=(--nodes 2 --cpus 4)

pairs=(/usr/bin/python3 "$ours/pairs.py" mpi)

every_pair()
{
    everybody ranks world=4 nodes=2 "$@" || return 1
    [ "$(grep -cE ' rank=([0-9]+) .* pairs=6 backend=mpi launcher=\1 env=\1 ' "$out")" -eq 4 ] || explain "not MPI's ranks"
}

# Nobody reads RANK there: what is shown is that it says the same as MPI.
@test "T6: backend mpi under srun --ddp, ranks by node in turn" {
    attempt 120 srun --ddp --mpi=pmix -N2 --ntasks-per-node=2 -m cyclic "${pairs[@]}"
    every_pair n1=0,2 n2=1,3
}

@test "T6: backend mpi under mpirun inside a job; without Slurm, with rank 0's host, of which Open MPI 5 says nothing" {
    attempt 120 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node rollcall exec -- "${pairs[@]}"
    every_pair n1=0,1 n2=2,3
    from=n1 attempt 120 mpirun "${over_rsh[@]}" -x MASTER_ADDR=n1 -np 4 --map-by ppr:2:node \
        rollcall exec -- "${pairs[@]}"
    every_pair n1=0,1 n2=2,3
}
