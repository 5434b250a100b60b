#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# rollcall exec under a PMIx launcher: what the program says that asks the server, and when it cannot.

load helper

setup()
{
    # a tree of its own, with another program that asks
    tree=$BATS_TEST_TMPDIR/tree
    asker=$tree/libexec/rollcall/rollcall-pmix
    mkdir -p "$tree/bin" "$tree/libexec/rollcall"
    cp "$rollcall" "$tree/bin"
    task=(PMIX_NAMESPACE=prterun-n1-76@1 PMIX_RANK=1 PMIX_VERSION=5.0.7)
    answer='rank=1\nsize=4\nlocal_rank=1\nnode=0\nmap=(vector,(0,2,2))\ntasks=2(x2)\nhost=192.0.2.1\n'
}

# asked SCRIPT: what asks is that script
asked()
{
    printf '#!/bin/sh\n%s\n' "$1" > "$asker"
    chmod 755 "$asker"
}

run_task()
{
    with "${task[@]}" "$tree/bin/rollcall" "$@"
}

@test "the answer becomes the task's identity" {
    asked "printf '$answer'"
    [ "$(run_task exec -- sh -c "$print_names")" = '1 4 1 2 0 192.0.2.1 ' ]
}

@test "the program gets no input, no preload and no terminal, and leaves no child" {
    asked "cat > '$tree/input'; env > '$tree/env'; echo noise >&2; printf '$answer'"
    left=(python3 -c 'import os; print(os.listdir("/proc/self/fd"), open("/proc/thread-self/children").read())')
    with "${left[@]}" <<< input > "$tree/before" 2> "$tree/err"
    with "${task[@]}" LD_PRELOAD="$prefix/lib/librollcall-preload.so" "$tree/bin/rollcall" exec -- "${left[@]}" \
        <<< input > "$tree/after" 2> "$tree/err"
    diff "$tree/before" "$tree/after"
    [ ! -s "$tree/input" ]
    run ! grep -q LD_PRELOAD= "$tree/env"
    run ! grep -q noise "$tree/err"
}

@test "with PMIx 4 both sides use the store that serves a second client; nobody's own choice is changed" {
    asked "echo \"\$PMIX_MCA_gds\" > '$tree/store'; printf '$answer'"
    [ "$(with "${task[@]}" PMIX_VERSION=4.2.2rc2 "$tree/bin/rollcall" exec -- \
        sh -c 'echo "$PMIX_MCA_gds"')" = hash ]
    [ "$(cat "$tree/store")" = hash ]
    [ "$(with "${task[@]}" PMIX_VERSION=4.2.2 PMIX_MCA_gds=ds21 "$tree/bin/rollcall" exec -- \
        sh -c 'echo "$PMIX_MCA_gds"')" = ds21 ]
    [ "$(run_task exec -- sh -c 'echo "${PMIX_MCA_gds-none}"')" = none ]
}

@test "it is not asked where the environment says enough, and not for another process" {
    asked "touch '$tree/asked'; printf '$answer'"
    with "${task_3[@]}" "$tree/bin/rollcall" show --json > /dev/null
    with PMIX_NAMESPACE=slurm.pmix.42.7 PMIX_RANK=3 "${task_3[@]}" "$tree/bin/rollcall" exec -- true
    with "${task[@]}" ROLLCALL=off "$tree/bin/rollcall" exec -- true
    env -i PATH="$PATH" "${task[@]}" sleep 30 3>&- &
    pid=$!
    until grep -qz PMIX_RANK "/proc/$pid/environ"; do sleep 0.05; done
    run with "$tree/bin/rollcall" show --pid $pid
    kill $pid
    [[ $output == *RC109* ]]
    python3 -B "$recordings/recordings.py" print prterun > "$BATS_TEST_TMPDIR/task.env"
    run with "$tree/bin/rollcall" show --from "$BATS_TEST_TMPDIR/task.env"
    [[ $output == *RC109* ]]
    [ ! -e "$tree/asked" ]
}

@test "a task that carries its own stamp does not ask again" {
    asked "echo asked >> '$tree/asked'; printf '$answer'"
    run_task exec -- "$tree/bin/rollcall" exec -- true
    [ "$(wc -l < "$tree/asked")" = 1 ]
}

@test "the program is missing, or cannot be run" {
    fails_with 1 "RC120: rollcall-pmix, which queries the PMIx server, cannot be run: 'No such file or directory'" \
        run_task exec -- true
    asked 'exit 0'
    chmod 644 "$asker"
    if [ "$(id -u)" != 0 ]; then
        fails_with 1 "RC120: rollcall-pmix, which queries the PMIx server, cannot be run: 'Permission denied'" \
            run_task exec -- true
    fi
    asked 'kill -SEGV $$'
    fails_with 1 "RC120: rollcall-pmix, which queries the PMIx server, cannot be run: 'ended by signal 11'" \
        run_task exec -- true
}

@test "what it says is nothing, garbage or half an answer" {
    asked 'exit 0'
    fails_with 1 "RC120: the PMIx server's answer is incomplete: 'there is none'" run_task exec -- true
    asked "printf '$answer'; exit 3"
    fails_with 1 "RC120: the PMIx server's answer is incomplete: 'it was cut off'" run_task exec -- true
    asked 'head -c 3000000 /dev/zero'
    fails_with 1 'RC120: ' run_task exec -- true
    asked "printf '$answer' | sed s/rank=1/rank=2/"
    fails_with 1 'RC120: PMIX_RANK is 1, but for the PMIx server the rank is 2' run_task exec -- true
}

@test "the real program: libpmix is missing" {
    cp "$prefix/libexec/rollcall/rollcall-pmix" "$asker"
    mkdir "$tree/broken"
    : > "$tree/broken/libpmix.so.2"
    task+=(LD_LIBRARY_PATH="$tree/broken")
    fails_with 1 "RC120: the PMIx server cannot be queried without libpmix.so.2: 'file too short'" run_task exec -- true
}

@test "the real program: the server is gone" {
    fails_with 1 "RC120: the PMIx server does not answer: 'PMIx_Init: " \
        with "${task[@]}" PMIX_SERVER_URI4='prterun-n1-76@0.0;tcp4://127.0.0.1:1' \
        PMIX_SERVER_URI41='prterun-n1-76@0.0;tcp4://127.0.0.1:1' "$rollcall" exec -- true
}

@test "the real program: the server takes the connection and is silent" {
    python3 - "$tree/port" 3>&- <<'PYTHON' &
import socket, sys, time
listener = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1] + ".new", "w") as port:
    port.write(str(listener.getsockname()[1]))
import os
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(60)
PYTHON
    server=$!
    until [ -e "$tree/port" ]; do sleep 0.05; done
    uri="prterun-n1-76@0.0;tcp4://127.0.0.1:$(cat "$tree/port")"
    task+=(PMIX_SERVER_URI4="$uri" PMIX_SERVER_URI41="$uri" PMIX_SERVER_URI3="$uri" PMIX_SERVER_URI2="$uri")
    started=$SECONDS
    status=0
    fails_with 1 'RC120: the PMIx server does not answer: ' with "${task[@]}" "$rollcall" exec -- true || status=1
    kill $server
    [ "$status" = 0 ]
    # not when the server ends
    [ $((SECONDS - started)) -le 40 ]
}

# Slurm ends a step whose PMIx client is killed.
@test "rollcall-pmix does not end -> the task does not wait for it, and does not kill it" {
    asked "echo \$\$ > $tree/pid; exec sleep 60"
    started=$SECONDS
    fails_with 1 "RC120: the PMIx server does not answer: 'no answer within 10 s'" run_task exec -- true
    [ $((SECONDS - started)) -le 40 ]
    kill "$(cat "$tree/pid")"
}

@test "the real program: the server hangs -> it goes on waiting, and ends with the server's connection" {
    cp "$prefix/libexec/rollcall/rollcall-pmix" "$asker"
    python3 - "$asker" <<'PYTHON'
import os, signal, socket, subprocess, sys, time

listener = socket.create_server(("127.0.0.1", 0))
uri = "slurm.pmix.1.0.0;tcp4://127.0.0.1:%d" % listener.getsockname()[1]
env = {"PATH": os.environ["PATH"], "PMIX_NAMESPACE": "slurm.pmix.1.0", "PMIX_RANK": "0", "PMIX_SECURITY_MODE": "native",
       **{"PMIX_SERVER_URI" + version: uri for version in ("2", "21", "3", "4", "41")}}
asker = subprocess.Popen([sys.argv[1], "get", "100"], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
connection = listener.accept()[0]
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM, signal.SIGUSR1):
    asker.send_signal(number)
asker.stdout.close()
time.sleep(1)
assert asker.poll() is None
listener.close()
connection.close()
assert asker.wait(60) == 1
PYTHON
}

# library: a libpmix whose server answers a question late with "not found", and a commit never
library()
{
    gcc -x c -shared -fPIC -pthread -o "$tree/libpmix.so.2" - <<'C'
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int PMIx_Init(void *proc, void *info, size_t count) { return 0; }
int PMIx_Get_nb(const void *proc, const char *key, const void *info, size_t count,
                void (*function)(int status, void *value, void *more), void *more)
{
    nanosleep(&(const struct timespec){ .tv_nsec = 500000000 }, NULL);
    function(-46, NULL, more);
    return 0;
}
int PMIx_Put(int scope, const char *key, void *value) { return 0; }
int PMIx_Commit(void) { for (;;) pause(); }
int PMIx_Finalize(const void *info, size_t count) { fputs("finalized\n", stderr); return 0; }
const char *PMIx_Error_string(int status) { return status == -24 ? "timeout" : "other"; }
C
}

@test "rollcall-pmix: the server does not answer a commit -> it disconnects at the deadline, or with SIGTERM" {
    library
    local program=$prefix/libexec/rollcall/rollcall-pmix
    run -1 env LD_LIBRARY_PATH="$tree" timeout -s KILL 30 "$program" put 100 <<< endpoint
    [ "$output" = 'finalized
failed=server PMIx_Put: timeout' ]
    mkfifo "$tree/input"
    LD_LIBRARY_PATH=$tree timeout -s KILL 30 "$program" put 60000 < "$tree/input" > "$tree/out" 2>&1 3>&- &
    echo endpoint > "$tree/input"
    until pid=$(pgrep -P $!) && [ "$(ls "/proc/$pid/task" | wc -l)" = 2 ]; do sleep 0.05; done
    kill "$pid"
    status=0
    wait $! || status=$?
    [ "$status" -eq 1 ]
    prints 'finalized
failed=server PMIx_Put: timeout' cat "$tree/out"
}

@test "rollcall-pmix: the server answers after the deadline -> it disconnects at once" {
    library
    run -1 env LD_LIBRARY_PATH="$tree" timeout -s KILL 30 "$prefix/libexec/rollcall/rollcall-pmix" get 300
    [ "$output" = 'finalized
failed=answer rollcall.server of rank 0: is not there by the deadline' ]
}
