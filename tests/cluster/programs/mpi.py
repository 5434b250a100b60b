#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A real MPI program without mpi4py: MPI_Init, a sum over all ranks, MPI_Finalize, by ctypes.

Prints one line: MPI rank=R size=N sum=N env=RANK. The sum is 1 of each rank. For Open MPI (4 to 6).
"""

import ctypes
import os

mpi = ctypes.CDLL("libmpi.so.40", ctypes.RTLD_GLOBAL)


def address(name):
    return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, name)))


def check(status, what):
    if status != 0:
        raise SystemExit(f"{what}: {status}")


world = address("ompi_mpi_comm_world")
rank, size = ctypes.c_int(-1), ctypes.c_int(-1)
one, total = ctypes.c_int(1), ctypes.c_int(0)
check(mpi.MPI_Init(None, None), "MPI_Init")
check(mpi.MPI_Comm_rank(world, ctypes.byref(rank)), "MPI_Comm_rank")
check(mpi.MPI_Comm_size(world, ctypes.byref(size)), "MPI_Comm_size")
check(
    mpi.MPI_Allreduce(ctypes.byref(one), ctypes.byref(total), 1, address("ompi_mpi_int"), address("ompi_mpi_op_sum"), world),
    "MPI_Allreduce",
)
line = f"MPI rank={rank.value} size={size.value} sum={total.value} env={os.environ.get('RANK')}\n"
check(mpi.MPI_Finalize(), "MPI_Finalize")
os.write(1, line.encode())
