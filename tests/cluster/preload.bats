#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# preload.bats - the third way in: LD_PRELOAD, nothing else changes in the job.

load helpers

cluster=(--nodes 2 --cpus 4 --gpus 2 --mpi pmix)
alone=compared

@test "preload: srun without --ddp" {
    trains 90 env LD_PRELOAD="$preload" srun -N2 --ntasks-per-node=2 python "$programs/env.py"
}

# bats test_tags=series
@test "preload: mpirun inside a job" {
    trains 90 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node -x LD_PRELOAD="$preload" python "$programs/env.py"
}

# bats test_tags=series
@test "preload: mpirun without Slurm" {
    from=n1 identifies 90 mpirun "${over_rsh[@]}" -np 4 -x LD_PRELOAD="$preload" "$whoami"
}

# bats test_tags=series
@test "preload and --ddp together: the same identity once" {
    identifies 90 env LD_PRELOAD="$preload" srun --ddp -N2 --ntasks-per-node=2 "$whoami"
}

# bats test_tags=series
@test "preload: ROLLCALL=off" {
    answers 'nothing count=4' 90 env ROLLCALL=off LD_PRELOAD="$preload" srun -N2 --ntasks-per-node=2 "$whoami"
}
