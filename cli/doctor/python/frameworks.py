# SPDX-License-Identifier: BSD-3-Clause
"""frameworks.py - packages that take over a part of a distributed program, so that the script need not do it."""

RANKS = "ranks"      # gives each process its rank, or finds it without RANK
DATA = "data"        # divides the data among the ranks
FILES = "files"      # writes files in one rank
DEVICES = "devices"  # reads the local rank and chooses the GPU
NODES = "nodes"      # starts processes on other nodes
TRAINING = (RANKS, DATA, FILES, DEVICES)

# package: (its name, if `rollcall doctor` says that the script uses it, and what it takes over)
FRAMEWORKS = {
    "lightning": ("Lightning", TRAINING), "pytorch_lightning": ("PyTorch Lightning", TRAINING),
    "lightning_fabric": ("Fabric", TRAINING), "accelerate": ("Accelerate", TRAINING),
    "deepspeed": ("DeepSpeed", TRAINING), "horovod": ("Horovod", TRAINING + (NODES,)), "jax": ("JAX", TRAINING),
    "composer": ("Composer", TRAINING), "mmengine": ("MMEngine", TRAINING), "mmcv": ("", TRAINING),
    "fairseq": ("fairseq", TRAINING), "megatron": ("Megatron", TRAINING), "nemo": ("NeMo", TRAINING),
    "ray": ("Ray", TRAINING + (NODES,)), "ignite": ("Ignite", TRAINING), "colossalai": ("ColossalAI", TRAINING),
    "transformers": ("Transformers", TRAINING), "tensorflow": ("TensorFlow", (DEVICES,)),
    "mpi4py": ("mpi4py", (RANKS,)),
    "apex": ("", (DEVICES,)), "timm": ("", (DATA, DEVICES)), "torchtitan": ("", (DATA, DEVICES)),
    "torchtune": ("", (DEVICES,)),
    "idr_torch": ("", (RANKS,)), "ezpz": ("", (RANKS,)), "torchx": ("", (RANKS,)), "hostlist": ("", (RANKS,)),
    "hydra": ("", (RANKS,)), "pytorchltr": ("", (RANKS,)), "torchlaunch": ("", (RANKS,)),
    "submitit": ("", (RANKS, NODES)), "dask": ("", (RANKS, NODES)),
    "catalyst": ("", (DATA,)), "datasets": ("", (DATA,)), "detectron2": ("", (DATA,)), "dgl": ("", (DATA,)),
    "ffcv": ("", (DATA,)), "nvidia": ("", (DATA,)), "streaming": ("", (DATA,)), "torch_geometric": ("", (DATA,)),
    "torchtnt": ("", (DATA,)), "webdataset": ("", (DATA,)),
    "dask_jobqueue": ("", (NODES,)), "fabric": ("", (NODES,)), "paramiko": ("", (NODES,)), "parsl": ("", (NODES,)),
    "subprocess": ("", (NODES,)),
}

TRAINERS = ("lightning.pytorch.Trainer", "pytorch_lightning.Trainer", "lightning.Trainer",
            "pytorch_lightning.trainer.Trainer", "lightning.pytorch.trainer.Trainer")
FABRICS = ("lightning.Fabric", "lightning.fabric.Fabric", "lightning_fabric.Fabric")


def takes_over(program, part):
    """Whether a program imports a package that takes over this part."""
    return program.imports_any(*[package for package, (_, parts) in FRAMEWORKS.items() if part in parts])


def names(program):
    """The frameworks that a program uses, as users call them."""
    found = [name for package, (name, _) in FRAMEWORKS.items() if name and program.imports_any(package)]
    if program.imports_any("torch") and any(program.calls("torch.distributed.init_process_group")):
        found.append("torch.distributed")
    elif program.imports_any("torch") and not found:
        found.append("PyTorch")
    return found
