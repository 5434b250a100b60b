# SPDX-License-Identifier: BSD-3-Clause
"""rollcall_watch_device - names a process that takes another GPU than its own, or than NCCL takes in it.

It sees torch.cuda.set_device and the device_id= of init_process_group. For Python 3.8 and later.
"""

import os
import sys

from rollcall_watch_report import number, start_environment


def told_local_rank(start):
    """LOCAL_RANK as rollcall set it, by "=RANK/SIZE/LOCAL_RANK/..." of the stamp: a script may have changed its own.

    The preload library sets the stamp after the program has started, so it is not in `start`.
    """
    for word in os.environ.get("ROLLCALL_SCOPE", "").split():
        if word.startswith("=") and word.count("/") == 4:
            return int(word.split("/")[2])
    return number(start, "LOCAL_RANK")


def index_of(device):
    """Of an index, "cuda:1", or a torch.device; None without one."""
    if isinstance(device, str):
        device = device.rpartition(":")[2]
        return int(device) if device.isdecimal() else None
    return getattr(device, "index", device)


def takes_local_rank():
    """From torch 2.15 on NCCL takes GPU LOCAL_RANK, and not the current one (pytorch PR#192281, PR#193237)."""
    release = getattr(sys.modules.get("torch"), "__version__", "0").split(".")
    return [int(part) for part in release[:2]] >= [2, 15] and os.environ.get("TORCH_DIST_USE_NCCL2") != "0"


class Device:
    """The GPU of this process; say: prints a line with an id."""

    def __init__(self, identity, c10d, cuda, say):
        start = start_environment()
        self.c10d = c10d
        self.cuda = cuda
        self.say = say
        self.rank = identity.get("rank")
        self.local = told_local_rank(start)
        self.ranks = [int(rank) for rank in start.get("SLURM_GTIDS", "").split(",") if rank.isdecimal()]
        self.chosen = None  # by torch.cuda.set_device
        self.bound = None  # by device_id=

    def choose(self, device):
        """Before torch.cuda.set_device. After init_process_group the first call counts: others may visit all GPUs."""
        index = index_of(device)
        is_late = self.c10d.is_initialized()
        if self.compare(index) or (is_late and self.chosen is not None):
            return
        self.chosen = index
        if is_late:
            self.compare_with_nccl(str(self.c10d.get_backend()))

    def join(self, device, backend):
        """Before init_process_group."""
        self.bound = index_of(device)
        if not self.compare(self.bound):
            self.compare_with_nccl(backend)

    def compare(self, index):
        """Print a line and return True if another task of this node takes the same one by rank modulo GPUs."""
        gpus = self.cuda.device_count()
        # one that is renumbered has other neighbours; with more tasks than GPUs some share one anyhow
        if self.rank not in self.ranks or index in (None, self.local) or not len(self.ranks) <= gpus:
            return False
        same = [rank for rank in self.ranks if rank != self.rank and rank % gpus == index]
        if self.rank % gpus != index or not same:
            return False
        self.say(
            "RC710",
            "takes GPU %d, which is rank %d modulo %d GPUs, but rank %d is on this node, too, and takes the same "
            "by it; take LOCAL_RANK, which is %s" % (index, self.rank, gpus, same[0], self.local),
        )
        return True

    def compare_with_nccl(self, backend):
        """Prints a line if NCCL takes another GPU than this process has chosen."""
        local = number(os.environ, "LOCAL_RANK")
        if self.chosen in (None, -1) or not ("nccl" in backend and "legacy" not in backend or backend == "none"):
            return
        if self.bound is not None:
            nccl, source = self.bound, "by device_id="
        elif takes_local_rank() and local is not None:
            nccl, source = local, "by LOCAL_RANK, as from torch 2.15 on"
        else:
            return
        if nccl != self.chosen and nccl < self.cuda.device_count():
            self.say("RC714", "takes GPU %d by torch.cuda.set_device, but NCCL takes GPU %d, %s; give both the same: "
                     "set_device and device_id= of init_process_group" % (self.chosen, nccl, source))
