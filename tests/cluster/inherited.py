#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""inherited.py SHELL PLAIN ASKED: the environments of three jobs, submitted from a login shell, and from a task without
and with rollcall. Prints what the third has from neither, and what it shares with the second only and Slurm does not
set."""
import re
import sys

# every job or step has another one
JOBS = re.compile(r"SLURM_(JOB_?ID|JOB_(START|END)_TIME|JOB_SLUID|TASK_PID|STEP_LAUNCHER_PORT|SRUN_COMM_PORT|PTY_PORT|"
                  r"PMIXP_ABORT_AGENT_PORT)|PMIX_(NAMESPACE|SERVER_\w+)|OMPI_MCA_orte_precondition_transports|_$")
# what a task hands on by Slurm's doing
SLURMS = re.compile(r"SLURM|SRUN_|PMIX_|PMI_|OMPI_MCA_|(CUDA|ROCR)_VISIBLE_DEVICES$|GPU_DEVICE_ORDINAL$|ZE_AFFINITY_MASK$"
                    r"|TMPDIR$|SHLVL$")


def read(path):
    with open(path, encoding="utf-8") as lines:
        return dict(line.rstrip("\n").split("=", 1) for line in lines if "=" in line)


shell, plain, asked = map(read, sys.argv[1:])
wrong = []
for name in sorted({*shell, *plain, *asked}):
    value = asked.get(name)
    if JOBS.match(name) and (value is None) == (plain.get(name) is None) or value == shell.get(name) or value == plain.get(name) and SLURMS.match(name):
        continue
    wrong.append(f"{name}: {value!r}, in a shell {shell.get(name)!r}, in a plain task {plain.get(name)!r}")
print(*wrong, sep="\n")
sys.exit(bool(wrong))
