#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# report.bats - report=FILE: what srun's server leaves of a step, however the step ended; and a template that uses it.

# bats file_tags=series

# shellcheck disable=SC2154 # shared, out, err and status come from helpers.bash

load helpers
load faults

setup_file()
{
    needs_root || return 0
    cluster_up --nodes 3 --cpus 4 --mpi pmix
    faults_up
}

teardown_file()
{
    cluster_down
}

teardown()
{
    faults_end
}

setup()
{
    needs_root
    rm -rf "$shared/reports"
    mkdir "$shared/reports"
}

# report FILTER: what jq says of the one file that is there
report()
{
    [ "$(find "$shared/reports" -type f | wc -l)" = 1 ] || explain "$(ls -l "$shared/reports")"
    jq -c "$1" "$shared/reports"/*.json || explain "no JSON: $(head -c 300 "$shared/reports"/*)"
}

@test "a step's report is there when srun has ended, with the numbers of job and step in its name" {
    attempt 30 srun --ddp="report=$shared/reports/%j.%s%%.json" -N3 --ntasks-per-node=2 true
    succeeded
    unsaid 'RC[0-9]'
    [ "$(report '[.nnodes, .world_size, .stopped, .exclude, (.messages | length), [.entries[].host]]')" = \
        '[3,6,false,null,0,["n1","n2","n3"]]' ]
    [ "$(report .step)" = "\"$(basename "$shared"/reports/* %.json)\"" ]
}

@test "a page, of a live step" {
    attempt 30 srun --ddp="report=$shared/reports/r.html" -N3 --ntasks-per-node=2 true
    succeeded
    unsaid 'RC[0-9]'
    [ "$(head -n 1 "$shared/reports/r.html")" = '<!DOCTYPE html>' ]
    grep -qx '<div><dt>Nodes</dt><dd>3 of 3</dd></div>' "$shared/reports/r.html"
    # shellcheck disable=SC2016 # expanded in the task
    attempt 30 srun --ddp -N3 -n3 sh -c '[ "$RANK" != 1 ] || rollcall check --html'
    succeeded
    grep -q '<dd>3 of 3</dd>' "$out"
}

@test "a step of one node has a report, too, and a name may begin in srun's folder" {
    # shellcheck disable=SC2016 # expanded on the login node
    attempt 30 sh -c 'cd "$0" && srun --chdir=/ --ddp=report=one.json -N1 -n2 true' "$shared/reports"
    succeeded
    unsaid 'RC[0-9]'
    [ "$(report '[.nnodes, .world_size, [.entries[].tasks]]')" = '[1,2,["0-1"]]' ]
}

@test "a step whose findings stopped it" {
    # shellcheck disable=SC2016 # expanded there
    inject n3 <<< 'sed s/^addr=.*/addr=n3/ | exec $real "$@"'
    attempt 30 srun --ddp="report=$shared/reports/r.json" -N3 -n3 true
    failed
    [ "$(report '[.stopped, .exclude, (.messages[] | [.id, .nodes])]')" = '[true,"n3",["RC604",["n3"]]]' ]
}

@test "at the end of a batch script, and in a step that is cancelled" {
    batch 60 -N3 <<END
srun --ddp=report=$shared/reports/batch.json -N3 -n3 true
END
    succeeded
    [ "$(report .nnodes)" = 3 ]
    rm "$shared/reports"/*
    # shellcheck disable=SC2016 # expanded in the task
    attempt 60 srun --ddp="report=$shared/reports/cancelled.json" -N3 -n3 sh -c '
        [ "$RANK" != 0 ] || scancel "$SLURM_JOB_ID"
        sleep 60'
    failed
    [ "$(report .nnodes)" = 3 ]
}

@test "RC625: a file that cannot be written loses nobody the job" {
    attempt 30 srun --ddp="report=$shared/reports/none/r.json" -N3 -n3 true
    succeeded
    said "warning RC625: the report '.*/none/r.json' is not written: No such file or directory; the step goes on; \
name a file in a folder that srun's node can write to"
    [ "$(cat "$out" "$err" | grep -c RC625)" = 1 ]
    attempt 30 srun --ddp=report=/dev/null -N1 -n1 true
    succeeded
    said "RC625: the report '/dev/null' is not written: there is something else of that name;"
    on login test -c /dev/null
    # the folder goes while the step runs
    # shellcheck disable=SC2016 # expanded in the task
    attempt 30 srun --ddp="report=$shared/reports/sub/r.json" -N3 -n3 true
    mkdir "$shared/reports/sub"
    # shellcheck disable=SC2016 # expanded in the task
    attempt 30 srun --ddp="report=$shared/reports/sub/r.json" -N3 -n3 sh -c '[ "$RANK" != 0 ] || rmdir "$0"' "$shared/reports/sub"
    succeeded
    said "RC625: the report '.*/sub/r.json' is not written: No such file or directory;"
    [ -z "$(find "$shared/reports" -type f)" ]
}

@test "RC625: a step without a server beside srun says that it has no report" {
    attempt 30 srun --ddp="exchange=off,report=$shared/reports/r.json" -N1 -n1 true
    succeeded
    said 'RC625: no report is written: this step has no rendezvous server beside srun;'
    [ -z "$(find "$shared/reports" -type f)" ]
}

@test "a file that was there is replaced, one that a link leads to as well" {
    echo old > "$shared/reports/real.json"
    ln -s real.json "$shared/reports/link.json"
    attempt 30 srun --ddp="report=$shared/reports/link.json" -N1 -n2 true
    succeeded
    [ -L "$shared/reports/link.json" ]
    [ "$(jq .nnodes "$shared/reports/real.json")" = 1 ]
}

@test "the job template with spare nodes trains without the odd one" {
    # shellcheck disable=SC2016 # expanded there
    inject n2 <<< 'sed s/^version=.*/version=0.1.0/ | exec $real "$@"'
    mkdir -p "$shared/work"
    cp "$whoami" "$shared/work/train.py"
    sed 's/--nodes=9/--nodes=3/; s/^nodes=8/nodes=2/; /gpus-per-node/d; s/-per-node=4/-per-node=2/; s/per-task=8/per-task=2/' \
        "$tree/docs/jobs/sparenodes.sbatch" > "$shared/work/job.sbatch"
    rm -f "$shared/batch.out"
    attempt 120 sbatch --wait --chdir "$shared/work" --output "$shared/batch.out" "$shared/work/job.sbatch"
    cat "$shared/batch.out" >> "$out"
    everybody whoami world=4 nodes=2
    said '^left out: n2$'
    # and with nothing to leave out
    faults_end
    attempt 120 sbatch --wait --chdir "$shared/work" --output "$shared/batch.out" "$shared/work/job.sbatch"
    cat "$shared/batch.out" >> "$out"
    everybody whoami world=4 nodes=2
    said '^left out: none$'
}
