# SPDX-License-Identifier: BSD-3-Clause
"""frameworks.py - packages that take over a part of a distributed program, so that the script need not do it,
and what Lightning's Trainer is told."""
from source import UNKNOWN, literal
from words import counted

# package: its name, where `rollcall doctor` says that the script uses it
NAMES = {"lightning": "Lightning", "pytorch_lightning": "PyTorch Lightning", "lightning_fabric": "Fabric",
         "accelerate": "Accelerate", "deepspeed": "DeepSpeed", "horovod": "Horovod", "jax": "JAX",
         "composer": "Composer", "mmengine": "MMEngine", "fairseq": "fairseq", "megatron": "Megatron", "nemo": "NeMo",
         "ray": "Ray", "ignite": "Ignite", "colossalai": "ColossalAI", "transformers": "Transformers",
         "tensorflow": "TensorFlow", "mpi4py": "mpi4py"}
# write files in one rank; they also do all of the next three
FILES = set(NAMES) - {"tensorflow", "mpi4py"} | {"mmcv"}
# give each process its rank, or find it without RANK
RANKS = FILES | {"mpi4py", "idr_torch", "ezpz", "torchx", "hostlist", "hydra", "pytorchltr", "torchlaunch", "submitit",
                 "dask"}
# divide the data among the ranks
DATA = FILES | {"timm", "torchtitan", "catalyst", "datasets", "detectron2", "dgl", "ffcv", "nvidia", "streaming",
                "torch_geometric", "torchtnt", "webdataset"}
# read the local rank and choose the GPU
DEVICES = FILES | {"tensorflow", "apex", "timm", "torchtitan", "torchtune"}
# start processes on other nodes
NODES = {"horovod", "ray", "submitit", "dask", "dask_jobqueue", "fabric", "paramiko", "parsl", "subprocess"}

TRAINERS = ("lightning.pytorch.Trainer", "pytorch_lightning.Trainer", "lightning.Trainer",
            "pytorch_lightning.trainer.Trainer", "lightning.pytorch.trainer.Trainer")
FABRICS = ("lightning.Fabric", "lightning.fabric.Fabric", "lightning_fabric.Fabric")


def devices(program, source, call, gpus, arguments=None):
    """What Trainer is told of the processes of a node: (its argument or None, that in words, their number or None).
    `gpus`: those that a task sees, None where that is not known."""
    name = "devices" if "devices" in call.keywords else "gpus"  # of Lightning 1
    size = call.argument(None, name)
    if gpus and size is not None and literal(size) in ("auto", "-1", -1) and literal(
            call.keywords.get("accelerator")) in ("auto", "gpu", "cuda", UNKNOWN):
        return size, "%s are all %s" % (name, counted(gpus, "GPU")), gpus
    number = program.number(source, size, arguments)
    return size, "%s=%s" % (name, number), number


def names(program):
    """The frameworks that a program uses, as users call them."""
    found = [name for package, name in NAMES.items() if program.imports_any(package)]
    if program.imports_any("torch") and any(program.calls("torch.distributed.init_process_group")):
        found.append("torch.distributed")
    elif program.imports_any("torch") and not found:
        found.append("PyTorch")
    return found


REMOVED = {
    "gpus": 'accelerator="gpu", devices=N', "tpu_cores": 'accelerator="tpu", devices=N', "ipus": "devices=N",
    "num_processes": 'accelerator="cpu", devices=N', "distributed_backend": 'strategy="ddp"',
    "resume_from_checkpoint": "trainer.fit(model, ckpt_path=PATH)", "auto_select_gpus": 'devices="auto"',
    "auto_scale_batch_size": "Tuner(trainer).scale_batch_size(model)", "auto_lr_find": "Tuner(trainer).lr_find(model)",
    "replace_sampler_ddp": "use_distributed_sampler=True", "progress_bar_refresh_rate": "(leave it out)",
    "weights_summary": "(leave it out)", "checkpoint_callback": "enable_checkpointing=True",
    "amp_backend": "(leave it out)", "amp_level": "(leave it out)", "track_grad_norm": "(leave it out)",
    "multiple_trainloader_mode": "(leave it out)", "move_metrics_to_cpu": "(leave it out)",
}
STRATEGIES = ("ddp", "ddp2", "ddp_spawn", "dp", "ddp_cpu", "horovod")


def removed_arguments(program, report):
    for source, call in program.calls(*TRAINERS):
        gone = sorted(name for name in call.keywords if name in REMOVED)
        backend = call.keywords.get("accelerator")
        if gone:
            report("D423", source.path, call.keywords[gone[0]].lineno,
                   "Trainer(%s=...): Lightning 2 has no such argument" % gone[0],
                   REMOVED[gone[0]].replace("=N", "=%s" % (program.number(source, call.keywords[gone[0]]) or "N")))
        elif backend is not None and literal(backend) in STRATEGIES:
            report("D423", source.path, backend.lineno,
                   'Trainer(accelerator="%s"): Lightning 2 has no such accelerator' % literal(backend),
                   'strategy="%s"' % literal(backend))
