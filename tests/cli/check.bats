#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# check.bats - rollcall check where there is no step, or where what the environment says of its server is wrong.
# Of real steps: tests/cluster/roll.bats.

load helper

server='0123456789abcdef0123456789abcdef 1 42.0'

@test "outside of every step: what to type" {
    fails_with 2 'this is no task of a step; use srun --jobid=JOB --overlap rollcall check, or --pid' "$rollcall" check
}

@test "in a job that has no such step" {
    fails_with 2 'no task of job 4242 on this node whose roll was called beside srun' \
        env SLURM_JOB_ID=4242 "$rollcall" check
}

@test "a process that is no task" {
    fails_with 2 "process $$ is no task of a step whose roll was called beside srun" "$rollcall" check --pid $$
    fails_with 2 "--pid=x is not a process id" "$rollcall" check --pid x
}

@test "a server that is gone" {
    # port 1 of loopback: nobody listens there
    fails_with 2 'the rendezvous server of step 42.0 does not answer: Connection refused' \
        env SLURM_ROLLCALL_SERVER="$server" SLURM_LAUNCH_NODE_IPADDR=127.0.0.1 "$rollcall" check
}

@test "what is no server is as good as none" {
    for wrong in '' x "${server/ 1 / 0 }" "${server/ 1 / 65536 }" "${server/0123/012}" "${server/abcdef/ABCDEF}" "${server% *}"; do
        fails_with 2 'this is no task of a step' \
            env SLURM_ROLLCALL_SERVER="$wrong" SLURM_LAUNCH_NODE_IPADDR=127.0.0.1 "$rollcall" check
    done
}

@test "arguments that it does not take" {
    fails_with 2 "check: unexpected argument 'x'" "$rollcall" check x
    fails_with 2 'did you mean --json?' "$rollcall" check --jsn
    for job in 42 42.0 --jobid=42 '--jobid 42.1'; do
        # shellcheck disable=SC2086 # two words
        fails_with 2 'check takes no job; use srun --jobid=42 --overlap -N1 -n1 rollcall check' "$rollcall" check $job
    done
    fails_with 2 "check: unexpected argument '42x'" "$rollcall" check 42x
}
