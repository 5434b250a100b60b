# SPDX-License-Identifier: BSD-3-Clause
"""One task is late: the others stand in init_process_group and wait for it. late.py FOLDER TASK

They go there at once, all together; the task TASK when there is a file FOLDER/go. Then all meet once more, in a
second group. Each group has a file to meet at: a store that ends and begins anew at one port would lose those who are
faster than RANK 0.
"""

import os
import pathlib
import sys
import time

import torch.distributed as dist

import toy


def wait(is_there):
    while not is_there():
        time.sleep(0.05)


def main():
    folder, late = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if rank == late:
        wait((folder / "go").exists)
    else:
        (folder / f"here.{rank}").touch()
        wait(lambda: len(list(folder.glob("here.*"))) == world - 1)
    for again in False, True:
        toy.join(init_method=(folder / f"store.{again}").as_uri(), rank=rank, world_size=world)
        seen = toy.everyone(rank, world)
        if again:
            toy.report(rank=rank, world=world, local=os.environ["LOCAL_RANK"], node=os.environ["NODE_RANK"], seen=seen)
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
