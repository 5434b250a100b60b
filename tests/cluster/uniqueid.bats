#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# uniqueid.bats - the ranks of several nodes get one NCCL id from rollcall, and NCCL's own root in rank 0 answers them.
# And what each of them says.

load helpers
load faults

setup_file()
{
    needs_root || return 0
    export nccl=${ROLLCALL_NCCL:-$tree/build/nccl} ring=$programs/unique_id.py bind=()
    [ -e "$nccl/libnccl.so.2" ] || leave_out 'there is no NCCL' || return 0
    # what is outside of the tree is seen by nodes that have another / only if they are told
    case ${SERIES:+$nccl} in
        '' | "$tree"/*) ;;
        *) bind=(--bind "$nccl") ;;
    esac
    cluster_up --nodes 2 --cpus 16 --mpi pmix "${bind[@]}"
    export LD_LIBRARY_PATH=$nccl PYTHONPATH=$ROLLCALL_PREFIX/share/rollcall/python
}

# alike COUNT [PROGRAMS]: so many ranks say the same ids, each program's others, and none of them twice
alike()
{
    local ids
    succeeded || return 1
    [ "$(grep -c '^unique ' "$out")" -eq $(($1 * ${2:-1})) ] || explain "not $1 ranks" || return 1
    [ "$(sed -n 's/^unique \([0-9]*\) of .*/\1/p' "$out" | sort -u | wc -l)" -eq "$1" ] || explain 'ranks are missing' ||
        return 1
    ids=$(sed -n 's/^unique .*, //p' "$out" | sort -u)
    [ "$(wc -l <<< "$ids")" -eq "${2:-1}" ] || explain 'ranks have different ids' || return 1
    [ -z "$(tr ' ' '\n' <<< "$ids" | sort | uniq -d)" ] || explain 'an id is there twice'
}

# bats test_tags=series
@test "srun --ddp: srun's server tells the ids, to each program of a task others" {
    attempt 100 srun --ddp=exchange="$([ "$mpi" = none ] && echo auto || echo srun)" -N2 --ntasks-per-node=2 sh -c '
        python "$0" 2 && exec python "$0" 2' "$ring"
    alike 4 2
    nothing_remains
}

# bats test_tags=series
@test "srun --mpi=pmix, with rollcall or without: PMIx tells where rank 0's store server is" {
    if [ "$mpi" = none ]; then
        fails 60 srun -N2 -n2 python -c 'import rollcall; rollcall.nccl_unique_id()'
        said 'RC616: rank 1: rollcall_nccl_unique_id: no way to the other tasks: .*; start them with srun --ddp'
        return 0
    fi
    attempt 100 srun --ddp=exchange=pmix -N2 --ntasks-per-node=2 python "$ring" 3
    alike 4
    attempt 100 srun -N2 --ntasks-per-node=2 sh -c 'python "$0" 1 && python "$0" 1' "$ring"
    alike 4 2
    # its store servers stay for some seconds: the next test waits for their end
}

@test "rank 0 comes late, or never" {
    # nobody waits for a time: rank 0 comes when another one says that it is about to ask
    attempt 60 srun --ddp -N2 -n2 sh -c '
        if [ "$SLURM_PROCID" -eq 0 ]; then
            until [ -e "$1/asks" ]; do sleep 0.05; done
        else
            : > "$1/asks"
        fi
        exec python "$0" 1' "$ring" "$shared"
    alike 2
    fails 60 srun --ddp -N2 -n2 sh -c '
        [ "$SLURM_PROCID" -ne 0 ] || exit 0
        exec python -c "import rollcall; rollcall.nccl_unique_id(timeout=1)"'
    said 'Timeout: RC617: rank 1: rollcall_nccl_unique_id: rank 0 did not make this call within 1 s; '
    nothing_remains
}

# gathers COUNT LAUNCH...: every one of so many ranks has what all of them say
gathers()
{
    attempt 120 "${@:2}" python -c 'import os, rollcall
me = rollcall.identity()
got = rollcall.allgather("all", os.uname().nodename.encode() * me.rank, timeout=100)
nodes = {one[:2] for one in got[1:]}
assert [len(one) for one in got] == [2 * rank for rank in range(me.world_size)] and nodes <= {b"n1", b"n2"}, got
os.write(1, b"gathered %d of %d\n" % (me.rank, len(got)))'
    succeeded || return 1
    [ "$(grep -cE "^gathered [0-9]+ of $1\$" "$out")" -eq "$1" ] || explain "not $1 ranks have gathered"
}

# bats test_tags=series
@test "allgather: 2 to 64 tasks, by srun's server and over PMIx" {
    for tasks in 2 8 64; do
        gathers $tasks srun --ddp=exchange="$([ "$mpi" = none ] && echo auto || echo srun)" -N2 -n$tasks --overcommit
        [ "$mpi" = none ] || gathers $tasks srun --mpi=pmix -N2 -n$tasks --overcommit
    done
}

@test "allgather: all tasks name the one that never comes, and its node" {
    late='import os, rollcall
rollcall.allgather("begun", b"", timeout=100)
try:
    os.environ["SLURM_PROCID"] == "3" or rollcall.allgather("all", b"", timeout=20)
except rollcall.Timeout as error:
    os.write(1, b"%s\n" % str(error).encode())
rollcall.broadcast("over", b"", timeout=100)'
    attempt 120 srun --ddp=exchange="$([ "$mpi" = none ] && echo auto || echo srun)" -N2 -n4 python -c "$late"
    [ "$(grep -cE '^RC617: rank [0-2]: rollcall_allgather\("all"\): rank 3 on n2 did not make this call within 20 s; ' "$out")" -eq 3 ] ||
        explain 'not three ranks name it'
    [ "$mpi" != none ] || return 0
    attempt 120 srun --mpi=pmix -N2 -n4 python -c "$late"
    [ "$(grep -cE '^RC617: rank [0-2]: rollcall_allgather\("all"\): rank 3 did not make this call within 20 s; ' "$out")" -eq 3 ] ||
        explain 'not three ranks name it over PMIx'
}

# bats test_tags=all
@test "torchrun on two nodes: its workers meet at srun's server, those of one node among themselves" {
    attempt 120 srun --ddp=launcher,nproc=2 -N2 --ntasks-per-node=1 torchrun "$ring" 2
    alike 4
    succeeds 120 srun --ddp=exchange=srun -N2 --ntasks-per-node=1 torchrun --standalone --nproc-per-node 2 "$ring" 1
    [ "$(sed -n 's/^unique .* of 2, //p' "$out" | sort | uniq -c | awk '$1 == 2' | wc -l)" -eq 2 ] ||
        explain 'not two launches of their own'
    nothing_remains
}
