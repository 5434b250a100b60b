# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py and torch in one script: MPI's rank beside torch's, and both can be talked by."""

import datetime
import os

import torch
import torch.distributed as dist
from mpi4py import MPI

import toy


def main():
    mpi = MPI.COMM_WORLD
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=toy.TIMEOUT))
    rank, world = dist.get_rank(), dist.get_world_size()
    total = torch.tensor([mpi.Get_rank()])
    dist.all_reduce(total)
    toy.report(
        rank=rank,
        world=world,
        local=os.environ["LOCAL_RANK"],
        node=os.environ["NODE_RANK"],
        seen=",".join(map(str, mpi.allgather(rank))),
        mpi=f"{mpi.Get_rank()}/{mpi.Get_size()}",
        equal=mpi.Get_rank() == rank and mpi.Get_size() == world and mpi.allreduce(rank) == total.item(),
    )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
