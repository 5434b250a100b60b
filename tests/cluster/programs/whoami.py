#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints one JSON line: who this process is, as far as its environment says."""

import json
import os
import socket
import time

NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK", "GROUP_WORLD_SIZE",
         "MASTER_ADDR", "MASTER_PORT")
# Not all of SLURM_*: srun passes on 1024 bytes at a time, and lines of several tasks would mix.
PREFIXES = ("PET_", "TORCHELASTIC_", "SLURM_PROCID", "SLURM_NTASKS_PER_NODE", "SLURM_JOB_NAME", "ROLLCALL_SCOPE")

who = {"host": socket.gethostname(), "pid": os.getpid()}
who["id"] = {name: os.environ[name] for name in NAMES if name in os.environ}
who["env"] = {name: os.environ[name] for name in sorted(os.environ) if name.startswith(PREFIXES)}
if who["id"].get("MASTER_ADDR"):
    # only a host that has that address can bind it
    try:
        family, kind, _, _, address = socket.getaddrinfo(who["id"]["MASTER_ADDR"], 0, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.bind(address)
        who["master_here"] = True
    except OSError as error:
        who["master_here"] = False
        who["master_error"] = str(error)
os.write(1, ("ROLL " + json.dumps(who) + "\n").encode())
if os.environ.get("PMIX_NAMESPACE", "").startswith("prterun"):
    # Open MPI 5.0.7's mpirun and prterun never end, now and then, where a task ends at once: `true`, one in six
    time.sleep(1)
