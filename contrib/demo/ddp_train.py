# SPDX-License-Identifier: BSD-3-Clause
"""A plain DistributedDataParallel script: env://, as in PyTorch's tutorials. It knows nothing of rollcall."""

import datetime
import os
import socket

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
    rank, world = dist.get_rank(), dist.get_world_size()
    model = DistributedDataParallel(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        x = torch.randn(8, 4)
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), x.sum(dim=1, keepdim=True)).backward()
        optimizer.step()
    local, node = os.environ["LOCAL_RANK"], os.environ["NODE_RANK"]
    line = f"rank {rank} of {world} on {socket.gethostname()}: node rank {node}, local rank {local}\n"
    os.write(1, line.encode())
    dist.destroy_process_group()
    # torch 2.13 may abort while Python ends, if one of gloo's threads still drops a tensor (pytorch issue 190489)
    os._exit(0)


if __name__ == "__main__":
    main()
