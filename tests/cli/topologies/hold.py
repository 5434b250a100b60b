#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What must hold of every placement: hold.py ROLLCALL FOLDER, where FOLDER has machines.py's files.

For random numbers of tasks, GPUs and allowed threads (always the same ones): no mask is empty or wider than what
is allowed; a core's allowed threads stay together; no two masks share a core unless both say so, and none says so
where there is a core for each task; the same question has the same answer.
"""
import json
import random
import re
import subprocess
import sys
from pathlib import Path

ROUNDS = 8


def numbers(text):
    return {n for part in text.split(",") for a, _, b in [part.partition("-")] for n in range(int(a), int(b or a) + 1)}


def cores_of(path):
    """A set of threads a core, read from the file itself."""
    cores = []
    for kind, index in re.findall(r'<object type="(Core|PU)" os_index="(\d+)"', path.read_text()):
        if kind == "Core":
            cores.append(set())
        else:
            cores[-1].add(int(index))
    return cores


def ask(rollcall, path, options):
    return subprocess.run([rollcall, "map", "--json", "--from", path, *options], check=True, capture_output=True).stdout


def check(tasks, allowed, cores):
    masks = [numbers(task["cpus"]) for task in tasks]
    allowed_cores = [core & allowed for core in cores if core & allowed]
    for task, mask in zip(tasks, masks):
        assert mask and mask <= allowed, "empty or too wide"
        assert all(core <= mask or not core & mask for core in allowed_cores), "a part of a core"
        assert sum(core <= mask for core in allowed_cores) == task["cores"], "number of cores"
    owners = {}
    for task, mask in zip(tasks, masks):
        for thread in mask:
            owners.setdefault(thread, []).append(task)
    for owner in owners.values():
        assert len(owner) == 1 or all(task["shared"] for task in owner), "a core twice"
    if len(tasks) <= len(allowed_cores):
        assert not any(task["shared"] for task in tasks), "shared without need"


def main():
    rollcall, folder = sys.argv[1], Path(sys.argv[2])
    for path in sorted(folder.glob("*.xml")):
        if path.stem == "large":
            continue
        chance = random.Random(path.stem)
        cores = cores_of(path)
        threads = sorted(set().union(*cores))
        gpus = [gpu for gpu in json.loads(ask(rollcall, path, []))["gpus"] if gpu["used"]]
        for _ in range(ROUNDS):
            allowed = set(chance.sample(threads, chance.choice([1, 2, 5, len(threads) // 2, len(threads)])))
            options = ["--tasks", str(chance.choice([1, 2, 3, 5, 8, 13, 64])),
                       "--cpus", ",".join(map(str, sorted(allowed)))]
            if gpus:
                chosen = chance.sample(range(len(gpus)), chance.randint(1, len(gpus)))
                options += ["--gpus", ",".join(map(str, chosen))]
            first = ask(rollcall, path, options)
            try:
                check(json.loads(first)["tasks"], allowed, cores)
                assert first == ask(rollcall, path, options), "another answer"
            except AssertionError as error:
                sys.exit(f"{path.name} {' '.join(options)}: {error}")


if __name__ == "__main__":
    main()
