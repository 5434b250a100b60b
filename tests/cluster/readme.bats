#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# readme.bats - what README.md tells a reader to type is typed: each command of its code blocks and tables, word
# for word, on the login node of a cluster, with rollcall where the README has put it, in $HOME/rollcall.

# shellcheck disable=SC2154 # tree, programs, shared, out, err and status come from helpers.bash

load helpers
load containers

setup_file()
{
    needs_root || return 0
    cluster_up --nodes 2 --cpus 4 --gpus 2 --mpi pmix
    # a reader's home and folder
    mkdir -p "$shared/home" "$shared/work"
    ln -s "$ROLLCALL_PREFIX" "$shared/home/rollcall"
    cp -r "$tree/contrib" "$shared/work/contrib"
    cp "$whoami" "$shared/work/train.py"
    grep -v '^#' "$tree/tests/vectors/slurm-gpus.env" > "$shared/work/saved.env"
}

teardown_file()
{
    cluster_down
}

# The lines of code blocks, but the demo's own output, and what is fenced: tests/cli/doctor.bats compares that.
blocks()
{
    awk '/^## /{ shown = /^## Before and after/ } /^```/ { fenced = !fenced } /^    [^ ]/ && !shown && !fenced' "$1" | sed 's/^    //'
}

# Whole commands among the words in backquotes.
# shellcheck disable=SC2016 # they are meant
words()
{
    grep -oE '`[^`]+`' "$1" | tr -d '`' |
        grep -E '^([A-Z_]+=[^ ]+ )*(srun|mpirun|rollcall) .*(python|torchrun|rollcall) [a-z]' | LC_ALL=C sort -u
}

# Where a command is run that changes the machine, or takes long.
elsewhere()
{
    case $1 in
        contrib/demo/demo\ *) ;; # demo.bats
        tests/run\ *) ;;         # it runs this
        apt-get\ install\ * | ./autogen.sh\ * | make\ * | optional\ *) ;; # tests/packages/readme.bats
        *) return 1 ;;
    esac
}

# A reader has more cores than this machine.
typed()
{
    # shellcheck disable=SC2016 # expanded there
    attempt 90 env HOME="$shared/home" "$oversubscribe" ${SLURM_NTASKS:+SLURM_NTASKS=$SLURM_NTASKS} sh -c 'cd "$1" || exit 1
        PATH=$HOME/rollcall/bin:$PATH PYTHONPATH=$HOME/rollcall/share/rollcall/python
        export PYTHONPATH
        eval "$2"' sh "$shared/work" "$1"
    echo "$1: status $status"
    succeeded
}

@test "the commands of the code blocks" {
    blocks "$tree/README.md" > "$BATS_TEST_TMPDIR/commands"
    count=0
    while IFS= read -r command <&3; do
        ! elsewhere "$command" || continue
        count=$((count + 1))
        case $command in
            srun\ --jobid=42\ *)
                # shellcheck disable=SC2016 # expanded there
                attempt 60 bash -c 'srun --ddp -N2 -n2 sleep 30 & step=$!
                    until id=$(squeue --noheader --steps --format=%i | grep -m 1 "\.0"); do sleep 0.1; done
                    until text=$(eval "${1/--jobid=42/--jobid=${id%.*}}" 2>&1) && [ -n "$text" ]; do
                        kill -0 "$step" || exit 1
                        sleep 0.2
                    done
                    echo "$text"; scancel "${id%.*}"; wait' bash "$command"
                succeeded
                said 'n1.*' && said 'n2'
                ;;
            rollcall\ map*) typed "$command" && said 'cores?' ;;
            *) typed "$command" && [ -s "$out" ] || [[ $command == export\ * || $command == *make\ * ]] ;;
        esac
    done 3< "$BATS_TEST_TMPDIR/commands"
    [ "$count" -ge 10 ]
}

@test "the commands among the words: each rank is there once" {
    words "$tree/README.md" > "$BATS_TEST_TMPDIR/commands"
    count=0
    while IFS= read -r command <&3; do
        count=$((count + 1))
        # a reader's job has its own number of tasks
        case $command in
            srun*-N*) unset SLURM_NTASKS ;;
            *) export SLURM_NTASKS=2 ;;
        esac
        typed "$command"
        case $command in
            *" rollcall map") said '1:.*this task, rank 1' ;;
            *) everybody whoami ;;
        esac
    done 3< "$BATS_TEST_TMPDIR/commands"
    [ "$count" -ge 5 ]
}

# With as many nodes, tasks and GPUs as this cluster has, and the job's output in a file that is there when it ends.
submit()
{
    sed 's/--ntasks-per-node=4/--ntasks-per-node=2/; s/--gpus-per-node=4/--gpus-per-node=2/' \
        "$tree/docs/jobs/$1.sbatch" > "$shared/work/job.sbatch"
    attempt 120 env HOME="$shared/home" \
        sbatch --wait --chdir "$shared/work" --output "$shared/batch.out" "$shared/work/job.sbatch"
    cat "$shared/batch.out" >> "$out"
}

@test "the job templates of docs/jobs" {
    for job in srun torchrun mpirun preload; do
        submit "$job"
        everybody whoami world=4 nodes=2
    done
    bash -n "$tree"/docs/jobs/apptainer.sbatch
    # none that nobody runs
    set -- "$tree"/docs/jobs/*.sbatch
    [ $# -eq 6 ]
}

@test "the job template with a container" {
    unshare --user --map-root-user --mount true || skip "this kernel lets nobody make a user namespace"
    make_image "$shared/work/train.img"
    # ch-run wants to know who it is
    USER=root submit charliecloud
    everybody whoami world=4 nodes=2
}
