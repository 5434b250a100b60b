# SPDX-License-Identifier: BSD-3-Clause
"""The doctor's reader of scripts and jobs: no script, job or command line makes it fail, or takes seconds."""
import contextlib
import glob
import importlib
import io
import os
import re
import resource
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS = 3  # of processor time, for one script

WORDS = ["0", "1", "-1", "2", "4096", "None", "True", "rank", "world_size", "device", "LOCAL_RANK", "RANK", "f'{x}'",
         "os.environ", "MASTER_ADDR", "MASTER_PORT", "int(os.environ['RANK'])", "torch.cuda.device_count()", "*args",
         "str(", ")", "(", "[", "]", ":", "=", "lambda x: x", "\\", "'", '"', "\t", "\x00", "é", "'''", "#", "$x",
         "${X:-1}", "$(hostname)", "`hostname`", "--nodes=2", "--ntasks-per-node=4", "-N2", "-n8", "--ddp", "--gpus=4",
         "--ddp=launcher", "--mpi=pmix", "--gpus-per-task=1", "--cpus-per-task=x", "torchrun", "--nnodes=$N", "mpirun",
         "srun", "sbatch", "salloc", "accelerate launch", "python", "-m", "train.py", "&", "|", "<<EOF", "&&", ";"]
LINES = ["import torch", "import os, torch.distributed as dist", "from lightning import Trainer", "import deepspeed",
         "dist.init_process_group('nccl', rank=rank, world_size=world)", "torch.cuda.set_device(rank % 8)",
         "os.environ['MASTER_ADDR'] = 'localhost'", "os.environ['MASTER_PORT'] = str(29500)",
         "os.environ.setdefault('RANK', os.environ['SLURM_PROCID'])", "mp.spawn(main, nprocs=4, args=(1,))",
         "trainer = Trainer(devices=4, num_nodes=2, strategy='ddp')", "def main(rank, world_size):", "    pass",
         "class A(dict):", "    x = DistributedDataParallel(model, device_ids=[rank])", "if __name__ == '__main__':",
         "#SBATCH --nodes=2 --ntasks-per-node=4", "#SBATCH -N2", "#SBATCH --gpus-per-node=4", "srun --ddp python t.py",
         "export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)", "export OMP_NUM_THREADS=1",
         "torchrun --nnodes=2 --node_rank=$SLURM_NODEID --nproc_per_node=4 train.py", "for i in 1 2; do", "done",
         "mpirun -np 8 ./a.out", "srun bash -c 'python train.py --rank $SLURM_PROCID'", "cat <<END", "END", "wait",
         "bash <<END", "sbatch <<END", "srun f", "f() { eval \"srun bash -c f\"; }", "cat > t.sh <<-END", "srun bash t.sh"]


def programs():
    for pattern in ("tests/cluster/programs/*.py", "tests/frameworks/programs/*.py", "contrib/demo/*"):
        for path in sorted(glob.glob(os.path.join(TOP, pattern))):
            if os.path.isfile(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    yield file.read().splitlines()


PROGRAMS = list(programs()) + [LINES]
MESSAGES = re.compile(r"finding\tD\d{3}\t[^\t]*\t\d+\t[^\t]*\t[^\t]*|fact\t[^\t]+\t.*")


@st.composite
def texts(draw):
    """A program that somebody wrote, with a few lines of others and a few words that are out of place."""
    lines = list(draw(st.sampled_from(PROGRAMS)))
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(lines)))
        kind = draw(st.integers(0, 3))
        if kind == 0:
            lines.insert(at, draw(st.sampled_from(["", "    "])) + draw(st.sampled_from(LINES)))
        elif kind == 1 and at < len(lines):
            del lines[at]
        elif at < len(lines) and lines[at]:
            begin = draw(st.integers(0, len(lines[at])))
            end = draw(st.integers(begin, min(len(lines[at]), begin + 8)))
            lines[at] = lines[at][:begin] + draw(st.sampled_from(WORDS)) + lines[at][end:]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def doctor():
    """main.py, which reads its arguments when it is imported, and limits its process."""
    sys.path.insert(0, os.path.join(TOP, "cli", "doctor", "python"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resource, "setrlimit", lambda *_: None)
        patch.setattr(sys, "setrecursionlimit", lambda *_: None)
        patch.setattr("gc.disable", lambda: None)
        patch.setattr(sys, "argv", ["main.py", "22.05", "plugin", "-", "script", "-", "job", "-", "step", "task"])
        module = importlib.import_module("main")
        yield module


def answer(doctor, *arguments):
    """What it prints, each line of the form that cli/doctor/script.c reads."""
    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape")
    start = time.process_time()
    with contextlib.redirect_stdout(output):
        doctor.main(["22.05", "plugin", "-", "script", *arguments])
    assert time.process_time() - start < SECONDS
    output.seek(0)
    lines = output.read().split("\n")[:-1]
    assert not [line for line in lines if not MESSAGES.fullmatch(line)]
    return lines


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return str(path)


@given(text=texts())
def test_any_program(doctor, tmp_path_factory, text):
    answer(doctor, write(tmp_path_factory.getbasetemp(), "train.py", text), "job", "-")


@given(text=texts(), program=texts())
def test_any_job(doctor, tmp_path_factory, text, program):
    folder = tmp_path_factory.getbasetemp()
    job = write(folder, "job.sh", "#!/bin/bash\n" + text)
    answer(doctor, write(folder, "train.py", program), "job", job)
    answer(doctor, job, "job", "-")


@given(words=st.lists(st.sampled_from(WORDS + ["srun", "train.py", "python"]), min_size=1, max_size=12))
def test_any_line(doctor, words):
    answer(doctor, "-", "job", "-", "step", "-", *words)
