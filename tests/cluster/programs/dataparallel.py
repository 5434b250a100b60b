# SPDX-License-Identifier: BSD-3-Clause
"""DataParallel: one process, all of the machine's GPUs, no torch.distributed."""

import os

import torch

import toy


def main():
    loss = toy.train(torch.nn.DataParallel(toy.model()))
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT")
    toy.report(
        loss=loss,
        found=",".join(name for name in names if name in os.environ) or "none",
    )


if __name__ == "__main__":
    main()
