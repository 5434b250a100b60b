# SPDX-License-Identifier: BSD-3-Clause
"""One task a node starts its own workers with mp.spawn: rank = node_rank * n + i."""

import argparse
import datetime
import os

import torch.distributed as dist
import torch.multiprocessing as mp

import toy


def worker(i, args):
    node_rank = int(os.environ["NODE_RANK"])
    rank = node_rank * args.nprocs + i
    world = args.nodes * args.nprocs
    if args.init == "tcp":
        init_method = f"tcp://{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
    else:
        init_method = "env://"
    dist.init_process_group(
        "gloo",
        init_method=init_method,
        rank=rank,
        world_size=world,
        timeout=datetime.timedelta(seconds=toy.TIMEOUT),
    )
    seen = toy.everyone(rank, world)
    loss = toy.train(toy.model(), rank, world)
    toy.report(
        rank=rank,
        world=world,
        local=i,
        node=node_rank,
        seen=seen,
        loss=loss,
        worker_vars=",".join(v for v in ("RANK", "WORLD_SIZE", "LOCAL_RANK") if v in os.environ) or "none",
    )
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--nprocs", type=int, default=2)
    parser.add_argument("--init", choices=("env", "tcp"), default="env")
    args = parser.parse_args()
    mp.spawn(worker, args=(args,), nprocs=args.nprocs)


if __name__ == "__main__":
    main()
