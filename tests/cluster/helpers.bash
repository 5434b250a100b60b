# SPDX-License-Identifier: BSD-3-Clause
# helpers.bash - what the cluster tests share: one cluster a file, jobs with a deadline, lines read back.
#
# ROLLCALL_PREFIX is an installed tree (bin/rollcall, lib/slurm/rollcall.so, lib/librollcall-preload.so),
# PYTHON an interpreter with torch and Lightning. With SERIES, such as 24.11, the nodes have that Slurm and the
# mpirun of its root folder (contrib/minicluster/make-root), and the plugin that was built for it,
# lib/slurm-24.11/rollcall.so (tests/series.bash); Python and torch are the same.
#
#   cluster=(ARG...)      at the head of a file: what its cluster_up gets; alone=compared: and train_alone
#   cluster_up ARG...     in a setup_file of its own: a cluster with the plugin (minicluster up ARG...), $shared, a
#                         folder that all nodes see, and $mpi, pmix where Slurm has it, else none; plugin=no leaves
#                         the plugin out
#   on NODE CMD, login CMD   runs CMD there
#   cluster_down          fails if a job drained a node; a file with its own teardown_file calls it there
#   attempt SECONDS CMD   runs CMD on the login node, or on $from: $status, and the files $out and $err
#   everybody, said ...   what must be true of it; each explains a failure
#   succeeds, fails       attempt, and how it must end
#   answers WHAT          attempt, and what everybody must be: answers 'whoami n1=0,1 n2=2,3' SECONDS CMD
#   trains, identifies    attempt, and what most launches here must do: four ranks on two nodes train, or know themselves

bats_require_minimum_version 1.5.0

# beside this file, for tests in other folders too
cluster_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=${cluster_tests%/*/*}
programs=$cluster_tests/programs
minicluster=$tree/contrib/minicluster/minicluster
# shellcheck source=tests/prefix.bash
. "$tree/tests/prefix.bash"
# Open MPI without Slurm; what a shell that ssh starts would have set comes with -x.
over_rsh=(--host "n1:2,n2:2" -x PATH -x OMP_NUM_THREADS -x PYTHONDONTWRITEBYTECODE)
if [ -n "${SERIES:-}" ]; then
    # from Open MPI 5 on
    over_rsh=(--prtemca plm ssh --prtemca plm_ssh_agent "$minicluster rsh" "${over_rsh[@]}")
    # a node claims more processors than this machine has, to which mpirun would bind the processes
    case $SERIES in
        24.11)
            export PRTE_MCA_hwloc_default_binding_policy=none
            oversubscribe=PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
            ;;
        *) # their names in Open MPI 6
            export PRTE_MCA_bindto=none
            oversubscribe=PRTE_MCA_mapby=:oversubscribe
            ;;
    esac
    root=${MINICLUSTER_ROOTS:-/var/lib/minicluster-roots}/$SERIES
else
    # for a line that a reader with more cores types: NAME=VALUE
    oversubscribe=OMPI_MCA_rmaps_base_oversubscribe=1
    over_rsh=(--mca plm rsh --mca plm_rsh_agent "$minicluster rsh" "${over_rsh[@]}")
fi
whoami=$programs/whoami.py
preload=$ROLLCALL_PREFIX/lib/librollcall-preload.so
plugin_file=$ROLLCALL_PREFIX/lib/slurm${SERIES:+-$SERIES}/rollcall.so
out=$BATS_TEST_TMPDIR/out
err=$BATS_TEST_TMPDIR/err

# shellcheck source=tests/cluster/leftout.bash
. "$cluster_tests/leftout.bash"

# Limits are there for what hangs. Four layers share two cores, and with --all a hundred processes and more.
[ "${ROLLCALL_ALL:-no}" = no ] || patience=5
# tests are processes of the file's, whose environment is without ROLLCALL_ALL
export patience=${patience:-3}

# An identity of whoever runs the tests is not part of them.
forget_identity()
{
    local name
    for name in ${!SLURM_@} ${!SBATCH_@} ${!SALLOC_@} ${!OMPI_@} ${!PMIX_@} ${!PMI_@} ${!PET_@} \
        ${!TORCHELASTIC_@} ${!ROLLCALL@} RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE NODE_RANK \
        GROUP_RANK GROUP_WORLD_SIZE MASTER_ADDR MASTER_PORT CUDA_VISIBLE_DEVICES LD_PRELOAD; do
        case $name in
            ROLLCALL_PREFIX | ROLLCALL_PYTHONS | ROLLCALL_GRIDENGINE | ROLLCALL_NCCL) ;;
            *) unset -v "$name" ;;
        esac
    done
}
forget_identity

# Some of the programs abort, as JAX does without its coordinator: no core of it in the folder that they are started in.
# The hard limit: slurmd takes all that it may have, and its tasks have what it has.
ulimit -c 0

# Open MPI does not start as root without a word; gloo and torch take all cores without one.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1

cluster_up()
{
    local file
    case $ROLLCALL_PREFIX/,$BATS_TEST_DIRNAME/,$(command -v "$PYTHON") in
        /tmp/* | *,/tmp/*)
            echo "ROLLCALL_PREFIX, PYTHON and these tests must not lie below /tmp: a node has its own" >&2
            return 1
            ;;
    esac
    if [ "${plugin:-yes}" = yes ]; then
        for file in "$ROLLCALL_PREFIX/bin/rollcall" "$plugin_file" "$preload"; do
            [ -e "$file" ] || {
                echo "ROLLCALL_PREFIX=$ROLLCALL_PREFIX: $file is not there" >&2
                return 1
            }
        done
        printf 'optional %s\n' ${plugin_before:+"$plugin_before"} "$plugin_file" > "$BATS_FILE_TMPDIR/plugstack.conf"
        set -- --plugstack "$BATS_FILE_TMPDIR/plugstack.conf" "$@"
    fi
    export mpi=pmix
    if [ -n "${SERIES:-}" ]; then
        compgen -G "$root/usr/lib/*/slurm*/mpi_pmix*.so" > "$BATS_FILE_TMPDIR/pmix" || mpi=none
        python_binds
        set -- --slurm "$SERIES" --bind "$tree" --bind "$ROLLCALL_PREFIX" "${python_binds[@]}" "$@" --mpi "$mpi"
    fi
    export MINICLUSTER_NAME=rollcall-$$
    "$minicluster" up --name "$MINICLUSTER_NAME" "$@" > "$BATS_FILE_TMPDIR/cluster.log" 2>&1 3>&- || {
        cat "$BATS_FILE_TMPDIR/cluster.log" >&2
        return 1
    }
    shared=$(login sh -c 'echo "$MINICLUSTER_SHARED"')
    jobs_path
    export shared PATH
}

# Sets python_binds: what PYTHON is made of, for nodes with another / than this machine's. Of /usr only its own.
python_binds()
{
    local path
    python_binds=()
    while IFS= read -r path; do
        python_binds+=(--bind "$path")
    done < <("$PYTHON" -c '
import importlib.util, os, sys, sysconfig
paths = {os.path.realpath(sys.executable), os.path.dirname(os.path.dirname(importlib.util.find_spec("torch").origin))}
paths |= {sysconfig.get_path("stdlib"), sys.prefix, sys.base_prefix}
print(*sorted(paths - {"/usr"}), sep="\n")')
}

# The jobs say `python`, `torchrun` and `rollcall`, as users do.
jobs_path()
{
    local bin
    bin=$(dirname "$(command -v "$PYTHON")")
    if [ ! -x "$bin/python" ] || [ ! -x "$bin/torchrun" ]; then
        bin=$shared/bin
        mkdir -p "$bin"
        printf '#!/bin/sh\nexec %s "$@"\n' "$PYTHON" > "$bin/python"
        printf '#!/bin/sh\nexec %s -m torch.distributed.run "$@"\n' "$PYTHON" > "$bin/torchrun"
        chmod 755 "$bin/python" "$bin/torchrun"
    fi
    # once, also where a file brings up one cluster after the other
    [ -n "${outer_path:-}" ] || export outer_path=$PATH
    PATH=$ROLLCALL_PREFIX/bin:$bin:$outer_path
}

# A drained node is the worst that a plugin can do: no file of tests may end with one.
cluster_down()
{
    local drained
    [ -z "${left_out:-}" ] || return 0
    drained=$(login sinfo --noheader --Node --states=drain,draining,drained,down,fail -o '%N %T %E')
    "$minicluster" down --name "$MINICLUSTER_NAME" > "$BATS_FILE_TMPDIR/cluster.log" 2>&1 3>&- ||
        cat "$BATS_FILE_TMPDIR/cluster.log" >&2
    rm -f "$BATS_FILE_TMPDIR/cluster.log"
    [ -z "$drained" ] || {
        echo "nodes that take no jobs any more: $drained" >&2
        return 1
    }
    [ ! -s "$BATS_FILE_TMPDIR/alarms" ] || {
        echo "said, and nothing was made so:" >&2
        cat "$BATS_FILE_TMPDIR/alarms" >&2
        return 1
    }
}

setup_file()
{
    [ -n "${cluster:-}" ] && needs_root || return 0
    cluster_up "${cluster[@]}"
    [ "${alone:-}" != compared ] || train_alone
}

teardown_file()
{
    # a file that has no cluster, or none any more, leaves the user's alone
    [ ! -e "$BATS_FILE_TMPDIR/cluster.log" ] || cluster_down
}

on()
{
    "$minicluster" run --name "$MINICLUSTER_NAME" "$@"
}

login()
{
    on login "$@"
}

attempt()
{
    local seconds=$1
    shift
    status=0
    on "${from:-login}" timeout -k 5 $((seconds * patience)) "$@" > "$out" 2> "$err" 3>&- < /dev/null || status=$?
    keep_alarms
}

# That a node is odd, that a step has less than its job, that a task failed: said in those tests alone that make it so,
# and name it: made=RC622.
keep_alarms()
{
    grep -hE '(warning|error) RC(622|711|906|915)' "$out" "$err" | grep -vE "${made:-^\$}" \
        >> "$BATS_FILE_TMPDIR/alarms" || true
}

# Like attempt, for what would hang: ends it as soon as COUNT lines match REGEX, or after SECONDS. What a
# batch job writes to $shared/batch.out counts as well.
attempt_until()
{
    local count=$1 regex=$2 seconds=$3 pid found=0
    shift 3
    status=0
    # what an earlier launch of the test has said is not this one's
    : > "$shared/batch.out"
    : > "$out"
    : > "$err"
    # not by on, of which only the shell around it would be ended
    "$minicluster" run --name "$MINICLUSTER_NAME" "${from:-login}" timeout -k 5 $((seconds * patience)) "$@" \
        > "$out" 2> "$err" 3>&- < /dev/null &
    pid=$!
    while kill -0 $pid 2> /dev/null; do
        found=$(cat "$out" "$err" "$shared/batch.out" | grep -cE "$regex") || true
        [ "$found" -lt "$count" ] || break
        sleep 0.2
    done
    # salloc and sbatch --wait do not end their job when they are told to end
    login scancel --user="$(id -un)" || true
    kill $pid 2> /dev/null || true
    wait $pid || status=$?
    await_end_of_jobs
    cat "$shared/batch.out" >> "$out"
    keep_alarms
    found=$(cat "$out" "$err" | grep -cE "$regex") || true
    [ "$found" -ge "$count" ] || explain "$found lines match '$regex', expected $count"
}

# A launch that found nodes completing was cancelled once, before it had begun.
await_end_of_jobs()
{
    local tries=300 left

    # a controller that does not answer says nothing of jobs, either
    while ! left=$(login squeue --noheader && login sinfo --noheader --states=completing -o %N) || [ -n "$left" ]; do
        ((tries-- > 0)) || explain "the jobs that were ended are still there"
        sleep 0.1
    done
}

# Fails with a reason and with what was printed.
explain()
{
    {
        echo "$*"
        echo "status $status"
        echo "--- output"
        tail -n 40 "$out"
        echo "--- messages"
        tail -n 40 "$err"
        # why it did not answer is said nowhere else
        ! grep -q 'contact slurm controller' "$err" || {
            echo "--- slurmctld"
            tail -n 40 "${MINICLUSTER_STATE:-/var/lib/minicluster}/$MINICLUSTER_NAME/log"/slurmctld.*
        }
    } >&2
    return 1
}

roll()
{
    "$cluster_tests/roll.py" "$@"
}

succeeded()
{
    [ "$status" -eq 0 ] || explain "the job failed"
}

failed()
{
    [ "$status" -ne 0 ] || explain "the job succeeded"
}

# The job ended well, and `roll.py VERB $out ARG...` finds everybody there exactly once.
everybody()
{
    local verb=$1
    shift
    succeeded || return 1
    [ "$verb" != ranks ] || set -- ${loss:+loss="$loss"} "$@"
    roll "$verb" "$out" "$@" || explain "roll.py $verb $*"
}

# In setup_file: `everybody ranks` compares with what one process trains to alone. It does that once for all files.
train_alone()
{
    local kept=$BATS_RUN_TMPDIR/loss
    loss=$(flock "$BATS_RUN_TMPDIR" sh -c '[ -s "$0" ] || "$@" > "$0"; sed -n "s/.* loss=\([^ ]*\) .*/\1/p" "$0"' \
        "$kept" "$PYTHON" "$programs/toy.py")
    [ -n "$loss" ] && export loss
}

succeeds()
{
    attempt "$@"
    succeeded
}

fails()
{
    attempt "$@"
    failed
}

answers()
{
    attempt "${@:2}"
    everybody $1
}

trains()
{
    answers 'ranks world=4 nodes=2' "$@"
}

identifies()
{
    answers 'whoami world=4 nodes=2' "$@"
}

# submit_text < JOB: as a reader does, in $work, with as many tasks and GPUs as these nodes have; what it prints is in $out
submit_text()
{
    : "${work:=$shared/work}"
    sed 's/-per-node=4/-per-node=2/; s/--nproc_per_node=4/--nproc_per_node=2/; s/--cpus-per-task=8/--cpus-per-task=2/
        s/--cpus-per-task=32/--cpus-per-task=4/' \
        > "$work/job.sbatch"
    attempt 120 env HOME="$shared/home" PATH="$shared/home/rollcall/bin:$PATH" \
        sbatch --wait --chdir "$work" --output "$shared/batch.out" "$work/job.sbatch"
    cat "$shared/batch.out" >> "$out"
}

said()
{
    grep -qE -e "$1" "$err" "$out" || explain "nobody said '$1'"
}

# Standard error without what srun says while a node still completes an earlier step.
spoken()
{
    grep -vxE 'srun: job [0-9]+ (queued and waiting for|has been allocated) resources' "$err" || true
}

# silent [WHAT]
silent()
{
    [ -z "$(spoken)" ] || explain "${1:-something} was said"
}

unsaid()
{
    ! grep -qE -e "$1" "$err" "$out" || explain "somebody said '$1'"
}

# batch SECONDS SBATCH-ARGUMENT...: a batch script's commands are standard input; waits for the job, $status
# is its exit status, and its output comes to $out.
batch()
{
    local seconds=$1
    shift
    batch_script
    rm -f "$shared/batch.out"
    attempt "$seconds" sbatch --wait -o "$shared/batch.out" "$@" "$shared/batch.sh"
    cat "$shared/batch.out" >> "$out"
}

batch_script()
{
    { echo '#!/bin/bash' && cat; } > "$shared/batch.sh"
}
