# SPDX-License-Identifier: BSD-3-Clause
"""A Lightning script as users write it: devices and num_nodes, the rest is Lightning's business."""

import argparse
import datetime
import importlib

import torch
from torch.utils.data import DataLoader, TensorDataset

import toy

parser = argparse.ArgumentParser()
parser.add_argument("--devices", type=int, default=2)
parser.add_argument("--num-nodes", type=int, default=2)
parser.add_argument("--package", default="lightning.pytorch", help="or pytorch_lightning")
args = parser.parse_args()

pl = importlib.import_module(args.package)
DDPStrategy = importlib.import_module(args.package + ".strategies").DDPStrategy


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = toy.model()

    def training_step(self, batch, _):
        x, y = batch
        return torch.nn.functional.mse_loss(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def on_train_end(self):
        trainer = self.trainer
        seen = self.all_gather(torch.tensor(trainer.global_rank)).flatten().tolist()
        toy.report(
            rank=trainer.global_rank,
            world=trainer.world_size,
            local=trainer.local_rank,
            node=trainer.node_rank,
            seen=",".join(map(str, seen)),
            environment=type(trainer.strategy.cluster_environment).__name__,
        )


def main():
    toy.come_late()
    x, y = next(toy.batches())
    trainer = pl.Trainer(
        accelerator="cpu",
        devices=args.devices,
        num_nodes=args.num_nodes,
        strategy=DDPStrategy(process_group_backend="gloo", timeout=datetime.timedelta(seconds=toy.TIMEOUT)),
        max_steps=3,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Net(), DataLoader(TensorDataset(x, y), batch_size=2))


if __name__ == "__main__":
    main()
