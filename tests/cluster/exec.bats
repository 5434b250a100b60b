#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# exec.bats - rollcall exec without the plugin: where there is a PMIx server, all ranks agree on a port that is held.

load helpers

cluster=(--nodes 2 --cpus 4)

# one_port SIZE: everybody was there, with one address and one port
one_port()
{
    local rank
    succeeded || return 1
    for ((rank = 0; rank < $1; rank++)); do
        [ "$(grep -c "^PORT rank=$rank " "$out")" = 1 ] || explain "rank $rank" || return 1
    done
    [ "$(sed -n 's/^PORT rank=[0-9]* \(addr=[^ ]* port=[0-9]*\).*/\1/p' "$out" | sort -u | wc -l)" = 1 ] ||
        explain "several ports"
}

held()
{
    said '^PORT rank=0 .* held$' || return 1
    said '^rollcall: master .*, port [0-9]+ \(held by rank 0, which sent it to all nodes'
}

computed()
{
    said '^rollcall: master .*, port [0-9]+ \(computed from the launch'
}

need_pmix()
{
    [ "$mpi" = pmix ] || skip "this Slurm has no PMIx"
}

# bats test_tags=series
@test "srun --mpi=pmix, two nodes: the port is held, and a stranger does not get it" {
    need_pmix
    attempt 60 srun -N2 --ntasks-per-node=2 --mpi=pmix rollcall exec -v -- python3 "$programs/port.py"
    one_port 4
    held
    unsaid 'RC6'
}

# bats test_tags=series
@test "srun --mpi=pmix: a server of another step and a second command change nothing" {
    need_pmix
    SLURM_ROLLCALL_SERVER='0123456789abcdef0123456789abcdef 1 1.0' attempt 60 srun -N2 --ntasks-per-node=2 --mpi=pmix \
        sh -c "rollcall exec -- true && rollcall exec -v -- python3 '$programs/port.py'"
    one_port 4
    computed
    unsaid 'RC6'
}

# bats test_tags=series
@test "srun --mpi=pmix: the program's own MPI_Init works after the nodes have met" {
    need_pmix
    succeeds 60 srun -N2 --ntasks-per-node=1 --mpi=pmix rollcall exec -v -- python3 "$programs/mpi.py"
    for rank in 0 1; do
        grep -qx "MPI rank=$rank size=2 sum=2 env=$rank" "$out" || explain "rank $rank" || return 1
    done
    said 'port [0-9]+ \(held by rank 0'
}

# bats test_tags=series
@test "srun --ddp: the plugin has done it, and rollcall exec leaves it" {
    attempt 60 srun --ddp -N2 --ntasks-per-node=2 rollcall exec -- python3 "$programs/port.py"
    one_port 4
    said '^PORT rank=0 .* held$'
    unsaid 'RC6'
}

# bats test_tags=series
@test "srun without PMIx: a computed port, and nobody waits" {
    attempt 60 srun -N2 --ntasks-per-node=2 --mpi=none rollcall exec --ddp=deadline=600 -v -- python3 "$programs/port.py"
    one_port 4
    computed
    unsaid 'RC6'
}

# bats test_tags=series
@test "mpirun on one node: two at once have two ports, both held" {
    # a folder each: started at the same moment, two mpiruns of Open MPI 4 may fail over the one that they share
    # ("orte_session_dir failed", seen once)
    mkdir "$shared/tmp.a" "$shared/tmp.b"
    from=n1 succeeds 60 sh -c "TMPDIR='$shared/tmp.a' mpirun --host n1:2 -np 2 rollcall exec -v -- \
        python3 '$programs/port.py' '$shared/exec.a' '$shared/exec.b' &
        TMPDIR='$shared/tmp.b' mpirun --host n1:2 -np 2 rollcall exec -v -- \
        python3 '$programs/port.py' '$shared/exec.b' '$shared/exec.a' & wait"
    [ "$(grep -c '^PORT rank=0 .* held$' "$out")" = 2 ] || explain "not two" || return 1
    # each is one port with two ranks
    [ "$(sed -n 's/^PORT .* port=\([0-9]*\).*/\1/p' "$out" | sort | uniq -c | grep -c '^ *2 ')" = 2 ] || explain "ports"
}

# bats test_tags=series
@test "mpirun on one node: a task that never comes is waited for a while, and named" {
    from=n1 attempt 60 mpirun --host n1:4 -np 4 sh -c '[ "$OMPI_COMM_WORLD_RANK" != 3 ] || exec sleep 5
        exec rollcall exec --ddp=deadline=12 -v -- python3 "$0"' "$programs/port.py"
    one_port 3
    computed
    said 'RC611.*only 3 of the 4 tasks were there within 6000 ms'
}

# bats test_tags=series
@test "mpirun on two nodes: a computed port, and nobody waits" {
    from=n1 attempt 60 mpirun "${over_rsh[@]}" -np 4 rollcall exec --ddp=deadline=600 -v -- python3 "$programs/port.py"
    one_port 4
    computed
    unsaid 'RC6'
    from=n1 attempt 60 mpirun "${over_rsh[@]}" -np 4 rollcall exec --ddp=exchange=pmix -v -- python3 "$programs/port.py"
    one_port 4
    computed
    said 'RC611.*several nodes can meet under srun --mpi=pmix alone'
}

# example NUMBER: what stands in rollcall(1), EXAMPLES, run as one script where a job can be had
example()
{
    local name=$shared/example.$1
    mkdir "$name"
    awk -v mark=cluster -v number="$1" -f "$tree/tests/examples.awk" "$ROLLCALL_PREFIX/share/man/man1/rollcall.1" \
        > "$name/script"
    [ -s "$name/script" ]
    # one write: the lines of two tasks of a node do not mix
    echo 'import os; os.write(1, "TRAINED {RANK} {WORLD_SIZE}\n".format(**os.environ).encode())' > "$name/train.py"
    attempt 90 env -C "$name" bash -euxo pipefail script
}

@test "rollcall(1): the examples that need a cluster" {
    example 1
    succeeded
    # three launches of four ranks
    [ "$(grep '^TRAINED' "$out" | sort | uniq -c | awk '{ print $1, $3, $4 }' | paste -sd,)" = '3 0 4,3 1 4,3 2 4,3 3 4' ] ||
        explain "not every rank three times"
    example 2
    succeeded
    said '^rank 3 on n2:'
    said '^ *why '
    [ "$(grep -xE '[0-3]' "$out")" = 3 ] || explain "not rank 3 alone"
}
