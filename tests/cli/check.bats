#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# check.bats - rollcall check where there is no step, or where what the environment says of its server is wrong.
# Of real steps: tests/cluster/roll.bats.

load helper

server='0123456789abcdef0123456789abcdef 1 42.0'

@test "outside of every step: what to type" {
    fails_with 2 'this process is not a task of a Slurm step; type rollcall check JOB' "$rollcall" check
}

@test "of a job's tasks on this node, and of no other job's or step's" {
    env SLURM_JOB_ID=4243 SLURM_ROLLCALL_SERVER="${server/42.0/4243.0}" SLURM_LAUNCH_NODE_IPADDR=127.0.0.1 sleep 60 3>&- &
    until grep -qz '^SLURM_JOB_ID=4243$' "/proc/$!/environ"; do sleep 0.05; done
    fails_with 2 'job 4242 has no step on this node that was started with srun --ddp' \
        env SLURM_JOB_ID=4242 "$rollcall" check
    fails_with 2 'the rendezvous server of step 4243.0 does not answer: Connection refused' \
        env SLURM_JOB_ID=4243 "$rollcall" check
    # one step of the job
    fails_with 2 'the rendezvous server of step 4243.0 does not' env SLURM_JOB_ID=4243 "$rollcall" check .0
    fails_with 2 'job 4243 has no step on this node' env SLURM_JOB_ID=4243 "$rollcall" check .1
    kill $!
}

@test "a server that is gone" {
    # port 1 of loopback: nobody listens there
    fails_with 2 'the rendezvous server of step 42.0 does not answer: Connection refused' \
        env SLURM_ROLLCALL_SERVER="$server" SLURM_LAUNCH_NODE_IPADDR=127.0.0.1 "$rollcall" check
}

@test "what is no server is as good as none" {
    for wrong in '' x "${server/ 1 / 0 }" "${server/ 1 / 65536 }" "${server/0123/012}" "${server/abcdef/ABCDEF}" "${server% *}"; do
        fails_with 2 'this process is not a task of a Slurm step' \
            env SLURM_ROLLCALL_SERVER="$wrong" SLURM_LAUNCH_NODE_IPADDR=127.0.0.1 "$rollcall" check
    done
}

@test "arguments that it does not take" {
    fails_with 2 "check: unexpected argument 'x'" "$rollcall" check x
    fails_with 2 "unknown option '--jsn'" "$rollcall" check --jsn
    for job in 42x 42_1 42.x '--jobid 42+1'; do
        fails_with 2 "check: unexpected argument '${job#* }'; a job's number is as squeue --format=%A" "$rollcall" check $job
    done
    fails_with 2 "check: unexpected argument '43'" "$rollcall" check 42 43
    fails_with 2 'check: srun cannot be started: No such file' env PATH=/nowhere "$rollcall" check 42
}

@test "with a job: a step of that job asks, and its exit status is ours" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\necho "$ROLLCALL $SLURM_EXIT_ERROR $*"\nexit 1\n' > "$BATS_TEST_TMPDIR/bin/srun"
    chmod 755 "$BATS_TEST_TMPDIR/bin/srun"
    while IFS='|' read -r arguments asks; do
        run -1 env ROLLCALL=worker PATH="$BATS_TEST_TMPDIR/bin:$PATH" "$rollcall" check $arguments
        [ "$output" = "off 2 --overlap -N1 -n1 --input=none $asks" ] || { echo "$arguments: $output"; return 1; }
    done << END
42|--jobid=42 $rollcall check
--jobid=42 --json|--jobid=42 $rollcall check --json
42.1 --exclude|--jobid=42 $rollcall check .1 --exclude
END
}

# entry HOST NODE RANKS LINE...: what a node of a step of four nodes says
entry()
{
    printf 'roll=1\nversion=0.9.0\nscope=slurm:42.0\nlauncher=slurm\nmode=worker\nhost=%s\n' "$1"
    printf 'addr=n1\nhosts=n[1-4]\nnode=%s\nnodes=4\nworld=8\ntasks=%s\n' "$2" "$3"
    shift 3
    [ $# -eq 0 ] || printf '%s\n' "$@"
    echo
}

# sound: four nodes that agree
sound()
{
    entry n1 0 0-1 port=29500
    entry n2 1 2-3
    entry n3 2 4-5
    entry n4 3 6-7
}

# unsound: n3 has another version, n4 has not come
unsound()
{
    entry n1 0 0-1 port=29500
    entry n2 1 2-3
    entry n3 2 4-5 version=0.8.0 | sed '/^version=0.9.0/d'
}

# check [OPTION]: rollcall check of a step whose server has the entries of $step
check()
{
    env "${at_server[@]}" "$rollcall" check "$@"
}

# in_step COMMAND...: a step whose entries are what the command prints
in_step()
{
    step=$BATS_TEST_TMPDIR/step
    "$@" > "$step"
    [ -n "${server_pid:-}" ] || open_server roll "$step"
}

@test "a step whose nodes agree" {
    in_step sound
    run -0 --separate-stderr check
    diff -u - <(printf '%s\n' "$output") << END
step 42.7: 4 of 4 nodes, 8 tasks

node  host    tasks  mode    master
0-3   n[1-4]  0-7    worker  n1:29500
END
    [ -z "$stderr" ]
    sed -i 's/^addr=n1$/addr=fd00::1/' "$step"
    [ "$(check | awk 'END { print $NF }')" = '[fd00::1]:29500' ]
    prints '' check --exclude
    [ "$(check --json | jq -c '[.exclude, .messages]')" = '[null,[]]' ]
}

# pairs: two kinds of nodes in turn; n3 has another version
pairs()
{
    entry n1 0 0-1 port=29500
    entry n2 1 2-3 visible=CUDA_VISIBLE_DEVICES=0
    entry n3 2 4-5 version=0.8.0 | sed '/^version=0.9.0/d'
    entry n4 3 6-7 visible=CUDA_VISIBLE_DEVICES=0
}

@test "what is wrong comes first; nodes that are alike are one row, wherever they are" {
    in_step pairs
    run -1 --separate-stderr check
    [[ ${lines[1]} == 'warning RC608: '* ]]
    diff -u - <(sed -n '/^node /,$p' <<< "$output") << END
node  host    tasks    mode    visible                 master
0,2   n[1,3]  0-1,4-5  worker  -                       n1:29500
1,3   n[2,4]  2-3,6-7  worker  CUDA_VISIBLE_DEVICES=0  n1:29500

--exclude=n3
END
    # and what they may use of a node's processors
    sed 's/^visible=.*/has=cores 8 of 64/' "$step" > "$step.cores"
    mv "$step.cores" "$step"
    run -1 --separate-stderr check
    diff -u - <(sed -n '/^node /,/^$/p' <<< "$output") << END
node  host    tasks    mode    cores    master
0,2   n[1,3]  0-1,4-5  worker  -        n1:29500
1,3   n[2,4]  2-3,6-7  worker  8 of 64  n1:29500

END
    # a node with fewer tasks is another row
    sed -i 's/^tasks=6-7$/tasks=7/' "$step"
    run -1 --separate-stderr check
    [ "$(sed -n '/^node /,/^$/p' <<< "$output" | cut -d' ' -f1 | paste -sd' ')" = 'node 0,2 1 3 ' ]
}

@test "nodes to leave out are the last line, all of --exclude, and in JSON" {
    in_step unsound
    run -1 --separate-stderr check
    [ "${lines[-1]}" = --exclude=n3,n4 ]
    [[ $output == *'RC601: nothing from n4 (tasks 6-7); '* ]]
    prints --exclude=n3,n4 check --exclude
    run -1 --separate-stderr check --json
    [ "$(jq -c '[.exclude, .nnodes], (.messages[] | [.id, .nodes])' <<< "$output" | paste -sd' ')" = \
        '["n3,n4",4] ["RC608",["n3"]] ["RC601",["n4"]]' ]
}

# of thirty nodes every third up to $last has another mode
thirty()
{
    local node
    for node in {0..29}; do
        entry "n$node" "$node" "$node" | sed 's/hosts=.*/hosts=n[0-29]/; s/nodes=4/nodes=30/; s/world=8/world=30/' |
            sed "$([ $((node % 3)) -gt 0 ] || [ "$node" -gt "$last" ] || echo s/worker/launcher/)"
    done
}

@test "many nodes to leave out have brackets" {
    local last
    last=21 in_step thirty
    [ "$(check --exclude)" = '--exclude=n0,n3,n6,n9,n12,n15,n18,n21' ]
    last=24 in_step thirty
    [ "$(check --exclude)" = '--exclude=n[0,3,6,9,12,15,18,21,24]' ]
}

@test "a node whose tasks do not start, and a step of which no node has called" {
    in_step sound
    sed -i 's/^node=1$/&\ndead=RC405/' "$step"
    run -0 --separate-stderr check --json
    [ "$(jq -c '[.exclude, .entries[1].dead]' <<< "$output")" = '["n2","RC405"]' ]
    in_step true
    fails_with 2 'no node of step 42.7 has answered yet' check
}

@test "what a node has is in JSON" {
    in_step sound
    sed -i 's/^port=29500$/&\nhas=gpus 8 NVIDIA H100\nhas=kernel 6.1.0/' "$step"
    run --separate-stderr check --json
    [ "$(jq -c '.entries[:2][].has' <<< "$output" | paste -sd' ')" = '{"gpus":"8 NVIDIA H100","kernel":"6.1.0"} {}' ]
}

# hostile: n3 and n4 have not come; the others' texts are none that a page or a shell may take for its own
hostile()
{
    local text="has=kernel </script><script>alert(1)</script><img src=x onerror=\"alert('1')\">&amp;{{step}}"
    entry "n1<b>\"'&" 0 0-1 "$text"
    entry "n2<b>\"'&" 1 2-3 "$text" version=0.8.0 | sed '/^version=0.9.0/d'
}

@test "what users and nodes write is text, in JSON and in the line to paste" {
    in_step hostile
    run --separate-stderr check --json
    [ -z "$stderr" ]
    [[ $output == *'</script>'* ]]
    [[ $output != *$'\e'* ]]
    [ "$(jq -r '.entries[0].has.kernel' <<< "$output")" = "$(sed -n 's/^has=kernel //p;T;q' "$step")" ]
    [ "$(jq .exclude <<< "$output")" = null ]
    sed -i 's/^host=.*/host=n1;reboot/; s/^hosts=.*/hosts=x/; s/^launcher=.*/launcher=mpi/' "$step"
    [ -z "$(check --exclude)" ]
}
