#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""rehearse.py - what a real job's processes were started with, against its rehearsal.

    rehearse.py record FOLDER ARG...      as a program: writes its words and variables into FOLDER
    rehearse.py compare FOLDER JSON       each process of FOLDER is in the rehearsal, with the same values, and no other
"""
import json
import os
import re
import sys

# of this machine, this cluster or this minute; and of cores, which an imagined node has as many of as it needs
OWN = re.compile(r"SLURM_((ARRAY_)?JOB_?ID|TASK_PID|\w*(PORT|IPADDR|HOST)|JOB_(START|END)_TIME|JOB_SLUID|CONF|PRIO_PROCESS|"
                 r"TOPOLOGY_\w+|WORKING_CLUSTER|CLUSTER_NAME|JOB_PARTITION|JOB_ACCOUNT|JOB_QOS|JOB_GROUP|CPU_BIND\w*|"
                 r"CPUS_ON_NODE|JOB_CPUS_PER_NODE\w*|SCRIPT_CONTEXT|MPI_TYPE|PMIX\w*|SUBMIT_DIR|JOB_NAME|UMASK|"
                 r"JOB_USER|JOB_[UG]ID|MEM_\w+|DEBUG\w*|CPU_FREQ\w*)$|SRUN_\w+$|SLURMD_DEBUG$|PMIX?_\w+$")
TORCH = re.compile(r"(RANK|WORLD_SIZE|LOCAL_RANK|MASTER_ADDR|MASTER_PORT|\w+_VISIBLE_DEVICES)$")


def kept(environment):
    return {name: value for name, value in environment.items()
            if (name.startswith("SLURM") or TORCH.match(name)) and not OWN.match(name)}


def record(folder, words):
    row = {"argv": words, "environment": dict(os.environ)}
    path = os.path.join(folder, "%s.%d" % (os.environ.get("SLURMD_NODENAME"), os.getpid()))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(row, file)


def identify(argv, environment):
    return tuple(argv), environment.get("SLURMD_NODENAME"), environment.get("SLURM_PROCID")


def compare(folder, path):
    with open(path, encoding="utf-8") as file:
        rehearsed = {identify(process["argv"][1:], process["environment"]): process["environment"]
                     for launch in json.load(file)["launches"] for process in launch["processes"]}
    real = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            row = json.load(file)
        real[identify(row["argv"], row["environment"])] = row["environment"]
    names, wrong = 0, []
    for key in sorted({*real, *rehearsed}, key=str):
        if key not in real or key not in rehearsed:
            wrong.append("%s: only %s" % (key, "real" if key in real else "rehearsed"))
            continue
        left, right = kept(real[key]), kept(rehearsed[key])
        for name in sorted({*left, *right}):
            names += 1
            if left.get(name) != right.get(name):
                wrong.append("%s: %s is %r, rehearsed %r" % (key[1:], name, left.get(name), right.get(name)))
    print("%d processes, %d names, %d differences" % (len(real), names, len(wrong)))
    print(*wrong[:40], sep="\n")
    return bool(wrong) or not real


if __name__ == "__main__":
    if sys.argv[1] == "record":
        record(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(compare(*sys.argv[2:]))
