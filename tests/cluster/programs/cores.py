#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints one line: the hardware threads that this task may run on, those of a thread and of a data loader of its,
and OMP_NUM_THREADS. With the argument torch, the data loader is torch's own."""

import os
import sys
import threading


def mask(pid=0):
    return ",".join(map(str, sorted(os.sched_getaffinity(pid))))


def in_thread():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(mask()))
    thread.start()
    thread.join()
    return seen[0]


def in_fork():
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, mask().encode())
        os._exit(0)
    os.wait()
    return os.read(read, 4096).decode()


def in_loader():
    from torch.utils.data import DataLoader, Dataset

    class Masks(Dataset):
        def __len__(self):
            return 1

        def __getitem__(self, index):
            return mask()

    return next(iter(DataLoader(Masks(), num_workers=1, batch_size=None)))


loader = in_loader() if sys.argv[1:] == ["torch"] else in_fork()
line = (f"CORES host={os.uname().nodename} rank={os.environ.get('RANK', '-')} cpus={mask()} thread={in_thread()} "
        f"loader={loader} omp={os.environ.get('OMP_NUM_THREADS', '-')} pins={os.environ.get('ROLLCALL_PINS', '-')}\n")
os.write(1, line.encode())
