#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# site.bats - the administrator's line: its keys, and rollcall switched off for a while (off=TEXT); a module that exports
# ROLLCALL=auto.

# bats file_tags=series

load helpers

# task/affinity binds where a user says so (--cpu-bind), as on most clusters; each node believes that its cores are its own
setup_file()
{
    needs_root || return 0
    unset -v OMP_NUM_THREADS
    local async=()
    # srun --async wants both; older series do not know the first
    [ "${SERIES:-}" != 26.05 ] || async=(--conf SlurmctldParameters=enable_stepmgr --conf PrologFlags=contain)
    cluster_up --nodes 2 --cpus "$(nproc --all)" --gpus 2 --conf TaskPlugin=task/affinity "${async[@]}"
    conf=$(login scontrol show config | sed -n 's/^PlugStackConfig *= //p')
    export conf
}

setup()
{
    unless_left_out
    unset -v OMP_NUM_THREADS
    cp "$conf" "$BATS_TEST_TMPDIR/plugstack.conf"
}

teardown()
{
    [ ! -e "$BATS_TEST_TMPDIR/plugstack.conf" ] || cp "$BATS_TEST_TMPDIR/plugstack.conf" "$conf"
}

# line WORD...: after the plugin's path, on all hosts
line()
{
    sed "s|\$| $*|" "$BATS_TEST_TMPDIR/plugstack.conf" > "$conf"
}

two=(-N2 -n2 sh -c 'echo "RANK ${RANK--}"')
why='ranks are wrong (障害); ask hpc@site.example'

# refused SECONDS CMD...: at once, in one line, and nothing was made
refused()
{
    fails "$@" || return 1
    [ "$(wc -l < "$err")" -eq 1 ] && [ ! -s "$out" ] || explain "not one line" || return 1
    [[ $(< "$err") == "rollcall: error RC206: the administrator has switched rollcall off: $why; nothing was started; "* ]] ||
        explain "another line"
}

# unranked SECONDS CMD...: two tasks run as they would without rollcall
unranked()
{
    succeeds "$@" || return 1
    [ "$(cat "$out")" = "$(printf 'RANK -\nRANK -')" ] || explain "not two tasks without ranks"
}

@test "off=TEXT: srun, sbatch and salloc refuse --ddp in one line, and everybody else runs" {
    line "off=$why"
    refused 30 srun --ddp "${two[@]}"
    refused 30 salloc --ddp "${two[@]}"
    refused 30 sbatch --ddp --wrap hostname
    for command in "srun" "srun --ddp=off" "env ROLLCALL=off srun --ddp"; do
        unranked 30 $command "${two[@]}"
        silent "$command: a line"
    done
    # a whole site's variable ends no step
    unranked 30 env ROLLCALL=auto srun "${two[@]}"
    grep -qF "rollcall: warning RC207: the administrator has switched rollcall off: $why; ROLLCALL is ignored" "$err"
}

@test "off=TEXT: a job that was queued before runs, and each of its steps that wants ranks ends in one line" {
    local job tries
    printf '#!/bin/bash\n#SBATCH --ddp -N2 -n2\nsrun %s\necho "srun $?"\nsrun --ddp=off %s\n' \
        "$(printf '%q ' "${two[@]}")" "$(printf '%q ' "${two[@]}")" > "$shared/queued.sh"
    succeeds 30 sbatch --parsable --hold -o "$shared/queued.out" "$shared/queued.sh"
    job=$(cat "$out")
    line "off=$why"
    login scontrol release "$job"
    await_end_of_jobs
    cp "$shared/queued.out" "$out"
    grep -qF "RC206: the administrator has switched rollcall off: $why" "$out" || explain "no line"
    said '^srun 1$'
    [ "$(grep -c 'RANK -' "$out")" = 2 ] && [ "$(wc -l < "$out")" = 4 ] || explain "something else"
}

# As docs/admin.md's "Switch it off" has it: this is why `off` comes first.
@test "the line is removed, or the files alone: steps of queued jobs start without ranks, a new --ddp is unknown" {
    local way job
    printf '#!/bin/bash\n#SBATCH --ddp -N2 -n2\nsrun %s\necho "srun $?"\n' "$(printf '%q ' "${two[@]}")" > "$shared/queued.sh"
    for way in '/rollcall/d' 's|/rollcall\.so|/gone-rollcall.so|'; do
        cp "$BATS_TEST_TMPDIR/plugstack.conf" "$conf"
        succeeds 30 sbatch --parsable --hold -o "$shared/queued.out" "$shared/queued.sh"
        job=$(cat "$out")
        sed "$way" "$BATS_TEST_TMPDIR/plugstack.conf" > "$conf"
        login scontrol release "$job"
        await_end_of_jobs
        cp "$shared/queued.out" "$out"
        said '^srun 0$'
        [ "$(grep -c '^RANK -$' "$out")" = 2 ] || explain "not two tasks without ranks"
        unsaid 'rollcall: '
        for command in srun salloc; do
            fails 30 "$command" --ddp hostname
            said "unrecognized option '--ddp'"
        done
        unranked 30 srun "${two[@]}"
    done
    [ "$(login sinfo -hR | wc -l)" = 0 ] || explain "a node is drained"
}

@test "off on the nodes alone: their tasks end and say so, and no node is drained" {
    sed "s|\$| off=$why|" "$conf" > "$shared/plugstack.off"
    on n1 mount --bind "$shared/plugstack.off" "$conf"
    on n2 mount --bind "$shared/plugstack.off" "$conf"
    attempt 30 srun --ddp -K0 -N2 -n4 hostname
    on n1 umount "$conf"
    on n2 umount "$conf"
    failed
    [ ! -s "$out" ] || explain "a task has started"
    [ "$(grep -c RC206 "$err")" = 2 ] || explain "not a line a node"
    unsaid RC6
}

@test "off on one node: RC206 ends the step at once, also for ROLLCALL=auto, and no task starts" {
    local command
    sed "s|\$| off=$why|" "$conf" > "$shared/plugstack.off"
    on n2 mount --bind "$shared/plugstack.off" "$conf"
    for command in "srun --ddp=deadline=60" "env ROLLCALL=deadline=60 srun"; do
        attempt 50 $command -N2 -n2 echo started
        grep -qF "RC206: the administrator has switched rollcall off on this node: $why; its tasks were not started" \
            "$err" && [ ! -s "$out" ] && ! grep -q RC6 "$err" || break
        command=
    done
    on n2 umount "$conf"
    failed
    [ -z "$command" ] || explain "not as off=TEXT has it"
}

# look FILE CMD...: what each task has, without what differs from step to step by nature
look()
{
    succeeds 60 "${@:2}" || return 1
    sed -E '/^[0-9]+ (_|PMIX_.*|OMPI_MCA_.*_transports|SLURM_(TASK_PID|STEP_?ID|.*_PORT|JOB_.*TIME|JOB_?ID|JOB_SLUID|PMIX.*))=/d' "$out" | sort > "$1"
}

# documented STEP: the variables of that item of the list, and those of the first item if it refers to them
documented()
{
    local item
    item=$(awk -v step="- $1" 'index($0, step) == 1 { here = 1; print; next } /^(- |$)/ { here = 0 } here' "$tree/docs/admin.md")
    case $item in
        *'those of the first item'*) documented 'one task or several:' ;;
    esac
    grep -o '`[A-Z_]*`' <<< "$item" | tr -d '`'
}

# changes STEP CMD...: the module that docs/admin.md shows changes these variables of CMD's tasks, and no other; without
# GPUs not $gpu; $wish is in the place of auto
changes()
{
    look "$BATS_TEST_TMPDIR/plain" "${@:2}" || return 1
    ROLLCALL=${wish:-auto} look "$BATS_TEST_TMPDIR/auto" "${@:2}" || return 1
    diff <(documented "$1" | grep -vx "${gpu:-}" | sort) <(comm -3 "$BATS_TEST_TMPDIR/plain" "$BATS_TEST_TMPDIR/auto" |
        sed -E 's/^\t?[0-9]+ ([A-Za-z_0-9]*)=.*/\1/; /^(SLURM_ROLLCALL_TASK_HOSTS|ROLLCALL|AFFINITY)$/d' | sort -u) >&2
}

# prepare_look: programs that print their environment
prepare_look()
{
    cat > "$shared/look" <<'EOF'
#!/bin/sh
{ env; sed -n 's/^Cpus_allowed_list:[^0-9]*/AFFINITY=/p' /proc/self/status; } | sed "s/^/$SLURM_PROCID /"
EOF
    chmod 755 "$shared/look"
    cp "$shared/look" "$shared/torchrun"
    printf '0-3 %s\n' "$shared/look" > "$shared/multi.conf"
}

@test "a job that does not ask is untouched, to the byte: with keys in the line, with wrong words, without a line" {
    local words
    prepare_look
    sed -i '/rollcall/d' "$conf"
    look "$BATS_TEST_TMPDIR/none" srun -N2 -n4 --gpus-per-task=1 "$shared/look"
    for words in '' 'addr=-ib port=23000-23999 same=stop bind=cores watch log=json' auto default=auto; do
        line "$words"
        look "$BATS_TEST_TMPDIR/line" srun -N2 -n4 --gpus-per-task=1 "$shared/look"
        diff "$BATS_TEST_TMPDIR/none" "$BATS_TEST_TMPDIR/line" >&2
    done
}

@test "a module that exports ROLLCALL=auto: each step gets what docs/admin.md says" {
    local step='one task or several:'
    local each=(-c "$(($(nproc --all) / 2))" --cpu-bind=none) whole=(-c "$(nproc --all)" --cpu-bind=none)
    prepare_look
    changes "$step" srun -N2 -n4 "${each[@]}" "$shared/look"
    changes "$step" srun -N2 -n4 "${each[@]}" python -c 'import os, sys; os.execv(sys.argv[1], sys.argv[1:])' "$shared/look"
    changes "$step" srun -N2 -n4 "${each[@]}" --multi-prog "$shared/multi.conf"
    changes "$step" srun -n1 "${whole[@]}" "$shared/look"
    changes "$step" srun -n1 "${whole[@]}" --gpus-per-task=1 "$shared/look"
    step='several tasks of a node, each with a GPU from Slurm:'
    changes "$step" srun -N2 -n4 "${each[@]}" --gpus-per-task=1 "$shared/look"
    wish=gpus=own changes 'the same, ' srun -N2 -n4 "${each[@]}" --gpus-per-task=1 "$shared/look"
    step='one task a node on several nodes, with no more than one GPU:'
    gpu=PET_NPROC_PER_NODE changes "$step" srun -N2 -n2 "${whole[@]}" "$shared/look"
    changes "$step" srun -N2 -n2 "${whole[@]}" --gpus-per-task=1 "$shared/look"
    step='one task a node, with several GPUs:'
    changes "$step" srun -N2 -n2 "${whole[@]}" --gpus-per-node=2 sh -c "$shared/look"
    changes "$step" srun -N2 -n2 "${whole[@]}" --gpus-per-node=2 "$shared/torchrun" train.py
}

@test "srun --async, which leaves its step: one line, and nothing is started" {
    login srun --help | grep -q -e --async || skip 'this Slurm has no srun --async'
    batch 60 --stepmgr -N2 -n4 << EOF
for asked in '--async --ddp' '--asy --ddp' '--async --ddp=exchange=off' '--async'; do
    ROLLCALL=auto srun \$asked -o $shared/async.%s.%t sh -c 'echo "\$RANK of \$WORLD_SIZE"' --async
    echo "status \$?"
done
srun --ddp sh -c 'sleep 2; [ "\$RANK" != 0 ] || echo waited' --async
EOF
    [ "$(grep -c '^rollcall: error RC208: srun --async leaves its step' "$out")" -eq 2 ]
    [ "$(grep -E '^(status|Submitted step|waited)' "$out" | sed 's/ [0-9]*\.[0-9]*$//' | paste -sd,)" = \
        'status 1,status 1,Submitted step,status 0,Submitted step,status 0,waited' ] || explain "something else"
    # two steps, as wide as they should be
    for step in 0 1; do
        [ "$(cat "$shared/async.$step".* | grep -v RC611 | sort | paste -sd,)" = '0 of 4,1 of 4,2 of 4,3 of 4' ]
    done
}
