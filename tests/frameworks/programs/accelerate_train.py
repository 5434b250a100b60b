# SPDX-License-Identifier: BSD-3-Clause
"""Accelerate as its tutorial has it: prepare, backward, gather. On the CPU unless told otherwise."""

import os

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

import toy


def main():
    accelerator = Accelerator(cpu=True)
    x, y = next(toy.batches())
    net, loader = toy.model(), DataLoader(TensorDataset(x, y), batch_size=2)
    net, optimizer, loader = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1), loader)
    for inputs, targets in loader:
        optimizer.zero_grad()
        accelerator.backward(torch.nn.functional.mse_loss(net(inputs), targets))
        optimizer.step()
    weight = next(net.parameters()).detach().sum().reshape(1)
    weights = accelerator.gather(weight)
    seen = accelerator.gather(torch.tensor([accelerator.process_index]))
    toy.report(
        rank=accelerator.process_index,
        world=accelerator.num_processes,
        local=accelerator.local_process_index,
        node=os.environ.get("GROUP_RANK", "-"),
        seen=",".join(map(str, seen.tolist())),
        same=bool((weights == weights[0]).all()),
    )
    accelerator.end_training()


if __name__ == "__main__":
    main()
