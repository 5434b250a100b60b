# SPDX-License-Identifier: BSD-3-Clause
"""Prints this task's environment exactly as the task got it, each line led by the task's number."""

import os

with open("/proc/self/environ", "rb") as file:
    entries = [entry for entry in file.read().split(b"\0") if entry]
task = os.environ["SLURM_PROCID"].encode()
os.write(1, b"".join(task + b" " + entry.replace(b"\n", b"\\n") + b"\n" for entry in entries))
