# SPDX-License-Identifier: BSD-3-Clause
"""sampler.py - data that each rank reads in full, because nothing divides them among the ranks."""
import ast

from ranks import INIT
from source import constant

DDP = ("torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.distributed.DistributedDataParallel",
       "torch.distributed.fsdp.FullyShardedDataParallel", "torch.distributed.fsdp.fully_shard")
LOADER = ("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader")
# Parts of names in a program that divides its data in a way of its own, or that has another library do it.
DIVIDES = ("sampler", "shard", "iterabledataset", "split", "webdataset", "wds", "ffcv", "dali", "streaming", "subset",
           "partition", "get_worker_info", "scatter")
LIBRARIES = ("lightning", "pytorch_lightning", "accelerate", "transformers", "deepspeed", "horovod", "composer",
             "ignite", "mmengine", "mmcv", "colossalai", "fairseq", "webdataset", "ffcv", "nvidia", "streaming",
             "timm", "catalyst", "torchtnt", "datasets", "dgl", "torch_geometric", "ray", "megatron", "nemo", "jax",
             "torchtitan", "detectron2")


def ranks_in(node):
    """Whether an expression speaks of ranks, or of how many there are."""
    for part in ast.walk(node):
        name = getattr(part, "id", None) or getattr(part, "attr", None) or constant(part)
        if isinstance(name, str) and any(word in name.lower() for word in ("rank", "world", "replica")):
            return True
    return False


def is_divided(program):
    names = {word.lower() for source in program.sources for word in source.words} | {
        str(entry.item).lower() for source in program.sources for entry in source.imports}
    return program.imports_any(*LIBRARIES) or program.is_test() or any(
        part in name for part in DIVIDES for name in names)


def check(program, report):
    if not any(program.calls(*INIT)) or not any(program.calls(*DDP)) or is_divided(program):
        return
    for source, call in program.calls(*LOADER):
        data = call.argument(0, "dataset")
        shuffles = call.argument(None, "shuffle")
        if data is None or call.open or shuffles is None or constant(shuffles) is not True:
            continue
        if not any(ranks_in(value) for value in program.values(source, data)):
            report("D424", source.path, call.line, "each rank reads all of the data: no sampler divides them",
                   "DataLoader(dataset, sampler=DistributedSampler(dataset), ...)")
            return
