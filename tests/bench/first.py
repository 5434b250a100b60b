# SPDX-License-Identifier: BSD-3-Clause
"""Microseconds from srun's start (BEGUN, in nanoseconds) to the end of the first all_reduce, and what each part took.

A part ends when the last rank has ended it. Rank 0 prints.
"""
import os
import time

import torch
import torch.distributed as dist

PARTS = ("srun", "import", "init", "all_reduce")

stamps = [int(os.environ["BEGUN"]), int(os.environ["STARTED"]), time.time_ns()]
dist.init_process_group("gloo")
stamps.append(time.time_ns())
dist.all_reduce(torch.ones(1))
stamps.append(time.time_ns())
last = torch.tensor(stamps)
dist.all_reduce(last, op=dist.ReduceOp.MAX)
if dist.get_rank() == 0:
    spent = last.diff().tolist()
    shares = (f"{name} {part / 1e9:.2f} s, {100 * part / sum(spent):.1f}%" for name, part in zip(PARTS, spent))
    print(sum(spent) / 1e3, "; ".join(shares))
dist.destroy_process_group()
