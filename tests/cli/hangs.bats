#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# watch: a process that has failed and hangs is ended; one that handles its exception is left alone. fake-torch's
# destroy_process_group takes FAKE_DESTROY seconds; the watch waits two seconds instead of thirty.

load helper

setup()
{
    python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
    script=$BATS_TEST_TMPDIR/train.py
}

# runs SECONDS [NAME=VALUE...] < CODE: a watched task 3 whose destroy_process_group takes so long: $status, $output
runs()
{
    local seconds=$1
    shift
    {
        cat << 'END'
import atexit, contextlib, multiprocessing, os, sys, threading, time
import torch, torch.distributed as dist
try:
    import rollcall_watch_ending
    rollcall_watch_ending.WAIT, rollcall_watch_ending.WAIT_AT_EXIT, rollcall_watch_ending.LAST = 0.3, 0.5, 2
except ImportError: # not watched
    pass
def cleanup():
    dist.destroy_process_group()
END
        cat
    } > "$script"
    run with PYTHONPATH="$BATS_TEST_DIRNAME/fake-torch" PYTHONDONTWRITEBYTECODE=1 FAKE_DESTROY="$seconds" \
        "${task_3[@]}" "$@" timeout 60 "$rollcall" exec --ddp=watch -- "$python" "$script"
}

# ended WHERE: within seconds, with the traceback and one line
ended()
{
    [ "$status" = 1 ] || return 1
    [ "$(grep -c '^RuntimeError: of rank 3$' <<< "$output")" = 1 ] || return 1
    [ "$(grep -v '^  File' <<< "$output" | grep -c rollcall)" = 1 ] || return 1
    [[ $output == *"rollcall: warning RC713: process "*" has failed and hangs $1; it ends with status 1 in "*'Timeout (0:00:02)!'* ]]
}

# left: it came to its end by itself, and nothing was printed
left()
{
    [ "$status" = 0 ] || return 1
    [ "$output" = "went on" ]
}

@test "an exception on its way, and destroy_process_group hangs -> traceback, RC713, status 1" {
    local count=0 code
    while IFS= read -r -d '#' code; do
        runs 100 <<< "$code"
        ended 'in destroy_process_group' || { echo "$code"; echo "$status: $output"; return 1; }
        count=$((count + 1))
    done << 'END'
try:
    raise RuntimeError("of rank 3")
finally:
    dist.destroy_process_group()
#
def main():
    try:
        raise RuntimeError("of rank 3")
    finally:
        cleanup()
main()
#
try:
    try:
        raise RuntimeError("of rank 3")
    finally:
        cleanup()
except ValueError:
    print("another one")
#
try:
    raise RuntimeError("of rank 3")
except Exception as error:
    print("noted")
    cleanup()
    raise
#
class Group:
    def __enter__(self):
        pass
    def __exit__(self, *error):
        cleanup()
with Group():
    raise RuntimeError("of rank 3")
#
def steps():
    try:
        yield 1
        raise RuntimeError("of rank 3")
    finally:
        cleanup()
for step in steps():
    pass
#
try:
    try:
        raise KeyError("handled")
    except KeyError:
        pass
    raise RuntimeError("of rank 3")
finally:
    cleanup()
#
try:
    raise RuntimeError("of rank 3")
except Exception:
    cleanup()
    sys.exit(1)
#
def work():
    try:
        raise RuntimeError("of rank 3")
    finally:
        cleanup()
child = multiprocessing.get_context("fork").Process(target=work)
child.start()
child.join()
sys.exit(child.exitcode)
#
END
    [ "$count" = 9 ]
}

@test "an exception that nobody caught, and the interpreter hangs at its exit -> RC713, status 1" {
    runs 0 <<< 'atexit.register(time.sleep, 100); raise RuntimeError("of rank 3")'
    ended 'at its exit'
    runs 0 <<< 'threading.Thread(target=time.sleep, args=[100]).start(); raise RuntimeError("of rank 3")'
    ended 'at its exit'
    runs 100 <<< 'atexit.register(cleanup); raise RuntimeError("of rank 3")'
    ended 'at its exit'
}

@test "a process that handles its exception, or has none -> left alone, however long destroy_process_group takes" {
    local count=0 code
    while IFS= read -r -d '#' code; do
        runs 3 <<< "$code"
        left || { echo "$code"; echo "$status: $output"; return 1; }
        count=$((count + 1))
    done << 'END'
try:
    pass
finally:
    cleanup()
print("went on")
#
try:
    raise RuntimeError("of rank 3")
except RuntimeError:
    cleanup()
print("went on")
#
def train_smaller():
    try:
        pass
    finally:
        cleanup()
try:
    raise RuntimeError("of rank 3")
except RuntimeError:
    train_smaller()
print("went on")
#
try:
    try:
        raise RuntimeError("of rank 3")
    except RuntimeError:
        raise ValueError
except ValueError:
    cleanup()
print("went on")
#
def fail():
    try:
        raise RuntimeError("of rank 3")
    finally:
        cleanup()
def run():
    try:
        fail()
    except RuntimeError:
        pass
thread = threading.Thread(target=run)
thread.start()
thread.join()
print("went on")
#
def steps():
    try:
        yield 1
    finally:
        cleanup()
for step in steps():
    break
print("went on")
#
try:
    try:
        raise RuntimeError("of rank 3")
    finally:
        cleanup()
except Exception:
    print("went on")
#
def fail():
    try:
        raise RuntimeError("of rank 3")
    finally:
        cleanup()
try:
    fail()
except (OSError, RuntimeError):
    print("went on")
#
def fail():
    try:
        raise RuntimeError("of rank 3")
    finally:
        cleanup()
with contextlib.suppress(RuntimeError):
    fail()
print("went on")
#
try:
    raise RuntimeError("of rank 3")
except RuntimeError:
    try:
        pass
    finally:
        cleanup()
print("went on")
#
try:
    raise RuntimeError("of rank 3")
except RuntimeError:
    print("went on", flush=True)
    cleanup()
    sys.exit(0)
#
try:
    raise KeyboardInterrupt
except KeyboardInterrupt:
    cleanup()
print("went on")
#
try:
    sys.exit(0)
finally:
    print("went on", flush=True)
    cleanup()
#
END
    [ "$count" = 13 ]
}

@test "destroy_process_group that returns with an exception on its way -> the traceback, once, and no other line" {
    runs 0.1 << 'END'
try:
    raise RuntimeError("of rank 3")
finally:
    cleanup()
END
    [ "$status" = 1 ]
    [ "$(grep -c '^RuntimeError: of rank 3$' <<< "$output")" = 1 ]
    [[ $output != *RC713* ]]
}

@test "an exception that nobody caught, and an exit that takes some seconds -> the traceback and no other line" {
    runs 0 << 'END'
rollcall_watch_ending.WAIT_AT_EXIT, rollcall_watch_ending.LAST = 10, 30
atexit.register(time.sleep, 3)
raise RuntimeError("of rank 3")
END
    [ "$status" = 1 ]
    [[ $output == Traceback*'RuntimeError: of rank 3' ]]
}

@test "watch=off in the job -> nothing is ended" {
    runs 3 ROLLCALL=watch=off << 'END'
try:
    raise RuntimeError("of rank 3")
finally:
    cleanup()
    print("went on")
END
    [ "$status" = 1 ]
    [[ $output == 'went on'*'RuntimeError: of rank 3' ]]
}
