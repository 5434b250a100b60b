# SPDX-License-Identifier: BSD-3-Clause
"""Every pair of ranks exchanges a tensor, then all of them together: send, recv, isend, irecv, barrier,
all_reduce, broadcast, all_gather. A value that arrives at the wrong rank or not at all ends it.

    pairs.py gloo|mpi|nccl
"""

import datetime
import os
import sys

import torch
import torch.distributed as dist


def tensor(value, device):
    return torch.full((3,), float(value), device=device)


def expect(got, value, what):
    if got.tolist() != [float(value)] * 3:
        raise SystemExit(f"{what}: {got.tolist()}, expected {value}")


def main():
    backend = sys.argv[1]
    device = torch.device("cpu")
    if backend == "nccl":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
        torch.cuda.set_device(device)
    dist.init_process_group(backend, timeout=datetime.timedelta(seconds=40))
    rank, world = dist.get_rank(), dist.get_world_size()
    exchanged = 0
    for a in range(world):
        for b in range(world):
            if a == b or rank not in (a, b):
                continue
            there = tensor(0, device)
            if rank == a:
                dist.send(tensor(100 * a + b, device), dst=b)
                dist.irecv(there, src=b).wait()
            else:
                dist.recv(there, src=a)
                dist.isend(tensor(100 * b + a, device), dst=a).wait()
            peer = b if rank == a else a
            expect(there, 100 * peer + rank, f"rank {rank} from {peer}")
            exchanged += 1
    dist.barrier()
    total = tensor(rank, device)
    dist.all_reduce(total)
    expect(total, sum(range(world)), "all_reduce")
    for source in range(world):
        word = tensor(rank + 7, device)
        dist.broadcast(word, src=source)
        expect(word, source + 7, f"broadcast from {source}")
    everybody = [tensor(-1, device) for _ in range(world)]
    dist.all_gather(everybody, tensor(rank, device))
    for number, got in enumerate(everybody):
        expect(got, number, f"all_gather of {number}")
    dist.barrier()
    seen = ",".join(str(int(got[0])) for got in everybody)
    mpi = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMIX_RANK", "-"))
    line = f"ROLL rank={rank} world={world} local={os.environ['LOCAL_RANK']} node={os.environ['NODE_RANK']}"
    line += f" seen={seen} pairs={exchanged} backend={dist.get_backend()} launcher={mpi} env={os.environ['RANK']} host={os.uname().nodename}"
    os.write(1, (line + "\n").encode())
    ends_mpi = dist.get_backend() == "mpi"  # MPI_Finalize is called as Python ends
    dist.destroy_process_group()
    if not ends_mpi:
        os._exit(0)  # see toy.py: a thread of gloo's may abort while Python ends


if __name__ == "__main__":
    main()
