# SPDX-License-Identifier: BSD-3-Clause
"""Hugging Face's Trainer on a tiny model made from its configuration: nothing is downloaded."""

import os
import sys

import torch
import torch.distributed as dist
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

import toy


class Sentences(torch.utils.data.Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, i):
        tokens = (torch.arange(8) + i) % 32
        return {"input_ids": tokens, "labels": tokens}


def main():
    torch.manual_seed(1)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=32, n_positions=8, n_embd=8, n_layer=1, n_head=2))
    args = TrainingArguments(
        output_dir=sys.argv[1],
        max_steps=2,
        per_device_train_batch_size=2,
        use_cpu=True,
        ddp_backend="gloo",
        ddp_timeout=toy.TIMEOUT,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
    )
    trainer = Trainer(model=model, args=args, train_dataset=Sentences())
    trainer.train()
    rank, world = args.process_index, args.world_size
    toy.report(
        rank=rank,
        world=world,
        local=args.local_process_index,
        node=os.environ.get("GROUP_RANK", "-"),
        seen=toy.everyone(rank, world) if dist.is_initialized() else rank,
        steps=trainer.state.global_step,
    )
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
