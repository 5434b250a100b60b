# SPDX-License-Identifier: BSD-3-Clause
"""For torchrun: LOCAL_RANK must be there, torchrun's workers know their node by GROUP_RANK."""

import datetime
import os

import torch.distributed as dist

import toy


def main():
    toy.come_late()
    local_rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=toy.TIMEOUT))
    rank, world = dist.get_rank(), dist.get_world_size()
    seen = toy.everyone(rank, world)
    loss = toy.train(toy.model(), rank, world)
    toy.report(
        rank=rank,
        world=world,
        local=local_rank,
        node=os.environ["GROUP_RANK"],
        seen=seen,
        loss=loss,
        elastic=dist.is_torchelastic_launched(),
        master=os.environ["MASTER_ADDR"],
    )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
