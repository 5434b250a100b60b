# SPDX-License-Identifier: BSD-3-Clause
"""trainer.py - arguments of Lightning's Trainer that its releases since 2.0 do not have."""
from source import literal

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
NAMES = ("lightning.pytorch.Trainer", "pytorch_lightning.Trainer", "lightning.Trainer",
         "pytorch_lightning.trainer.Trainer", "lightning.pytorch.trainer.Trainer")


def check(program, report):
    for source, call in program.calls(*NAMES):
        gone = sorted(name for name in call.keywords if name in REMOVED)
        backend = call.keywords.get("accelerator")
        if gone:
            report("D423", source.path, call.keywords[gone[0]].lineno,
                   "Trainer(%s=...): Lightning 2 has no such argument" % gone[0], REMOVED[gone[0]])
        elif backend is not None and literal(backend) in STRATEGIES:
            report("D423", source.path, backend.lineno,
                   'Trainer(accelerator="%s"): Lightning 2 has no such accelerator' % literal(backend),
                   'strategy="%s"' % literal(backend))
