# SPDX-License-Identifier: BSD-3-Clause
"""Lightning in a job that may be interrupted: SIGUSR1 makes it write a checkpoint and requeue the job itself.

    requeue.py FOLDER

The first life takes STEPS steps and is then busy with a long one, in which the signal meets all ranks (between
steps some would be in Lightning's checkpoint and others in the next step's exchange). The second life takes
STEPS more.
"""

import datetime
import os
import sys
import time

import torch
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.strategies import DDPStrategy
from torch.utils.data import DataLoader, TensorDataset

import toy

STEPS = 3


class Net(LightningModule):
    def __init__(self):
        super().__init__()
        self.net = toy.model()
        self.begun = None

    def training_step(self, batch, _):
        x, y = batch
        if not os.environ.get("SLURM_RESTART_COUNT") and self.trainer.global_step >= STEPS:
            if self.trainer.is_global_zero:
                toy.report(what="busy")
            time.sleep(300)
        return torch.nn.functional.mse_loss(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)

    def on_train_batch_end(self, *_):
        step = self.trainer.global_step
        if self.begun is None:
            self.begun = step - 1
            self.line("began")
        if os.environ.get("SLURM_RESTART_COUNT") and step >= self.begun + STEPS:
            self.trainer.should_stop = True

    def on_train_end(self):
        self.line("ended")

    def line(self, what):
        trainer = self.trainer
        seen = self.all_gather(torch.tensor(trainer.global_rank)).flatten().tolist()
        toy.report(
            what=what,
            rank=trainer.global_rank,
            world=trainer.world_size,
            local=trainer.local_rank,
            node=trainer.node_rank,
            seen=",".join(map(str, seen)),
            step=trainer.global_step,
            begun=self.begun,
            restarts=os.environ.get("SLURM_RESTART_COUNT", 0),
            environment=type(trainer.strategy.cluster_environment).__name__,
            port=os.environ["MASTER_PORT"],
        )


def main():
    x, y = next(toy.batches())
    trainer = Trainer(
        accelerator="cpu",
        devices=2,
        num_nodes=2,
        strategy=DDPStrategy(process_group_backend="gloo", timeout=datetime.timedelta(seconds=toy.TIMEOUT)),
        default_root_dir=sys.argv[1],
        max_steps=-1,
        min_steps=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Net(), DataLoader(TensorDataset(x, y), batch_size=2))


if __name__ == "__main__":
    main()
