# SPDX-License-Identifier: BSD-3-Clause
"""A Lightning script as users write it. It knows nothing of rollcall."""

import datetime
import os
import socket
import sys

import lightning.pytorch as pl
import torch
from lightning.pytorch.strategies import DDPStrategy
from torch.utils.data import DataLoader, TensorDataset


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, _):
        x, y = batch
        return torch.nn.functional.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def on_train_end(self):
        who = self.trainer
        line = f"rank {who.global_rank} of {who.world_size} on {socket.gethostname()}: "
        line += f"node rank {who.node_rank}, local rank {who.local_rank}\n"
        os.write(1, line.encode())


def main():
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    x = torch.randn(64, 4)
    trainer = pl.Trainer(
        accelerator="cpu",
        devices=2,
        num_nodes=nodes,
        strategy=DDPStrategy(process_group_backend="gloo", timeout=datetime.timedelta(seconds=60)),
        max_steps=4,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Net(), DataLoader(TensorDataset(x, x.sum(dim=1, keepdim=True)), batch_size=4))
    # torch 2.13 may abort while Python ends, if one of gloo's threads still drops a tensor (pytorch issue 190489)
    os._exit(0)


if __name__ == "__main__":
    main()
