#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# guard: how librollcall-nccl.so gets into a task's programs. What it does there is in tests/preload/guard.bats.

load helper

# shellcheck disable=SC2154 # prefix, rollcall, task_3 and so on come from helper.bash

library=$prefix/lib/librollcall-nccl.so

print='printf "%s|%s" "${LD_PRELOAD-none}" "${ROLLCALL_GUARD-none}"'

list_of()
{
    with "${task_3[@]}" "$@" sh -c "$print"
}

@test "it comes behind the user's own libraries, in each of the three ways in" {
    told='rank=3 size=4 node=1 nodes=2 deadline'
    preload=$prefix/lib/librollcall-preload.so
    for row in "|$library|$told=10" "/lib/x.so /lib/y.so|/lib/x.so /lib/y.so:$library|$told=10" \
        "$library:/lib/x.so|$library:/lib/x.so|$told=10"; do
        IFS='|' read -r before after identity <<< "$row"
        run -0 --separate-stderr with "${task_3[@]}" LD_PRELOAD="$before" "$rollcall" exec --ddp=guard=nccl -- sh -c "$print"
        [ "$output" = "$after|$identity" ]
    done
    run -0 list_of ROLLCALL=guard=nccl,deadline=30 "$rollcall" exec
    [ "$output" = "$library|$told=30" ]
    # the preload library cannot load it into its own process: what that starts has it
    run -0 list_of ROLLCALL=guard=nccl LD_PRELOAD="$preload"
    [ "$output" = "$preload:$library|$told=10" ]
    loaded='grep -c librollcall-nccl /proc/self/maps || [ $? = 1 ]'
    run -0 with "${task_3[@]}" ROLLCALL=guard=nccl LD_PRELOAD="$preload" sh -c 'test "$(head -c 1000000 /proc/$$/maps |
        grep -c librollcall-nccl)" = 0'
    run -0 with "${task_3[@]}" ROLLCALL=guard=nccl LD_PRELOAD="$preload" sh -c "$loaded"
    [ "$output" -gt 0 ]
    # whoever names both has it at once
    run -0 with "${task_3[@]}" ROLLCALL=guard=nccl LD_PRELOAD="$preload:$library" grep -c librollcall-nccl /proc/self/maps
    [ "$output" -gt 0 ]
}

@test "without guard, and where the command line says guard=off, nothing comes" {
    run -0 list_of "$rollcall" exec
    [ "$output" = 'none|none' ]
    run -0 list_of ROLLCALL=guard=nccl "$rollcall" exec --ddp=guard=off
    [ "$output" = 'none|none' ]
    run -0 list_of ROLLCALL=off "$rollcall" exec --ddp=guard=nccl
    [ "$output" = 'none|none' ]
}

@test "twice in a task, and in a launch inside of a guarded one" {
    run -0 with "${task_3[@]}" "$rollcall" exec --ddp=guard=nccl -- "$rollcall" exec --ddp=guard=nccl -- sh -c "$print"
    [ "$output" = "$library|rank=3 size=4 node=1 nodes=2 deadline=10" ]
    run -0 with "${task_3[@]}" "$rollcall" exec --ddp=guard=nccl -- \
        env SLURM_STEP_ID=8 "$rollcall" exec -- sh -c 'echo "${ROLLCALL_GUARD-none}"'
    [ "$output" = none ]
}

@test "a tree that was moved has its guard with it; without it one line says so, and nothing else happens" {
    mkdir "$BATS_TEST_TMPDIR/moved"
    cp -r "$prefix/bin" "$prefix/lib" "$BATS_TEST_TMPDIR/moved"
    moved=$(cd "$BATS_TEST_TMPDIR/moved" && pwd -P)
    run -0 list_of "$moved/bin/rollcall" exec --ddp=guard=nccl
    [[ $output == "$moved/lib/librollcall-nccl.so|"* ]]
    run -0 list_of ROLLCALL=guard=nccl LD_PRELOAD="$moved/lib/librollcall-preload.so"
    [[ $output == *":$moved/lib/librollcall-nccl.so|"* ]]
    rm "$moved/lib/librollcall-nccl.so"
    run -0 --separate-stderr with "${task_0[@]}" MASTER_PORT="$(free_port)" MASTER_ADDR=127.0.0.1 \
        "$moved/bin/rollcall" exec --ddp=guard=nccl -- sh -c "$print; echo; echo \$RANK"
    [ "$output" = $'none|none\n0' ]
    # beside what is said of the MASTER_ADDR of this test
    [ "$(grep -c '^rollcall: warning RC807: ' <<< "$stderr")" = 1 ]
    [ "$(grep -vc RC401 <<< "$stderr")" = 1 ]
    # LD_PRELOAD would take it apart
    mv "$moved" "$moved here"
    cp "$library" "$moved here/lib"
    run -0 --separate-stderr with "${task_0[@]}" MASTER_PORT="$(free_port)" MASTER_ADDR=127.0.0.1 \
        "$moved here/bin/rollcall" exec --ddp=guard=nccl -- sh -c "$print"
    [ "$output" = 'none|none' ]
    [[ $stderr == *"rollcall: warning RC807: "*"its folder has a colon, blank or dollar in its name"* ]]
}

@test "show and explain know it" {
    run -0 with "${task_3[@]}" "$rollcall" explain --json --ddp=guard=nccl
    [[ $output == *'how the guard comes between a program and NCCL'* ]]
    run -0 with "${task_3[@]}" "$rollcall" show --long --ddp=guard=nccl
    [[ $output == *LD_PRELOAD*librollcall-nccl.so* ]]
}
