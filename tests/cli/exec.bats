#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# rollcall exec: becomes the command, with the right environment or not at all.

load helper

@test "sets the identity of a task" {
    prints '3 4 1 2 1 192.0.2.1 ' with "${task_3[@]}" "$rollcall" exec -- sh -c "$print_names"
}

@test "without -- as well, and the command keeps its own options" {
    prints '3 4 1 2 1 192.0.2.1 ' with "${task_3[@]}" "$rollcall" exec sh -c "$print_names"
    run -0 with "${task_3[@]}" "$rollcall" exec --ddp=worker printf '%s|' --verbose --ddp=off -v --
    [ "$output" = '--verbose|--ddp=off|-v|--|' ]
}

@test "no launcher: the command is rank 0 of 1, each with a free port, and one line says so" {
    run -0 --separate-stderr with A=b "$rollcall" exec -- sh -c "$print_names"
    [[ $output == '0 1 0 1 0 127.0.0.1 '* ]]
    [[ $stderr == 'rollcall: warning RC311: no launcher started this process, '* ]]
    [ "$(grep -c . <<< "$stderr")" = 1 ]
    # two of them on a machine
    run -0 --separate-stderr with "$rollcall" exec -- sh -c 'echo $MASTER_PORT; ROLLCALL_SCOPE= exec "$0" exec -- sh -c "echo \$MASTER_PORT"' "$rollcall"
    [ "$(sort -u <<< "$output" | wc -l)" = 2 ]
    # in the shell of a job of one task
    run -0 --separate-stderr with SLURM_JOB_ID=42 SLURM_NTASKS=1 SLURM_NNODES=1 SLURM_JOB_NUM_NODES=1 \
        "$rollcall" exec -- sh -c "$print_names"
    [[ $output == '0 1 0 1 0 127.0.0.1 '* ]]
    [ -z "$stderr" ]
}

@test "no task, in a job of several or with a command that starts its processes: the command is just run" {
    for outside in 'SLURM_JOB_ID=42 SLURM_NTASKS=4' 'SLURM_JOB_ID=42 SLURM_NNODES=2'; do
        run -0 --separate-stderr with $outside "$rollcall" exec -- env
        [ "$(sort <<< "$output")" = "$(with $outside env | sort)" ]
        [ -z "$stderr" ]
    done
    for name in torchrun ray; do
        ln -s "$(type -P env)" "$BATS_TEST_TMPDIR/$name"
        run -0 --separate-stderr with A=b "$rollcall" exec -- "$BATS_TEST_TMPDIR/$name"
        [ "$(sort <<< "$output")" = "$(with A=b env | sort)" ]
        [ -z "$stderr" ]
    done
}

@test "no launcher: nproc= is the number of workers that torchrun starts, or a line names it" {
    printf '#!/bin/sh\necho "$PET_NPROC_PER_NODE"\n' > "$BATS_TEST_TMPDIR/torchrun"
    chmod +x "$BATS_TEST_TMPDIR/torchrun"
    prints 2 with "$rollcall" exec --ddp=nproc=2 -- "$BATS_TEST_TMPDIR/torchrun" train.py
    prints 3 with ROLLCALL=nproc=3 "$rollcall" exec -- "$BATS_TEST_TMPDIR/torchrun" --standalone train.py
    run -0 --separate-stderr with SLURM_JOB_ID=42 SLURM_NTASKS=4 SLURM_NNODES=1 "$rollcall" exec --ddp=nproc=2 -- \
        "$BATS_TEST_TMPDIR/torchrun" train.py
    [ -z "$output" ]
    [[ $stderr == 'rollcall: warning RC307: nproc= was asked for, but this is no task of a launcher; '* ]]
}

@test "no launcher, but a variable numbers the process: exec runs the command unchanged, and one line names it" {
    for left in NODE_RANK=1 PMI_RANK=0 OMPI_COMM_WORLD_SIZE=4 HOROVOD_RANK=1; do
        for mode in '' --ddp=worker; do
            run -0 --separate-stderr with $left "$rollcall" exec $mode -- env
            [ "$(sort <<< "$output")" = "$(with $left env | sort)" ]
            [[ $stderr == "rollcall: warning RC128: ${left%=*} is set, but no launcher "* ]]
            [ "$(grep -c . <<< "$stderr")" = 1 ]
        done
    done
    # names that no launcher has
    run -0 --separate-stderr with LORA_RANK=16 STAGE_PROCID=1 NNODES=1 "$rollcall" exec -- sh -c "$print_names"
    [[ $output == '0 1 0 1 0 127.0.0.1 '* ]]
}

@test "torchrun --nnodes=1 --node_rank=0 on several nodes: it runs, and node 0 prints the line to type" {
    ln -s "$(type -P true)" "$BATS_TEST_TMPDIR/torchrun"
    for node in 0 1; do
        run -0 --separate-stderr with PATH="$BATS_TEST_TMPDIR:$PATH" "${agent_0[@]}" SLURM_PROCID=$node SLURM_NODEID=$node \
            SLURM_GTIDS=$node "$rollcall" exec -- torchrun --nnodes=1 --node_rank=0 train.py
        [[ $node$stderr == @(1|'0rollcall: warning RC304: '*'leave it out: torchrun train.py') ]]
    done
}

@test "ROLLCALL=off and --ddp=off just run the command" {
    for off in 'ROLLCALL=off' 'ROLLCALL=off SLURM_PROCID=x'; do
        prints '- - - - - - ' with "${task_3[@]}" $off "$rollcall" exec -- sh -c "$print_names"
    done
    prints '- - - - - - ' with "${task_3[@]}" SLURM_PROCID=x "$rollcall" exec --ddp=off -- sh -c "$print_names"
    prints '- - - - - - ' with "${task_3[@]}" ROLLCALL=off "$rollcall" exec --ddp=worker -- sh -c "$print_names"
}

@test "the command's exit status is ours" {
    for n in 0 1 2 3 77 126 127 255; do
        run "-$n" with "${task_3[@]}" "$rollcall" exec -- sh -c "exit $n"
    done
}

@test "the command's death by a signal is ours, and so is its process id" {
    for signal in TERM KILL SEGV PIPE USR1; do
        run -0 python3 - "$rollcall" "$signal" <<'PYTHON'
import os, signal, subprocess, sys
number = getattr(signal, "SIG" + sys.argv[2])
child = subprocess.Popen([sys.argv[1], "exec", "--", "sh", "-c", "echo $$; kill -%d $$" % number], stdout=subprocess.PIPE)
pid = int(child.stdout.read())
assert pid == child.pid, (pid, child.pid)
assert child.wait() == -number, child.returncode
PYTHON
    done
}

@test "ignored and blocked signals are as they were" {
    run -0 python3 - "$rollcall" <<'PYTHON'
import signal, subprocess, sys
def prepare():
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])
def lines(command):
    text = subprocess.run(command, preexec_fn=prepare, restore_signals=False, capture_output=True, text=True, check=True).stdout
    return [l for l in text.splitlines() if l.startswith(("SigIgn", "SigBlk"))]
plain = ["cat", "/proc/self/status"]
assert len(lines(plain)) == 2
assert lines(plain) == lines([sys.argv[1], "exec", "--"] + plain), lines(plain)
PYTHON
}

@test "exec: options of srun or mpirun behind it -> where they go" {
    fails_with 2 'exec: -N2 is an option of srun or mpirun; put it before rollcall, as in srun -K -N2 rollcall exec -- CMD' \
        "$rollcall" exec -N2 --ntasks-per-node=4 python train.py
    fails_with 2 'exec: -np is an option of srun or mpirun' "$rollcall" exec --ddp=watch -- -np 4 python
    fails_with 2 "unknown option '--dpp=worker'" "$rollcall" exec --dpp=worker true
}

@test "126 and 127, as a shell has them" {
    export ROLLCALL=off
    fails_with 127 'no-such-command: command not found' "$rollcall" exec -- no-such-command
    fails_with 127 '/no/such/file: No such file' "$rollcall" exec -- /no/such/file
    fails_with 127 'command not found' "$rollcall" exec -- ''
    touch "$BATS_TEST_TMPDIR/train.py"
    fails_with 127 'train.py: command not found; did you mean python train.py?' "$rollcall" exec train.py
    fails_with 126 'Permission denied; did you mean python /' "$rollcall" exec "$BATS_TEST_TMPDIR/train.py"
    touch "$BATS_TEST_TMPDIR/plain"
    fails_with 126 'Permission denied' "$rollcall" exec -- "$BATS_TEST_TMPDIR/plain"
    fails_with 126 'Permission denied' "$rollcall" exec -- "$BATS_TEST_TMPDIR"
    printf '#!/no/such/interpreter\n' > "$BATS_TEST_TMPDIR/script"
    chmod 755 "$BATS_TEST_TMPDIR/script"
    fails_with 127 'its interpreter' "$rollcall" exec -- "$BATS_TEST_TMPDIR/script"
    # a script without #! runs in sh, as from a shell
    printf 'exit 5\n' > "$BATS_TEST_TMPDIR/bare"
    chmod 755 "$BATS_TEST_TMPDIR/bare"
    run -5 "$rollcall" exec -- "$BATS_TEST_TMPDIR/bare"
}

@test "no command is wrong usage, and a mode without = is recognised" {
    export ROLLCALL=off
    fails_with 2 'which command?' "$rollcall" exec
    fails_with 2 'which command?' "$rollcall" exec --ddp=worker --
    fails_with 127 'did you mean --ddp=worker?' "$rollcall" exec --ddp worker -- true
}

@test "arguments arrive as they are" {
    run -0 --separate-stderr "$rollcall" exec -- printf '<%s>' 'a b' '' '*' $'new\nline' $'\xff' -x --
    [ "$output" = $'<a b><><*><new\nline><\xff><-x><-->' ]
}

@test "standard input, output and error belong to the command" {
    head -c 300000 /dev/urandom > "$BATS_TEST_TMPDIR/data"
    with "${task_3[@]}" "$rollcall" exec -- cat < "$BATS_TEST_TMPDIR/data" > "$BATS_TEST_TMPDIR/copy"
    cmp "$BATS_TEST_TMPDIR/data" "$BATS_TEST_TMPDIR/copy"
    run -0 --separate-stderr with "${task_3[@]}" "$rollcall" exec -- sh -c 'echo out; echo err >&2'
    [ "$output" = out ]
    [ "$stderr" = err ]
    # closed ones stay closed
    run -0 with "${task_0[@]}" "$own_job" bash -c '"$@" 0<&- 2>&-' - "$rollcall" exec -- sh -c '[ ! -e /proc/$$/fd/0 ] && [ ! -e /proc/$$/fd/2 ] && echo closed'
    [ "$output" = closed ]
}

@test "facts that contradict each other: every process says so, none runs the command" {
    for bad in SLURM_PROCID=x SLURM_PROCID=4 'SLURM_STEP_TASKS_PER_NODE=2(x3)' SLURM_STEP_NODELIST=192.0.2.1 SLURM_LOCALID=; do
        fails_with 1 'rollcall: error RC1' with "${task_3[@]}" "$bad" "$rollcall" exec -- touch "$BATS_TEST_TMPDIR/ran"
        [ ! -e "$BATS_TEST_TMPDIR/ran" ]
    done
    # exec is asked for, as --ddp is: it does not run the command with other options than those meant
    fails_with 1 "rollcall: error RC201: ROLLCALL: 'workr' is not known; use " \
        with ROLLCALL=workr "$rollcall" exec -- touch "$BATS_TEST_TMPDIR/ran"
    fails_with 1 'rollcall: error RC201: ROLLCALL' with ROLLCALL=nonsense "$rollcall" exec -- touch "$BATS_TEST_TMPDIR/ran"
    fails_with 1 'rollcall: error RC302' with "${task_3[@]}" "$rollcall" exec --ddp=launcher -- touch "$BATS_TEST_TMPDIR/ran"
    [ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "an environment that is called like a launcher, and a script that nobody knows, are left to the counts" {
    conda=$BATS_TEST_TMPDIR/conda
    script=$BATS_TEST_TMPDIR/select_gpu
    printf '#!/bin/sh\nshift 3\nexec "$@"\n' > "$conda"
    printf '#!/bin/sh\necho "$RANK $*"\n' > "$script"
    chmod +x "$conda" "$script"
    for name in lightning deepspeed ray torchrun; do
        run -0 with "${task_3[@]}" "$rollcall" exec -- "$conda" run -n "$name" printenv RANK
        [ "$output" = 3 ]
    done
    run -0 with "${task_3[@]}" "$rollcall" exec -- "$script" torchrun train.py
    [ "$output" = '3 torchrun train.py' ]
    fails_with 1 'rollcall: error RC302: torchrun needs one task a node' \
        with "${task_3[@]}" "$rollcall" exec -- "$conda" run -n lightning torchrun train.py
}

@test "warnings are printed by the first task alone" {
    uneven=('SLURM_STEP_TASKS_PER_NODE=3,1' SLURM_GTIDS=0,1,2)
    run -0 --separate-stderr with "${task_0[@]}" "$own_job" "${uneven[@]}" "$rollcall" exec -- true
    [[ $stderr == 'rollcall: warning RC301: '*'; ranks are right, and plain torch trains; for Lightning and others '* ]]
    run -0 --separate-stderr with "${task_0[@]}" "${uneven[@]}" SLURM_PROCID=1 SLURM_LOCALID=1 "$rollcall" exec -- true
    [ -z "$stderr" ]
    run -0 --separate-stderr with SLURM_JOB_ID=42 SLURM_NTASKS=4 "$rollcall" exec --ddp=worker -- true
    [[ $stderr == 'rollcall: warning RC307: '* ]]
    # in launcher mode, where no task has a rank
    ln -s "$(type -P true)" "$BATS_TEST_TMPDIR/torchrun"
    run -0 --separate-stderr with "${agent_0[@]}" "$rollcall" exec -- "$BATS_TEST_TMPDIR/torchrun" --nnodes 1 train.py
    [[ $stderr == 'rollcall: warning RC304: '* ]]
    run -0 --separate-stderr with "${agent_0[@]}" SLURM_PROCID=1 SLURM_NODEID=1 SLURM_GTIDS=1 "$rollcall" exec -- \
        "$BATS_TEST_TMPDIR/torchrun" --nnodes 1 train.py
    [ -z "$stderr" ]
}

@test "a command that would hang: one error with the line to type, on each node, and it is not run" {
    ln -s "$(type -P touch)" "$BATS_TEST_TMPDIR/torchrun"
    cd "$BATS_TEST_TMPDIR"
    for node in 0 1; do
        agent=("${agent_0[@]}" SLURM_PROCID=$node SLURM_NODEID=$node SLURM_GTIDS=$node)
        fails_with 1 "RC312: torchrun was given --nnodes='3', but the number of nodes in this step is 2; it is not started; leave it out: torchrun --max-restarts=3 train.py" \
            with PATH="$PWD:$PATH" "${agent[@]}" "$rollcall" exec -- torchrun --nnodes 3 --max-restarts=3 train.py
        fails_with 1 "RC312: torchrun was given --master_addr='localhost', but each node would wait for itself there; " \
            with PATH="$PWD:$PATH" "${agent[@]}" "$rollcall" exec -- torchrun --master-addr=localhost train.py
        fails_with 1 "RC313: torchrun was given --nproc_per_node='a100:2', which is no number; it is not started; leave it out: torchrun train.py, and use nproc=N" \
            with PATH="$PWD:$PATH" "${agent[@]}" "$rollcall" exec -- torchrun --nproc_per_node=a100:2 train.py
        for words in '-m train --nproc_per_node 3 --nnodes=2' '--nnodes=2 train.py --nproc-per-node=3' \
            '--no-python ./train 2 --nproc_per_node 3'; do
            fails_with 1 "leave it out: torchrun $words, and use nproc=N" \
                with PATH="$PWD:$PATH" "${agent[@]}" "$rollcall" exec -- torchrun --nproc_per_node a100:2 $words
        done
    done
    [ ! -e train.py ]
}

@test "a node whose own rank is wrong says so, and the one that is right runs it" {
    ln -s "$(type -P true)" "$BATS_TEST_TMPDIR/torchrun"
    ln -s "$(type -P true)" "$BATS_TEST_TMPDIR/accelerate"
    agent_1=("${agent_0[@]}" SLURM_PROCID=1 SLURM_NODEID=1 SLURM_GTIDS=1)
    # $SLURM_PROCID and $(hostname), expanded in the batch script and on each node
    for command in 'torchrun --nnodes=2 --node_rank=0' 'accelerate launch --num_machines=2 --machine_rank=0'; do
        fails_with 1 "RC312: ${command%% *} was given " with "${agent_1[@]}" "$rollcall" exec -- \
            "$BATS_TEST_TMPDIR"/$command train.py
        run -0 --separate-stderr with "${agent_1[@]}" "$rollcall" exec --ddp=check=warn -- \
            "$BATS_TEST_TMPDIR"/$command train.py
        [[ $stderr == 'rollcall: warning RC304: '*"', but "* ]]
        [ "$(grep -c . <<< "$stderr")" = 1 ]
    done
    for command in 'torchrun --nnodes=2 --node_rank=0' 'accelerate launch --num_machines=2 --machine_rank=0'; do
        run -0 --separate-stderr with "${agent_0[@]}" "$rollcall" exec -- "$BATS_TEST_TMPDIR"/$command train.py
        [ -z "$stderr" ]
    done
    # accelerate itself says that its rank is missing, or has it from a configuration
    run -0 --separate-stderr with "${agent_0[@]}" "$rollcall" exec -- "$BATS_TEST_TMPDIR/accelerate" launch --num_machines 2 train.py
    [ -z "$stderr" ]
}

@test "--verbose and ROLLCALL_DEBUG say what was found; without them there is silence" {
    run -0 --separate-stderr with "${task_3[@]}" "$rollcall" exec -- true
    [ -z "$stderr" ]
    run -0 --separate-stderr with "${task_3[@]}" RANK=7 "$rollcall" exec -v -- true
    [[ $stderr == *'rollcall: note RC501: '*'RANK'*'rollcall: mode worker: '* ]]
    [[ ${stderr_lines[-1]} =~ ^'rollcall: master address 192.0.2.1 (first host of SLURM_STEP_NODELIST), port '[0-9]+' ('.+')'$ ]]
    verbose=$stderr
    run -0 --separate-stderr with "${task_3[@]}" RANK=7 ROLLCALL_DEBUG=1 "$rollcall" exec -- true
    [ "$stderr" = "$verbose" ]
}

@test "what an older launch left behind is replaced or removed" {
    run -0 with "${task_3[@]}" RANK=7 LOCAL_WORLD_SIZE= TORCHELASTIC_RUN_ID=x PET_NNODES=3 "$rollcall" exec -- \
        sh -c "$print_names"'; echo ${PET_NNODES-gone} ${TORCHELASTIC_RUN_ID-gone}'
    [ "${lines[0]}" = '3 4 1 2 1 192.0.2.1 ' ]
    [ "${lines[1]}" = 'gone gone' ]
}

@test "a name that stands twice in the environment stands there once afterwards" {
    run -0 python3 - "$rollcall" "${task_3[@]}" <<'PYTHON'
import ctypes, os, sys
read, write = os.pipe()
block = [e.encode() for e in ["RANK=8", "PATH=" + os.environ["PATH"], "RANK=9"] + sys.argv[2:]]
argv = [sys.argv[1].encode(), b"exec", b"--", b"cat", b"/proc/self/environ"]
libc = ctypes.CDLL(None, use_errno=True)
pid = os.fork()
if pid == 0:
    os.dup2(write, 1)
    libc.execve(argv[0], (ctypes.c_char_p * (len(argv) + 1))(*argv), (ctypes.c_char_p * (len(block) + 1))(*block))
    os._exit(99)
os.close(write)
entries = os.fdopen(read, "rb").read().split(b"\0")
assert os.waitpid(pid, 0)[1] == 0
assert [e for e in entries if e.startswith(b"RANK=")] == [b"RANK=3"], entries
PYTHON
}

@test "a second rollcall in the same task sets back a rank that was changed, a newer launch counts anew" {
    run -0 --separate-stderr with "${task_3[@]}" "$rollcall" exec -- "$rollcall" exec -- sh -c "$print_names"
    [ "$output $stderr" = '3 4 1 2 1 192.0.2.1  ' ]
    # a wrapper that sources what an older job has written
    run -0 --separate-stderr with "${task_3[@]}" "$rollcall" exec --ddp=worker -- \
        sh -c "export RANK=9 WORLD_SIZE=99 LOCAL_RANK=5; exec $rollcall exec -v -- sh -c '$print_names'"
    [ "$output" = '3 4 1 2 1 192.0.2.1 ' ]
    [[ $stderr == *"note RC501: RANK was '9', it is 3 now: as rollcall set it, before it was changed"* ]]
    [[ $stderr == *"RC501: WORLD_SIZE was '99'"*"RC501: LOCAL_RANK was '5'"* ]]
    # the rest of that identity goes with it, and what order= made of it stays
    run -0 with "${task_3[@]}" SLURM_DISTRIBUTION=cyclic SLURM_PROCID=3 SLURM_GTIDS=1,3 "$rollcall" exec --ddp=order=node -- \
        env RANK=9 NODE_RANK=7 LOCAL_WORLD_SIZE=8 "$rollcall" exec -- sh -c "$print_names"
    [ "$output" = '3 4 1 2 1 192.0.2.1 ' ]
    run -0 with "${task_3[@]}" "$rollcall" exec -- env -u RANK "$rollcall" exec -- sh -c "$print_names"
    [ "$output" = '3 4 1 2 1 192.0.2.1 ' ]
    run -0 with "${task_3[@]}" "$rollcall" exec -- env SLURM_STEP_ID=8 SLURM_PROCID=2 SLURM_LOCALID=0 \
        "$rollcall" exec -- sh -c "$print_names"
    [ "$output" = '2 4 0 2 1 192.0.2.1 ' ]
}

@test "options on the command line are obeyed in a task that is set up already" {
    show='echo ${RANK-none} ${PET_NNODES-none} ${PET_NPROC_PER_NODE-none}'
    prints '0 2 none' with "${agent_0[@]}" "$rollcall" exec -- sh -c "$show"
    prints 'none 2 2' with "${agent_0[@]}" "$rollcall" exec -- "$rollcall" exec --ddp=launcher,nproc=2 -- sh -c "$show"
    run -0 with "${agent_0[@]}" "$rollcall" exec --ddp=launcher,nproc=2 -- "$rollcall" exec --ddp=worker -- sh -c "$show"
    [ "$output" = '0 2 none' ]
}

@test "the command decides the mode: torchrun is a launcher, its tasks' nodes are its nodes" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\necho ${RANK-none} $PET_NNODES $PET_NODE_RANK $PET_MASTER_ADDR\n' > "$BATS_TEST_TMPDIR/bin/torchrun"
    chmod 755 "$BATS_TEST_TMPDIR/bin/torchrun"
    run -0 with "${agent_0[@]}" PATH="$BATS_TEST_TMPDIR/bin:$PATH" "$rollcall" exec torchrun train.py
    [ "$output" = 'none 2 0 192.0.2.1' ]
}

@test "rank 0 holds the master port for the command, and nobody else does" {
    cat > "$BATS_TEST_TMPDIR/holds.py" <<'PYTHON'
import errno, os, socket
port = int(os.environ["MASTER_PORT"])
def bind(reuse):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
    try:
        s.bind(("", port))
        s.listen()
        return "free"
    except OSError as error:
        return errno.errorcode[error.errno]
    finally:
        s.close()
print(os.environ["RANK"], bind(0), bind(1))
PYTHON
    port=$(free_port)
    run -0 with "${task_0[@]}" MASTER_PORT="$port" "$rollcall" exec -- python3 "$BATS_TEST_TMPDIR/holds.py"
    [ "$output" = '0 EADDRINUSE free' ]
    run -0 with "${task_3[@]}" MASTER_PORT="$port" "$rollcall" exec -- python3 "$BATS_TEST_TMPDIR/holds.py"
    [ "$output" = '3 free free' ]
}

@test "a master port that is taken: RC405 with its owner, and the command is not run" {
    cat > "$BATS_TEST_TMPDIR/owner.py" <<'PYTHON'
import os, signal, socket, subprocess, sys
s = socket.socket()
s.bind(("", 0))
s.listen()
env = dict(os.environ, MASTER_PORT=str(s.getsockname()[1]))
done = subprocess.run(sys.argv[1:], env=env, capture_output=True, text=True)
print(done.returncode, os.getpid(), s.getsockname()[1])
print(done.stdout + done.stderr, end="")
PYTHON
    run -0 with "${task_0[@]}" python3 "$BATS_TEST_TMPDIR/owner.py" "$rollcall" exec -- touch "$BATS_TEST_TMPDIR/ran"
    read -r status pid port <<< "${lines[0]}"
    [ "$status" = 1 ]
    [[ ${lines[1]} == "rollcall: error RC405: "*"$port"*"$pid"* ]]
    [ ${#lines[@]} = 2 ]
    [ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "a master port below 1024: RC405 for a user, whom the kernel refuses it; root holds it" {
    [ "$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)" = 1024 ] || skip 'users may bind every port here'
    user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    for first in A=b "${task_0[0]}"; do
        task=("$first")
        [ "$first" = A=b ] || task=("${task_0[@]}")
        run -1 --separate-stderr with "${task[@]}" MASTER_PORT=22 "${user[@]}" "$rollcall" exec -- echo ran
        [ -z "$output" ]
        [[ $stderr == *'rollcall: error RC405: port 22 of '*' is only for root; '*' a number from 1024 to 65535, '* ]]
        [[ $stderr != *RC611* ]]
    done
    run -1 with "${task_0[@]}" MASTER_PORT=22 "${user[@]}" "$rollcall" show --rank 0
    [[ $output == *'error RC405: '* ]]
    # another task's is not held here
    run -0 with "${task_3[@]}" MASTER_PORT=22 "${user[@]}" "$rollcall" exec -- echo ran
    prints 1019 with "${task_0[@]}" MASTER_PORT=1019 "$rollcall" exec -- sh -c 'echo $MASTER_PORT'
}

# limited SOFT HARD COMMAND...: with these limits of open files
limited()
{
    (ulimit -Sn "$1" && ulimit -Hn "$2" && shift 2 && with "$@")
}

@test "soft limit of open files below a file for each rank and 512: rank 0 -> raised, others -> as it was" {
    prints '516 4000' limited 64 4000 "${task_0[@]}" "$rollcall" exec -- sh -c 'echo $(ulimit -Sn) $(ulimit -Hn)'
    prints 64 limited 64 4000 "${task_3[@]}" "$rollcall" exec -- sh -c 'ulimit -Sn'
    prints 517 limited 517 4000 "${task_0[@]}" "$rollcall" exec -- sh -c 'ulimit -Sn'
    prints 64 limited 64 4000 "${task_0[@]}" ROLLCALL=off "$rollcall" exec -- sh -c 'ulimit -Sn'
}

@test "hard limit of open files: below the ranks -> RC426 with both numbers, and the command runs; above -> no line" {
    local many=(SLURM_STEP_NUM_TASKS=40 SLURM_NTASKS=40 'SLURM_STEP_TASKS_PER_NODE=20(x2)' 'SLURM_TASKS_PER_NODE=20(x2)'
        SLURM_GTIDS="$(seq -s, 0 19)")
    run -0 --separate-stderr limited 14 39 "${task_0[@]}" "${many[@]}" "$rollcall" exec -- sh -c 'ulimit -Sn'
    [ "$output" = 39 ]
    [[ $stderr == 'rollcall: warning RC426: rank 0 may open 39 files (hard limit), '*' each of 40 ranks; '*' to 552' ]]
    run -0 --separate-stderr limited 14 40 "${task_0[@]}" "${many[@]}" "$rollcall" exec -- sh -c 'ulimit -Sn'
    [ "$output$stderr" = 40 ]
    run -0 --separate-stderr limited 14 14 "${task_0[@]}" "$rollcall" exec -- sh -c 'ulimit -Sn'
    [ "$output$stderr" = 14 ]
    run -0 --separate-stderr limited 14 39 "${task_3[@]}" "$rollcall" exec -- sh -c 'ulimit -Sn'
    [ "$output$stderr" = 14 ]
}

# what enroot's 50-slurm-pytorch.sh does to the environment of an image that has PYTORCH_VERSION; scontrol is not there
hook='export MASTER_PORT=${MASTER_PORT-$((SLURM_JOB_ID % 16384 + 49152))} WORLD_SIZE=${WORLD_SIZE-$SLURM_NTASKS}
    export RANK=${RANK-$SLURM_PROCID} LOCAL_RANK=${LOCAL_RANK-$SLURM_LOCALID}; exec "$@"'

@test "enroot's hook before rollcall exec -> its LOCAL_RANK is corrected, or absent for a launcher; behind it -> rollcall's stays" {
    local own=("${task_3[@]}" CUDA_VISIBLE_DEVICES=0 SLURM_GPUS_ON_NODE=2 SLURM_TRES_PER_TASK=gres/gpu:1)
    local shows=(sh -c 'echo ${RANK-none} ${LOCAL_RANK-none} ${WORLD_SIZE-none}')
    prints '3 1 4' with "${task_3[@]}" sh -c "$hook" sh "$rollcall" exec -- "${shows[@]}"
    # its own GPU is device 0, and SLURM_LOCALID is 1
    prints '3 0 4' with "${own[@]}" sh -c "$hook" sh "$rollcall" exec -- "${shows[@]}"
    prints '3 0 4' with "${own[@]}" "$rollcall" exec -- sh -c "$hook" sh "${shows[@]}"
    prints 'none none none' with "${agent_0[@]}" sh -c "$hook" sh "$rollcall" exec --ddp=launcher -- "${shows[@]}"
}

@test "a port that an outer rollcall holds already is not taken by somebody else" {
    port=$(free_port)
    run -0 --separate-stderr with "${task_0[@]}" MASTER_PORT="$port" "$rollcall" exec -- "$rollcall" exec --ddp=worker -- sh -c "$print_names"
    [ "$output" = '0 4 0 2 0 192.0.2.1 ' ]
    [ -z "$stderr" ]
}

# Open MPI over two nodes outside of Slurm: the address is a guess that rank 0 verifies.
remote=(OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1
    OMPI_MCA_orte_num_nodes=2 PMIX_NAMESPACE=71434241 PMIX_RANK=0)

@test "rank 0 that is not at MASTER_ADDR says so instead of waiting for itself" {
    run with "${remote[@]}" 'OMPI_MCA_orte_hnp_uri=71434240.0;tcp://192.0.2.1:38789' "$rollcall" exec -- touch "$BATS_TEST_TMPDIR/ran"
    echo "$output"
    [ "$status" = 1 ]
    [[ $output == 'rollcall: error RC407: '*192.0.2.1*'not an address of its node'* ]]
    run with "${remote[@]}" 'OMPI_MCA_orte_hnp_uri=71434240.0;tcp6://[2001:db8::1]:38789' "$rollcall" exec -- touch "$BATS_TEST_TMPDIR/ran"
    echo "$output"
    [ "$status" = 1 ]
    [[ $output == 'rollcall: error RC4'* ]]
    [ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "an address that only leads to rank 0's node is taken where addr=given says so" {
    run with "${remote[@]}" MASTER_ADDR=192.0.2.1 "$rollcall" exec -- touch "$BATS_TEST_TMPDIR/ran"
    echo "$output"
    [ "$status" = 1 ]
    [[ $output == 'rollcall: error RC407: '*'; if it leads here (NAT), use addr=given (rollcall explain RC407)' ]]
    [ ! -e "$BATS_TEST_TMPDIR/ran" ]
    run -0 with "${remote[@]}" MASTER_ADDR=192.0.2.1 "$rollcall" exec --ddp=worker,addr=given -- sh -c 'echo "$RANK $MASTER_ADDR"'
    [ "$output" = '0 192.0.2.1' ]
    run -0 with "${remote[@]}" MASTER_ADDR=192.0.2.1 ROLLCALL=worker,addr=given "$rollcall" exec -- sh -c 'echo "$RANK $MASTER_ADDR"'
    [ "$output" = '0 192.0.2.1' ]
}

@test "rank 0 that is at MASTER_ADDR runs" {
    address=$(hostname -I | awk '{ print $1 }')
    [ -n "$address" ]
    run -0 with "${remote[@]}" "OMPI_MCA_orte_hnp_uri=71434240.0;tcp://$address:38789" "$rollcall" exec -- sh -c 'echo $RANK $MASTER_ADDR'
    [ "$output" = "0 $address" ]
    # an address that means each node itself is none of mpirun's
    run -0 with "${remote[@]}" "OMPI_MCA_orte_hnp_uri=71434240.0;tcp://0.0.0.0,$address:38789" "$rollcall" exec -- sh -c 'echo $RANK $MASTER_ADDR'
    [ "$output" = "0 $address" ]
}

@test "srun forgotten: a job of several tasks, whose script starts training once, says which line starts them" {
    script=(SLURM_JOB_ID=42 SLURM_NTASKS=4 SLURM_JOB_NUM_NODES=2 SLURM_NNODES=2 SLURM_PROCID=0 SLURM_LOCALID=0
        SLURM_NODEID=0 SLURM_GTIDS=0 ENVIRONMENT=BATCH PATH="$BATS_TEST_TMPDIR:$PATH")
    for name in python torchrun accelerate; do
        ln -s "$(type -P true)" "$BATS_TEST_TMPDIR/$name"
    done
    says()
    {
        local text=$1
        shift
        run -0 --separate-stderr with "${script[@]}" "$@"
        printf '%s\n' "not '$text' of $*:" "$stderr"
        [[ $stderr == "rollcall: warning RC309: "*" $text" ]]
    }
    says 'has 4 tasks, which training waits for; start it with srun: srun -K rollcall exec -- python train.py --lr 1' \
        "$rollcall" exec -- python train.py --lr 1
    says 'srun -K rollcall exec -- python -u -m train --name "a b" c' "$rollcall" exec -- python -u -m train --name 'a b' c
    says 'srun -K --ntasks-per-node=1 rollcall exec -- torchrun --nnodes=2 train.py' "$rollcall" exec -- torchrun --nnodes=2 train.py
    says 'has 2 tasks, which training waits for; start it with srun: srun -K rollcall exec -- python train.py' \
        SLURM_NTASKS= "$rollcall" exec -- python train.py
    # removed for Lightning; Slurm has two names for it
    says 'has 4 tasks, which training waits for; start it with srun: srun -K rollcall exec -- python train.py' \
        SLURM_NTASKS= SLURM_NPROCS=4 "$rollcall" exec -- python train.py
    # in such a job Lightning starts its workers itself: torch says it, where nobody has started them
    for name in interactive bash; do
        run -0 --separate-stderr with "${script[@]}" SLURM_JOB_NAME=$name "$rollcall" exec -- python train.py
        [ -z "$stderr" ]
    done
    ln -sf "$(type -P env)" "$BATS_TEST_TMPDIR/python"
    run -0 --separate-stderr with "${script[@]}" SLURM_JOB_NAME=interactive "$rollcall" exec -- \
        "$BATS_TEST_TMPDIR/python" sh -c 'echo "$ROLLCALL_IDENTITY"'
    [ "$output" = 'script=42 tasks=4 exec=1' ]
    ln -sf "$(type -P true)" "$BATS_TEST_TMPDIR/python"
    # what prepares, what trains on one node, what starts tasks itself, and a task
    for command in 'python -m pip list' 'python -c 1' 'true' 'torchrun --standalone train.py' 'torchrun --nnodes=1 t.py'; do
        run -0 --separate-stderr with "${script[@]}" "$rollcall" exec -- $command
        [ -z "$stderr" ]
    done
    run -0 --separate-stderr with "${script[@]}" SLURM_JOB_NUM_NODES=1 "$rollcall" exec -- torchrun train.py
    [ -z "$stderr" ]
    run -0 --separate-stderr with "${script[@]}" SLURM_NTASKS=1 "$rollcall" exec -- python train.py
    [ -z "$stderr" ]
    run -0 --separate-stderr with "${task_3[@]}" PATH="$BATS_TEST_TMPDIR:$PATH" "$rollcall" exec -- python train.py
    [ -z "$stderr" ]
}

@test "exec in front of a program that starts tasks: one line names it and what to type, and the command runs" {
    for name in srun mpirun mpiexec.hydra jsrun ssh sbatch; do
        ln -s "$(type -P true)" "$BATS_TEST_TMPDIR/$name"
    done
    local -x PATH=$BATS_TEST_TMPDIR:$PATH
    for name in srun mpirun mpiexec.hydra jsrun; do
        run -0 --separate-stderr with "$rollcall" exec --ddp=worker -- $name -n4 python train.py
        [ "$stderr" = "rollcall: warning RC310: the processes that $name starts would all get one rank, so rollcall \
sets none; put it in front of your program: $name ... rollcall exec -- python train.py" ]
    done
    for name in ssh sbatch; do
        run -0 --separate-stderr with "$rollcall" exec -- $name n2 python train.py
        [ "$stderr" = "rollcall: warning RC310: the processes that $name starts would all get one rank, so rollcall \
sets none; put it in front of your program: srun -K rollcall exec -- python train.py" ]
    done
    run -0 --separate-stderr with "$rollcall" exec -- srun rollcall exec -- python train.py
    [ -z "$stderr" ]
    run -0 --separate-stderr with "$rollcall" exec -- sh -c 'exec srun rollcall exec -- python train.py'
    [ -z "$stderr" ]
}

@test "exec in front of a shell that starts srun: no rank and a line; with a mode that was typed, ranks" {
    ln -s "$(type -P true)" "$BATS_TEST_TMPDIR/srun"
    local -x PATH=$BATS_TEST_TMPDIR:$PATH
    script=(sh -c 'srun -n1 true; echo "$RANK"')
    run -0 --separate-stderr with "${task_0[@]}" "$rollcall" exec -- "${script[@]}"
    [ -z "$output" ]
    [[ $stderr == *'rollcall: warning RC310: '*'; if the shell itself is a task, use --ddp=worker' ]]
    # rank 0 prints it for all
    run -0 --separate-stderr with "${task_3[@]}" "$rollcall" exec -- "${script[@]}"
    [ -z "$output$stderr" ]
    prints 3 with "${task_3[@]}" "$rollcall" exec --ddp=worker -- "${script[@]}"
    run -0 --separate-stderr with "${task_0[@]}" "$rollcall" exec --ddp=worker -- srun rank
    [[ $stderr == *'RC310: '* ]]
}

@test "lookup=numeric: exec and the preload put the library behind all others" {
    tree=$(cd "$prefix" && pwd -P)
    library=$tree/lib/librollcall-lookup.so
    list=(sh -c 'echo "$LD_PRELOAD"')
    prints "$library" with "${task_3[@]}" "$rollcall" exec --ddp=lookup=numeric -- "${list[@]}"
    preload=$tree/lib/librollcall-preload.so
    prints "$preload:$library" with "${task_3[@]}" ROLLCALL=lookup=numeric LD_PRELOAD="$preload" "${list[@]}"
    prints "" with "${task_3[@]}" "$rollcall" exec --ddp=lookup=off -- "${list[@]}"
}

@test "MASTER_PORT: nodes with different ranges of outgoing ports -> one port, below them" {
    local range port=
    for range in '32768 60999' '15000 65000' '10000 65535' '9000 65500'; do
        before="echo $range > /proc/sys/net/ipv4/ip_local_port_range" \
            run -0 with_names '' "${agent_0[@]}" SLURM_STEP_ID=4711 MASTER_ADDR=192.0.2.1 SLURM_PROCID=1 SLURM_NODEID=1 \
            SLURM_GTIDS=1 "$rollcall" exec --ddp=worker -- sh -c 'echo "$MASTER_PORT"'
        [ "$output" -ge 1024 ]
        [ "$output" -lt 8998 ]
        [ "${port:-$output}" = "$output" ]
        port=$output
    done
}
