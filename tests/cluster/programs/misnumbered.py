# SPDX-License-Identifier: BSD-3-Clause
"""Scripts with an arithmetic of their own: who joins as somebody else than its task is.

alone  each task by itself    half  the tasks of even and of odd rank, two worlds on purpose
first  each task as rank 0 of all, past whatever its environment says: they wait in vain, here for some seconds
"""

import datetime
import os
import sys
import threading

import torch.distributed as dist

import toy


def give_up():
    print("waits", flush=True)
    os._exit(0)


def main():
    rank, world = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
    timeout = datetime.timedelta(seconds=toy.TIMEOUT)
    if sys.argv[1] == "first":
        os.environ["RANK"] = "0"
        threading.Timer(5, give_up).start()
        dist.init_process_group("gloo")
        toy.report(joined="0")
        return
    if sys.argv[1] == "alone":
        rank, world = 0, 1
        store = dist.HashStore()
    else:
        store = dist.PrefixStore(
            f"half{rank % 2}",
            dist.TCPStore(
                os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), is_master=rank == 0, timeout=timeout
            ),
        )
        rank, world = rank // 2, world // 2
    dist.init_process_group("gloo", store=store, rank=rank, world_size=world, timeout=timeout)
    seen = toy.everyone(rank, world)
    toy.report(rank=os.environ["SLURM_PROCID"], world=os.environ["SLURM_NTASKS"], joined=f"{rank}/{world}", among=seen)
    if world > 1:
        # the store is in the process of RANK 0
        store.add("done", 1)
        if os.environ["SLURM_PROCID"] == "0":
            for half in "01":
                other = dist.PrefixStore(f"half{half}", store.underlying_store)
                while other.add("done", 0) < world:
                    pass
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
