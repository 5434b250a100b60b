# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py and torch in one script: MPI's rank beside torch's, and both can be talked by."""

import torch
import torch.distributed as dist
from mpi4py import MPI

import toy

mpi = MPI.COMM_WORLD
rank, world = toy.join()
total = torch.tensor([mpi.Get_rank()])
dist.all_reduce(total)
toy.answer(
    seen=",".join(map(str, mpi.allgather(rank))),
    mpi=f"{mpi.Get_rank()}/{mpi.Get_size()}",
    equal=mpi.Get_rank() == rank and mpi.Get_size() == world and mpi.allreduce(rank) == total.item(),
)
