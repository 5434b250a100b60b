# SPDX-License-Identifier: BSD-3-Clause
"""For torchrun: prints one line, the hardware threads that this worker may run on, and those of data loaders that it
starts by fork and by spawn. With the argument lightning, Lightning Fabric starts the workers."""

import os
import sys

from torch.utils.data import DataLoader, Dataset


def mask():
    return ",".join(map(str, sorted(os.sched_getaffinity(0))))


class Masks(Dataset):
    def __len__(self):
        return 1

    def __getitem__(self, index):
        return mask()


def loader(way):
    return next(iter(DataLoader(Masks(), num_workers=1, batch_size=None, multiprocessing_context=way)))


def main():
    if sys.argv[1:] == ["lightning"]:
        from lightning.fabric import Fabric

        Fabric(accelerator="cpu", devices=2, num_nodes=1, strategy="ddp").launch()
    line = (f"CORES local={os.environ['LOCAL_RANK']} pinned={os.environ.get('ROLLCALL_PINNED', '-')} cpus={mask()} "
            f"fork={loader('fork')} spawn={loader('spawn')} pins={os.environ.get('ROLLCALL_PINS', '-').replace(' ', '/')}\n")
    os.write(1, line.encode())


if __name__ == "__main__":
    main()
