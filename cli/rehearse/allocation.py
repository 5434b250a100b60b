# SPDX-License-Identifier: BSD-3-Clause
"""allocation.py - the imagined job: its nodes, tasks, cores and GPUs, and the layout of a step in it.

The rules are those of src/sbatch/opt.c, src/srun/opt.c and slurm_step_layout.c of 22.05.8, 24.11.5 and 26.05.3.
"""
import os

import hosts
from slurmoptions import gpus_of, inherited, number, SRUN

PER_NODE = 8  # GPUs, if --gpus does not name nodes


class Refused(Exception):
    """Slurm would refuse the line, or the rehearsal does not know it."""


def spread(tasks, nodes, most=None):
    """Tasks by node, balanced in blocks (_task_layout_block); most: --ntasks-per-node."""
    counts = [tasks // nodes + (index < tasks % nodes) for index in range(nodes)]
    if most and counts and max(counts) > most:
        raise Refused("%d tasks do not fit on %d nodes with %d tasks each" % (tasks, nodes, most))
    return counts


def gpus_a_node(options, nodes, tasks_a_node):
    """(GPUs of each node, which the options give), 0 if there are none."""
    for name in ("gpus-per-node", "gres"):
        count = gpus_of(options.get(name), name == "gres")
        if count is not None:
            return count
    for name in ("gpus-per-task", "tres-per-task"):
        count = gpus_of(options.get(name), name == "tres-per-task")
        if count is not None:
            return count * tasks_a_node
    if "ntasks-per-gpu" in options:
        return -(-tasks_a_node // (number(options["ntasks-per-gpu"]) or 1))
    return -(-(gpus_of(options.get("gpus")) or 0) // nodes)


class Allocation:
    """A job of nodes n1, n2, ..."""

    def __init__(self, options, series, job=4242, before=0):
        self.options = options
        self.series = series
        self.job = job
        self.folder = os.getcwd()  # where it was submitted
        self.per_node = number(options.get("ntasks-per-node"))
        tasks, nodes = number(options.get("ntasks")), number(options.get("nodes"))
        if nodes is None:
            named = hosts.expand(options.get("nodelist", ""))
            needed = -(-tasks // self.per_node) if tasks and self.per_node else 1
            gpus = gpus_of(options.get("gpus")) or 0
            nodes = len(named) or max(needed, -(-gpus // PER_NODE), 1)
        if tasks and nodes > tasks and "ntasks" in options and number(options.get("nodes")):
            nodes = tasks  # sbatch's own warning
        if not 0 < nodes <= hosts.MOST:
            raise Refused("a job of %d nodes (--nodes=%s)" % (nodes, options.get("nodes")))
        if (tasks or 0) > hosts.MOST or (self.per_node or 0) > hosts.MOST:
            raise Refused("a job of more than %d tasks" % hosts.MOST)
        self.given = tasks  # --ntasks, None if it was not given
        self.nodes = ["n%d" % (before + index + 1) for index in range(nodes)]
        named = hosts.expand(options.get("nodelist", ""))
        if len(named) == nodes:
            self.nodes = named
        if tasks is None and self.per_node:
            tasks = self.per_node * nodes
        if tasks is None and "ntasks-per-gpu" in options:
            tasks = gpus_a_node(options, nodes, 1) * nodes * number(options["ntasks-per-gpu"], 1)
        self.tasks = tasks
        self.counts = spread(tasks or nodes, nodes, self.per_node)
        self.cpus_per_task = number(options.get("cpus-per-task"))
        self.gpus = gpus_a_node(options, nodes, max(self.counts))
        self.cpus = max(self.counts) * (self.cpus_per_task or 1)
        self.steps = 0


class Step:
    """What one component of an srun line starts in an allocation."""

    def __init__(self, job, typed, environment):
        of_job = inherited(environment, SRUN, job.series)
        self.options = options = {**of_job, **typed}
        self.typed = typed
        self.series = job.series
        for name, value in typed.items():
            if "\ue000" in value:
                raise Refused("--%s has a value that is not known here" % name)
        # as srun does: what is typed wins over another way that the environment has of saying the same
        if {"gpus", "gres", "gpus-per-node", "gpus-per-task", "tres-per-task"} & set(typed):
            for name in ("gpus", "gres", "gpus-per-node", "gpus-per-task", "tres-per-task"):
                if name not in typed:
                    options.pop(name, None)
        self.notes = []
        self.nodes = self.choose_nodes(job, typed)
        self.counts = self.choose_tasks(job, typed, of_job)
        self.tasks = sum(self.counts)
        self.choose_gpus(job, typed)

    def choose_nodes(self, job, typed):
        excluded = hosts.expand(typed.get("exclude", ""))
        nodes = [node for node in job.nodes if node not in excluded]
        if "nodelist" in typed and "/" not in typed["nodelist"]:
            named = hosts.expand(typed["nodelist"])
            wrong = [node for node in named if node not in nodes]
            if wrong:
                raise Refused("%s is no node of the job" % wrong[0])
            count = max(number(self.typed.get("nodes")) or 0, len(named))
            return (named + [node for node in nodes if node not in named])[:count]
        if "relative" in typed:
            nodes = nodes[number(typed["relative"], 0):]
        count = number(self.options.get("nodes")) or len(nodes)
        if "nodes" in typed and count > len(nodes):
            raise Refused("%d nodes, but the job has %d" % (count, len(nodes)))
        return nodes[:count]

    def choose_tasks(self, job, typed, of_job):
        """Tasks by node, after _opt_verify of srun's opt.c; may shorten self.nodes."""
        nodes, per_node = len(self.nodes), number(self.options.get("ntasks-per-node"))
        tasks = number(self.options.get("ntasks"))
        if not nodes:
            raise Refused("no node of the job is left for it")
        if job.series >= (23, 2) and per_node and "ntasks" not in typed and "nodes" in typed and "nodes" in of_job:
            tasks = None  # since 23.02: the job's --ntasks gives way to --ntasks-per-node and the step's --nodes
        if tasks is None and "ntasks-per-gpu" in typed:
            tasks = gpus_a_node({**job.options, **typed}, nodes, 1) * nodes * number(typed["ntasks-per-gpu"], 1)
        if tasks is None:
            tasks = nodes * (per_node or 1)
        elif tasks < nodes and tasks:
            self.nodes, nodes = self.nodes[:tasks], tasks
        if not tasks:
            raise Refused("a step without tasks")
        ignored = per_node and (tasks > nodes * per_node if job.series >= (23, 2) else per_node != tasks // nodes)
        if ignored:
            if "ntasks-per-node" in typed:
                self.notes.append("srun ignores --ntasks-per-node=%d: the step has %d tasks on %d nodes" % (
                    per_node, tasks, nodes))
            per_node = None
            self.options.pop("ntasks-per-node", None)
        self.per_node = per_node
        return spread(tasks, nodes, per_node)

    def choose_gpus(self, job, typed):
        """self.gpus: GPUs of the step on a node; self.bind: how tasks share them."""
        options, most = self.options, max(self.counts)
        asks = {"gpus", "gres", "gpus-per-node", "gpus-per-task", "tres-per-task", "ntasks-per-gpu"} & set(options)
        self.gpus = gpus_a_node(options, len(self.nodes), most) if asks else job.gpus
        if typed.get("gres") == "none":
            self.gpus = 0
        if self.gpus > job.gpus:
            if typed.keys() & asks:
                raise Refused("%d GPUs a node, but the job has %d" % (self.gpus, job.gpus))
            self.gpus = job.gpus
        bind = options.get("gpu-bind", "").replace("verbose,", "")
        each = gpus_of(options.get("gpus-per-task")) or (
            gpus_of(options.get("tres-per-task"), True))
        if not bind and each:
            bind = "per_task:%d" % each
        if not bind and "ntasks-per-gpu" in options:
            bind = "single:%s" % options["ntasks-per-gpu"]
        self.bind = bind

    def gpus_of_task(self, local):
        """The indices of the GPUs of a task; None if the variable is not set, "" if that is not known."""
        everything, bind = list(range(self.gpus)), self.bind.split(":")
        if not self.gpus:
            return None
        count = number(bind[1], 1) if len(bind) > 1 else 1
        if bind[0] == "per_task":
            return everything[local * count:(local + 1) * count]
        if bind[0] == "single":
            return [local // max(count, 1) % self.gpus]
        if bind[0] == "map_gpu" and len(bind) > 1:
            listed = bind[1].split(",")
            if not all(part.isdecimal() for part in listed):
                raise Refused("--gpu-bind=%s" % self.bind)
            return [int(listed[local % len(listed)])]
        if bind[0] in ("closest", "mask_gpu"):
            return [local] if max(self.counts) == self.gpus else ""
        return everything

    def task_places(self, is_folded=True):
        """(rank, node's index, local rank), for more than 64 tasks of the first, second and last node alone."""
        seen = {0, 1, len(self.nodes) - 1} if is_folded and self.tasks > 64 else range(len(self.nodes))
        first = 0
        for node, count in enumerate(self.counts):
            for local in range(count) if node in seen else ():
                yield self.rank(first, node, local), node, local
            first += count

    def rank(self, first, node, local):
        if self.options.get("distribution", "").split(":")[0].split(",")[0] != "cyclic":
            return first + local
        return sum(min(count, local) for count in self.counts) + sum(count > local for count in self.counts[:node])
