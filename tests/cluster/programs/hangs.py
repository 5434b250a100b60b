# SPDX-License-Identifier: BSD-3-Clause
"""RANK 1 fails on the way to a collective, and never returns from destroy_process_group, as where NCCL waits there for
the ranks that wait for it. Lines of those that wait: "waits". With the word "lightning" Lightning trains."""
import sys
import time

import torch
import torch.distributed as dist


def step():
    if dist.get_rank() == 1:
        dist.distributed_c10d._unregister_all_process_groups = lambda: time.sleep(1000)
        raise RuntimeError("loss is NaN")
    print("waits", flush=True)
    dist.all_reduce(torch.zeros(1))


def train():
    dist.init_process_group("gloo")
    step()


def fit():
    from lightning.pytorch import LightningModule, Trainer

    class Net(LightningModule):
        def training_step(self, batch, _):
            step()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters())

    net = Net()
    net.net = torch.nn.Linear(1, 1)
    Trainer(accelerator="cpu", devices=1, num_nodes=2, strategy="ddp", logger=False, enable_checkpointing=False,
            enable_progress_bar=False).fit(net, [torch.zeros(1)])


try:
    fit() if "lightning" in sys.argv else train()
finally:
    dist.destroy_process_group()
