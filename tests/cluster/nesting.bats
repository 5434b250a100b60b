#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# nesting.bats - one launcher inside another: the innermost one's identity, whatever the others left behind.
#
# `; true` behind a command keeps its shell: the command is a child of the task and not the task's own process, which
# SLURM_TASK_PID names, so only the stamp and the process tree can tell.

load helpers

setup_file()
{
    needs_root || return 0
    cluster_up --nodes 2 --cpus 8 --mpi pmix
    # four tasks of an inner step say who they are: by a task's own process, and by a child of one
    printf '#!/bin/sh\nexec srun --overlap -m block --ntasks-per-node=2 -N2 -n4 "$@" rollcall exec -- "%s"\n' "$whoami" > "$shared/step"
    printf '#!/bin/sh\nexec srun --overlap -m block --ntasks-per-node=2 -N2 -n4 "$@" sh -c "rollcall exec -- %s; true"\n' "$whoami" > "$shared/step_child"
    printf '#!/bin/sh\nexec mpirun --oversubscribe -np 4 --map-by ppr:2:node rollcall exec -- "%s"\n' "$whoami" \
        > "$shared/mpi"
    # of the tasks of an outer launch the one with the rank $1 runs the rest
    # (the others stay: see whoami.py)
    printf '#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$SLURM_PROCID}" = "$1" ] || exec sleep 1\nshift\n"$@"\n' > "$shared/only"
    chmod 755 "$shared/step" "$shared/step_child" "$shared/mpi" "$shared/only"
}

@test "srun inside a task of mpirun" {
    attempt 60 salloc -N2 --ntasks-per-node=2 mpirun -np 4 --map-by ppr:2:node "$shared/only" 1 "$shared/step" --mpi=none
    everybody whoami n1=0,1 n2=2,3
}

@test "srun --mpi=pmix inside a task of mpirun" {
    [ "$mpi" = pmix ] || skip "this Slurm has no PMIx"
    attempt 60 salloc -N2 --ntasks-per-node=2 mpirun -np 4 --map-by ppr:2:node "$shared/only" 1 "$shared/step" --mpi=pmix
    everybody whoami n1=0,1 n2=2,3
}

@test "srun inside a task of mpirun, which rollcall has set up or not: children of the tasks" {
    answers 'whoami n1=0,1 n2=2,3' 60 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node "$shared/only" 1 "$shared/step_child" --mpi=none
    answers 'whoami n1=0,1 n2=2,3' 60 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node rollcall exec -- "$shared/only" 1 "$shared/step_child" --mpi=none
}

@test "rollcall show in a child of a task of srun inside a task of mpirun" {
    succeeds 60 salloc -N2 --ntasks-per-node=2 mpirun -np 4 --map-by ppr:2:node "$shared/only" 1 \
        srun --overlap --ntasks-per-node=1 -N2 -n2 --mpi=none sh -c 'rollcall show --json | grep launcher.:; true'
    [ "$(grep -c '"launcher": "slurm"' "$out")" = 2 ] || explain "not Slurm"
}

@test "mpirun inside a task of srun" {
    identifies 60 salloc -N2 --ntasks-per-node=2 srun -N1 -n1 --mpi=none "$shared/mpi"
}

@test "mpirun inside the last task of srun --ddp: the outer stamp" {
    answers 'whoami n2=0,1,2' 60 salloc -N2 --ntasks-per-node=2 srun --ddp=worker -n4 --mpi=none "$shared/only" 3 \
        mpirun --oversubscribe -np 3 --host n2:3 rollcall exec -- "$whoami"
}

@test "mpirun inside a task of srun that rollcall set up" {
    identifies 60 salloc -N2 --ntasks-per-node=2 srun -N1 -n1 --mpi=none rollcall exec --ddp=worker -- "$shared/mpi"
}

@test "srun in mpirun in srun" {
    answers 'whoami n1=0,1 n2=2,3' 60 salloc -N2 --ntasks-per-node=2 srun -N1 -n1 --ddp=worker --mpi=none \
        mpirun --oversubscribe -np 2 --host n1:2 rollcall exec -- "$shared/only" 1 "$shared/step_child" --mpi=none
}

@test "srun --ddp of a shell that starts srun: no rank and RC310; with a mode, ranks; in front of mpirun RC310" {
    attempt 60 salloc -N2 --ntasks-per-node=2 srun --ddp -N1 -n1 --mpi=none \
        sh -c 'echo "shell ${RANK-none}"; exec srun --overlap --mpi=none -N2 -n2 true'
    said '^shell none$'
    said 'warning RC310: the processes that srun starts .*; if the shell itself is a task, use --ddp=worker$'
    attempt 60 salloc -N2 --ntasks-per-node=2 srun --ddp=worker -N2 -n4 --mpi=none sh -c 'echo "shell $RANK"; srun --version'
    said '^shell 0$'
    said '^shell 3$'
    unsaid RC310
    answers 'whoami n1=0,1 n2=2,3' 60 salloc -N2 --ntasks-per-node=2 srun --ddp -N1 -n1 --mpi=none \
        sh -c "exec srun --overlap --mpi=none -m block -N2 -n4 --ntasks-per-node=2 rollcall exec -- $whoami"
    unsaid RC310
    # what starts nothing is a worker
    attempt 60 srun --ddp -N2 --ntasks-per-node=2 --mpi=none printenv RANK
    [ "$(grep -c '^[0-3]$' "$out")" = 4 ] || explain "not four ranks"
    attempt 60 salloc -N2 --ntasks-per-node=2 srun --ddp=worker -N1 -n1 --mpi=none \
        mpirun --oversubscribe -np 2 --host n1:2 sh -c 'echo "task ${RANK-none}"'
    said 'warning RC310: the processes that mpirun starts '
    [ "$(grep -c '^task none$' "$out")" = 2 ] || explain "not two tasks without a rank"
}

@test "torchrun inside tasks of srun" {
    succeeds 90 srun -N2 --ntasks-per-node=1 --mpi=none rollcall exec --ddp=launcher -- \
        torchrun --nproc-per-node 2 --no-python sh -c "rollcall show --json | grep launcher.:; exec rollcall exec -- $whoami"
    [ "$(grep -c '"launcher": "torchrun"' "$out")" = 4 ] || explain "not torchrun"
    everybody whoami world=4 nodes=2
}

# By its full name: Open MPI 5 puts the folder that it is in before PATH, where Debian has a torchrun, too.
@test "torchrun inside tasks of mpirun" {
    succeeds 90 salloc -N2 --ntasks-per-node=1 mpirun -np 2 --map-by ppr:1:node rollcall exec --ddp=launcher -- \
        "$(command -v torchrun)" --nproc-per-node 2 --no-python sh -c "rollcall show --json | grep launcher.:; exec rollcall exec -- $whoami"
    [ "$(grep -c '"launcher": "torchrun"' "$out")" = 4 ] || explain "not torchrun"
    everybody whoami world=4 nodes=2
}

@test "srun inside a worker of torchrun inside a task of srun" {
    attempt 90 salloc -N2 --ntasks-per-node=2 srun -N1 -n1 --mpi=none rollcall exec --ddp=launcher -- \
        torchrun --nproc-per-node 1 --no-python "$shared/step_child" --mpi=none
    everybody whoami n1=0,1 n2=2,3
}

@test "sbatch called inside a step: the batch script is no task" {
    batch_script <<< "rollcall exec -- '$whoami'; echo \"left: \$SLURM_STEP_NUM_TASKS \$PMIX_RANK\"; echo \"told: \$RANK\$MASTER_ADDR\$ROLLCALL_SCOPE.\""
    attempt 40 srun --ddp -N1 -n2 --mpi="$mpi" "$shared/only" 1 sbatch --wait -o "$shared/batch.out" "$shared/batch.sh"
    cp "$shared/batch.out" "$out"
    said "left: 2 $([ "$mpi" != pmix ] || echo 1)\$"
    # the plugin takes away what it had told that task
    said 'told: \.$'
    everybody nothing count=1
}

# bats test_tags=series
@test "sbatch called inside a task of mpirun: the batch script is no task" {
    batch_script <<< "rollcall exec -- '$whoami'; echo \"left: \$OMPI_COMM_WORLD_RANK\"; rollcall show | head -n 1"
    attempt 60 salloc -N2 --ntasks-per-node=1 \
        mpirun -np 4 --oversubscribe --map-by ppr:2:node "$shared/only" 3 sbatch -O --wait -o "$shared/batch.out" "$shared/batch.sh"
    cp "$shared/batch.out" "$out"
    said 'left: 3$'
    said '^launcher *Slurm'
    everybody nothing count=1
    # nor does that of one that rollcall had set up keep what it was told
    batch_script <<< "echo \"told: \$RANK\$MASTER_ADDR\$ROLLCALL_SCOPE.\"; rollcall show | head -n 1"
    attempt 60 salloc -N2 --ntasks-per-node=1 mpirun -np 4 --oversubscribe --map-by ppr:2:node \
        rollcall exec -- "$shared/only" 3 sbatch -O --wait -o "$shared/batch.out" "$shared/batch.sh"
    cp "$shared/batch.out" "$out"
    said 'told: \.$'
    said '^launcher *Slurm'
}

@test "rollcall exec inside rollcall exec" {
    attempt 40 srun -N2 --ntasks-per-node=2 --mpi=none rollcall exec -- rollcall exec -- sh -c "rollcall exec -- '$whoami'; true"
    everybody whoami n1=0,1 n2=2,3
}
