# SPDX-License-Identifier: BSD-3-Clause
"""printing.py - what a rehearsal prints: a table, findings and a verdict, or one JSON object."""
import collections
import json
import re

import hosts
from director import MARK

NAMES = re.compile(r"^(RANK|WORLD_SIZE|LOCAL_RANK|LOCAL_WORLD_SIZE|NODE_RANK|GROUP_RANK|GROUP_WORLD_SIZE|MASTER_ADDR|"
                   r"MASTER_PORT|PET_\w+|(CUDA|ROCR|HIP)_VISIBLE_DEVICES|SLURMD?_\w+|OMPI_COMM_\w+|PMI_\w+|"
                   r"PMIX_RANK|MPI_LOCAL\w+|NCCL_\w+|GLOO_\w+|OMP_NUM_THREADS|TORCHELASTIC_\w+)$")
HEAD = ("at", "task", "node", "RANK", "LOCAL_RANK", "WORLD_SIZE", "master", "GPUs", "program")
MOST = 8  # rows of a launch before those of a node become one
WIDEST = 60


def shown(text):
    return MARK.sub("?", str(text)) if text else "-"


def row(group, process, identity):
    environment = process.environment
    reader = group.reader
    if identity:
        rank, local, size = (identity.get(field, "-") for field in ("rank", "local", "size"))
        addr, port = identity.get("addr"), identity.get("port")
        master = "%s:%s" % (addr or "", port or "") if addr or port else "-"
        if "addr" in identity and (addr is None or port is None):
            master = "?"
    else:
        known = reader is None or reader.program is None
        rank, local, size = (environment.get(name, "-") if known else "-"
                             for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE"))
        master = environment["MASTER_ADDR"] + ":" + environment.get("MASTER_PORT", "") \
            if known and "MASTER_ADDR" in environment else "-"
    task = "-" if process.place.task is None else str(process.place.task)
    values = [task, process.place.host, *("?" if value is None else shown(value) for value in (rank, local, size)),
              shown(master).split("\n")[0], shown(environment.get("CUDA_VISIBLE_DEVICES"))]
    return values


def ranges(values):
    """0, 1, 2 -> 0-2; equal values -> that value."""
    distinct = list(dict.fromkeys(values))
    if len(distinct) == 1:
        return distinct[0]
    if all(value.isdecimal() for value in distinct):
        return hosts.ranges(sorted(distinct, key=int)).strip("[]")
    return ",".join(distinct[:3]) + ("..." if len(distinct) > 3 else "")


def rows_of(group):
    rows = [row(group, *pair) for pair in zip(group.processes, group.identities)]
    if len(rows) <= MOST and not group.launch.skipped:
        return rows
    nodes = collections.OrderedDict()
    for values in rows:
        nodes.setdefault(values[1], []).append(values)
    folded = [[ranges(column) for column in zip(*values)] for values in nodes.values()]
    if len(folded) > MOST:
        folded = folded[:2] + [["..."] + [""] * (len(HEAD) - 3)] + folded[-1:]
    return folded


def program_of(process):
    text = MARK.sub("?", " ".join(process.argv)).replace("\n", " ")
    return text if len(text) <= WIDEST else text[:WIDEST - 3] + "..."


def print_table(director, groups):
    for job in director.jobs:
        print("%s: %d node%s, %s, %s" % (
            job.name, len(job.nodes), "s" * (len(job.nodes) > 1),
            "%s task%s" % (job.tasks, "s" * (job.tasks != 1)) if job.tasks else "no number of tasks",
            "%d GPU%s a node" % (job.gpus, "s" * (job.gpus != 1)) if job.gpus else "no GPUs"))
    table = [HEAD]
    for group in groups:
        for index, values in enumerate(rows_of(group)):
            table.append([shown(group.at) if index == 0 else ""] + values + [
                program_of(group.processes[0]) if index == 0 or len(group.processes) <= MOST else ""])
    if len(table) > 1:
        widths = [max(len(str(values[column])) for values in table) for column in range(len(HEAD))]
        print()
        for values in table:
            print("  ".join(str(value).ljust(width) for value, width in zip(values, widths)).rstrip())


def print_text(director, groups, findings, catalogue, verdict):
    print_table(director, groups)
    print()
    for name, at, text, change in findings:
        level, cause, cure = catalogue.get(name, ("error", "", ""))
        print("%s %s%s: %s" % (level, name, " " + at if at else "", shown(text)))
        if cause:
            print("  why     %s" % cause)
        if change or cure:
            print("  change  %s" % (change or cure))
    for at, text in director.open_questions():
        print("not known%s: %s" % (" (%s)" % shown(at) if at else "", shown(text)))
    print("verdict %s" % verdict)


def as_json(director, groups, findings, catalogue, verdict):
    launches = []
    for group in groups:
        rows = [{"task": process.place.task, "node": process.place.host, "cwd": process.cwd, "argv": process.argv,
                 "environment": {name: value for name, value in sorted(process.environment.items())
                                 if NAMES.match(name)},
                 "identity": {field: value for field, value in identity.items() if value is not None}}
                for process, identity in zip(group.processes, group.identities)]
        launches.append({"at": group.at, "kind": group.launch.kind, "processes": rows,
                         "counted": group.total})
    job = director.jobs[0] if director.jobs else None
    allocation = {"nodes": job.nodes, "tasks": job.tasks, "gpus_per_node": job.gpus,
                  "slurm": "%d.%02d" % director.series} if job else None
    return json.dumps({
        "schema": 1, "allocation": allocation, "launches": launches,
        "findings": [{"id": name, "level": catalogue.get(name, ("error",))[0], "at": at, "text": shown(text),
                      "cure": change or None} for name, at, text, change in findings],
        "unknown": [{"at": at, "text": shown(text)} for at, text in director.open_questions()],
        "verdict": verdict}, indent=1)
