# SPDX-License-Identifier: BSD-3-Clause
"""The same training in Lightning Fabric."""

import argparse
import datetime

import torch
from lightning.fabric import Fabric
from lightning.fabric.strategies import DDPStrategy

import toy


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--num-nodes", type=int, default=2)
    args = parser.parse_args()
    fabric = Fabric(
        accelerator="cpu",
        devices=args.devices,
        num_nodes=args.num_nodes,
        strategy=DDPStrategy(process_group_backend="gloo", timeout=datetime.timedelta(seconds=toy.TIMEOUT)),
    )
    fabric.launch()
    net = toy.model()
    net, optimizer = fabric.setup(net, torch.optim.SGD(net.parameters(), lr=0.1))
    for x, y in toy.batches():
        optimizer.zero_grad()
        part = slice(fabric.global_rank, None, fabric.world_size)
        fabric.backward(torch.nn.functional.mse_loss(net(x[part]), y[part]))
        optimizer.step()
    seen = fabric.all_gather(torch.tensor(fabric.global_rank)).flatten().tolist()
    toy.report(
        rank=fabric.global_rank,
        world=fabric.world_size,
        local=fabric.local_rank,
        node=fabric.node_rank,
        seen=",".join(map(str, seen)),
    )


if __name__ == "__main__":
    main()
