# SPDX-License-Identifier: BSD-3-Clause
"""programs.py - the programs whose calls fail, each with what it must print where none does.

A program is run as `run(wrap, extra)`: `wrap` goes before its command line (strace), `extra` into its environment.
What comes back is one Outcome: how the program itself ended, what it printed, and what became of others beside it.
"""
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import re
import select
import socket
import subprocess
from functools import partial

from cluster import read, wait_for

PREFIX = os.environ["ROLLCALL_PREFIX"]
ROLLCALL = f"{PREFIX}/bin/rollcall"
EXCHANGE = f"{PREFIX}/libexec/rollcall/rollcall-exchange"
PRELOAD = f"{PREFIX}/lib/librollcall-preload.so"
PRINTS = ["/usr/bin/env"]
TOKEN = "0" * 32
LIMIT = 30  # seconds; nothing here waits for half as long

NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT")


def task(rank, nodes=2):
    """One of two tasks on each node, whose names need no resolver. No other launch here has such a job."""
    hosts, tasks = ("10.99.0.[1-2]", "2(x2)") if nodes == 2 else ("10.99.0.1", "2")
    return {
        "PATH": "/usr/bin:/bin", "SLURM_JOB_ID": str(os.getpid()), "SLURM_STEP_ID": "0", "SLURM_PROCID": str(rank),
        "SLURM_LOCALID": str(rank % 2), "SLURM_NODEID": str(rank // 2), "SLURM_NTASKS": str(2 * nodes),
        "SLURM_NNODES": str(nodes), "SLURM_STEP_NUM_TASKS": str(2 * nodes), "SLURM_STEP_NUM_NODES": str(nodes),
        "SLURM_STEP_NODELIST": hosts, "SLURM_STEP_TASKS_PER_NODE": tasks, "SLURM_TASKS_PER_NODE": tasks,
        "SLURM_DISTRIBUTION": "block",
        "SLURM_GTIDS": f"{rank // 2 * 2},{rank // 2 * 2 + 1}", "SLURMD_NODENAME": f"10.99.0.{rank // 2 + 1}",
    }


@dataclasses.dataclass
class Outcome:
    status: int | None  # None: it did not end
    text: str
    said: str
    strange: str = ""  # of what became of whole processes beside it

    def identity(self):
        """What was printed of it, as lines NAME=VALUE."""
        return {name: value for name, value in re.findall(r"^([A-Z_]+)=(.*)$", self.text, re.M) if name in NAMES}


def start(argv, env, wrap, extra, **more):
    return subprocess.Popen([*wrap, *argv], env={**env, **extra}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True, **more)


def finish(process):
    try:
        text, said = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        return Outcome(None, *process.communicate())
    return Outcome(process.returncode, text, said)


def run_command(argv, env, wrap, extra):
    return finish(start(argv, env, wrap, extra))


def run_exec(rank, wrap, extra):
    return run_command([ROLLCALL, "exec", "--ddp=exchange=off", "--", *PRINTS], task(rank), wrap, extra)


def run_show(wrap, extra):
    outcome = run_command([ROLLCALL, "show", "--json"], task(3), wrap, extra)
    with contextlib.suppress(ValueError, KeyError):
        outcome.text = "".join(f"{name}={value}\n" for name, value in json.loads(outcome.text)["set"].items())
    return outcome


def run_preload(rank, wrap, extra):
    # strace sets it for the program alone
    if wrap:
        return run_command(PRINTS, task(rank), [*wrap, "-E", f"LD_PRELOAD={PRELOAD}"], extra)
    return run_command(PRINTS, task(rank), wrap, {**extra, "LD_PRELOAD": PRELOAD})


def run_pair(rank, wrap, extra):
    """One of two tasks of a node that meet; the other is whole."""
    argv = [ROLLCALL, "exec", "--ddp=deadline=2", "--", *PRINTS]
    process = start(argv, task(1 - rank, 1), [], {})
    outcome = run_command(argv, task(rank, 1), wrap, extra)
    other = finish(process)
    ports = {one.identity().get("MASTER_PORT") for one in (outcome, other)} - {None}
    if other.status is None or len(ports) == 2:
        outcome.strange = f"status {other.status}, ports {ports}"
    # another one each time
    outcome.text = re.sub("^MASTER_PORT=.*$", "MASTER_PORT=1", outcome.text, flags=re.M)
    return outcome


def message(text):
    return f"rollcall 1 {TOKEN} {len(text)}\n{text}"


def call(address, node):
    """What the server replies to a whole node; nothing if it hangs up."""
    entry = (f"roll=1\nscope=slurm:42.0\nlauncher=slurm\nmode=worker\nhost=n{node + 1}\nnode={node}\nnodes=2\nworld=4\n"
             f"tasks={2 * node}-{2 * node + 1}\naddr=n1\n" + "port=24512\n" * (node == 0))
    reply = ""
    with socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET) as connection:
        connection.settimeout(LIMIT)
        with contextlib.suppress(ConnectionError):
            connection.connect(address)
            connection.sendall(message(f"gather roll {node} 2 2000 12000 all\n{entry}").encode())
            reply = connection.makefile().read()
    text = reply.partition("\n")[2]
    return text if reply == message(text) else ""


def call_all(address):
    """The replies to two whole nodes."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return set(pool.map(lambda node: call(address, node), range(2)))


def finish_server(process, replies):
    outcome = finish(process)
    outcome.text = "".join(replies).replace("\nport=", "\nMASTER_PORT=")
    outcome.strange = "".join(text for text in replies if not re.match(r"(answer=1|full)\n|$", text))
    return outcome


def run_server(wrap, extra):
    """srun's: it has its listening socket as descriptor 3, and lives as long as the other end of 4."""
    def place():
        # above both numbers first, so that one does not close the other's source
        for fd, number in ((os.dup2(listener.fileno(), 20), 3), (os.dup2(life.fileno(), 21), 4)):
            os.dup2(fd, number)
            os.close(fd)

    srun, life = socket.socketpair()
    with srun:
        with life, socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)  # as the plugin hands it on
            address = listener.getsockname()
            process = start([EXCHANGE, "server", "seconds=2 check=stop"], {"ROLLCALL_TOKEN": TOKEN}, wrap, extra,
                            close_fds=False, preexec_fn=place)
        replies = call_all(address)
    return finish_server(process, replies)


def run_server_of_launch(wrap, extra):
    """It stays behind until its owner ends."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as owner:
        name = f"rollcall-faults-{owner.pid}"
        process = start([EXCHANGE, "server", f"seconds=2 check=stop owner={owner.pid} local={name}"], {}, wrap, extra)
        is_there = select.select([process.stdout], [], [], LIMIT)[0] and process.stdout.readline().startswith("server=")
        replies = call_all(f"\0{name}") if is_there else ()
    outcome = finish_server(process, replies)
    if not wait_for(lambda: name not in read("/proc/net/unix"), LIMIT):
        outcome.status = None
    return outcome


# env(1) itself, with the preload, may fail as any program may; but it has the whole identity, or none
PROGRAMS = {"exec": partial(run_exec, 3), "exec of RANK 0": partial(run_exec, 0), "show": run_show,
            "exec of a node's first task": partial(run_pair, 0), "exec of a node's second task": partial(run_pair, 1),
            "preload": partial(run_preload, 3), "preload of RANK 0": partial(run_preload, 0),
            "server": run_server, "server of a launch": run_server_of_launch}
