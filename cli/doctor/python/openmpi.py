# SPDX-License-Identifier: BSD-3-Clause
"""openmpi.py - an MPI program in several tasks: what srun offers it, and which Open MPI the job loads."""
import os
import re

MODULE = re.compile(r"\b(?:module\s+(?:load|add|swap|switch)|ml|spack\s+load)\b.*?\bopenmpi[/@]v?(\d[\d.]*)", re.I)
# the job changes PATH, or runs with another machine's files
ELSEWHERE = re.compile(r"^\s*(?:module|ml|spack|conda|mamba|micromamba|source|\.)\s|\bPATH=")


def loaded(job):
    """The version that the job's own lines load; "" where it is this machine's, None where it cannot be known."""
    versions = [match.group(1) for text, _ in job.lines for match in [MODULE.search(text)] if match]
    if versions:
        return versions[-1]
    return None if any(ELSEWHERE.search(text) for text, _ in job.lines) else ""


def asked(layout, launch, job):
    """The type of --mpi: the line's, or a variable's; "" where it is Slurm's default, None where it cannot be known."""
    kind = layout.options.get("mpi")
    if kind is None:
        kind = launch.command.variables.get("SLURM_MPI_TYPE", job.variables.get("SLURM_MPI_TYPE"))
        kind = os.environ.get("SLURM_MPI_TYPE", "") if kind is None else kind.strip("\"'")
    return None if "$" in kind or kind == "list" else kind


def find(program, layout, launch, job):
    """(type, version) where a version of Open MPI and a type of --mpi may not fit; else None."""
    if launch.kind != "python" or launch.command.srun is None or not program.imports_any("mpi4py") or \
            any(name.startswith("container") for name in layout.options):
        return None
    tasks = layout.ntasks or max(layout.nodes or 1, layout.tasks_per_node or 1)
    kind, version = asked(layout, launch, job), loaded(job)
    if tasks < 2 or kind is None or version is None or kind.startswith("pmix"):
        return None
    return kind, version
