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


def is_refused(answer):
    """Whether rollcall says an error about a task."""
    return any(message["level"] == "error" for message in answer["messages"])


def is_empty(answer):
    """Whether a refused task gets nothing at all."""
    known = [*answer["identity"].values(), *answer["master"].values()]
    return not answer["set"] and not answer["unset"] and all(value is None for value in known)


def unequal(job, answers):
    """What differs between the tasks, or from where they were."""
    if [task.rank for task in job] != list(range(len(job))):
        yield "its ranks are not 0 and up, each once"
    if len({(answer["master"]["addr"], answer["master"]["port"]) for answer in answers}) > 1:
        yield "its tasks name several masters"
    host = job[0].host
    for task, answer in zip(job, answers):
        if answer["master"]["addr"] not in (None, host, ADDRESSES.get(host), "127.0.0.1"):
            yield f"{task.name}: its master is not rank 0's host, {host}"


def wrong_launchers(job, answers):
    """Launcher mode: one task a node, with the rank of the node."""
    if len({task.host for task in job}) != len(job):
        yield "several tasks are on one node"
    for task, answer in zip(job, answers):
        identity = answer["identity"]
        if answer["mode"] != "launcher" or identity["rank"] is not None:
            yield f"{task.name}: it is no launcher as the others are"
        if identity["node_rank"] != task.rank or answer["set"].get("PET_NODE_RANK") != str(task.rank):
            yield f"{task.name}: its node is not the one of its rank"
        if identity["nnodes"] != len(job):
            yield f"{task.name}: its job has {len(job)} nodes"
        if answer["master"]["addr"] in (None, "127.0.0.1"):
            yield f"{task.name}: it has no master that another node could reach"


def wrong_workers(job, answers):
    """Worker mode: each task has its own rank, and those of one node have its number and are counted from 0."""
    on_host = collections.defaultdict(list)
    for task, answer in zip(job, answers):
        identity = answer["identity"]
        on_host[task.host].append(identity)
        if (identity["rank"], identity["world_size"]) != (task.rank, len(job)):
            yield f"{task.name}: it is not {task.rank} of {len(job)}"
    for host, tasks in on_host.items():
        if {task["local_rank"] for task in tasks} != set(range(len(tasks))):
            yield f"{host}: its local ranks are not 0 and up, each once"
        if len({task["node_rank"] for task in tasks}) != 1:
            yield f"{host}: its tasks say that they are on several nodes"
        if {task["nnodes"] for task in tasks} - {None, len(on_host)}:
            yield f"{host}: its job has {len(on_host)} nodes"
    if {task["node_rank"] for task in on_host[job[0].host]} != {0}:
        yield "rank 0 is not on node 0"
    if {task["node_rank"] for tasks in on_host.values() for task in tasks} != set(range(len(on_host))):
        yield "the nodes' numbers are not 0 and up, each once"


def misfits(job):
    """What does not fit in a job."""
    answers = [expectation.answer_of(task) for task in job]
    if any(map(is_refused, answers)):
        if not all(is_refused(answer) and is_empty(answer) for answer in answers):
            yield "some of its tasks are refused, and others get something"
        return
    yield from unequal(job, answers)
    launchers = any(answer["mode"] == "launcher" for answer in answers)
    yield from wrong_launchers(job, answers) if launchers else wrong_workers(job, answers)


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
