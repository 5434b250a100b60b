#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# mpich.bats - row M3: MPICH's mpiexec (Hydra) starts the processes, the script knows env:// only.
#
# Programs are called by their full names: what mpiexec and mpirun are, Debian's alternatives decide.

load helpers

setup_file()
{
    needs_root || return 0
    # tests/run --all puts it there
    [ -z "${SERIES:-}" ] || [ -e "$root/usr/bin/mpiexec.mpich" ] ||
        leave_out "the root folder of Slurm $SERIES has Open MPI alone" || return 0
    cluster_up --nodes 3 --cpus 4 --gpus 2 --mpi pmix
    # as ssh is called: options, a host, a command line
    printf '#!/bin/sh\nwhile case $1 in -*) ;; *) false ;; esac; do shift; done\nexec "%s" rsh "$@"\n' \
        "$minicluster" > "$shared/ssh"
    printf 'n2:2\nn1:2\n' > "$shared/hosts"
    # of the tasks of an outer launch the one with rank 1 runs the rest
    # (without what Slurm 24.11 gives to mpiexec's proxies: srun would start one task a node, whatever it is told)
    printf '#!/bin/sh\nunset SLURM_EXTERNAL_LAUNCHER\n[ "${PMI_RANK:-$SLURM_PROCID}" != 1 ] || "$@"\n' > "$shared/only"
    chmod 755 "$shared/ssh" "$shared/only"
    train_alone
    unset -v HYDRA_HOST_FILE HYDRA_LAUNCHER HYDRA_RMK
}

over_ssh()
{
    attempt 60 mpiexec.mpich -launcher ssh -launcher-exec "$shared/ssh" "$@"
}

@test "M3: mpiexec inside a job" {
    trains 60 salloc -N2 --ntasks-per-node=2 mpiexec.mpich -np 4 rollcall exec -- python "$programs/env.py"
}

@test "M3: mpiexec inside a job, ranks by node in turn, uneven, in a batch script" {
    attempt 60 salloc -N2 --ntasks-per-node=2 mpiexec.mpich -ppn 1 -np 4 rollcall exec -- "$whoami"
    everybody whoami n1=0,2 n2=1,3
    answers 'whoami n1=0,1 n2=2,3 n3=4' 60 salloc -N3 --ntasks-per-node=2 mpiexec.mpich -np 5 rollcall exec -- "$whoami"
    batch 60 -N2 --ntasks-per-node=2 <<< "mpiexec.mpich -np 4 rollcall exec -- '$whoami'"
    everybody whoami n1=0,1 n2=2,3
}

@test "M3: mpiexec in a job of salloc --ddp: the proxies' step gets nothing of it, and rollcall exec all" {
    answers 'nothing count=4' 60 salloc --ddp -N2 --ntasks-per-node=2 mpiexec.mpich -np 4 "$whoami"
    attempt 60 salloc --ddp -N2 --ntasks-per-node=2 mpiexec.mpich -np 4 rollcall exec -- "$whoami"
    everybody whoami n1=0,1 n2=2,3
}

@test "M3: mpiexec without Slurm" {
    from=n1 over_ssh -hosts n1:2,n2:2 -np 4 rollcall exec -- python "$programs/env.py"
    everybody ranks world=4 nodes=2
}

@test "M3: mpiexec without Slurm, the first host is not the first node, three nodes in turn" {
    from=n2 over_ssh -f "$shared/hosts" -np 4 rollcall exec -- "$whoami"
    everybody whoami n2=0,1 n1=2,3
    from=n1 over_ssh -hosts n1,n2,n3 -ppn 1 -np 6 rollcall exec -- "$whoami"
    everybody whoami n1=0,3 n2=1,4 n3=2,5
}

@test "M3: mpiexec on a node without rank 0: what to add is said, and helps" {
    from=n1 over_ssh -f "$shared/hosts" -np 4 rollcall exec -- sleep 1
    failed
    said 'RC407.*-genv MASTER_ADDR HOST'
    from=n1 over_ssh -f "$shared/hosts" -genv MASTER_ADDR n2 -np 4 rollcall exec -- "$whoami"
    everybody whoami n2=0,1 n1=2,3
}

@test "M3: a file of hosts that mpiexec takes from the environment names rank 0's" {
    from=login HYDRA_HOST_FILE=$shared/hosts over_ssh -np 4 rollcall exec -- python "$programs/env.py"
    everybody ranks world=4 nodes=2
}

@test "M3: uneven without Slurm: nobody starts, and it is said why" {
    from=n1 over_ssh -hosts n1:2,n2:1 -np 3 rollcall exec -- "$whoami"
    failed
    said 'RC110.*mpiexec -ppn N'
}

@test "M3: mpiexec on one node" {
    from=n3 answers 'whoami world=3 nodes=1' 60 mpiexec.mpich -np 3 rollcall exec -- "$whoami"
    grep -q '"MASTER_ADDR": *"127.0.0.1"' "$out" || grep -q 127.0.0.1 "$out" || explain "not the loopback address"
}

@test "srun inside a task of mpiexec" {
    answers 'whoami n1=0,1 n2=2,3' 60 salloc -N2 --ntasks-per-node=2 mpiexec.mpich -np 4 "$shared/only" \
        srun --overlap --mpi=none -m block -N2 --ntasks-per-node=2 -n4 rollcall exec -- "$whoami"
}

@test "srun inside a task of mpiexec that rollcall set up: children of the tasks" {
    attempt 60 salloc -N2 --ntasks-per-node=2 mpiexec.mpich -np 4 rollcall exec -- "$shared/only" \
        srun --overlap --mpi=none -m block -N2 --ntasks-per-node=2 -n4 sh -c "rollcall exec -- $whoami; true"
    everybody whoami n1=0,1 n2=2,3
}

@test "mpiexec inside a task of srun and of mpirun, mpirun inside a task of mpiexec" {
    answers 'whoami n1=0,1 n2=2,3' 60 salloc -N2 --ntasks-per-node=2 srun --mpi=none -N1 -n1 --overlap \
        mpiexec.mpich -launcher ssh -launcher-exec "$shared/ssh" -hosts n1:2,n2:2 -np 4 rollcall exec -- "$whoami"
    answers 'whoami n1=0,1 n2=2,3' 60 salloc -N2 --ntasks-per-node=2 mpirun.openmpi -np 1 \
        mpiexec.mpich -launcher ssh -launcher-exec "$shared/ssh" -hosts n1:2,n2:2 -np 4 rollcall exec -- "$whoami"
    from=n1 identifies 60 mpiexec.mpich -np 1 mpirun.openmpi "${over_rsh[@]}" -np 4 rollcall exec -- "$whoami"
}

@test "mpiexec and srun --mpi=pmi2 inside each other, no process in sight -> the inner launch, or RC127" {
    hidden=(unshare --pid --fork --mount-proc rollcall exec --)
    attempt 60 srun --mpi=pmi2 -N1 -n2 "$shared/only" mpiexec.mpich -launcher fork -np 4 "${hidden[@]}" "$whoami"
    everybody whoami n1=0,1,2,3
    attempt 60 salloc -N1 -n4 mpiexec.mpich -launcher fork -np 3 "$shared/only" srun --mpi=pmi2 -n4 "${hidden[@]}" "$whoami"
    everybody whoami n1=0,1,2,3
    # the rank and size of both launches: nothing that the task sees tells them apart
    attempt 60 srun --mpi=pmi2 -N1 -n2 "$shared/only" mpiexec.mpich -launcher fork -np 2 "${hidden[@]}" "$whoami"
    failed
    said 'error RC127: PMI_RANK 1 of 2 can be'
}
