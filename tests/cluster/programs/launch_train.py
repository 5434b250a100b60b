# SPDX-License-Identifier: BSD-3-Clause
"""For python -m torch.distributed.launch: the local rank is an argument, or LOCAL_RANK under --use_env."""

import argparse
import os

import toy

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", "--local-rank", type=int, default=None)
args = parser.parse_args()
how = "argument"
if args.local_rank is None:
    args.local_rank, how = int(os.environ["LOCAL_RANK"]), "environment"
rank, world = toy.join()
toy.answer(loss=toy.train(toy.model(), rank, world), local=args.local_rank, node=os.environ["GROUP_RANK"], how=how)
