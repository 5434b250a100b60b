# SPDX-License-Identifier: BSD-3-Clause
"""For python -m torch.distributed.launch: the local rank is an argument, or LOCAL_RANK under --use_env."""

import argparse
import datetime
import os

import torch.distributed as dist

import toy


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", "--local-rank", type=int, default=None)
    args = parser.parse_args()
    how = "argument"
    if args.local_rank is None:
        args.local_rank, how = int(os.environ["LOCAL_RANK"]), "environment"
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=toy.TIMEOUT))
    rank, world = dist.get_rank(), dist.get_world_size()
    seen = toy.everyone(rank, world)
    loss = toy.train(toy.model(), rank, world)
    toy.report(
        rank=rank,
        world=world,
        local=args.local_rank,
        node=os.environ["GROUP_RANK"],
        seen=seen,
        loss=loss,
        how=how,
    )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
