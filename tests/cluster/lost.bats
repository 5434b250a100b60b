#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# lost.bats - what rollcall sets, and a program does not get or gets otherwise; and a port that nodes compute alike.

# bats file_tags=series

load helpers

cluster=(--nodes 2 --cpus 4)

@test "a container that passes no variables: --ddp and exec print one line, and it starts" {
    printf '#!/bin/sh\nenv -i true\n' > "$shared/apptainer"
    chmod 755 "$shared/apptainer"
    for launch in 'srun --ddp' 'srun rollcall exec --'; do
        succeeds 30 ${launch/srun/srun -N2 -n2} "$shared/apptainer" exec --cleanenv image.sif python train.py
        said 'RC506: apptainer --cleanenv keeps RANK and all other variables of rollcall from the program; leave --cleanenv out'
        [ "$(cat "$out" "$err" | grep -c RC506)" -eq 1 ] || explain 'not one line'
    done
}

@test "show in a task: numbers that env or a TaskProlog has changed, and a master that it removed -> RC507" {
    printf '#!/bin/sh\necho export RANK=99\necho unset MASTER_ADDR\n' > "$shared/prolog"
    chmod 755 "$shared/prolog"
    attempt 30 srun --ddp -N2 -n2 env RANK=99 rollcall show
    said "warning RC507: RANK is '99' and not 1, "
    attempt 30 srun --ddp -N2 -n2 --task-prolog="$shared/prolog" rollcall show
    said "warning RC507: RANK is '99' and not 0, MASTER_ADDR is '' and not a host, "
    attempt 30 srun -N2 -n2 rollcall exec -- env WORLD_SIZE=4 MASTER_PORT=29500 rollcall show
    said "warning RC507: WORLD_SIZE is '4' and not 2, "
    said "MASTER_PORT is '29500' and not"
    attempt 30 srun --ddp -N2 -n2 rollcall show
    unsaid RC507
}

@test "nodes with different ip_local_port_range: one MASTER_PORT, without PMIx, without an exchange, and by the preload" {
    local print='echo "PORT $MASTER_PORT"' launch
    for launch in 'srun --mpi=none -N2 -n2 rollcall exec --' 'srun --ddp=exchange=off -N2 -n2' \
        "srun --mpi=none -N2 -n2 env ROLLCALL=auto LD_PRELOAD=$preload"; do
        on n1 sh -c 'echo 1024 65000 > /proc/sys/net/ipv4/ip_local_port_range'
        attempt 30 $launch sh -c "$print"
        on n1 sh -c 'echo 32768 60999 > /proc/sys/net/ipv4/ip_local_port_range'
        succeeded
        [ "$(grep -c '^PORT [0-9]' "$out")" -eq 2 ] || explain 'not two ports'
        [ "$(grep '^PORT' "$out" | sort -u | wc -l)" -eq 1 ] || explain 'two ports'
    done
}
