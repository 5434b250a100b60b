# SPDX-License-Identifier: BSD-3-Clause
"""Meets through a file that every node sees; the rank is an explicit argument."""

import os
import sys

import toy

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
toy.join(init_method="file://" + sys.argv[1], rank=rank, world_size=world)
toy.answer(loss=toy.train(toy.model(), rank, world))
