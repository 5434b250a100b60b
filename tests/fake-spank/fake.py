# SPDX-License-Identifier: BSD-3-Clause
"""A fake slurmstepd, srun or sbatch around the real plugin: scenarios in, events out."""

import json
import re
import subprocess
from dataclasses import dataclass, field

SPECIAL_STEPS = {"batch": 0xFFFFFFFB, "extern": 0xFFFFFFFC, "interactive": 0xFFFFFFFA, "pending": 0xFFFFFFFD}
LIMIT = 60


def encode(text):
    """Characters up to U+00FF are bytes, all others UTF-8."""
    return re.sub(r"[^!-$&-~]", lambda found: "".join(
        f"%{byte:02X}" for byte in found[0].encode("latin-1" if found[0] <= "\xff" else "utf-8")), text)


def compress_counts(counts):
    """[2, 2, 1] as Slurm writes it: 2(x2),1"""
    out = []
    for count in counts:
        if out and out[-1][0] == count:
            out[-1][1] += 1
        else:
            out.append([count, 1])
    return ",".join(str(c) if n == 1 else f"{c}(x{n})" for c, n in out)


def without_exchange(arguments):
    """The words of plugstack.conf of a site that does without: here is no srun whose server the nodes could ask (RC611)."""
    return arguments if any("exchange=" in word for word in arguments) else ["exchange=off", *arguments]


@dataclass
class Step:
    """What runs where: ranks[i] are the ranks on hosts[i], in order of local id."""
    ranks: list
    hosts: list = None
    distribution: str = "block"
    job: int = 42
    step: int = 0

    def __post_init__(self):
        self.hosts = self.hosts or [f"n{i + 1}" for i in range(len(self.ranks))]

    @property
    def size(self):
        return sum(map(len, self.ranks))

    @property
    def master(self):
        return next(host for host, there in zip(self.hosts, self.ranks) if 0 in there)

    def node_rank(self, node):
        """Nodes are numbered by the lowest rank on each."""
        return sorted(range(len(self.ranks)), key=lambda i: min(self.ranks[i])).index(node)

    def env(self):
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": "/home/user",
            "SLURM_JOB_ID": str(self.job),
            "SLURM_STEP_ID": str(self.step),
            "SLURM_NTASKS": str(self.size),
            "SLURM_STEP_NUM_TASKS": str(self.size),
            "SLURM_NNODES": str(len(self.hosts)),
            "SLURM_STEP_NUM_NODES": str(len(self.hosts)),
            "SLURM_STEP_NODELIST": ",".join(self.hosts),
            "SLURM_STEP_TASKS_PER_NODE": compress_counts(list(map(len, self.ranks))),
            "SLURM_DISTRIBUTION": self.distribution,
            "SLURM_JOB_NAME": "train",
        }

    def worker(self, node, local):
        """What each variable must be in worker mode; MASTER_PORT is looked at apart."""
        return {
            "RANK": str(self.ranks[node][local]),
            "LOCAL_RANK": str(local),
            "NODE_RANK": str(self.node_rank(node)),
            "GROUP_RANK": str(self.node_rank(node)),
            "WORLD_SIZE": str(self.size),
            "LOCAL_WORLD_SIZE": str(len(self.ranks[node])),
            "GROUP_WORLD_SIZE": str(len(self.hosts)),
            "MASTER_ADDR": self.master,
        }


EVEN = Step([[0, 1], [2, 3]])
TWO = Step([[0, 1]])  # on one node


@dataclass
class Task:
    node: int
    local: int
    entries: list = None     # its environment as it was when the program would start
    exit: int = None
    signal: int = None
    descriptors: list = field(default_factory=list)
    cpus: list = None        # hardware threads that it may run on

    @property
    def env(self):
        out = {}
        for entry in self.entries:
            name, equals, value = entry.partition("=")
            if equals:
                out.setdefault(name, value)
        return out

    @property
    def held_ports(self):
        return [fd for fd in self.descriptors if fd >= 200]


@dataclass
class Played:
    events: list
    tasks: dict              # by (node, local)
    status: int = 0          # of srun, sbatch or salloc

    def returned(self, callback):
        return [e["rc"] for e in self.events if e["event"] == "return" and e["of"] == callback]

    def lines(self, event="log"):
        return [e["text"] for e in self.events if e["event"] == event]

    @property
    def command_env(self):
        return Task(0, 0, next(e["env"] for e in self.events if e["event"] == "command")).env

    @property
    def all_tasks(self):
        return [self.tasks[key] for key in sorted(self.tasks)]


class Host:
    def __init__(self, program, plugin, environment=None):
        self.program, self.plugin, self.environment = program, plugin, environment

    def play(self, lines):
        lines = [("plugin", self.plugin), *lines]
        text = "".join(f"{key} {encode(str(value))}\n" for key, value in lines)
        done = subprocess.run([self.program], input=text.encode(), capture_output=True, timeout=LIMIT,
                              env=self.environment, check=False)
        assert done.returncode == 0 or ("context", "remote") not in lines, (done.returncode, done.stderr.decode(errors="replace"), text)
        events = [json.loads(line) for line in done.stdout.decode().splitlines()]
        assert not [e for e in events if e["event"] in ("crash", "violation")], (events, done.stderr.decode(errors="replace"))
        assert not done.stderr, done.stderr.decode(errors="replace")
        tasks = {}
        for event in events:
            key = event["node"], event["task"]
            if event["event"] == "task":
                tasks.setdefault(key, Task(*key)).entries = event["env"]
                tasks[key].descriptors = event["descriptors"]
                tasks[key].cpus = event["cpus"]
            elif event["event"] == "exit":
                setattr(tasks.setdefault(key, Task(*key)), "signal" if event["how"] == "signal" else "exit",
                        event["rc"])
        return Played(events, tasks, done.returncode)

    def step(self, step, options=(), arguments=(), env=(), extra=(), argv=("python", "train.py"), entries=()):
        """Plays slurmstepd on every node of a step: only tasks may fail. env replaces or (None) removes variables."""
        block = {**step.env(), **dict(env)}
        arguments = without_exchange(arguments)
        lines = [("context", "remote"), ("job_id", step.job), ("step_id", step.step)]
        lines += [("total_tasks", step.size)]
        lines += [("node", ",".join(map(str, there))) for there in step.ranks]
        lines += [("host", name) for name in step.hosts]
        lines += [("env", f"{name}={value}") for name, value in block.items() if value is not None]
        lines += [("env", entry) for entry in entries]
        lines += [("argument", word) for word in arguments] + [("option", value) for value in options]
        lines += [("argv", word) for word in argv] + list(extra)
        played = self.play(lines)
        assert set(played.tasks) == {(n, i) for n, there in enumerate(step.ranks) for i in range(len(there))}
        for callback in ("init", "option", "init_post_opt", "user_init"):
            assert set(played.returned(callback)) <= {0}, callback
        return played

    def command(self, context, options=(), arguments=(), env=(), extra=(), step=None):
        """Plays srun (local) or sbatch and salloc (allocator)."""
        step = step or EVEN
        lines = [("context", context), ("job_id", step.job), ("step_id", step.step)]
        lines += [("total_tasks", step.size)]
        lines += [("node", ",".join(map(str, there))) for there in step.ranks]
        lines += [("env", f"{name}={value}") for name, value in dict(env).items()]
        lines += [("argument", word) for word in arguments] + [("option", value) for value in options]
        return self.play(lines + list(extra))
