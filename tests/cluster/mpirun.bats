#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# mpirun.bats - row M2: Open MPI starts one process a GPU, the script knows env:// only.

load helpers

cluster=(--nodes 3 --cpus 4 --gpus 2 --mpi pmix)
alone=compared

# bats test_tags=series
@test "M2: mpirun inside a job" {
    trains 120 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node rollcall exec -- python "$programs/env.py"
}

# bats test_tags=series
@test "M2: in a job of salloc --ddp the daemons' step gets nothing of it, and rollcall exec all" {
    answers 'nothing count=4' 60 salloc --ddp -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node "$whoami"
    answers 'whoami n1=0,1 n2=2,3' 60 salloc --ddp -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node rollcall exec -- "$whoami"
}

@test "M2: mpirun without Slurm" {
    from=n1 trains 120 mpirun "${over_rsh[@]}" -np 4 rollcall exec -- python "$programs/env.py"
}

# bats test_tags=series
@test "M2: mpirun without Slurm, on a node that is not the first of the hosts, and on one without tasks" {
    from=n2 attempt 30 mpirun "${over_rsh[@]}" -np 4 rollcall exec -- "$whoami"
    # Open MPI 6 goes by the order of the hosts, where 4 and 5 begin with mpirun's own
    everybody whoami world=4 nodes=2
    identifies 60 mpirun "${over_rsh[@]}" -np 4 rollcall exec -- "$whoami"
    # the preload asks nobody; Open MPI 4 tells its tasks the daemons' hosts
    attempt 60 mpirun "${over_rsh[@]}" -np 4 -x LD_PRELOAD="$preload" "$whoami"
    if [ -n "${SERIES:-}" ]; then
        said 'RC110: .*mpirun --map-by ppr:N:node rollcall exec -- COMMAND'
    else
        everybody whoami world=4 nodes=2
    fi
    identifies 60 mpirun "${over_rsh[@]}" -np 4 -x MASTER_ADDR=n1 rollcall exec -- "$whoami"
}

# bats test_tags=series
@test "M2: ranks by node in turn; uneven, on more than two nodes" {
    answers 'whoami n1=0,2 n2=1,3' 60 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by node rollcall exec -- "$whoami"
    answers 'whoami n1=0,1 n2=2,3 n3=4' 60 salloc -N3 --ntasks-per-node=2 mpirun -np 5 rollcall exec -- "$whoami"
}

# Open MPI 5 and 6 end a job of which some tasks have asked the PMIx server, and others not.
# bats test_tags=series
@test "M2: mpirun without Slurm on three nodes" {
    from=n1 attempt 60 mpirun "${over_rsh[@]/n2:2/n2:2,n3:2}" -np 6 rollcall exec -- "$whoami"
    everybody whoami n1=0,1 n2=2,3 n3=4,5
}

@test "M2: mpirun on one node" {
    answers 'whoami world=4 nodes=1' 60 salloc -N1 --ntasks-per-node=4 mpirun -np 4 rollcall exec -- "$whoami"
}

# bats test_tags=series
@test "M2: rollcall exec ends with its command's exit status" {
    attempt 60 salloc -N1 -n2 mpirun -np 2 rollcall exec -- sh -c 'sleep 1; exit 7'
    [ "$status" -eq 7 ]
}
