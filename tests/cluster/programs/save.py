# SPDX-License-Identifier: BSD-3-Clause
"""Trains, then rank 0 saves the model. Single process unless the environment says otherwise, as is usual."""

import os
import sys

import torch
import torch.distributed as dist

import toy


def main():
    rank = int(os.environ.get("RANK", 0))
    world = int(os.environ.get("WORLD_SIZE", 1))
    net = toy.model()
    if world > 1:
        toy.join()
        toy.train(net, rank, world)
        dist.barrier()
    else:
        toy.train(net)
    if rank == 0:
        torch.save(net.state_dict(), sys.argv[1])
        toy.report(saved=sys.argv[1], rank=rank, world=world)
    if world > 1:
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
