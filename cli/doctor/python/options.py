# SPDX-License-Identifier: BSD-3-Clause
"""options.py - the options of srun, sbatch and salloc, and how many tasks they start where."""
import re

SHORT = {"N": "nodes", "n": "ntasks", "c": "cpus-per-task", "G": "gpus", "p": "partition", "w": "nodelist",
         "x": "exclude", "J": "job-name", "o": "output", "e": "error", "t": "time", "m": "distribution", "A": "account",
         "C": "constraint", "D": "chdir", "i": "input", "l": "label", "q": "qos", "O": "overcommit",
         "K": "kill-on-bad-exit", "W": "wait", "B": "extra-node-info", "F": "nodefile", "L": "licenses",
         "M": "clusters", "P": "dependency", "S": "core-spec", "T": "threads", "a": "array", "b": "begin",
         "d": "dependency", "r": "relative"}
SHORT_FLAGS = set("lOusvQHkEXZhVIK")
FLAGS = {"exclusive", "overlap", "exact", "label", "unbuffered", "pty", "no-kill", "contiguous", "preserve-env",
         "kill-on-bad-exit", "overcommit", "oversubscribe", "share", "spread-job", "use-min-nodes", "verbose", "quiet",
         "immediate", "hold", "test-only", "requeue", "no-requeue", "ddp", "container-mount-home",
         "no-container-mount-home", "container-remap-root", "no-container-remap-root", "container-writable",
         "container-readonly", "no-container-entrypoint", "container-entrypoint", "multi-prog", "disable-status",
         "propagate", "send-libs", "interactive", "external-launcher", "parsable", "wait", "reboot", "get-user-env",
         "ignore-pbs", "no-bell", "bell", "no-shell", "overlap", "resv-ports", "whole", "stepmgr"}


# Those that take a value.
NAMES = {"account", "accel-bind", "acctg-freq", "array", "batch", "bb", "bbf", "bcast", "begin", "chdir",
         "cluster-constraint", "clusters", "comment", "compress", "constraint", "container", "container-id",
         "core-spec", "cores-per-socket", "cpu-bind", "cpu-freq", "cpus-per-gpu", "cpus-per-task", "deadline",
         "delay-boot", "dependency", "distribution", "epilog", "error", "exclude", "export", "export-file", "extra",
         "extra-node-info", "gid", "gpu-bind", "gpu-freq", "gpus", "gpus-per-node", "gpus-per-socket", "gpus-per-task",
         "gres", "gres-flags", "het-group", "help", "hint", "input", "job-name", "jobid", "kill-command",
         "kill-on-invalid-dep", "licenses", "mail-type", "mail-user", "mcs-label", "mem", "mem-bind", "mem-per-cpu",
         "mem-per-gpu", "mincpus", "mpi", "msg-timeout", "network", "nice", "nodefile", "nodelist", "nodes", "ntasks",
         "ntasks-per-core", "ntasks-per-gpu", "ntasks-per-node", "ntasks-per-socket", "ntasks-per-tres", "open-mode",
         "oom-kill-step", "output", "partition", "power", "prefer", "priority", "profile", "prolog", "qos", "relative",
         "reservation", "segment", "signal", "slurmd-debug", "sockets-per-node", "switches", "task-epilog",
         "task-prolog", "test-only", "thread-spec", "threads", "threads-per-core", "time", "time-min", "tmp",
         "tree-width", "tres-bind", "tres-per-task", "uid", "umask", "usage", "version", "wait-all-nodes", "wckey",
         "wrap", "x11", "ddp", "pack-group", "het-job", "cpu_bind", "mem_bind", "workdir", "ntasks-per-board",
         "consolidate-segments", "spread-segments", "exclusive", "stepmgr", "mincores", "minsockets", "minthreads",
         "gpu_bind"}
KNOWN = NAMES | FLAGS
ALIASES = {"tasks-per-node": "ntasks-per-node"}


def whole_name(name):
    """The option that an abbreviation stands for, as getopt reads it; the name itself where it is none."""
    name = ALIASES.get(name, name)
    found = [known for known in KNOWN if known.startswith(name)] if name and name not in KNOWN else []
    return found[0] if len(found) == 1 else name


class Options(dict):
    """Long names of Slurm's options with their values; "" for a flag."""

    def number(self, name):
        """The option as a number, or None; --nodes=2-4 is none."""
        value = self.get(name)
        return int(value) if value is not None and re.match(r"^\d+$", value) else None


def take(words, until_command):
    """Reads options off a list of words; returns them and what is left."""
    options = Options()
    position = 0
    while position < len(words):
        word = words[position]
        if word == "--":
            position += 1
            break
        if not word.startswith("-") or word == "-":
            if until_command:
                break
            position += 1
            continue
        position += 1
        if word.startswith("--"):
            name, sign, value = word[2:].partition("=")
            name = whole_name(name)
            if not sign and name not in FLAGS and position < len(words) and not words[position].startswith("-"):
                value = words[position]
                position += 1
            options[name] = value
        else:
            letter, value = word[1], word[2:]
            if letter in SHORT_FLAGS:
                options[SHORT.get(letter, letter)] = value
                continue
            if not value and position < len(words):
                value = words[position]
                position += 1
            options[SHORT.get(letter, letter)] = value.lstrip("=")
    return options, words[position:]


def gpus_per_node(options):
    for name in ("gpus-per-node", "gres"):
        value = options.get(name)
        if value is None:
            continue
        if name == "gres" and not value.startswith("gpu"):
            continue
        number = value.split(":")[-1].split("(")[0]
        if number.isdigit():
            return int(number)
        return 1 if number in ("gpu",) else None
    whole, nodes = options.get("gpus"), options.number("nodes")
    if whole is not None and nodes:
        number = whole.split(":")[-1]
        if number.isdigit() and int(number) % nodes == 0:
            return int(number) // nodes
    return None


class Layout:
    """The tasks of a step: a job's options below those of its srun."""

    def __init__(self, job, srun):
        merged = Options(job.options)
        if srun:
            for name, value in srun.items():
                merged[name] = job.expand_word(value)
            if "ntasks" in srun and "ntasks-per-node" not in srun and srun.number("ntasks") == 1:
                merged.pop("ntasks-per-node", None)
        self.options = merged
        self.nodes = merged.number("nodes")
        self.ntasks = merged.number("ntasks")
        self.tasks_per_node = merged.number("ntasks-per-node")
        self.gpus_per_node = gpus_per_node(merged)
        self.gpus_per_task = None
        if "gpus-per-task" in merged:
            number = merged["gpus-per-task"].split(":")[-1]
            self.gpus_per_task = int(number) if number.isdigit() else None
        self.cpus_per_task = merged.number("cpus-per-task")
        if self.tasks_per_node is None and "ntasks-per-gpu" in merged and self.gpus_per_node:
            per = merged.number("ntasks-per-gpu")
            self.tasks_per_node = per * self.gpus_per_node if per else None
        elif self.tasks_per_node is None and self.ntasks and self.nodes:
            if self.ntasks % self.nodes == 0:
                self.tasks_per_node = self.ntasks // self.nodes
        elif self.tasks_per_node is None and not self.ntasks and "ntasks" not in merged and \
                "ntasks-per-gpu" not in merged and "exclusive" not in merged and "nodes" in merged:
            self.tasks_per_node = 1
        if self.nodes is None and self.ntasks and self.tasks_per_node and self.ntasks % self.tasks_per_node == 0:
            self.nodes = self.ntasks // self.tasks_per_node
        if self.nodes is None and self.ntasks == 1:
            self.nodes = 1
            self.tasks_per_node = 1
        if self.ntasks is None and self.nodes and self.tasks_per_node:
            self.ntasks = self.nodes * self.tasks_per_node
        # Slurm gives each task its own
        if self.gpus_per_node is None and self.gpus_per_task and self.tasks_per_node:
            self.gpus_per_node = self.gpus_per_task * self.tasks_per_node

    def words(self):
        parts = []
        if self.nodes:
            parts.append("%d node%s" % (self.nodes, "s" if self.nodes > 1 else ""))
        if self.tasks_per_node:
            parts.append("%d task%s a node" % (self.tasks_per_node, "s" if self.tasks_per_node > 1 else ""))
        elif self.ntasks:
            parts.append("%d tasks" % self.ntasks)
        if self.gpus_per_node:
            parts.append("%d GPU%s a node" % (self.gpus_per_node, "s" if self.gpus_per_node > 1 else ""))
        return ", ".join(parts)
