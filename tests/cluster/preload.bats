#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# preload.bats - the third way in: LD_PRELOAD, nothing else changes in the job.

load helpers

setup_file()
{
    needs_root || return 0
    cluster_up --nodes 2 --cpus 4 --gpus 2 --mpi pmix
    loss=$(login python "$programs/toy.py" | sed -n 's/.* loss=\([^ ]*\) .*/\1/p')
    export loss
}

@test "preload: srun without --ddp" {
    attempt 90 env LD_PRELOAD="$preload" srun -N2 --ntasks-per-node=2 python "$programs/env.py"
    everybody ranks world=4 nodes=2 loss="$loss"
}

# bats test_tags=series
@test "preload: mpirun inside a job" {
    attempt 90 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node -x LD_PRELOAD="$preload" python "$programs/env.py"
    everybody ranks world=4 nodes=2 loss="$loss"
}

# bats test_tags=series
@test "preload: mpirun without Slurm" {
    from=n1 attempt 90 mpirun "${over_rsh[@]}" -np 4 -x LD_PRELOAD="$preload" "$whoami"
    everybody whoami world=4 nodes=2
}

# bats test_tags=series
@test "preload and --ddp together: the same identity once" {
    attempt 90 env LD_PRELOAD="$preload" srun --ddp -N2 --ntasks-per-node=2 "$whoami"
    everybody whoami world=4 nodes=2
}

# bats test_tags=series
@test "preload: ROLLCALL=off" {
    attempt 90 env ROLLCALL=off LD_PRELOAD="$preload" srun -N2 --ntasks-per-node=2 "$whoami"
    everybody nothing count=4
}
