#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Says whether each task of a step has the GPU that it should have, from the lines of programs/gpus.sh.

    gpus.py FOLDER TABLE

Of a row of TABLE, "TASKS | DEVICES | LOCAL_RANKS | SEES | SAYS | SRUN'S OPTIONS", FOLDER has what the tasks printed
with the plugin in NUMBER.with and without it in NUMBER.without, and the messages in NUMBER.with.errors and so on.

    DEVICES      the GPU that cuda:LOCAL_RANK is, by rank, as the number of its device file; a dash: there is none
    LOCAL_RANKS  "rank": the task's place on its node; else a number that all of them have
    SEES         the GPUs that each task sees, such as 0,1,2,3, or "own": its own alone; "given": those that Slurm
                 gave it; "nothing": Slurm gave none, and no variable is there
    SAYS         ids of the messages, each once for the step; a dash: none

A runtime counts the device files that the task may open from 0, and its variable chooses among them by these numbers.
"""

import os
import re
import sys

FAMILIES = ("cuda", "rocr", "ze", "ordinal")


class Wrong(Exception):
    pass


def read_tasks(path):
    tasks = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("GPUS "):
                task = dict(word.split("=", 1) for word in line.split()[1:])
                if task["rank"] in tasks:
                    raise Wrong(f"two tasks are rank {task['rank']}")
                tasks[task["rank"]] = task
    return [tasks[rank] for rank in sorted(tasks, key=int)]


def numbers(text):
    return [int(number) for number in text.split(",")] if text not in ("", "none") else []


def seen_by(task):
    """The device files of cuda:0, cuda:1, ... of a task."""
    allowed = numbers(task["allowed"])
    if task["cuda"] == "none":
        return []
    return [allowed[index] if index < len(allowed) else None for index in numbers(task["cuda"])]


def check_alike(task):
    said = {task[family] for family in FAMILIES}
    if len(said) > 1:
        raise Wrong(f"rank {task['rank']}: the families of variables differ: {task}")


def check_task(task, given, mates, device, local_rank, sees):
    """Of one task; given: the same one without the plugin, mates: the ranks on its node."""
    who = f"rank {task['rank']}"
    check_alike(task)
    if local_rank == "rank":
        local_rank = str(mates.index(task["rank"]))
    if (task["local"], task["tasks"]) != (local_rank, str(len(mates))):
        raise Wrong(f"{who}: LOCAL_RANK {task['local']} of {task['tasks']}, expected {local_rank} of {len(mates)}")
    if sees == "nothing":
        if task["cuda"] != "none" or given["cuda"] != "none":
            raise Wrong(f"{who}: CUDA_VISIBLE_DEVICES={task['cuda']} where Slurm has given no GPU")
        return
    seen, given_seen = seen_by(task), seen_by(given)
    own = seen[int(local_rank)] if int(local_rank) < len(seen) else None
    if device != ("-" if own is None else str(own)):
        raise Wrong(f"{who}: cuda:{local_rank} of CUDA_VISIBLE_DEVICES={task['cuda']} is {own}, expected {device}")
    if given_seen and own is not None and own not in given_seen:
        raise Wrong(f"{who}: GPU {own} is none of those that Slurm gave it, {given_seen}")
    wanted = {"own": [own], "given": given_seen}.get(sees) or numbers(sees)
    if sorted(seen, key=str) != wanted or sees == "given" and task["cuda"] != given["cuda"]:
        raise Wrong(f"{who} sees {seen}, expected {wanted}")
    # where Slurm has taken its list away, what is put back may or may not be followed by its order
    order = "PCI_BUS_ID" if given["cuda"] != task["cuda"] else "none"
    if given_seen and task["order"] != order:
        raise Wrong(f"{who}: CUDA_DEVICE_ORDER={task['order']}, expected {order}")


def check_messages(path, says, hidden):
    with open(path, encoding="utf-8", errors="replace") as file:
        said = sorted(re.findall(r"\b(RC9\d\d)\b", file.read()))
    wanted = says.replace("-", "").split()
    if said != wanted:
        raise Wrong(f"messages {said}, expected {wanted}")
    if hidden != ("RC901" in wanted):
        raise Wrong(f"the table says {says}, and that GPUs of the step cannot be opened is {hidden}")


def check_row(folder, number, row):
    count, devices, local_rank, sees, says, _ = (field.strip() for field in row.split("|", 5))
    base = os.path.join(folder, str(number))
    tasks, without = read_tasks(base + ".with"), read_tasks(base + ".without")
    for found, name in ((tasks, "with"), (without, "without")):
        if [int(task["rank"]) for task in found] != list(range(int(count))):
            raise Wrong(f"{len(found)} tasks answered {name} the plugin")
    for task, given, device in zip(tasks, without, devices.split() or ["-"] * len(tasks)):
        mates = [other["rank"] for other in tasks if other["node"] == task["node"]]
        check_task(task, given, mates, device, local_rank, sees)
    check_messages(base + ".with.errors", says, any(len(numbers(t["allowed"])) < int(t["step"]) for t in without))


def main():
    folder, table = sys.argv[1:]
    failed = 0
    with open(table, encoding="utf-8") as file:
        rows = file.read().splitlines()
    for number, row in enumerate(rows):
        try:
            check_row(folder, number, row)
        except Wrong as reason:
            failed = 1
            print(f"gpus: {row}\n    {reason}", file=sys.stderr)
            for name in ("without", "without.errors", "with", "with.errors"):
                with open(os.path.join(folder, f"{number}.{name}"), encoding="utf-8", errors="replace") as file:
                    print("".join(f"    {name}: {line}" for line in file), end="", file=sys.stderr)
    sys.exit(failed or not rows)


if __name__ == "__main__":
    main()
