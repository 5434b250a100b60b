# SPDX-License-Identifier: BSD-3-Clause
"""signals.py - #SBATCH --signal, and torchrun, which handles only the signals that it knows."""
import re

HANDLED = {"TERM", "INT", "HUP", "QUIT"}
NUMBERS = {"1": "HUP", "2": "INT", "3": "QUIT", "10": "USR1", "12": "USR2", "15": "TERM"}
TOLD = {"USR1", "USR2"}  # rollcall's PET_SIGNALS_TO_HANDLE adds them


def has_told(job, srun):
    """Whether rollcall tells torchrun of more signals than its default."""
    return "ddp" in srun or "ddp" in job.options or any(name == "ROLLCALL" for name, _, _ in job.exports)


def check(job, steps, report):
    """As torch.distributed.run has it: signals_to_handle is SIGTERM,SIGINT,SIGHUP,SIGQUIT, unless told otherwise."""
    found = re.match(r"^(B|R|BR|RB)?:?(?:SIG)?([A-Z0-9]+)(@\d+)?$", job.options.get("signal", "").upper())
    if not found or "B" in (found.group(1) or ""):
        return
    signal = NUMBERS.get(found.group(2), found.group(2))
    if signal in HANDLED:
        return
    if any("PET_SIGNALS_TO_HANDLE" in line for line, _ in job.lines):
        return
    for step in steps.all:
        options = step.launch.options
        if step.launch.kind != "torchrun" or step.launch.command.srun is None or "signals_to_handle" in options:
            continue
        if has_told(job, step.launch.command.srun) and signal in TOLD:
            continue
        row = next((row.line for row in job.directives if "signal" in row.options and not row.ignored), 1)
        report("D531", job.path, row, "--signal=%s ends torchrun (line %d), which handles SIGTERM, SIGINT, SIGHUP and "
               "SIGQUIT alone" % (job.options["signal"], step.launch.command.line),
               "torchrun --signals-to-handle=SIGTERM,SIGINT,SIGHUP,SIGQUIT,SIG%s, or srun --ddp torchrun"
               % signal)
        return
