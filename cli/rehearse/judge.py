# SPDX-License-Identifier: BSD-3-Clause
"""judge.py - whether the processes of a launch are one training: ranks, sizes, masters, GPUs. A name counts only if the
program reads it, and no finding rests on a value that is not known."""
import collections
import os
import re

import hosts
from director import MARK
from programs import Readers
from slurmoptions import is_known

LOOPBACK = re.compile(r"^(localhost|127\.|::1|0\.0\.0\.0)")


class Group:
    """The processes that one program comes to in one launch."""

    def __init__(self, launch, processes, reader):
        self.launch = launch
        self.processes = processes
        self.reader = reader
        self.at = launch.at if launch.kind != "batch" else processes[0].at
        self.total = len(processes) + (launch.skipped if len(processes) > 1 else 0)
        is_read = reader is not None and reader.program is not None
        self.identities = [reader.identity(process.environment) if is_read else {} for process in processes]

    def nodes(self):
        return list(dict.fromkeys(process.place.host for process in self.processes))


def order_of(process):
    """By node, task and worker; what else a task starts, in the order of its doing."""
    rank = process.environment.get("RANK", "") if process.place.agent else ""
    return process.place.node, process.place.task or 0, int(rank) if rank.isdecimal() else 0


def title(process):
    return " ".join(process.argv)


def groups_of(director, readers):
    """Processes of one program in one launch, and of launches that are one: a loop over nodes."""
    rows, seen = collections.OrderedDict(), collections.Counter()
    for process in sorted(director.processes, key=order_of):
        place = process.place
        reader = readers.of(process)
        what = reader.title if reader else os.path.basename(process.argv[0])
        who = (id(place.launch), what, place.task, id(place.agent), process.environment.get("RANK") if place.agent else 0)
        if place.task is None and not place.agent:
            who += (len(rows),)  # each line of the script is its own
            if has_ampersand(director, process):
                who = who[:5]
        seen[who] += 1
        nth = 0 if place.task is None and has_ampersand(director, process) else seen[who]
        key = (id(place.launch), what, nth) + who[5:] + ((process.at,) if place.task is None else ())
        rows.setdefault(key, []).append((process, reader))
    order = {id(launch): index for index, launch in enumerate(director.launches)}
    found = [Group(row[0][0].place.launch, [process for process, _ in row], row[0][1]) for row in rows.values()]
    return sorted(merged(found), key=lambda group: order.get(id(group.launch), 0))


def has_ampersand(director, process):
    """Whether the line that started a process goes on at once."""
    path, _, number = process.at.rpartition(":")
    lines = director.lines(path)
    at = int(number) if number.isdecimal() else 0
    while 0 < at < len(lines) and lines[at - 1].rstrip().endswith("\\"):
        at += 1
    text = lines[at - 1] if 0 < at <= len(lines) else ""
    return bool(re.search(r"(?<![&>|])&(?![&>\d])", text))


def merged(found):
    """Groups of one process each, of the same program, where WORLD_SIZE is larger: started one after the other."""
    alone, kept = collections.OrderedDict(), []
    for group in found:
        size = group.identities[0].get("size") or ""
        if group.total < (int(size) if size.isdecimal() else 0) and group.launch.kind != "batch":
            alone.setdefault(group.reader.title, []).append(group)
        else:
            kept.append(group)
    for rows in alone.values():
        processes = [process for group in rows for process in group.processes]
        whole = Group(rows[0].launch, processes, rows[0].reader)
        whole.total = sum(group.total for group in rows)
        kept.append(whole)
    return kept


class Judge:
    def __init__(self, director, report):
        self.director = director
        self.report = report  # (id, at, text)
        self.readers = Readers(director)
        self.groups = groups_of(director, self.readers)

    def run(self):
        self.agents()
        for group in self.groups:
            reader = group.reader
            if reader is None:
                continue
            if reader.program is None:
                if group.total > 1 or any(process.place.agent for process in group.processes):
                    why = "%s: %s" % (reader.title, reader.error or "it is not here")
                    self.director.mark(group.at, "which names the program reads (%s)" % why)
                continue
            if group.processes[0].place.agent:
                self.behind_agent(group)
                continue
            if reader.lightning:
                self.lightning(group)
            elif not reader.spawns and not (reader.own and not reader.inits):
                self.ranks(group)
                self.masters(group)
            if not self.locals(group):
                self.gpus(group)
        self.nested()
        self.background()
        self.idle()

    # ranks and sizes

    def ranks(self, group):
        identities = group.identities
        ranks = [identity.get("rank") for identity in identities]
        sizes = [identity.get("size") for identity in identities]
        if "rank" not in identities[0] or not self.known(group, "the rank", ranks):
            return
        if not all(ranks):
            if group.total > 1 or group.reader.inits:
                self.report("D602", group.at, "%s reads RANK, but nothing sets it for %s" % (
                    group.reader.title, "its %d processes" % group.total if group.total > 1 else "it"))
            return
        counts = collections.Counter(ranks)
        twice = [rank for rank, count in counts.items() if count > 1]
        if twice:
            self.report("D601", group.at, "rank %s is given to %d processes" % (twice[0], counts[twice[0]]))
            return
        if not self.known(group, "the size", sizes):
            return
        given = sorted(set(filter(None, sizes)))
        if len(given) > 1:
            self.report("D603", group.at, "the size differs between processes: %s" % ", ".join(given))
        elif given and given[0] != str(group.total):
            self.report("D603", group.at, "the size is %s, but %d process%s start%s" % (
                given[0], group.total, *(("es", "") if group.total > 1 else ("", "s"))))
        elif "size" in identities[0] and not given and group.reader.inits:
            self.report("D602", group.at, "%s reads WORLD_SIZE, but nothing sets it" % group.reader.title)
        elif not all(rank.isdecimal() and int(rank) < group.total for rank in ranks):
            wrong = next(rank for rank in ranks if not rank.isdecimal() or int(rank) >= group.total)
            self.report("D601", group.at, "a process has rank %s of %d" % (wrong, group.total))

    def known(self, group, what, values):
        """False, after a line, if one of the values is not known."""
        if any(value is None for value in values):
            for process in group.processes:
                found = MARK.search(" ".join(process.environment.get(name, "") for name in ("RANK", "WORLD_SIZE")))
                if found:
                    self.director.mark(group.at, "%s of %s" % (what, group.reader.title))
                    break
            return False
        return True

    # masters

    def masters(self, group):
        identities = group.identities
        if group.total < 2 or not group.reader.inits:
            return
        for field, name in (("addr", "MASTER_ADDR"), ("port", "MASTER_PORT")):
            raw = [process.environment.get(name, "") for process in group.processes]
            values = [identity.get(field) for identity in identities]
            if name in group.reader.sets and group.reader.sets[name] is None:
                continue
            if any(value is None for value in values):
                if len(set(raw)) > 1:
                    self.director.mark(group.at, "%s of each process" % name)
                continue
            if not all(values):
                self.report("D602", group.at, "%s reads %s, but nothing sets it" % (group.reader.title, name))
            elif len(set(values)) > 1:
                first = list(dict.fromkeys(values))[:3]
                self.report("D604", group.at, "%s differs between processes: %s" % (name, ", ".join(first)))
            elif field == "addr":
                self.address(group, values[0], identities)

    def address(self, group, text, identities):
        nodes = group.nodes()
        first = next((process.place.host for process, identity in zip(group.processes, identities)
                      if identity.get("rank") == "0"), None)
        wrong = self.wrong_address(text, nodes, first)
        if wrong:
            self.report("D605", group.at, "MASTER_ADDR is %s, %s" % (text.split("\n")[0], wrong))

    def wrong_address(self, text, nodes, first):
        """What is wrong with the address of the first process's node, or None."""
        if "[" in text and "]" in text and "," in text + "-" and not text.startswith("["):
            return "a list of nodes"
        if re.search(r"\s|,", text.strip()):
            return "a list of nodes"
        if LOOPBACK.match(text):
            return "which each of the %d nodes has for itself" % len(nodes) if len(nodes) > 1 else None
        found = re.match(r"^10\.0\.0\.(\d+)$", text)
        names = self.director.jobs[0].nodes if self.director.jobs else nodes
        host = next((name for name in names if found and name.endswith(found.group(1))), text.split(".")[0])
        if host in names and first and host != first:
            return "but rank 0 is on %s" % first
        return None

    # local ranks and GPUs

    def locals(self, group):
        """Whether a local rank is wrong, after a line on it."""
        rows = collections.defaultdict(list)
        for process, identity in zip(group.processes, group.identities):
            if identity.get("local"):
                rows[process.place.host].append(identity["local"])
        for host, values in rows.items():
            # each task may see only one GPU, as number 0
            if len(set(values)) < len(values) and not self.one_gpu_each(group):
                self.report("D606", group.at, "two processes of %s have the local rank %s" % (
                    host, next(value for value in values if values.count(value) > 1)))
                return True
            if any(value.isdecimal() and int(value) >= len(values) for value in values):
                wrong = max(values, key=lambda value: int(value) if value.isdecimal() else 0)
                self.report("D606", group.at, "a process of %s has the local rank %s, but only %d start there" % (
                    host, wrong, len(values)))
                return True
        return False

    def one_gpu_each(self, group):
        lists = [process.environment.get("CUDA_VISIBLE_DEVICES", "") for process in group.processes]
        return all(text and "," not in text for text in lists)

    def gpus(self, group):
        if not group.reader.uses_gpus():
            return
        chooses = group.reader.program.says("set_device") and not group.reader.program.says("device_count")
        taken = {}
        for process, identity in zip(group.processes, group.identities):
            text = process.environment.get("CUDA_VISIBLE_DEVICES")
            if text is None or not is_known(text):
                continue
            seen, local = text.split(",") if text else [], identity.get("local") or ""
            if chooses and local.isdecimal() and seen and int(local) >= len(seen):
                self.report("D606", group.at, "the local rank is %s, but the process on %s sees %d GPU%s" % (
                    local, process.place.host, len(seen), "s" * (len(seen) > 1)))
                return
            if len(seen) == 1:
                key = (process.place.host, seen[0])
                if key in taken:
                    self.report("D607", group.at, "two processes of %s have GPU %s" % key)
                    return
                taken[key] = process

    # frameworks and agents

    def lightning(self, group):
        from frameworks import FABRICS, TRAINERS, devices
        first = group.processes[0]
        environment, step = first.environment, first.place.launch.step
        if first.place.launch.kind != "srun" or environment.get("SLURM_JOB_NAME") in ("bash", "interactive"):
            return
        if group.total > 1 and "SLURM_NTASKS_PER_NODE" not in environment and first.place.ddp is None:
            self.report("D613", group.at, "Lightning starts with %d tasks, but SLURM_NTASKS_PER_NODE is not set" %
                        group.total)
            return
        program = group.reader.program
        for source, call in program.calls(*TRAINERS, *FABRICS):
            seen = step.gpus_of_task(0) if step else None
            _, words, count = devices(program, source, call, len(seen) if seen else None, first.argv[2:])
            here = max(collections.Counter(process.place.host for process in group.processes).values())
            if count and count not in (here, -1) and count > 1:
                self.report("D613", group.at, "Lightning's %s need %d tasks a node, but %d start" % (words, count, here))
            nodes = program.number(source, call.keywords["num_nodes"], first.argv[2:]) if "num_nodes" in call.keywords \
                else 1
            if nodes and nodes != len(group.launch.nodes) and group.total > 1:
                self.report("D613", group.at, "Lightning has num_nodes=%d, but %d node%s start tasks" % (
                    nodes, len(group.launch.nodes), "s" * (len(group.launch.nodes) > 1)))

    def behind_agent(self, group):
        """A program of torchrun's that reads another launcher's number (of the agent's task)."""
        agent, program = group.processes[0].place.agent, group.reader.program
        names = [name for name in ("SLURM_PROCID", "SLURM_LOCALID", "OMPI_COMM_WORLD_RANK",
                                   "OMPI_COMM_WORLD_LOCAL_RANK")
                 if program.reads(name) and name in group.processes[0].environment]
        replaced = any(program.reads("RANK") if "LOCAL" not in name else program.reads("LOCAL_RANK") for name in names)
        if names and not replaced and (agent.per_node or 1) > 1:
            self.report("D611", group.at, "%s reads %s, which is the same in all %d workers of a node" % (
                group.reader.title, names[0], agent.per_node))

    def agents(self):
        """torchrun and accelerate: one agent a node, and all of the same training."""
        rows = collections.OrderedDict()
        for agent in self.director.agents:
            key = id(agent.place.launch) if agent.place.task is not None else id(agent)
            rows.setdefault((key, tuple(agent.words[:1])), []).append(agent)
        whole, parts = [], collections.OrderedDict()
        for (_, words), agents in rows.items():
            if not all(agent.is_known() for agent in agents):
                continue
            if agents[0].nodes and len(agents) < agents[0].nodes and len(agents) == 1:
                parts.setdefault(words, []).extend(agents)
            else:
                whole.append(agents)
        for agents in whole + list(parts.values()):
            self.agents_of(agents)

    def agents_of(self, agents):
        first = agents[0]
        at = first.place.launch.at if first.place.task is not None else first.at
        hosts_of = [agent.place.host for agent in agents]
        count = len(agents) + (first.place.launch.skipped if first.place.task is not None else 0)
        if len(set(hosts_of)) < len(hosts_of):
            self.report("D608", at, "%d %s on %s: one is enough for a node" % (
                hosts_of.count(hosts_of[0]), first.name, hosts_of[0]))
        elif first.nodes and count != first.nodes:
            how = "--standalone" if first.standalone else "--nnodes=%d" % first.nodes
            self.report("D608", at, "%s has %s, but it starts on %d node%s" % (
                first.name, how, count, "s" * (count > 1)))
        elif len({agent.nodes for agent in agents}) > 1:
            self.report("D609", at, "--nnodes differs between nodes")
        elif count > 1:
            self.meeting(agents, at)
        gpus = first.gpus()
        if gpus and first.per_node and first.per_node > gpus:
            self.report("D606", at, "%d workers a node, but %d GPU%s" % (first.per_node, gpus, "s" * (gpus > 1)))
        elif gpus and first.per_node and first.per_node < gpus:
            self.report("D610", at, "%d of %d GPUs a node have a worker" % (first.per_node, gpus))

    def meeting(self, agents, at):
        """Whether the agents of several nodes find each other."""
        first, endpoints = agents[0], list(dict.fromkeys(agent.endpoint for agent in agents))
        if first.is_static():
            ranks = [agent.node_rank for agent in agents]
            twice = [rank for rank in ranks if ranks.count(rank) > 1]
            if twice:
                self.report("D609", at, "%d %s have node rank %s" % (ranks.count(twice[0]), first.name, twice[0]))
                return
        if len(endpoints) > 1 and not is_known("".join(endpoints)):
            self.director.mark(at, "the endpoint of each agent")
            return
        ids = {agent.options.get("rdzv-id", "") for agent in agents}
        if len(endpoints) > 1 or len(ids) > 1 and not first.is_static():
            self.report("D609", at, "the agents have different %s: %s" % (
                ("endpoints", ", ".join(endpoints[:3])) if len(endpoints) > 1 else ("ids", ", ".join(sorted(ids)))))
            return
        host = re.sub(r":(\d+|\ue000\d+\ue001)$", "", endpoints[0])
        if not host:
            self.report("D609", at, "--rdzv-backend=%s without an endpoint: each node waits for itself" % first.backend)
            return
        lead = next((agent.place.host for agent in agents if agent.rank() == 0), None) if first.is_static() else None
        if not is_known(host):
            self.director.mark(at, "the address of the endpoint")
            return
        wrong = self.wrong_address(host, [agent.place.host for agent in agents], lead)
        if not wrong and not first.is_static():
            names = [agent.place.host for agent in agents]
            job = self.director.jobs[0].nodes if self.director.jobs else []
            wrong = "which runs none of the agents" if host in job and host not in names else None
        if wrong:
            self.report("D605", at, "the endpoint is %s, %s" % (endpoints[0], wrong))

    # what the whole script does

    def nested(self):
        for launch in self.director.launches:
            place = launch.place
            outer = place and place.launch
            if launch.kind == "srun" and outer and outer.kind == "srun" and sum(outer.counts) > 1:
                self.report("D612", outer.at, "each of its %d tasks starts srun (%s)" % (sum(outer.counts), launch.at))
                return

    def background(self):
        """Several programs side by side in the script, all of which take the first GPU."""
        for group in self.groups:
            process = group.processes[0]
            job = process.place.job
            if process.place.task is not None or process.place.agent or not job or len(group.processes) < 2 or \
                    job.gpus < 2 or not group.reader or not group.reader.program or not group.reader.uses_gpus():
                continue
            lists = {(title(each), each.environment.get("CUDA_VISIBLE_DEVICES")) for each in group.processes}
            if len(lists) == 1:
                self.report("D607", group.at, "%d programs side by side see the same GPUs, and take the first" %
                            len(group.processes))

    def idle(self):
        trained = [group for group in self.groups if group.reader and group.reader.program and group.reader.needs_group()]
        if not trained and not self.director.agents:
            return
        for job in self.director.jobs:
            used = {process.place.host for process in self.director.processes if process.place.job is job}
            used |= {agent.place.host for agent in self.director.agents if agent.place.job is job}
            used |= {node for launch in self.director.launches if launch.skipped and launch.place.job is job
                     for node in launch.nodes}
            idle = [node for node in job.nodes if node not in used]
            if idle and used - {"login"}:
                self.report("D610", "", "%d of %d nodes start no program: %s" % (
                    len(idle), len(job.nodes), hosts.compress(idle)))
        for group in trained:
            self.idle_gpus(group)

    def idle_gpus(self, group):
        process = group.processes[0]
        step = process.place.launch.step
        gpus = step.gpus if step else 0
        if process.place.agent or group.reader.spawns or group.reader.lightning or not group.reader.uses_gpus() or \
                group.total < 2:
            return
        here = max(collections.Counter(each.place.host for each in group.processes).values())
        if here < gpus and not step.bind:
            self.report("D610", group.at, "%d of %d GPUs a node have a process" % (here, gpus))
