#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# watch: what reaches Python, and what is said there of whom.
#
# fake-torch stands in for torch, so that a call takes no seconds; tests/cluster/watch.bats has the real one.

load helper

setup()
{
    python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
    folder=$prefix/share/rollcall/watch
    fake=$BATS_TEST_DIRNAME/fake-torch
}

# Task 2 of 4 on two nodes, cyclic: node by node it would be task 1.
cyclic_2=("${step[@]}" SLURM_DISTRIBUTION=cyclic SLURM_PROCID=2 SLURM_LOCALID=1 SLURM_NODEID=0 SLURM_GTIDS=0,2)

# read_code NAME=VALUE... -- CODE: they are in $variables and $code
read_code()
{
    variables=()
    while [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    code=$2
}

# watched NAME=VALUE... -- CODE: with what the watch needs for that task, in an environment of its own
watched()
{
    read_code "$@"
    with PYTHONPATH="$fake" PYTHONDONTWRITEBYTECODE=1 "${variables[@]}" "$rollcall" exec --ddp=watch -- \
        "$python" -c "import torch, torch.distributed as dist, os; $code"
}

# alone NAME=VALUE... -- CODE: Python without rollcall exec, in an environment that somebody else has set
alone()
{
    read_code "$@"
    run -0 --separate-stderr with PYTHONPATH="$folder:$fake" PYTHONDONTWRITEBYTECODE=1 "${variables[@]}" \
        "$python" -c "import torch.distributed as d, torch; $code"
}

# says ID TEXT NAME=VALUE... -- CODE: one line with both on standard error, and the call is made all the same
says()
{
    local id=$1 text=$2
    shift 2
    run -0 --separate-stderr watched "$@"
    if [ "$(grep -c . <<< "$stderr")" != 1 ] || [[ $stderr != "rollcall: "*" $id: "*"$text"* ]] ||
        [[ $output != *called* ]]; then
        printf '%s\n' "not one line with $id and '$text':" "$stderr" "$output"
        return 1
    fi
}

silent()
{
    run -0 --separate-stderr watched "$@"
    [ -z "$stderr" ] && [[ $output == *called* ]] || {
        printf '%s\n' "somebody spoke:" "$stderr" "$output"
        return 1
    }
}

path_of()
{
    with "${task_3[@]}" "$@" sh -c 'printf "%s|%s" "${PYTHONPATH-none}" "${ROLLCALL_IDENTITY-none}"'
}

@test "the folder comes behind the user's own, in each of the three ways in" {
    identity='rank=3 size=4 node=1 nodes=2'
    expect()
    {
        [[ $output =~ ^"$1|$identity master=192.0.2.1:"[0-9]+$ ]] || {
            echo "'$output' is not '$1|$identity'"
            return 1
        }
    }
    run -0 path_of "$rollcall" exec --ddp=watch
    expect "$folder"
    run -0 path_of PYTHONPATH= "$rollcall" exec --ddp=worker,watch=on
    expect "$folder"
    run -0 path_of PYTHONPATH=/a::/b: ROLLCALL=watch "$rollcall" exec
    expect "/a::/b::$folder"
    run -0 path_of PYTHONPATH="$folder:/a" ROLLCALL=watch "$rollcall" exec
    expect "$folder:/a"
    run -0 path_of PYTHONPATH=/a ROLLCALL=watch LD_PRELOAD="$prefix/lib/librollcall-preload.so"
    expect "/a:$folder"
}

@test "without watch, and where the command line says watch=off, nothing comes" {
    prints 'none|none' path_of "$rollcall" exec
    prints '|none' path_of PYTHONPATH= ROLLCALL=watch "$rollcall" exec --ddp=watch=off
    prints 'none|none' path_of ROLLCALL=off "$rollcall" exec --ddp=watch
}

@test "a launch inside of a watched one does not go by the outer one's identity" {
    prints none with "${task_3[@]}" "$rollcall" exec --ddp=watch -- \
        env SLURM_STEP_ID=8 "$rollcall" exec -- sh -c 'echo "${ROLLCALL_IDENTITY-none}"'
    # in the same task it stays
    run -0 with "${task_3[@]}" "$rollcall" exec --ddp=watch -- "$rollcall" exec -- sh -c 'echo "${ROLLCALL_IDENTITY-none}"'
    [[ $output == 'rank=3 size=4 node=1 nodes=2 master=192.0.2.1:'* ]]
}

@test "a tree that was moved has its watch with it, and one without it says so" {
    mkdir "$BATS_TEST_TMPDIR/moved"
    cp -r "$prefix/bin" "$prefix/lib" "$prefix/share" "$BATS_TEST_TMPDIR/moved"
    moved=$(cd "$BATS_TEST_TMPDIR/moved" && pwd -P)
    run -0 path_of "$moved/bin/rollcall" exec --ddp=watch
    [[ $output == "$moved/share/rollcall/watch|"* ]]
    run -0 path_of ROLLCALL=watch LD_PRELOAD="$moved/lib/librollcall-preload.so"
    [[ $output == "$moved/share/rollcall/watch|"* ]]
    rm -r "$moved/share"
    run -0 --separate-stderr with "${task_0[@]}" MASTER_PORT="$(free_port)" MASTER_ADDR=127.0.0.1 \
        "$moved/bin/rollcall" exec --ddp=watch -- sh -c 'echo "${PYTHONPATH-none}"'
    [ "$output" = none ]
    [[ $stderr == *"warning RC505: "*"share/rollcall/watch"* ]]
}

@test "who joins as its task is stays unnamed, on every way to say it" {
    silent "${task_3[@]}" -- 'dist.init_process_group("gloo")'
    silent "${task_3[@]}" -- 'dist.init_process_group()'
    silent "${task_3[@]}" -- 'dist.init_process_group("gloo", "env://", None, 4, 3)'
    silent "${task_3[@]}" -- 'dist.init_process_group("gloo", init_method="tcp://n1:1?rank=3&world_size=4")'
    silent "${task_3[@]}" -- 'dist.init_process_group("gloo", init_method="file:///x", rank=3, world_size=4)'
    silent "${task_3[@]}" -- 'dist.init_process_group("gloo", store=object(), rank=3, world_size=4)'
    silent "${task_3[@]}" FAKE_WORLD='3 4' -- 'dist.init_process_group("mpi")'
    silent "${task_3[@]}" FAKE_WORLD='3 4' -- 'dist.init_process_group("gloo", init_method="other://x")'
    silent "${task_3[@]}" -- 'torch.distributed.device_mesh.init_device_mesh()'
}

@test "RC701: each task trains alone" {
    says RC701 'joins as rank 0 of 1 (passed by __main__), but its task is rank 3 of 4' "${task_3[@]}" -- \
        'dist.init_process_group("gloo", rank=0, world_size=1)'
    says RC701 'rank 0 of 1 (by RANK and WORLD_SIZE as they are now)' "${task_3[@]}" -- \
        'os.environ.update(RANK="0", WORLD_SIZE="1"); dist.init_process_group("gloo")'
    says RC701 'rank 0 of 1 (in the init_method of __main__)' "${task_3[@]}" -- \
        'dist.init_process_group("gloo", init_method="tcp://n1:1?rank=0&world_size=1")'
    # also where the task's own rank is 0
    alone ROLLCALL_IDENTITY='rank=0 size=4 node=0 nodes=2' -- 'd.init_process_group("gloo", rank=0, world_size=1)'
    [[ $stderr == *"RC701: "*"its task is rank 0 of 4"* ]]
}

@test "RC701: MPI and other rendezvous, which tell afterwards" {
    says RC701 'joins as rank 0 of 1' "${task_3[@]}" -- 'dist.init_process_group("mpi", rank=3, world_size=4)'
    says RC701 'joins as rank 0 of 1' "${task_3[@]}" -- 'dist.init_process_group("gloo", init_method="other://x")'
}

@test "RC702: another world size, smaller or larger" {
    says RC702 'rank 1 of 2 (passed by __main__), but its task is rank 3 of 4' "${task_3[@]}" -- \
        'dist.init_process_group("gloo", rank=1, world_size=2)'
    says RC702 'rank 3 of 8 (passed by __main__), but its task is rank 3 of 4, and it is its only process' \
        "${task_3[@]}" -- 'dist.init_process_group("gloo", rank=3, world_size=8)'
}

@test "RC703: the right world size, another rank" {
    says RC703 'rank 0 of 4 (passed by __main__), but its task is rank 3 of 4; pass RANK' "${task_3[@]}" -- \
        'dist.init_process_group("gloo", rank=0, world_size=4)'
    says RC703 'rank 1 of 4 (by RANK and WORLD_SIZE as they are now)' "${task_3[@]}" -- \
        'os.environ["RANK"] = "1"; dist.init_process_group("gloo")'
    # the rank in the environment, the world size as an argument
    says RC703 'rank 1 of 4 (by RANK' "${task_3[@]}" -- \
        'os.environ["RANK"] = "1"; dist.init_process_group("gloo", world_size=4)'
}

@test "Lightning's own arithmetic: what to check is said" {
    mkdir -p "$BATS_TEST_TMPDIR/lightning"
    echo 'import torch.distributed as d
def init(): d.init_process_group("gloo", rank=1, world_size=4)' > "$BATS_TEST_TMPDIR/lightning/fabric.py"
    says RC703 'passed by lightning.fabric), but its task is rank 3 of 4; check devices= and num_nodes=' \
        "${task_3[@]}" -- "import sys; sys.path.append('$BATS_TEST_TMPDIR'); import lightning.fabric as f; f.init()"
}

@test "all tasks numbered in the other order are passed over" {
    silent "${cyclic_2[@]}" -- 'dist.init_process_group("gloo", rank=1, world_size=4)'
    says RC703 'rank 3 of 4' "${cyclic_2[@]}" -- 'dist.init_process_group("gloo", rank=3, world_size=4)'
}

@test "a line is said once, and not for a world that there is already or that is a fake" {
    says RC701 'rank 0 of 1' "${task_3[@]}" -- 'exec("""
for i in range(3):
    dist.distributed_c10d.world = None
    dist.init_process_group("gloo", rank=0, world_size=1)
dist.init_process_group("gloo", rank=1, world_size=4)
""")'
    silent "${task_3[@]}" -- 'dist.init_process_group("fake", rank=0, world_size=64)'
}

@test "workers that a task starts itself: what is possible is not named" {
    start='import subprocess, sys
def child(**variables):
    code = "import torch.distributed as d, os, torch; d.init_process_group(%r)" % "gloo"
    subprocess.run([sys.executable, "-c", code], env=dict(os.environ, **variables), check=True)
'
    # a launcher of the user's own, two a task: ranks 6 and 7 of 8 are this task's
    silent "${task_3[@]}" -- "exec('''$start''') or child(RANK='6', WORLD_SIZE='8') or child(RANK='7', WORLD_SIZE='8')"
    says RC703 'rank 1 of 8' "${task_3[@]}" -- "exec('''$start''') or child(RANK='1', WORLD_SIZE='8')"
    says RC703 'rank 0 of 4' "${task_3[@]}" -- "exec('''$start''') or child(RANK='0', WORLD_SIZE='4')"
    # the task itself is one of them
    silent "${task_3[@]}" -- 'import subprocess; p = subprocess.Popen(["cat"], stdin=-1)
dist.init_process_group("gloo", rank=6, world_size=8); p.communicate()'
    # mpirun in the task, without rollcall
    inside=(OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 ROLLCALL_SCOPE=slurm:42.7/3/worker/29500
        ROLLCALL_IDENTITY='rank=3 size=4 node=1 nodes=2')
    for rank in 0 1; do
        alone "${inside[@]}" -- "d.init_process_group('gloo', rank=$rank, world_size=2)"
        [ "$(grep -c 'RC702: ' <<< "$stderr")" = $((1 - rank)) ]
    done
}

@test "multiprocessing's children" {
    cat > "$BATS_TEST_TMPDIR/spawn.py" <<'PYTHON'
import multiprocessing, sys
import torch.distributed as dist, torch
def child(rank, world):
    dist.init_process_group("gloo", rank=rank, world_size=world)
if __name__ == "__main__":
    rank, world = map(int, sys.argv[1:])
    for method in "spawn", "fork":
        process = multiprocessing.get_context(method).Process(target=child, args=(rank, world))
        process.start()
        process.join()
PYTHON
    spawn()
    {
        run -0 --separate-stderr with PYTHONPATH="$fake" "${task_3[@]}" "$rollcall" exec --ddp=watch -- \
            "$python" "$BATS_TEST_TMPDIR/spawn.py" "$@"
        [ "$(grep -c called <<< "$output")" = 2 ]
    }
    spawn 7 8
    [ -z "$stderr" ]
    spawn 1 8
    [ "$(grep -c 'RC703: process [0-9]* on .* joins as rank 1 of 8 ' <<< "$stderr")" = 2 ]
    spawn 1 2
    [ "$(grep -c 'RC702' <<< "$stderr")" = 2 ]
}

@test "torchrun has the last word on its workers, but not on the number of nodes" {
    torchrun=(TORCHELASTIC_RUN_ID=42 RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 GROUP_RANK=1 GROUP_WORLD_SIZE=2
        ROLLCALL_IDENTITY='node=1 nodes=2' ROLLCALL_SCOPE=slurm:42.8/1/launcher/29500)
    join='d.init_process_group("gloo")'
    alone "${torchrun[@]}" -- "$join"
    [ -z "$stderr" ]
    # c10d numbers the nodes as it likes
    alone "${torchrun[@]}" RANK=1 GROUP_RANK=0 -- "$join"
    [ -z "$stderr" ]
    # changed before torch is imported
    run -0 --separate-stderr with PYTHONPATH="$folder:$fake" PYTHONDONTWRITEBYTECODE=1 "${torchrun[@]}" "$python" -c \
        "import os; os.environ.update(RANK='1', WORLD_SIZE='8'); import torch.distributed as d, torch; $join"
    [[ $stderr == *"RC703: "*"rank 1 of 8"*"torchrun made it rank 5 of 8"* ]]
    alone "${torchrun[@]}" -- 'd.init_process_group("gloo", rank=0, world_size=1)'
    [[ $stderr == *"RC701: "*"rank 0 of 1"*"torchrun made it rank 5 of 8"* ]]
    alone "${torchrun[@]}" LOCAL_RANK=0 RANK=0 WORLD_SIZE=4 GROUP_RANK=0 GROUP_WORLD_SIZE=1 -- "$join"
    [[ $stderr == *"RC701: "*"rank 0 of 4"*"it is on node 1 of 2"*"torchrun knows of no other"* ]]
    # a torchrun in each of several tasks of a node, and one of one task a node
    alone "${torchrun[@]}" ROLLCALL_IDENTITY='rank=1 size=4' LOCAL_RANK=0 RANK=0 WORLD_SIZE=2 GROUP_WORLD_SIZE=1 -- "$join"
    [[ $stderr == *"RC701: "*"its task is rank 1 of 4"*"; start one task a node; or type python for torchrun, "* ]]
    alone "${torchrun[@]}" ROLLCALL_IDENTITY='rank=1 size=2' PET_NNODES=2 LOCAL_RANK=0 RANK=0 WORLD_SIZE=2 \
        GROUP_WORLD_SIZE=1 -- "$join"
    [[ $stderr == *"RC701: "*"; leave --nnodes and --standalone out "* ]]
    # one line a node is enough of that
    alone "${torchrun[@]}" LOCAL_RANK=1 RANK=1 WORLD_SIZE=4 GROUP_RANK=0 GROUP_WORLD_SIZE=1 -- "$join"
    [ -z "$stderr" ]
}

@test "launcher mode without torchrun: node 1 of 2 cannot have rank 0" {
    join()
    {
        alone ROLLCALL_IDENTITY='node=1 nodes=2' ROLLCALL_SCOPE=slurm:42.8/1/launcher/29500 -- \
            "d.init_process_group('gloo', rank=$1, world_size=$2)"
    }
    join 2 4
    [ -z "$stderr" ]
    join 0 4
    [[ $stderr == *"RC703: "*"rank 0 of 4"*"it is on node 1 of 2, where that rank cannot be"* ]]
    join 0 1
    [[ $stderr == *"RC701: "* ]]
}

@test "what torch returns and raises is torch's, and its function looks as before" {
    run -0 --separate-stderr watched "${task_3[@]}" -- 'import inspect, pickle
f = dist.init_process_group
assert f is dist.distributed_c10d.init_process_group is dist.device_mesh.init_process_group
assert f.__wrapped__ is not f and pickle.loads(pickle.dumps(f)) is f
assert list(inspect.signature(f).parameters)[:5] == ["backend", "init_method", "timeout", "world_size", "rank"]
assert f.__name__ == "init_process_group" and f.__doc__.startswith("The docstring")
assert f("gloo") == "returned"'
    [ -z "$stderr" ]
    run -1 --separate-stderr watched "${task_3[@]}" -- 'dist.init_process_group("fails")'
    [[ $stderr == *"RuntimeError: from torch"* ]]
    run -1 --separate-stderr watched "${task_3[@]}" -- 'dist.init_process_group(nonsense=1)'
    [[ $stderr == *"TypeError: "*"nonsense"* ]]
}

@test "nothing that goes wrong in the watch reaches the script" {
    for identity in x = rank=1 'rank=x size=4 node=0 nodes=2' 'rank=1 size=4' '='$'\e''[2J'; do
        alone ROLLCALL_IDENTITY="$identity" -- 'd.init_process_group(rank=1, world_size=4)'
        [[ $output == *called* ]]
        [ -z "$stderr" ]
    done
    silent "${task_3[@]}" FAKE_WORLD='3 4' -- 'dist.init_process_group("gloo", rank="x", world_size=4)'
    silent "${task_3[@]}" -- 'dist.distributed_c10d.is_initialized = None; dist.init_process_group("gloo")'
    run -0 --separate-stderr watched "${task_3[@]}" ROLLCALL_DEBUG=1 -- \
        'dist.distributed_c10d.is_initialized = None; dist.init_process_group("gloo")'
    [[ $stderr == *"rollcall: watch: TypeError: "* ]]
    # standard error closed, or gone
    silent "${task_3[@]}" -- 'os.close(2); dist.init_process_group("gloo", rank=0, world_size=4)'
    run -0 --separate-stderr watched "${task_3[@]}" -- 'import io, sys; sys.stderr = io.StringIO()
dist.init_process_group("gloo", rank=0, world_size=4); print(sys.stderr.getvalue())'
    [[ $output == *"rollcall: warning RC703: "* ]]
    [ -z "$stderr" ]
    silent "${task_3[@]}" -- 'import sys; sys.stderr = None; dist.init_process_group("gloo", rank=0, world_size=4)'
}

@test "python -I, TORCH_DEVICE_BACKEND_AUTOLOAD=0, an older torch, ROLLCALL=off: honestly nothing" {
    wrong='import torch.distributed as d, torch; d.init_process_group(rank=0, world_size=1)'
    prints 'called None None 0 1' with PYTHONPATH="$fake" "${task_3[@]}" "$rollcall" exec --ddp=watch -- \
        "$python" -I -c "import sys; sys.path.append('$fake'); $wrong"
    silent "${task_3[@]}" FAKE_TORCH=2.4 -- 'dist.init_process_group(rank=0, world_size=1)'
    silent "${task_3[@]}" TORCH_DEVICE_BACKEND_AUTOLOAD=0 -- 'dist.init_process_group(rank=0, world_size=1)'
    run -0 --separate-stderr with PYTHONPATH="$fake" "${task_3[@]}" "$rollcall" exec --ddp=watch -- \
        env ROLLCALL=off "$python" -c "$wrong"
    [ -z "$stderr" ]
    # with the older torch a script can ask for it itself
    says RC701 'rank 0 of 1' "${task_3[@]}" FAKE_TORCH=2.4 -- \
        'import rollcall_watch; rollcall_watch.install(); rollcall_watch.install()
dist.init_process_group(rank=0, world_size=1)'
}

until_told='import atexit, os, threading, torch
def told(): return all(thread.name != "rollcall-watch" for thread in threading.enumerate())
def wait(): [thread.join() for thread in threading.enumerate() if thread.name == "rollcall-watch"]
atexit.register(wait)'
# reaches SECONDS NAME=VALUE... -- CODE: like silent, with watch=SECONDS; at its end it waits until the server has heard
reaches()
{
    local seconds=$1
    read_code "${@:2}"
    run -0 --separate-stderr with PYTHONPATH="$fake" PYTHONDONTWRITEBYTECODE=1 "${variables[@]}" "$rollcall" exec \
        "--ddp=watch${seconds:+=$seconds}" -- "$python" -c "$until_told; import torch.distributed as dist; $code"
    [ -z "$stderr" ] && [[ $output == *called* ]] || {
        printf '%s\n' "somebody spoke:" "$stderr" "$output"
        return 1
    }
}

# heard LINE...: that, and nothing else, was said at the server
heard()
{
    local expected=
    [ $# -eq 0 ] || expected=$(printf 'rollcall 1 TOKEN SIZE\\n%s\n' "$@")
    [ "$(sed -E 's/^(rollcall 1 TOKEN) [0-9]+/\1 SIZE/' "$BATS_TEST_TMPDIR/server/heard" 2> /dev/null)" = "$expected" ] || {
        echo "at the server:"
        cat "$BATS_TEST_TMPDIR/server/heard"
        return 1
    }
}

@test "watch=SECONDS: srun's server is told of the task, once a process, before torch is called" {
    open_server answers
    reaches 60 "${task_3[@]}" "${at_server[@]}" -- 'exec("""
for i in range(3):
    dist.distributed_c10d.world = None
    dist.init_process_group("gloo")
if not os.fork():
    dist.distributed_c10d.world = None
    dist.init_process_group("gloo")
    os._exit(0)
os.wait()
""")'
    heard 'attend tasks 3 4\n'
    # the server has been told where torch fails or hangs; Slurm's number, whatever the order of ranks
    run with PYTHONPATH="$fake" PYTHONDONTWRITEBYTECODE=1 "${cyclic_2[@]}" "${at_server[@]}" \
        "$rollcall" exec --ddp=order=node,watch=60 -- "$python" -c \
        "$until_told; import rollcall_watch_report, torch.distributed as d
rollcall_watch_report.Server.PATIENCE = 30 # a word after the other
d.init_process_group('fails')"
    raised='raised=1\ntask=2\nrank=1\nsize=4\nhost='$(uname -n)'\nerror=RuntimeError: from torch\n'
    heard 'attend tasks 3 4\n' 'attend tasks 2 4\n' "$raised"
    reaches 60 "${task_3[@]}" "${at_server[@]}" -- 'os.environ.clear(); dist.init_process_group("gloo", None, None, 4, 3)'
    heard 'attend tasks 3 4\n' 'attend tasks 2 4\n' "$raised" 'attend tasks 3 4\n'
}

# raises CODE [NAME=VALUE...]: a watched task 3, whose standard error is no file
raises()
{
    run with PYTHONPATH="$fake" PYTHONDONTWRITEBYTECODE=1 "${task_3[@]}" SLURMD_NODENAME=192.0.2.2 "${at_server[@]}" "${@:2}" \
        "$rollcall" exec --ddp=watch -- "$python" -c "import os, sys
try:
    import rollcall_watch_report
    rollcall_watch_report.Server.FAREWELL = 30 # the machine may be busy
except ImportError: # not watched
    pass
$1" 2>&1 | cat
}

@test "a process that an exception ends tells srun's server by which, after its traceback" {
    local head='raised=1\ntask=3\nrank=3\nsize=4\nhost=192.0.2.2\nerror='
    open_server answers
    raises 'import torch; raise RuntimeError("of rank 3\n and more")'
    heard "${head}RuntimeError: of rank 3\n"
    raises 'import torch.distributed.distributed_c10d as d, torch; d.world = (5, 8); raise OSError(28, "\u00b5" * 500)'
    [[ $(tail -n 1 "$BATS_TEST_TMPDIR/server/heard") == *'\nrank=5\nsize=8\nhost=192.0.2.2\nerror=OSError: [Errno 28] ?????'* ]]
    : > "$BATS_TEST_TMPDIR/server/heard"
    # a hook that was there before
    raises 'sys.excepthook = lambda *error: print("own"); import torch; 1 / 0'
    # what a script prints with the hook ends nobody
    raises 'import torch; sys.excepthook(*sys.exc_info()); sys.excepthook(OSError, OSError(28), None); assert False'
    heard "${head}ZeroDivisionError: division by zero\n" "${head}AssertionError\n"
    : > "$BATS_TEST_TMPDIR/server/heard"
    # what is no failure, or is told by somebody else
    raises 'import torch; raise KeyboardInterrupt'
    raises 'import torch; raise type("SignalException", (Exception,), {})("Process 7 got signal: 15")'
    raises 'import torch; sys.ps1 = ">>> "; 1 / 0'
    raises 'import torch; sys.exit(3)'
    raises 'import torch; os._exit(3)'
    raises 'import torch; raise ValueError' ROLLCALL=watch=off
    heard
    # of torchrun's workers: one that a signal has ended, and one that has told by itself
    failure='import torch
class Failed(Exception):
    def get_first_failure(self):
        return 2, self
    def signal_name(self):
        return "SIGKILL"
'
    for code in 1 -15; do
        raises "$failure    exitcode = $code
raise Failed"
    done
    heard
    raises "$failure    exitcode = -9
raise Failed"
    head=${head/rank=3/rank=2}
    heard "${head%error=}killed=yes\nerror=SIGKILL\n"
}

@test "a process that fails has its traceback and its status, whatever the server does" {
    for kind in silent garbage leaves; do
        open_server "$kind"
        run -1 --separate-stderr watched "${task_3[@]}" "${at_server[@]}" -- 'raise RuntimeError("of rank 3")'
        [[ ${stderr##*$'\n'} == 'RuntimeError: of rank 3' ]]
        close_server
    done
    run -1 --separate-stderr watched "${task_3[@]}" "${at_server[@]}" -- 'raise RuntimeError("of rank 3")'
    [[ ${stderr##*$'\n'} == 'RuntimeError: of rank 3' ]]
}

@test "watch=SECONDS: nothing is told without seconds, of a fake group, of a world that is there, in another step" {
    open_server answers
    reaches '' "${task_3[@]}" "${at_server[@]}" -- 'dist.init_process_group("gloo")'
    reaches 60 "${task_3[@]}" "${at_server[@]}" -- 'dist.init_process_group("fake", rank=0, world_size=64)'
    reaches 60 "${task_3[@]}" "${at_server[@]}" -- 'dist.distributed_c10d.world = (3, 4); dist.init_process_group("gloo")'
    prints 'called gloo None -1 -1' with PYTHONPATH="$fake" PYTHONDONTWRITEBYTECODE=1 "${task_3[@]}" "${at_server[@]}" \
        "$rollcall" exec --ddp=watch=60 -- env SLURM_STEP_ID=8 "$python" -c \
        'import torch.distributed as d, torch; d.init_process_group("gloo")'
    heard
}

@test "watch=SECONDS: a server that is gone, or is none, holds up nobody" {
    for kind in silent garbage leaves; do
        open_server "$kind"
        reaches 60 "${task_3[@]}" "${at_server[@]}" -- 'dist.init_process_group("gloo")
if not told(): print("it goes on", flush=True)
os._exit(0)'
        # whatever comes back is enough: nobody acts upon it
        [[ $kind = garbage || $output == *"it goes on"* ]]
        close_server
    done
    # nobody has this port any more
    reaches 60 "${task_3[@]}" "${at_server[@]}" -- 'dist.init_process_group("gloo"); os._exit(0)'
    for server in 'a 1 42.7' '0123456789abcdef0123456789abcdef 0 42.7' '0123456789abcdef0123456789abcdef 99999 42.7' \
        'a b 42.7' $'\e[2J \xff 42.7'; do
        reaches 60 "${task_3[@]}" SLURM_LAUNCH_NODE_IPADDR=127.0.0.1 SLURM_ROLLCALL_SERVER="$server" -- \
            'dist.init_process_group("gloo"); os._exit(0)'
    done
    reaches 60 "${task_3[@]}" SLURM_LAUNCH_NODE_IPADDR=no.such.host.invalid "${at_server[0]}" -- 'dist.init_process_group("gloo"); os._exit(0)'
    reaches 60 "${task_3[@]}" "${at_server[0]}" -- 'dist.init_process_group("gloo"); os._exit(0)'
}

@test "watch=SECONDS: srun's server says who is missing, and that all have come" {
    open_server real "$prefix/libexec/rollcall/rollcall-exchange" 1
    said()
    {
        until grep -q "$1" "$BATS_TEST_TMPDIR/server/said"; do
            kill -0 "$server_pid" || return 1
            sleep 0.05
        done
    }
    reaches 1 "${task_3[@]}" "${at_server[@]}" -- 'dist.init_process_group("gloo")'
    said '^rollcall: warning RC707: 1 s after the first, 1 of 4 tasks have .*, but not tasks 0-2; .*srun --jobid=42 '
    for rank in 2 1 0; do
        reaches 1 "${step[@]}" SLURM_PROCID=$rank SLURM_LOCALID=$((rank % 2)) SLURM_NODEID=$((rank / 2)) \
            SLURM_GTIDS=$((rank / 2 * 2)),$((rank / 2 * 2 + 1)) "${at_server[@]}" -- 'dist.init_process_group("gloo")'
    done
    said '^rollcall: note RC708: all 4 tasks have reached init_process_group now, '
    close_server
    [ "$(grep -c . "$BATS_TEST_TMPDIR/server/said")" = 2 ]
}

@test "watch=SECONDS without a server is said by rank 0, RC709; names that are wrong are named all the same" {
    for set in A= ROLLCALL=exchange=off SLURM_ROLLCALL_SERVER='0123456789abcdef0123456789abcdef 1 42.6'; do
        run -0 --separate-stderr with "${task_0[@]}" MASTER_ADDR=127.0.0.1 MASTER_PORT="$(free_port)" "$set" \
            "$rollcall" exec --ddp=watch=60 -- true
        [ "$(grep -c 'rollcall: warning RC709: watch=60 was asked for, but there is no rendezvous server beside srun; ' \
            <<< "$stderr")" = 1 ]
    done
    run -0 --separate-stderr with PYTHONPATH="$fake" PYTHONDONTWRITEBYTECODE=1 "${task_3[@]}" "$rollcall" exec \
        --ddp=watch=60 -- "$python" -c 'import torch.distributed as d, torch; d.init_process_group(rank=0, world_size=1)'
    [[ $stderr == *"RC701: "* && $stderr != *RC709* ]]
    run -2 --separate-stderr with "${task_0[@]}" "$rollcall" exec --ddp=watch=0 -- true
    [[ $stderr == *"watch='0' is not known; use watch, watch=on, watch=off or, in seconds, watch=1 to watch=86400"* ]]
}

@test "TORCH_DEVICE_BACKEND_AUTOLOAD=0 in a task is said by rank 0, RC705" {
    run -0 --separate-stderr with "${task_0[@]}" MASTER_ADDR=127.0.0.1 MASTER_PORT="$(free_port)" \
        TORCH_DEVICE_BACKEND_AUTOLOAD=0 "$rollcall" exec --ddp=watch -- true
    [[ $stderr == *"warning RC705: "*"TORCH_DEVICE_BACKEND_AUTOLOAD='0'"* ]]
}

# wrapped LINES [NAME=VALUE...]: task 3 of 4, started by a script of these lines, in which ten seconds are a tenth
wrapped()
{
    local lines=$1
    shift
    run -0 --separate-stderr with PYTHONPATH="$fake" PYTHONDONTWRITEBYTECODE=1 "${task_3[@]}" "$@" \
        "$rollcall" exec --ddp=watch -- sh -c "$lines"$'\n"$@"' - "$python" -c 'import torch, torch.distributed as dist
import rollcall_watch
rollcall_watch.PATIENCE = 0.1
dist.init_process_group()'
}

@test "a script between rollcall and Python: what it has overwritten is named, with the line to type" {
    local there='; delete that there, or type there: rollcall exec -- python'
    wrapped 'export RANK=0'
    [[ $stderr == "rollcall: warning RC703: "*"the script that starts it set RANK=0 (rollcall: 3)$there"* ]]
    wrapped 'export RANK=$SLURM_LOCALID WORLD_SIZE=1'
    [[ $stderr == *"warning RC701: "*"set RANK=1 (rollcall: 3), WORLD_SIZE=1 (rollcall: 4)$there"* ]]
    wrapped 'export MASTER_ADDR=n9' FAKE_SECONDS=2
    [[ $stderr == *"warning RC712: process "*" joins as rank 3 of 4 "*", and has waited 0.1 s; "*"set MASTER_ADDR=n9 (rollcall: 192.0.2.1)$there"* ]]
    wrapped 'export WORLD_SIZE=8 MASTER_PORT=1234' FAKE_SECONDS=2
    [[ $stderr == *"warning RC712: "*"set WORLD_SIZE=8 (rollcall: 4), MASTER_PORT=1234 (rollcall: "* ]]
    [ "$(grep -c RC7 <<< "$stderr")" = 1 ]
}

@test "a script between rollcall and Python: the same values, or others with which the processes meet -> no line" {
    wrapped 'export RANK=3 WORLD_SIZE=4 MASTER_ADDR=$MASTER_ADDR MASTER_PORT=$MASTER_PORT' FAKE_SECONDS=2
    [ -z "$stderr" ]
    wrapped 'export MASTER_PORT=1234'
    [ -z "$stderr" ]
    wrapped 'export LOCAL_RANK=0 OTHER=1' FAKE_SECONDS=2
    [ -z "$stderr" ]
}

# in_script NAME=VALUE... -- CODE: as a process of a batch script of sbatch --ddp, where ten seconds are a tenth
in_script()
{
    read_code "$@"
    run --separate-stderr with PYTHONPATH="$fake:$folder" PYTHONDONTWRITEBYTECODE=1 SLURM_JOB_ID=42 SLURM_NTASKS=4 \
        ROLLCALL_IDENTITY='script=42 tasks=4' "${variables[@]}" "$python" -c "import rollcall_watch
rollcall_watch.PATIENCE = 0.1
import time, torch, torch.distributed as dist, torch.distributed.distributed_c10d as c10d
$code"
}

@test "srun forgotten: a batch script's process that waits for tasks, RC309" {
    slow=FAKE_SECONDS=2
    in_script $slow RANK=0 WORLD_SIZE=4 -- 'dist.init_process_group()'
    [[ $stderr == "rollcall: warning RC309: process "*" waits for 3 others as rank 0 of 4, but the script of a job of 4 tasks runs once; start it with srun: srun --ddp python"* ]]
    in_script $slow RANK=0 WORLD_SIZE=4 ROLLCALL_IDENTITY='script=42 tasks=4 exec=1' -- 'dist.init_process_group()'
    [[ $stderr == *'start it with srun: srun -K rollcall exec -- python'* ]]
    # -K would end a torchrun that goes on by itself
    in_script -- 'for line in ["--nnodes=2 t.py --max-restarts=3", "--max-restarts 3 t.py", "--nnodes=1:4 t.py"]:
    print(rollcall_watch.srun_line(["python", "torchrun", *line.split()], True))'
    [ "$output" = 'srun -K --ntasks-per-node=1 rollcall exec -- torchrun --nnodes=2 t.py --max-restarts=3
srun --ntasks-per-node=1 rollcall exec -- torchrun --max-restarts 3 t.py
srun --ntasks-per-node=1 rollcall exec -- torchrun --nnodes=1:4 t.py' ]
    in_script $slow -- 'dist.init_process_group(rank=0, world_size=4)'
    [ "$(grep -c RC309 <<< "$stderr")" = 1 ]
    in_script FAKE_FAILS=ValueError -- 'dist.init_process_group()'
    [ "$status" = 1 ]
    [[ $stderr == *"RC309: "*" finds no rank of its own, "*ValueError* ]]
}

@test "srun forgotten: nothing is said of a process that meets the others, or that a launcher has started" {
    slow=FAKE_SECONDS=0.5
    # Lightning in the shell of salloc: its workers load for longer than the patience
    in_script $slow RANK=0 WORLD_SIZE=3 -- 'import subprocess
all = [subprocess.Popen(["sleep", "60"]) for _ in range(2)]
dist.init_process_group()
for one in all: one.kill()'
    [ "$status" = 0 ]
    [ -z "$stderr" ]
    in_script RANK=0 WORLD_SIZE=4 -- 'rollcall_watch.Script.PATIENCE = 2; dist.init_process_group(); time.sleep(3)'
    [ "$status" = 0 ]
    [ -z "$stderr" ]
    in_script -- 'time.sleep(0.3)'
    [ -z "$stderr" ]
    for set in RANK=1 WORLD_SIZE=1 SLURM_STEP_ID=0 OMPI_COMM_WORLD_RANK=0 PMI_RANK=0 TORCHELASTIC_RUN_ID=x SLURM_JOB_ID=43 \
        ROLLCALL=off; do
        in_script $slow RANK=0 WORLD_SIZE=4 "$set" -- 'dist.init_process_group()'
        [ "$status" = 0 ] && [ -z "$stderr" ] || {
            echo "$set: $stderr"
            return 1
        }
    done
}

@test "the watch is installed as Python wants it, and any Python from 3.8 on can read it" {
    run -0 "$python" - "$folder" "$(cat "$top/VERSION")" <<'PYTHON'
import ast, csv, importlib.metadata as metadata, os, sys
folder, version = sys.argv[1:]
found, = metadata.distributions(path=[folder])
assert (found.metadata["Name"], found.version) == ("rollcall-watch", version)
point, = found.entry_points
assert (point.group, point.name, point.value) == ("torch.backends", "rollcall_watch", "rollcall_watch:install")
files = {str(file) for file in found.files}
there = {os.path.relpath(os.path.join(at, name), folder)
         for at, _, names in os.walk(folder) if "__pycache__" not in at for name in names}
assert files == there, files ^ there
for name in there:
    if name.endswith(".py"):
        with open(folder + "/" + name) as file:
            ast.parse(file.read(), feature_version=(3, 8))
PYTHON
}

@test "RC710: a GPU by rank modulo GPUs, which another task of the node takes as well" {
    local text='takes GPU 0, which is rank 2 modulo 2 GPUs, but rank 0 is on this node, too' take device
    take='import torch.cuda as c; c.set_device(DEVICE); dist.init_process_group(); print("called")'
    says RC710 "$text" "${cyclic_2[@]}" FAKE_GPUS=2 -- \
        'import torch.cuda; dist.init_process_group(device_id=type("device", (), {"index": 0})())'
    for device in '2 % c.device_count()' '"cuda:0"' 'device=0' 'type("device", (), {"index": 0})()'; do
        says RC710 "$text" "${cyclic_2[@]}" FAKE_GPUS=2 -- "${take/DEVICE/$device}"
        [[ $stderr == *"take LOCAL_RANK, which is 1" ]]
        [[ $output == *set* ]]
    done
    # the task's script, before Python, has computed LOCAL_RANK
    run -0 --separate-stderr with PYTHONPATH="$fake" PYTHONDONTWRITEBYTECODE=1 "${cyclic_2[@]}" FAKE_GPUS=2 "$rollcall" exec \
        --ddp=watch -- sh -c 'LOCAL_RANK=$((SLURM_PROCID % 2)) exec "$0" -c "$1"' "$python" \
        'import os, torch, torch.cuda as c; c.set_device(int(os.environ["LOCAL_RANK"]))'
    [[ $stderr == *"warning RC710: "*"$text"*"take LOCAL_RANK, which is 1" ]]
    # its own, by the preload library's stamp, which is not in /proc/self/environ
    run -0 --separate-stderr with PYTHONPATH="$fake" PYTHONDONTWRITEBYTECODE=1 "${cyclic_2[@]}" SLURM_PROCID=0 \
        SLURM_LOCALID=0 FAKE_GPUS=2 ROLLCALL=watch LD_PRELOAD="$prefix/lib/librollcall-preload.so" "$python" -c \
        'import os, torch, torch.cuda as c; c.set_device(int(os.environ["LOCAL_RANK"])); print(os.environ["RANK"])'
    [ -z "$stderr" ]
    [[ $output == *0 ]]
    # its own; four GPUs, where the two differ; blocks; more tasks than GPUs; another's, but by no such arithmetic
    silent "${cyclic_2[@]}" FAKE_GPUS=2 -- "${take/DEVICE/int(os.environ[\"LOCAL_RANK\"])}"
    silent "${cyclic_2[@]}" FAKE_GPUS=4 -- "${take/DEVICE/2}"
    silent "${task_3[@]}" FAKE_GPUS=2 -- "${take/DEVICE/3 % 2}"
    silent "${cyclic_2[@]}" FAKE_GPUS=1 -- "${take/DEVICE/0}"
    silent "${cyclic_2[@]}" FAKE_GPUS=3 -- "${take/DEVICE/0}"
}

@test "RC714: torch.cuda.set_device with another GPU than NCCL takes, by LOCAL_RANK from torch 2.15 on or by device_id=" {
    local new=("${task_3[@]}" FAKE_GPUS=4 FAKE_TORCH=2.15.0a0) set='import torch.cuda as c; c.set_device(2); '
    local device='device_id=type("device", (), {"index": %d})()' other own
    # shellcheck disable=SC2059
    other=$(printf "$device" 1) own=$(printf "$device" 2)
    says RC714 'takes GPU 2 by torch.cuda.set_device, but NCCL takes GPU 1, by LOCAL_RANK, ' "${new[@]}" -- \
        "${set}dist.init_process_group('nccl')"
    says RC714 'NCCL takes GPU 1, by LOCAL_RANK, ' "${new[@]}" -- "${set}dist.init_process_group()"
    says RC714 'NCCL takes GPU 1, by LOCAL_RANK, ' "${new[@]}" FAKE_WORLD='3 4' -- "dist.init_process_group('nccl'); $set"
    says RC714 'NCCL takes GPU 1, by device_id=' "${task_3[@]}" FAKE_GPUS=4 -- "${set}dist.init_process_group($other)"
    # an older torch and what makes this one like it; other backends; the same GPU; all GPUs, one after the other
    silent "${task_3[@]}" FAKE_GPUS=4 FAKE_TORCH=2.14.1 -- "${set}dist.init_process_group('nccl')"
    silent "${new[@]}" TORCH_DIST_USE_NCCL2=0 -- "${set}dist.init_process_group('nccl')"
    silent "${new[@]}" -- "${set}dist.init_process_group('nccl-legacy')"
    silent "${new[@]}" -- "${set}dist.init_process_group('gloo')"
    silent "${new[@]}" -- "${set}dist.init_process_group('nccl', $own)"
    silent "${new[@]}" -- "${set/(2)/(1)}dist.init_process_group('nccl'); c.set_device(0); c.set_device(1)"
    # a script that leaves itself one GPU
    silent "${new[@]}" FAKE_GPUS=1 -- "${set/(2)/(0)}dist.init_process_group('nccl')"
}
