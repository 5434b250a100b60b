#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ipv6.bats - nodes that have IPv6 addresses and no other: n1 is fd00:77::2.

load helpers

cluster=(--nodes 2 --cpus 4 --mpi pmix --ipv6)
alone=compared

# The master address that all processes were told.
master()
{
    roll field "$out" MASTER_ADDR
}

# Open MPI 5.0.7's and 6's own daemons do not come up where there is no IPv4: mpirun crashes, or waits in vain.
mpirun_starts()
{
    attempt 30 salloc -N2 --ntasks-per-node=1 mpirun -np 2 --map-by ppr:1:node sleep 1
    [ "$status" -eq 0 ] || [ -z "${SERIES:-}" ] || skip "this Open MPI does not start on IPv6-only nodes"
}

@test "srun --ddp trains; an IPv6 address for torchrun" {
    answers 'ranks world=2 nodes=2' 60 srun --ddp -N2 -n2 python "$programs/torchrun_train.py"
    [ "$(roll field "$out" master)" = n1 ]
    answers 'ranks world=2 nodes=2' 90 srun --ddp=launcher,nproc=1,addr=eth0 -N2 --ntasks-per-node=1 \
        torchrun "$programs/torchrun_train.py"
    [ "$(roll field "$out" master)" = fd00:77::2 ]
}

@test "the nodes meet over each transport, also without the user's environment" {
    local transport
    for transport in srun "$mpi"; do
        [ "$transport" != none ] || continue
        succeeds 60 srun "--ddp=exchange=$transport" --export=NONE -N2 -n4 -c2 /bin/sh -c 'echo "port $MASTER_PORT"'
        silent
        [ "$(grep -c '^port' "$out")" -eq 4 ] || explain "not all tasks"
        [ "$(grep '^port [0-9]' "$out" | sort -u | wc -l)" -eq 1 ] || explain "not one port"
    done
}

@test "addr=IFNAME and addr=CIDR: an IPv6 address for MASTER_ADDR, which trains" {
    answers 'ranks world=2 nodes=2' 60 srun --ddp=addr=eth0 -N2 -n2 python "$programs/torchrun_train.py"
    [ "$(roll field "$out" master)" = fd00:77::2 ]
    identifies 30 srun --ddp=addr=fd00:77::/64 -N2 -n4 -c2 "$whoami"
    [ "$(master)" = fd00:77::2 ]
}

@test "mpirun in a job trains, and without Slurm everybody finds rank 0's node" {
    mpirun_starts
    answers 'ranks world=2 nodes=2' 60 salloc -N2 --ntasks-per-node=1 \
        mpirun -np 2 --map-by ppr:1:node rollcall exec -- python "$programs/torchrun_train.py"
    from=n1 identifies 60 mpirun "${over_rsh[@]}" -np 4 rollcall exec -- "$whoami"
}

@test "rank 0 holds its port against IPv6 and IPv4" {
    succeeds 30 srun --ddp -N2 -n2 python3 -c '
import os, socket
if os.environ["RANK"] == "0":
    for family, host in ((socket.AF_INET6, "::"), (socket.AF_INET6, "fd00:77::2"), (socket.AF_INET, "0.0.0.0")):
        with socket.socket(family) as s:
            try:
                s.bind((host, int(os.environ["MASTER_PORT"])))
                print("free for", host)
            except OSError as e:
                print("taken", host, e.errno)
'
    unsaid 'free for'
    [ "$(grep -c '^taken .* 98$' "$out")" -eq 3 ] || explain "not taken three times"
}

@test "no address of rank 0's node in the network: rollcall exec says which there are" {
    mpirun_starts
    fails 30 salloc -N2 --ntasks-per-node=1 \
        mpirun -np 2 --map-by ppr:1:node -x ROLLCALL=addr=fd00:77::3/128 rollcall exec -- "$whoami"
    said 'RC410: .*fd00:77::2'
}

@test "an IPv6 address that is another node's: rank 0 says so, in the preload too" {
    local mpirun_0=(OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=0
        OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_COMM_WORLD_NODE_RANK=0 OMPI_MCA_orte_num_nodes=2
        PMIX_NAMESPACE=1740701697 PMIX_RANK=0)
    local who=(sh -c 'echo "RANK=$RANK MASTER_ADDR=$MASTER_ADDR"')
    from=n2 fails 30 env "${mpirun_0[@]}" 'OMPI_MCA_orte_hnp_uri=1740701696.0;tcp6://[fd00:77::2]:5777' \
        rollcall exec -- "${who[@]}"
    said 'RC407: .* fd00:77::2 '
    from=n2 attempt 30 env "${mpirun_0[@]}" 'OMPI_MCA_orte_hnp_uri=1740701696.0;tcp6://[fd00:77::2]:5777' \
        LD_PRELOAD="$preload" "${who[@]}"
    said 'RC407: .* fd00:77::2 '
    said '^RANK= MASTER_ADDR=$'
    from=n2 attempt 30 env "${mpirun_0[@]}" 'OMPI_MCA_orte_hnp_uri=1740701696.0;tcp6://[fd00:77::3]:5777' \
        LD_PRELOAD="$preload" "${who[@]}"
    said '^RANK=0 MASTER_ADDR=fd00:77::3$'
}
