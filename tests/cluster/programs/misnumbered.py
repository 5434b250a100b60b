# SPDX-License-Identifier: BSD-3-Clause
"""Scripts with an arithmetic of their own: who joins as somebody else than its task is.

alone  each task by itself
first  each task as rank 0 of all, past whatever its environment says: they wait in vain, here for some seconds
"""

import os
import sys
import threading

import torch.distributed as dist

import toy


def give_up():
    print("waits", flush=True)
    os._exit(0)


def main():
    if sys.argv[1] == "first":
        os.environ["RANK"] = "0"
        threading.Timer(5, give_up).start()
        dist.init_process_group("gloo")
    else:
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    toy.report(joined=f"{dist.get_rank()}/{dist.get_world_size()}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
