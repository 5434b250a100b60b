# SPDX-License-Identifier: BSD-3-Clause
"""What the watch sees of torch, of release FAKE_TORCH: what it loads at its end, and when. 2.4 loads nothing."""

import importlib.metadata
import os

import torch.cuda
import torch.distributed.device_mesh

__version__ = os.environ.get("FAKE_TORCH", "2.13.0+cpu")

if __version__ != "2.4" and os.getenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "1":
    for point in importlib.metadata.entry_points(group="torch.backends"):
        point.load()()
