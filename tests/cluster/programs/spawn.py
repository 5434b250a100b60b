# SPDX-License-Identifier: BSD-3-Clause
"""One task a node starts its own workers with mp.spawn: rank = node_rank * n + i."""

import argparse
import os

import torch.multiprocessing as mp

import toy


def worker(i, args):
    rank = int(os.environ["NODE_RANK"]) * args.nprocs + i
    world = args.nodes * args.nprocs
    if args.init == "tcp":
        init_method = f"tcp://{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
    else:
        init_method = "env://"
    toy.join(init_method=init_method, rank=rank, world_size=world)
    worker_vars = ",".join(v for v in ("RANK", "WORLD_SIZE", "LOCAL_RANK") if v in os.environ) or "none"
    toy.answer(loss=toy.train(toy.model(), rank, world), local=i, worker_vars=worker_vars)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--nprocs", type=int, default=2)
    parser.add_argument("--init", choices=("env", "tcp"), default="env")
    args = parser.parse_args()
    mp.spawn(worker, args=(args,), nprocs=args.nprocs)
