# SPDX-License-Identifier: BSD-3-Clause
"""programs.py - the programs whose calls fail, each with what it must print where none does.

A program is run as `run(wrap, extra)`: `wrap` goes before its command line (strace), `extra` into its environment.
What comes back is one Outcome: how the program itself ended, what it and who speaks with it have said.
"""
import contextlib
import dataclasses
import json
import os
import re
import socket
import subprocess

PREFIX = os.environ["ROLLCALL_PREFIX"]
ROLLCALL = f"{PREFIX}/bin/rollcall"
EXCHANGE = f"{PREFIX}/libexec/rollcall/rollcall-exchange"
PRELOAD = f"{PREFIX}/lib/librollcall-preload.so"
TOKEN = "0123456789abcdef0123456789abcdef"
LIMIT = 30  # seconds; nothing here waits for half as long

NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT")


def task(rank):
    """One of four tasks on two nodes, whose names need no resolver."""
    return {
        "PATH": "/usr/bin:/bin", "SLURM_JOB_ID": "42", "SLURM_STEP_ID": "0", "SLURM_PROCID": str(rank),
        "SLURM_LOCALID": str(rank % 2), "SLURM_NODEID": str(rank // 2), "SLURM_NTASKS": "4", "SLURM_NNODES": "2",
        "SLURM_STEP_NUM_TASKS": "4", "SLURM_STEP_NUM_NODES": "2", "SLURM_STEP_NODELIST": "10.99.0.[1-2]",
        "SLURM_STEP_TASKS_PER_NODE": "2(x2)", "SLURM_TASKS_PER_NODE": "2(x2)", "SLURM_DISTRIBUTION": "block",
        "SLURM_GTIDS": f"{rank // 2 * 2},{rank // 2 * 2 + 1}", "SLURMD_NODENAME": f"10.99.0.{rank // 2 + 1}",
    }


PRINTS = ["/usr/bin/env"]


@dataclasses.dataclass
class Outcome:
    status: int | None  # None: it did not end
    text: str
    said: str
    strange: str = ""  # of what whole nodes beside it were told

    def identity(self):
        """What was printed of it, as lines NAME=VALUE."""
        return {name: value for name, value in re.findall(r"^([A-Z_]+)=(.*)$", self.text, re.M) if name in NAMES}


def run_command(argv, env, wrap, extra, stdin=None):
    process = subprocess.Popen([*wrap, *argv], env={**env, **extra}, stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                               start_new_session=True)
    try:
        text, said = process.communicate(stdin, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        text, said = process.communicate()
        return Outcome(None, text, said)
    return Outcome(process.returncode, text, said)


def run_exec(rank):
    def run(wrap, extra):
        return run_command([ROLLCALL, "exec", "--ddp=exchange=off", "--", *PRINTS], task(rank), wrap, extra)
    return run


def run_show(wrap, extra):
    outcome = run_command([ROLLCALL, "show", "--json"], task(3), wrap, extra)
    with contextlib.suppress(ValueError, KeyError):
        outcome.text = "".join(f"{name}={value}\n" for name, value in json.loads(outcome.text)["set"].items())
    return outcome


def run_preload(rank):
    def run(wrap, extra):
        # strace sets it for the program alone
        if wrap:
            return run_command(PRINTS, task(rank), [*wrap, "-E", f"LD_PRELOAD={PRELOAD}"], extra)
        return run_command(PRINTS, task(rank), wrap, {**extra, "LD_PRELOAD": PRELOAD})
    return run


def entry(node):
    return (f"roll=1\nscope=slurm:42.0\nlauncher=slurm\nmode=worker\nhost=n{node + 1}\ntasks={2 * node}-{2 * node + 1}\n"
            f"addr=n1\nnode={node}\nnodes=2\nworld=4\n" + ("port=24512\n" if node == 0 else ""))


def request(node, port):
    return f"transport=srun\nendpoint={TOKEN} {port} 127.0.0.1\nroot={int(node == 0)}\nseconds=2\ncheck=stop\n\n{entry(node)}"


@contextlib.contextmanager
def server(wrap=(), extra=None):
    """srun's server: it has its listening socket as descriptor 3, and lives as long as the pipe that is descriptor 4."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)  # as the plugin hands it on
    life, end = os.pipe()

    def place():
        # above both numbers first, so that one does not close the other's source
        for fd, number in ((os.dup2(listener.fileno(), 20), 3), (os.dup2(life, 21), 4)):
            os.dup2(fd, number)
            os.close(fd)

    process = subprocess.Popen([*wrap, EXCHANGE, "server", "seconds=2 check=stop"], env={"ROLLCALL_TOKEN": TOKEN, **(extra or {})},
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               errors="replace", close_fds=False, preexec_fn=place, start_new_session=True)
    port = listener.getsockname()[1]
    listener.close()
    os.close(life)
    try:
        yield process, port, end
    finally:
        with contextlib.suppress(OSError):
            os.close(end)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.communicate()


def as_lines(text):
    """An answer, as run_exec's lines: the port is what the nodes must have alike."""
    return re.sub(r"^port=", "MASTER_PORT=", text, flags=re.M)


def strange(told):
    """What a whole node was told, quoted, where that is neither an answer nor a failure; nothing at all is strange, too."""
    return "" if re.match(r"(sent=1\n)?(answer=1|failed=|lost=)", told) else repr(told)


def run_node(wrap, extra):
    """One of two nodes; the other is whole."""
    with server() as (_, port, _end):
        other = subprocess.Popen([EXCHANGE, "node"], env={}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        other.stdin.write(request(0, port))
        other.stdin.close()
        outcome = run_command([EXCHANGE, "node"], {}, wrap, extra, request(1, port))
        other.stdin = None
        told = other.communicate(timeout=LIMIT)[0]
    outcome.text = as_lines(outcome.text)
    outcome.strange = strange(told)
    return outcome


def run_server(wrap, extra):
    """The server for two whole nodes; its own end is that of its life."""
    with server(wrap, extra) as (process, port, end):
        nodes = [subprocess.Popen([EXCHANGE, "node"], env={}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                 for _ in range(2)]
        for number, node in enumerate(nodes):
            with contextlib.suppress(BrokenPipeError):
                node.stdin.write(request(number, port))
                node.stdin.close()
            node.stdin = None
        told = [node.communicate(timeout=LIMIT)[0] for node in nodes]
        os.close(end)
        try:
            said = process.communicate(timeout=LIMIT)[1]
        except subprocess.TimeoutExpired:
            return Outcome(None, "", "the server does not end")
    ports = {re.search(r"^port=(.*)$", text, re.M)[1] for text in told if re.search(r"^port=", text, re.M)}
    port = f"MASTER_PORT={' and '.join(sorted(ports))}\n" if ports else ""
    return Outcome(process.returncode, port, said, "".join(map(strange, told)))


# env(1) itself, with the preload, may fail as any program may; but it has the whole identity, or none
PROGRAMS = {"exec": run_exec(3), "exec of RANK 0": run_exec(0), "show": run_show, "preload": run_preload(3),
            "preload of RANK 0": run_preload(0), "node": run_node, "server": run_server}
