# SPDX-License-Identifier: BSD-3-Clause
"""For torchrun: LOCAL_RANK must be there, torchrun's workers know their node by GROUP_RANK."""

import os

import torch.distributed as dist

import toy

toy.come_late()
local_rank = int(os.environ["LOCAL_RANK"])
rank, world = toy.join()
toy.answer(
    loss=toy.train(toy.model(), rank, world),
    local=local_rank,
    node=os.environ["GROUP_RANK"],
    elastic=dist.is_torchelastic_launched(),
    master=os.environ["MASTER_ADDR"],
)
