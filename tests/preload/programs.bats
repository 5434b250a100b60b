#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# programs.bats - every kind of program that LD_PRELOAD reaches. loader.bats has those that it does not reach.

load helper

setup_file()
{
    need_preload
    local cc
    for cc in gcc musl-gcc; do
        $cc -O2 -Wall -Wextra -Werror -o "$bin/probe-$cc" "$here/programs/probe.c"
    done
    gcc -no-pie -o "$bin/probe-nopie" "$here/programs/probe.c"
    gcc -fsanitize=address,undefined -o "$bin/probe-gcc-asan" "$here/programs/probe.c"
    clang -fsanitize=address -o "$bin/probe-clang-asan" "$here/programs/probe.c"
    clang -fsanitize=thread -o "$bin/probe-clang-tsan" "$here/programs/probe.c"
    clang -fsanitize=memory -o "$bin/probe-clang-msan" "$here/programs/probe.c"
    clang -fsanitize=undefined -fno-sanitize-recover=all -o "$bin/probe-clang-ubsan" "$here/programs/probe.c"
    gcc -fsanitize=leak,undefined -o "$bin/probe-gcc-lsan" "$here/programs/probe.c"
}

@test "glibc program: getenv, environ and main's third argument agree" {
    run -0 in_task "$bin/probe-gcc" "${names[@]}"
    expect "${identity[@]}"
    [[ $output =~ "getenv MASTER_PORT="[1-9] ]]
}

@test "glibc program that is not position independent (environ is copied into it)" {
    run -0 in_task "$bin/probe-nopie" "${names[@]}"
    expect "${identity[@]}"
}

@test "musl program: getenv and environ have everything" {
    run -0 in_task "$bin/probe-musl-gcc" "${names[@]}"
    local pair
    for pair in "${identity[@]}"; do
        grep -qxF "getenv $pair" <<< "$output"
        grep -qxF "environ $pair" <<< "$output"
    done
}

@test "musl program: what stood there before is right in main's third argument, too" {
    run -0 in_task RANK=9 WORLD_SIZE=99 "$bin/probe-musl-gcc" RANK WORLD_SIZE
    expect RANK=3 WORLD_SIZE=4
}

@test "musl program: ROLLCALL_DEBUG and a command line do not confuse the constructor" {
    # musl calls constructors without arguments: registers hold anything
    for n in 0 1 2 7 100; do
        run -0 in_task "$bin/probe-musl-gcc" RANK $(seq -f X%g "$n")
        grep -qxF 'getenv RANK=3' <<< "$output"
    done
}

@test "bash: what must be absent is absent inside the shell itself" {
    prints absent in_task TORCHELASTIC_USE_AGENT_STORE=True bash -c 'echo "${TORCHELASTIC_USE_AGENT_STORE-absent}"'
}

@test "bash: exported functions survive" {
    prints "hello 3"$'\n'"hello 3" in_task 'BASH_FUNC_greet%%=() { echo "hello $RANK"; }' bash -c 'greet; bash -c greet'
}

@test "jemalloc, tcmalloc and libfaketime beside the shim, in both orders" {
    local other libraries
    libraries=(/usr/lib/*/libjemalloc.so.2 /usr/lib/*/libtcmalloc_minimal.so.4 /usr/lib/*/faketime/libfaketime.so.1)
    [ "${#libraries[@]}" -eq 3 ]
    for other in "${libraries[@]}"; do
        [ -f "$other" ]
        for order in "$preload:$other" "$other:$preload" "$other $preload"; do
            prints "$identity_line"$'\n'3 env -i "${task_environment[@]}" FAKETIME=-1d LD_PRELOAD="$order" bash -c \
                "$shell_line; python3 -c 'import os; print(os.environ[\"RANK\"])'"
        done
    done
}

@test "AddressSanitizer with clang's static runtime, and the other sanitizers" {
    local program
    for program in clang-asan clang-tsan clang-msan clang-ubsan gcc-lsan; do
        run -0 in_task "$bin/probe-$program" "${names[@]}"
        expect "${identity[@]}"
    done
}

@test "AddressSanitizer, gcc's shared runtime: wants to be first in the list, and then works" {
    local runtime
    runtime=$(gcc -print-file-name=libasan.so)
    run -0 in_task LD_PRELOAD="$(readlink -f "$runtime") $preload" "$bin/probe-gcc-asan" "${names[@]}"
    expect "${identity[@]}"
    run -0 in_task ASAN_OPTIONS=verify_asan_link_order=0 "$bin/probe-gcc-asan" "${names[@]}"
    expect "${identity[@]}"
    # the sanitizer says this of whatever library is preloaded
    run ! in_task "$bin/probe-gcc-asan" RANK
    [[ $output == *"runtime does not come first"* ]]
}

@test "valgrind: no error, in a task and outside" {
    # valgrind itself is started without the shim: the program must be the first that it meets
    local loader
    loader=$(readelf -lW "$bin/probe-gcc" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
    check=(valgrind -q --error-exitcode=9 --leak-check=full --show-leak-kinds=all
        "$loader" --preload "$preload" "$bin/probe-gcc")
    run -0 env -i "${task_environment[@]}" "${check[@]}" "${names[@]}"
    expect "${identity[@]}"
    [[ $output != *==* ]]
    prints '' env -i "${plain_environment[@]}" "${check[@]}" RANK
}
