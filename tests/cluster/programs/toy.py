# SPDX-License-Identifier: BSD-3-Clause
"""A model, some batches and a report line: what the programs here share.

`python toy.py` trains in one process, without torch.distributed, and prints the loss that any number of
processes must end up with on the same batches.
"""

import atexit
import datetime
import os
import pathlib
import re
import socket
import time

import torch

STEPS = 4
BATCH = 24  # of all processes together; divides by 1, 2, 3, 4, 6 and 8
TIMEOUT = 40 * int(os.environ.get("patience", 1))  # seconds: a job that does not come together ends by itself


def model():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()


def batches():
    generator = torch.Generator().manual_seed(2)
    for _ in range(STEPS):
        x = torch.randn(BATCH, 4, generator=generator, dtype=torch.float64)
        yield x, x.sum(dim=1, keepdim=True).sin()


def loss_of(net, x, y, rank, world):
    return torch.nn.functional.mse_loss(net(x[rank::world]), y[rank::world])


def train(net, rank=0, world=1):
    """Averages the gradients by hand, as PyTorch's tutorial on distributed applications does.

    This spares the seconds that importing torch.optim and DistributedDataParallel takes; ddp.py and the
    Lightning programs use the real ones. Returns the last step's loss over the whole batch.
    """

    def average(tensor):
        if world > 1:
            torch.distributed.all_reduce(tensor)
            tensor /= world

    for x, y in batches():
        net.zero_grad()
        loss = loss_of(net, x, y, rank, world)
        loss.backward()
        for p in net.parameters():
            average(p.grad)
            p.data -= 0.1 * p.grad
    loss = loss.detach()
    average(loss)
    return f"{loss.item():.9f}"


def come_late():
    """Where TOY_LATE says "TASK FILE", that task of a Slurm step waits for the file. All imports are done by then."""
    task, _, file = os.environ.get("TOY_LATE", "").partition(" ")
    while task == os.environ.get("SLURM_PROCID") and not os.path.exists(file):
        time.sleep(0.05)


def everyone(rank, world):
    """The ranks of all processes, as each of them says: a rank that is there twice shows."""
    seen = [None] * world
    torch.distributed.all_gather_object(seen, rank)
    return ",".join(map(str, seen))


def join(**how):
    """init_process_group, with env:// unless told otherwise. Returns the rank and the size of the world."""
    torch.distributed.init_process_group("gloo", timeout=datetime.timedelta(seconds=TIMEOUT), **how)
    return torch.distributed.get_rank(), torch.distributed.get_world_size()


def answer(**more):
    """Reports who this process is among the others, and leaves them."""
    rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
    who = {"rank": rank, "world": world, "seen": everyone(rank, world)}
    for name in "local", "node":
        who[name] = os.environ.get(name.upper() + "_RANK", "-")
    report(**(who | more))
    torch.distributed.destroy_process_group()


def report(**what):
    """One line for each process, written at once so that lines of different processes do not mix."""
    what.setdefault("host", socket.gethostname())
    what.setdefault("pid", os.getpid())
    os.write(1, ("ROLL " + " ".join(f"{name}={value}" for name, value in what.items()) + "\n").encode())


@atexit.register
def let_gloo_finish():
    """Waits till gloo's threads have nothing in hand, before the interpreter ends.

    Such a thread drops a finished collective's tensors after wait() has returned. If torch 2.13 has to ask for
    the GIL for that while Python ends, the process dies: "terminate called without an active exception", one
    in some thousand. destroy_process_group() does not end the threads where DistributedDataParallel was used.
    """
    for _ in range(500):
        time.sleep(0.01)  # whoever waits for the GIL has it now
        if all(state == "S" for name, state in threads() if name == "pt_gloo_runloop"):
            break


def threads():
    """This process's threads: name and state, S where it waits."""
    for stat in pathlib.Path("/proc/self/task").glob("*/stat"):
        try:
            _, name, rest = re.split(r" \(|\) ", stat.read_text())
        except OSError:  # gone meanwhile
            continue
        yield name, rest[0]


if __name__ == "__main__":
    report(rank=0, world=1, loss=train(model()))
