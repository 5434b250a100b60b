# SPDX-License-Identifier: BSD-3-Clause
"""Meets through a file that every node sees; the rank is an explicit argument."""

import datetime
import os
import sys

import torch.distributed as dist

import toy


def main():
    rank = int(os.environ["RANK"])
    world = int(os.environ["WORLD_SIZE"])
    dist.init_process_group(
        "gloo",
        init_method="file://" + sys.argv[1],
        rank=rank,
        world_size=world,
        timeout=datetime.timedelta(seconds=toy.TIMEOUT),
    )
    seen = toy.everyone(rank, world)
    loss = toy.train(toy.model(), rank, world)
    toy.report(
        rank=rank,
        world=world,
        local=os.environ.get("LOCAL_RANK", "-"),
        node=os.environ.get("NODE_RANK", "-"),
        seen=seen,
        loss=loss,
    )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
