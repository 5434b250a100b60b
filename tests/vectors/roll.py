#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""roll.py - whether the tasks of each wholly recorded job expect answers that fit together.

Each rank is there once, on the node where the task really was, and all tasks name one address of rank 0's node; or all
tasks are refused. Prints what does not fit; the exit status says whether something does not.
"""
import collections
import os
import sys

import expectation
import recordings

# of the nodes of the cluster on which most jobs were recorded
ADDRESSES = {"n1": "10.77.0.2", "n2": "10.77.0.3"}
JOBS_AT_LEAST = 10
# what a task of that mode is not told; elsewhere the number of nodes alone may be missing
LACKS = {"launcher": ("rank", "world_size", "local_world_size")}


def is_refused(answer):
    """Whether rollcall says an error about a task."""
    return any(message["level"] == "error" for message in answer["messages"])


def is_empty(answer):
    """Whether a refused task gets nothing at all."""
    known = [*answer["identity"].values(), *answer["master"].values()]
    return not answer["set"] and not answer["unset"] and all(value is None for value in known)


def misplaced(job, answers):
    """What differs from where the tasks were, and the host of rank 0 in what they call their master."""
    host, locals_on = job[0].host, collections.defaultdict(set)
    names = {None, host, ADDRESSES.get(host), "127.0.0.1" if {task.host for task in job} == {host} else None}
    for task, answer in zip(job, answers):
        identity, mode = answer["identity"], answer["mode"]
        where = {"rank": task.rank, "world_size": task.size, "local_world_size": task.local_size,
                 "node_rank": task.node_rank, "nnodes": task.nodes}
        for name, value in where.items():
            if identity[name] != value and not (identity[name] is None and name in LACKS.get(mode, ("nnodes",))):
                yield f"{task.name}: its {name} is not {value}"
        locals_on[task.host].add(identity["local_rank"])
        if mode != answers[0]["mode"] or answer["master"]["port"] != answers[0]["master"]["port"]:
            yield f"{task.name}: it is not in the mode or at the port of rank 0"
        if answer["master"]["addr"] not in names:
            yield f"{task.name}: its master is not rank 0's host, {host}"
    for node, found in locals_on.items():
        if found not in ({None}, set(range(sum(task.host == node for task in job)))):
            yield f"{node}: its local ranks are not 0 and up, each once"


def misfits(job):
    """What does not fit in a job."""
    answers = [expectation.answer_of(task) for task in job]
    if not any(map(is_refused, answers)):
        yield from misplaced(job, answers)
    elif not all(is_refused(answer) and is_empty(answer) for answer in answers):
        yield "some of its tasks are refused, and others get something"


def main():
    """The exit status."""
    jobs = {os.path.basename(path)[:-len(".env")]: recordings.read(path) for path in recordings.paths()}
    whole = {name: job for name, job in jobs.items() if job[0].size}
    found = [f"{name}: {text}" for name, job in whole.items() for text in misfits(job)]
    if len(whole) < JOBS_AT_LEAST:
        found.append(f"{len(whole)} jobs are wholly recorded, fewer than {JOBS_AT_LEAST}")
    print("".join(line + "\n" for line in found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
