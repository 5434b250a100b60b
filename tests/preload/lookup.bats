#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# lookup.bats - librollcall-lookup.so: torch's libraries get an address for a name, and everybody else's calls reach the
# name server, which is the tests' own (tests/nameserver.py) and writes down what it is asked.

load helper

lookup=$(dirname "$preload")/librollcall-lookup.so
python=${PYTHON:-$top/.venv/bin/python}

setup_file()
{
    [ -f "$lookup" ]
    gcc -O2 -Wall -Wextra -Werror -o "$bin/names" "$here/programs/names.c" -ldl
    musl-gcc -O2 -Wall -Wextra -Werror -o "$bin/names-musl" "$here/programs/names.c"
    gcc -O2 -static -w -o "$bin/names-static" "$here/programs/names.c"
    mkdir "$bin/glibc" "$bin/musl"
    for name in libtorch_cpu.so libtorch.so.2 libc10.so libc10_cuda.so libtor.so mylibtorch.so; do
        gcc -O1 -DLIBRARY -shared -fPIC -o "$bin/glibc/$name" "$here/programs/names.c"
        musl-gcc -O1 -DLIBRARY -shared -fPIC -o "$bin/musl/$name" "$here/programs/names.c"
    done
}

# asks MILLISECONDS|none|silent COMMAND...: in $queries is how often the name server was asked
asks()
{
    local delay=$1
    shift
    run --separate-stderr unshare -mn python3 "$top/tests/nameserver.py" "$delay" "$BATS_TEST_TMPDIR/asked" "$@"
    queries=$(wc -l < "$BATS_TEST_TMPDIR/asked")
}

# expects QUERIES LINE...: no more was asked, and that was the output
expects()
{
    local count=$1
    shift
    [ "$status $output" = "0 $(printf '%s\n' "$@")" ] && [ "$queries" = "$count" ] || {
        echo "$status: $output$stderr; $queries queries"
        return 1
    }
}

@test "torch's own libraries alone are answered with the address, under glibc and musl" {
    for libc in glibc musl; do
        program=$bin/names
        [ $libc = glibc ] || program=$bin/names-musl
        is_dynamic "$program"
        folder=$bin/$libc
        asks 0 "$program" "$folder/libtorch_cpu.so" "$folder/libtor.so"
        expects 3 "program 0 ::ffff:127.0.0.9" "libtorch_cpu.so 0 ::ffff:127.0.0.9" "libtor.so 0 ::ffff:127.0.0.9"
        asks 0 env LD_PRELOAD="$lookup" "$program" "$folder"/{libtorch_cpu.so,libtorch.so.2,libc10.so,libc10_cuda.so}
        expects 1 "program 0 ::ffff:127.0.0.9" "libtorch_cpu.so 0 ::ffff:127.0.0.9" "libtorch.so.2 0 ::ffff:127.0.0.9" \
            "libc10.so 0 ::ffff:127.0.0.9" "libc10_cuda.so 0 ::ffff:127.0.0.9"
        asks 0 env LD_PRELOAD="$lookup" "$program" "$folder/libtor.so" "$folder/mylibtorch.so"
        expects 3 "program 0 ::ffff:127.0.0.9" "libtor.so 0 ::ffff:127.0.0.9" "mylibtorch.so 0 ::ffff:127.0.0.9"
    done
}

# LD_PRELOAD reaches each of them, and what they look up is not torch's business.
@test "others are answered as without it: Python, getent, a static program" {
    ask='import socket; print(socket.getnameinfo(("::ffff:127.0.0.9", 0, 0, 0), 0)[0])'
    asks 0 env LD_PRELOAD="$lookup" python3 -c "$ask"
    expects 1 ::ffff:127.0.0.9
    # /etc/hosts has it on most machines
    asks 0 getent ahosts localhost
    without=$status:$output:$queries
    asks 0 env LD_PRELOAD="$lookup" getent ahosts localhost
    [ "$status:$output:$queries" = "$without" ]
    asks 0 env LD_PRELOAD="$lookup" "$bin/names-static"
    expects 1 "program 0 ::ffff:127.0.0.9"
}

@test "who wants a name or nothing gets no address" {
    asks 0 env LD_PRELOAD="$lookup" "$bin/names" -r "$bin/glibc/libtorch_cpu.so"
    expects 2 "program EAI_NONAME -" "libtorch_cpu.so EAI_NONAME -"
}

@test "the other libraries of rollcall beside it change nothing" {
    folder=$(dirname "$preload")
    for list in "$preload:$lookup" "$lookup:$preload" "$folder/librollcall-pins.so:$lookup"; do
        asks 0 env LD_PRELOAD="$list" "$bin/names" "$bin/glibc/libtorch_cpu.so"
        expects 1 "program 0 ::ffff:127.0.0.9" "libtorch_cpu.so 0 ::ffff:127.0.0.9"
    done
}

# Server and client ask for each other; a store is a client of its own, too.
@test "torch's store asks for each client without it, and never with it: both back ends" {
    [ -x "$python" ]
    store=("$python" "$here/programs/store.py" 3)
    asks 0 "${store[@]}"
    [ "$status" = 0 ]
    [ "$output" = $'libuv=True clients=3\nlibuv=False clients=3' ]
    [ "$queries" -ge 16 ]
    asks 0 env LD_PRELOAD="$lookup" "${store[@]}"
    expects 0 'libuv=True clients=3' 'libuv=False clients=3'
}
