# SPDX-License-Identifier: BSD-3-Clause
"""init_process_group with env://, as most scripts have it: everything from the environment."""

import datetime
import os

import torch.distributed as dist

import toy


def main():
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=toy.TIMEOUT))
    rank, world = dist.get_rank(), dist.get_world_size()
    toy.report(
        rank=rank,
        world=world,
        local=os.environ.get("LOCAL_RANK", "-"),
        node=os.environ.get("NODE_RANK", "-"),
        seen=toy.everyone(rank, world),
        loss=toy.train(toy.model(), rank, world),
    )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
