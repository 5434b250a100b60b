#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The Python module as a wheel, in a virtual environment that has nothing else. tests/cli/uniqueid.bats has what
# its ranks tell each other.

load helper

setup_file()
{
    export venv=$BATS_FILE_TMPDIR/venv source=$BATS_FILE_TMPDIR/source
    # what a release has of it; the build may leave nothing there
    mkdir -p "$source/python/rollcall"
    cp "$top/LICENSE" "$source"
    cp "$top/python/VERSION" "$top/python/pyproject.toml" "$top/python/makewheel.py" "$source/python"
    cp "$top"/python/rollcall/*.py "$top/python/rollcall/py.typed" "$source/python/rollcall"
    chmod -R a-w "$source"
    # another one's site-packages are not this one's, and nothing may be fetched
    with PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PYTHONDONTWRITEBYTECODE=1 sh -ec '
        python3 -m venv "$1"
        "$1/bin/pip" -q wheel --no-deps -w "$2" "$3"
        "$1/bin/pip" -q install --no-compile "$2"/rollcall_ddp-*.whl
    ' - "$venv" "$BATS_FILE_TMPDIR/wheels" "$source/python" > "$BATS_FILE_TMPDIR/log" 2>&1 || {
        cat "$BATS_FILE_TMPDIR/log"
        return 1
    }
}

# clean [NAME=VALUE...] CMD...: without the build's own module and library
clean()
{
    (cd "$BATS_TEST_TMPDIR" && with PYTHONDONTWRITEBYTECODE=1 "$@")
}

@test "pip makes the wheel from a read-only source, the same bytes as python makes" {
    ls "$BATS_FILE_TMPDIR/wheels"
    name=rollcall_ddp-$(cat "$top/VERSION")-py3-none-any.whl
    [ "$(python3 -B "$top/python/makewheel.py" "$BATS_TEST_TMPDIR")" = "$name" ]
    cmp "$BATS_FILE_TMPDIR/wheels/$name" "$BATS_TEST_TMPDIR/$name"
    run -0 clean "$venv/bin/python" -c 'import importlib.metadata as m
files = m.files("rollcall-ddp")
for one in files:
    if one.hash and one.suffix != ".pyc":
        import base64, hashlib
        digest = base64.urlsafe_b64encode(hashlib.sha256(one.read_binary()).digest()).rstrip(b"=").decode()
        assert digest == one.hash.value, one
print(m.version("rollcall-ddp"), *sorted(str(one) for one in files if str(one).startswith("rollcall/")))'
    [ "$output" = "$(cat "$top/VERSION") rollcall/__init__.py rollcall/_library.py rollcall/py.typed" ]
    [ -z "$(find "$source" -name '*.pyc' -o -name '*.egg-info' -o -name build)" ]
}

@test "pip before 21.3 copies the folder python alone, and makes the wheel from that" {
    cp -R "$source/python" "$BATS_TEST_TMPDIR/copy"
    clean PIP_NO_INDEX=1 "$venv/bin/pip" -q wheel --no-deps -w "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/copy"
    [ -e "$BATS_TEST_TMPDIR/rollcall_ddp-$(cat "$top/VERSION")-py3-none-any.whl" ]
}

@test "identity, plan and version are what rollcall show says" {
    run -0 clean LD_LIBRARY_PATH="$prefix/lib" "${task_3[@]}" PET_NNODES=2 MASTER_PORT=4000 "$venv/bin/python" -c 'import json, rollcall
plan = rollcall.plan()
print(json.dumps([rollcall.version(), rollcall.identity().rank, rollcall.identity().mode, {n: v for n, v in plan.set.items() if n != "ROLLCALL_OWN"}, sorted(plan.unset), plan.keep]))'
    shown=$(with "${task_3[@]}" PET_NNODES=2 MASTER_PORT=4000 "$rollcall" show --json)
    [ "$(jq -S . <<< "$output")" = "$(jq -S --arg version "$(cat "$top/VERSION")" \
        '[$version, 3, "worker", .set, .unset, {"MASTER_PORT": "4000"}]' <<< "$shown")" ]
}

@test "in a task of order=node identity, plan, apply and rollcall show go by its RANK" {
    run -0 clean LD_LIBRARY_PATH="$prefix/lib" "${task_3[@]}" SLURM_PROCID=2 SLURM_LOCALID=1 SLURM_NODEID=0 SLURM_GTIDS=0,2 \
        "$rollcall" exec --ddp=order=node -- "$venv/bin/python" -c 'import os, rollcall, sys
rank = os.environ["RANK"], rollcall.identity().rank, rollcall.plan().set["RANK"]
with rollcall.apply():
    print(*rank, os.environ["RANK"], flush=True)
    os.execl(sys.argv[1], "rollcall", "show", "--json")' "$rollcall"
    [ "${lines[0]}" = '1 1 1 1' ]
    [ "$(jq .identity.rank <<< "${output#*$'\n'}")" = 1 ]
}

@test "the version is there without the library" {
    prints "$(cat "$top/VERSION")" clean "$venv/bin/python" -c 'import rollcall; print(rollcall.__version__)'
    run -0 clean PYTHONPATH="$prefix/share/rollcall/python" python3 -c 'import rollcall; print(rollcall.__version__, rollcall.version())'
    [ "$output" = "$(cat "$top/VERSION") $(cat "$top/VERSION")" ]
}

@test "apply: the environment is what exec would make it, and is put back at the end" {
    run -0 clean LD_LIBRARY_PATH="$prefix/lib" "${task_3[@]}" PET_NNODES=2 RANK=9 "$venv/bin/python" -c 'import os, rollcall
before, plan = dict(os.environ), rollcall.plan()
with rollcall.apply() as applied:
    assert applied.identity.rank == 3
    assert {name: os.environ[name] for name in plan.set} == plan.set
    assert plan.unset and not set(plan.unset) & set(os.environ), plan.unset
    # for this process and for those that it starts
    assert os.popen("echo $RANK $WORLD_SIZE").read() == "3 4\n"
    assert rollcall.identity() == applied.identity
assert dict(os.environ) == before
print("good")'
    [ "$output" = good ]
}

@test "apply: rank 0 holds the port for itself until it is released; a taken one is an error that changes nothing" {
    run -0 clean LD_LIBRARY_PATH="$prefix/lib" "${task_0[@]}" "$own_job" SLURM_STEP_NODELIST=127.0.0.[1-2] "$venv/bin/python" -c 'import os, rollcall, socket, subprocess, sys
def taken(port):
    with socket.socket() as other:
        try:
            return other.bind(("", port))
        except OSError as error:
            return error
before = dict(os.environ)
applied = rollcall.apply()
port = int(os.environ["MASTER_PORT"])
assert taken(port)
again = rollcall.apply()  # the same environment, and nothing more to hold
with socket.socket() as listener:  # as torch does
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("", port))
    listener.listen()
applied.release()
applied.release()
again.release()
assert not taken(port)
os.environ.clear()
os.environ.update(before)
stranger = subprocess.Popen([sys.executable, "-c", "import socket, sys, time; s = socket.socket(); s.bind((str(), int(sys.argv[1]))); s.listen(); print(flush=True); time.sleep(60)",
                             str(port)], stdout=subprocess.PIPE)
stranger.stdout.read(1)
try:
    rollcall.apply()
except rollcall.Error as error:
    assert error.code == 1
    print(error)
stranger.kill()
stranger.wait()
assert dict(os.environ) == before'
    [[ $output == 'RC405: port '*' is taken by '*'; nothing is set; '* ]]
}

@test "apply: outside of a launcher nothing changes; warnings are rank 0's alone" {
    run -0 --separate-stderr clean LD_LIBRARY_PATH="$prefix/lib" "$venv/bin/python" -c 'import os, rollcall
before = dict(os.environ)
assert rollcall.apply().identity.mode == "none"
assert dict(os.environ) == before'
    [ -z "$stderr" ]
    uneven=('SLURM_STEP_TASKS_PER_NODE=3,1' SLURM_GTIDS=0,1,2)
    run -0 --separate-stderr clean LD_LIBRARY_PATH="$prefix/lib" "${task_0[@]}" "$own_job" "${uneven[@]}" MASTER_ADDR=127.0.0.1 "$venv/bin/python" -c 'import rollcall
rollcall.apply()'
    [[ $stderr == *'rollcall: warning RC301: '* ]]
    run -0 --separate-stderr clean LD_LIBRARY_PATH="$prefix/lib" "${task_0[@]}" "${uneven[@]}" SLURM_PROCID=1 SLURM_LOCALID=1 "$venv/bin/python" -c 'import rollcall
rollcall.apply()'
    [ -z "$stderr" ]
}

@test "apply(alone=True): where no launcher is, the process is rank 0 of 1, and says so" {
    run -0 --separate-stderr clean LD_LIBRARY_PATH="$prefix/lib" MASTER_PORT=1 "$venv/bin/python" -c 'import os, rollcall, socket
before = dict(os.environ)
with rollcall.apply(alone=True) as applied:
    print(*(os.environ[name] for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR")))
    me, port = applied.identity, int(os.environ["MASTER_PORT"])
    assert me[:8] == (0, 1, 0, 1, 0, 1, "127.0.0.1", port), me
    with socket.socket() as other:
        try:
            other.bind(("", port))
            raise SystemExit("the port is free")
        except OSError:
            pass
    with socket.socket() as listener:  # as torch does
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", port))
        listener.listen()
    # a library that says it once more, and what ranks tell each other
    with rollcall.apply(alone=True) as again:
        assert again.identity.rank == 0 and os.environ["MASTER_PORT"] == str(port)
    assert rollcall.allgather("x", b"x") == [b"x"]
assert dict(os.environ) == before'
    [ "$output" = '0 1 0 1 127.0.0.1' ]
    [ "$stderr" = 'rollcall: there is no launcher: this process is alone, rank 0 of 1' ]
}

@test "apply(alone=True): a task stays one; what is left of a launcher is an error, and never a job of one" {
    python='import os, rollcall
before = dict(os.environ)
try:
    print(*rollcall.apply(alone=True).identity[:2])
except rollcall.Error as error:
    assert dict(os.environ) == before
    print(error.code, error)'
    prints '3 4' clean LD_LIBRARY_PATH="$prefix/lib" "${task_3[@]}" "$venv/bin/python" -c "$python"
    start='1 this process is no task of a job, and not alone either: '
    end='; start it with srun, mpirun or torchrun; or unset what is left of a launcher'
    for left in OMPI_COMM_WORLD_SIZE=2 PMI_RANK=0 SLURM_PROCID=2 NODE_RANK=0 HOROVOD_RANK=1; do
        matches 0 "$start""RC128: ${left%=*} is set, *; or unset ${left%=*}" \
            clean LD_LIBRARY_PATH="$prefix/lib" "$left" "$venv/bin/python" -c "$python"
    done
    # a task of launcher mode that has lost its launcher's variables
    matches 0 "$start"'RC128: PET_NODE_RANK is set, *' clean LD_LIBRARY_PATH="$prefix/lib" NODE_RANK=1 PET_NODE_RANK=1 \
        ROLLCALL_SCOPE=slurm:42.8/1/launcher/6125 "$venv/bin/python" -c "$python"
    # names of a script's own, and sizes of a job of one
    matches 0 '*alone, rank 0 of 1'$'\n''0 1' clean LD_LIBRARY_PATH="$prefix/lib" LORA_RANK=16 TASK_PROCID=1 \
        DATA_WORLD_SIZE=2 NNODES=1 SLURM_NTASKS=1 "$venv/bin/python" -c "$python"
    # a batch script whose srun is missing; half of what a user sets by hand; a task that has lost a variable
    matches 0 "$start"'RC107: *'"$end" clean LD_LIBRARY_PATH="$prefix/lib" SLURM_JOB_ID=7 SLURM_NTASKS=4 "$venv/bin/python" -c "$python"
    matches 0 "$start"'RC117: *'"$end" clean LD_LIBRARY_PATH="$prefix/lib" WORLD_SIZE=4 "$venv/bin/python" -c "$python"
    matches 0 '1 RC102: *' clean LD_LIBRARY_PATH="$prefix/lib" OMPI_COMM_WORLD_RANK=1 "$venv/bin/python" -c "$python"
}

@test "identity: numbers set by hand are told, where they can only be those of processes" {
    python='import rollcall; print(*rollcall.identity()[:4], rollcall.identity().mode)'
    run -0 clean LD_LIBRARY_PATH="$prefix/lib" RANK=2 WORLD_SIZE=4 LOCAL_RANK=0 "$venv/bin/python" -c "$python"
    [ "$output" = '2 4 0 None none' ]
    for half in 'RANK=2 WORLD_SIZE=4' 'RANK=4 WORLD_SIZE=4 LOCAL_RANK=0' 'RANK=0 WORLD_SIZE=4 LOCAL_RANK=1' \
        'RANK=x WORLD_SIZE=4 LOCAL_RANK=0' 'RANK=-1 WORLD_SIZE=4 LOCAL_RANK=0'; do
        prints 'None None None None none' clean LD_LIBRARY_PATH="$prefix/lib" $half "$venv/bin/python" -c "$python"
    done
}

@test "without the library: one line that says what to do" {
    # not that of a rollcall which is installed here
    if clean "$venv/bin/python" -c 'import ctypes; ctypes.CDLL("librollcall.so.0")' 2> /dev/null; then
        skip 'the loader finds a librollcall.so.0 of this machine'
    fi
    run -0 --separate-stderr clean PATH=/usr/bin:/bin "$venv/bin/python" -c 'import rollcall
try:
    rollcall.nccl_unique_id()
except ImportError as error:
    print(error)'
    [ "${#lines[@]}" -eq 1 ]
    for word in 'librollcall.so.0, the C library' 'was not found' librollcall0 PATH LD_LIBRARY_PATH; do
        [[ $output == *"$word"* ]]
    done
}

@test "with the command rollcall in PATH its library is found, also through a link" {
    run -0 clean PATH="$prefix/bin:$PATH" "${task_3[@]}" "$venv/bin/python" -c 'import rollcall; print(rollcall.identity().rank)'
    [ "$output" = 3 ]
    ln -s "$rollcall" "$BATS_TEST_TMPDIR/rollcall"
    run -0 clean PATH="$BATS_TEST_TMPDIR:$PATH" "${task_3[@]}" "$venv/bin/python" -c 'import rollcall; print(rollcall.identity().rank)'
    [ "$output" = 3 ]
}

# What PyPI has, but for that this build is of this machine's libc (tests/packages/wheels.bats).
@test "a wheel with the command: its parts find each other in the environment, and leave it together" {
    place=$BATS_TEST_TMPDIR/environment
    wheel=$(python3 -B "$top/python/makewheel.py" "$BATS_TEST_TMPDIR" "$prefix" "linux_$(uname -m)")
    python3 -m venv --without-pip "$place"
    find "$place" ! -type d | LC_ALL=C sort > "$BATS_TEST_TMPDIR/before"
    pip=("$venv/bin/pip" -q --disable-pip-version-check --python "$place/bin/python")
    clean "${pip[@]}" install --no-index --no-compile "$BATS_TEST_TMPDIR/$wheel"

    [[ $(clean "$place/bin/rollcall" --version) == "rollcall $(cat "$top/VERSION")"* ]]
    # the library and its programs, by no variable
    run -0 clean PATH=/usr/bin:/bin "${task_3[@]}" "$place/bin/python" -c 'import rollcall; print(rollcall.identity().rank)'
    [ "$output" = 3 ]
    run -0 clean OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -np 2 "$place/bin/python" -c '
import rollcall
print(rollcall.broadcast("word", b"yes" if rollcall.identity().rank == 0 else None).decode())'
    [ "$output" = $'yes\nyes' ]
    printf 'import lightning.pytorch\nimport pytorch_lightning\n' > "$BATS_TEST_TMPDIR/train.py"
    run clean "$place/bin/rollcall" doctor train.py
    [[ $output == *'error D401'* ]]
    run -0 clean "${task_3[@]}" "$place/bin/rollcall" exec --ddp=watch -- sh -c 'ls -d "$PYTHONPATH"'
    [[ $output == *"$place/share/rollcall/watch"* ]]
    # and a C program is built and linked with it
    gcc "$top/contrib/examples/who.c" -o "$BATS_TEST_TMPDIR/who" -Wl,-rpath,"$place/lib" \
        $(PKG_CONFIG_PATH="$place/lib/pkgconfig" pkg-config --cflags --libs rollcall)
    prints 'no launcher: rank 0 of 1' clean "$BATS_TEST_TMPDIR/who"

    clean "${pip[@]}" uninstall -y rollcall-ddp
    run find "$place" ! -type d ! -name '*.pyc'
    [ -z "$(LC_ALL=C sort <<< "$output" | comm -13 "$BATS_TEST_TMPDIR/before" -)" ]
}

@test "an error is the same in a pool of processes" {
    run -0 clean LD_LIBRARY_PATH="$prefix/lib" "${task_3[@]}" SLURM_LOCALID=x "$venv/bin/python" -c 'import concurrent.futures, pickle, rollcall
with concurrent.futures.ProcessPoolExecutor(1) as pool:
    error = pool.submit(rollcall.identity).exception()
print(type(error).__name__, error.code, error)
late = pickle.loads(pickle.dumps(rollcall.Timeout(4, "late")))
print(type(late).__name__, late.code, late)'
    [[ ${lines[0]} == 'Error 1 RC101: SLURM_LOCALID'* ]]
    [ "${lines[1]}" = 'Timeout 4 late' ]
}

@test "all pieces of a broadcast have one deadline" {
    run -0 clean LD_LIBRARY_PATH="$prefix/lib" RANK=0 LOCAL_RANK=0 WORLD_SIZE=1 "$venv/bin/python" -c 'import itertools, rollcall, time
clock, left = itertools.count(), []
time.monotonic = lambda: next(clock)
rollcall._library.Job.call = lambda self, name, *arguments: left.append(arguments[-1])
rollcall.broadcast("x", bytes(3 * 16384), timeout=3)
print(*left)'
    [ "$output" = '2000 1000 1 1' ]
}

@test "every public name has its words, every function its types, also for Python 3.8" {
    run -0 clean "$venv/bin/python" - "$top" <<'PYTHON'
import ast, inspect, os, sys, typing
import rollcall
for name in rollcall.__all__:
    thing = getattr(rollcall, name)
    assert inspect.getdoc(thing), name
    if inspect.isfunction(thing):
        hints = typing.get_type_hints(thing)
        assert set(hints) == set(inspect.signature(thing).parameters) | {"return"}, name
public = {n for n, t in vars(rollcall).items() if getattr(t, "__module__", "") == "rollcall" and not n.startswith("_")}
assert public == set(rollcall.__all__), public ^ set(rollcall.__all__)
for file in ("rollcall/__init__.py", "rollcall/_library.py", "makewheel.py"):
    with open(os.path.join(sys.argv[1], "python", file)) as text:
        ast.parse(text.read(), feature_version=(3, 8))
PYTHON
}

@test "a signal interrupts a call at once, in the main thread, beside threads, with a handler that returns and one that raises" {
    run -0 clean LD_LIBRARY_PATH="$prefix/lib" RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 \
        MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + RANDOM % 10000)) env --default-signal=INT "$venv/bin/python" -c '
import os, rollcall, signal, threading, time
assert rollcall.identity().nnodes == 1, rollcall.identity()
seen = []
taken = []
def note(number, frame):
    seen.append(time.monotonic())
def leave(number, frame):
    raise SystemExit(7)
def send(*numbers):
    for number in numbers:
        time.sleep(0.5)
        sent.append(time.monotonic())
        os.kill(os.getpid(), number)
signal.signal(signal.SIGUSR1, note)
signal.signal(signal.SIGTERM, leave)
calls = [lambda: rollcall.broadcast("x", timeout=60), lambda: rollcall.allgather("x", b"", timeout=60),
         lambda: rollcall.barrier(timeout=60), lambda: rollcall.nccl_unique_id(timeout=60)]
for call in calls:
    for number, failure in ((signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)):
        sent = []
        thread = threading.Thread(target=send, args=(signal.SIGUSR1, number))
        thread.start()
        try:
            call()
        except failure:
            taken.append(time.monotonic() - sent[1])
            assert taken[-1] < 2, taken
        else:
            raise AssertionError(failure)
        thread.join()
        assert seen and seen.pop() - sent[0] < 2
# on a busy machine some take longer
assert sorted(taken)[len(taken) // 2] < 0.2, taken
# in another thread no handler runs, and the time is kept
def late():
    try:
        rollcall.broadcast("y", timeout=0.5)
    except rollcall.Timeout:
        seen.append("late")
thread = threading.Thread(target=late)
thread.start()
thread.join()
assert seen == ["late"], seen
print("good")'
    [ "$output" = good ]
}

@test "names, data, roots and counts of another type or range are errors, and nothing is cut" {
    run -0 clean LD_LIBRARY_PATH="$prefix/lib" RANK=0 LOCAL_RANK=0 WORLD_SIZE=1 "$venv/bin/python" -c '
import array, rollcall
def fails(kind, function, *arguments, **more):
    try:
        result = function(*arguments, **more)
    except kind:
        return
    raise AssertionError((function, arguments, more, result))
for call in rollcall.broadcast, rollcall.allgather:
    for data in 5, "text", [1, 2], 2.5:
        fails(TypeError, call, "n", data)
    for name in "a\0b", "", "a b", "n" * 65, "\u00e9", "a:b":
        fails(rollcall.Error, call, name, b"x")
    for name in 5, b"n", None:
        fails((TypeError, AttributeError), call, name, b"x")
    for timeout in 0, -1, float("nan"):
        fails(ValueError, call, "n", b"x", timeout=timeout)
    fails(TypeError, call, "n", b"x", timeout="1")
fails(TypeError, rollcall.allgather, "n", None)
fails(ValueError, rollcall.broadcast, "n")
fails(TypeError, rollcall.broadcast, "n", b"x", root=0.0)
for root in 1, -1, 2**32, 2**64:
    fails(rollcall.Error, rollcall.broadcast, "n", b"x", root=root)
for count in 0, -1, 2, 2**32 + 1:
    fails(ValueError, rollcall.nccl_unique_ids, count)
fails(TypeError, rollcall.nccl_unique_ids, 1.5)
fails(rollcall.Error, rollcall.barrier, "a\0b")
for data in b"abc", bytearray(b"abc"), memoryview(b"abc"), array.array("B", b"abc"), memoryview(b"aXbXc")[::2]:
    assert rollcall.broadcast("n", data) == b"abc" and rollcall.allgather("n", data) == [b"abc"]
print("good")'
    [ "$output" = good ]
}

@test "a process that no launcher started has nobody to share with; apply(alone=True) makes it rank 0 of 1" {
    run -0 --separate-stderr clean LD_LIBRARY_PATH="$prefix/lib" "$venv/bin/python" -c '
import rollcall
for call in rollcall.barrier, lambda: rollcall.broadcast("x", b""), lambda: rollcall.allgather("x", b""):
    try:
        call()
    except rollcall.Error as error:
        assert error.code == 2 and "this process is no task of a launch; start it with " in str(error), error
    else:
        raise AssertionError(call)
with rollcall.apply(alone=True):
    rollcall.barrier()
    print(rollcall.broadcast("x", b"y"), rollcall.allgather("x", b"z"))'
    [ "$output" = "b'y' [b'z']" ]
}

@test "rollcall exec without a launcher: identity and allgather -> rank 0 of 1; a script's other WORLD_SIZE -> error" {
    all=(0 1 0 1 0 1 127.0.0.1)
    script='import rollcall; print(*rollcall.identity()[:7], *rollcall.identity()[8:], rollcall.allgather("x", b"1"))'
    for before in "" sh; do
        run -0 --separate-stderr clean LD_LIBRARY_PATH="$prefix/lib" "$prefix/bin/rollcall" exec -- \
            ${before:+sh -c 'true; "$@"' sh} "$venv/bin/python" -c "$script"
        [ "$output" = "${all[*]} single worker [b'1']" ]
        [ "$(grep -c RC311 <<< "$stderr")" -eq 1 ]
    done
    for other in 'exec -- env WORLD_SIZE=2' 'exec --ddp=nproc=2 --'; do
        run -1 clean LD_LIBRARY_PATH="$prefix/lib" "$prefix/bin/rollcall" $other "$venv/bin/python" -c "$script"
        [[ $output == *'this process is no task of a launch; '* ]]
    done
}
