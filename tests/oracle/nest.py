# SPDX-License-Identifier: BSD-3-Clause
"""Launches inside launches: up to three deep, each one started by some task of the one outside, and what tells so.

The specification of nesting is innermost(): whose identity a task of the innermost launch must get.
"""

import itertools
import os
import re
from dataclasses import dataclass, field

from families import FAMILIES, PLATFORMS, SURROUNDINGS, draw_layout
from layouts import Launch, left_over, login_shell

# A wrapper, a shell and Python are between a launcher's process and a task.
BETWEEN = ("python3 launch.py --x", "/bin/bash -c ./wrapper.sh", "numactl -N 0 sh", "-bash", "sshd: alice [priv]", "")


@dataclass
class Level:
    family: str
    launch: Launch
    start: object = None       # the task that starts the next launch
    env: dict = field(default_factory=dict)  # of that task, as it hands it on
    stamped: bool = False      # rollcall has set that task up

    @property
    def starts(self):
        return (self.start.starts if self.start else ()) or FAMILIES[self.family].starts


@dataclass
class Nest:
    levels: list
    evidence: str              # processes, names, plugin, pid
    rolled: tuple              # which of the outer levels' tasks call rollcall
    base: dict                 # the shell in which it all began

    def __str__(self):
        return " > ".join(level.family for level in self.levels) + \
            f" told by {self.evidence}, rolled {self.rolled}, began in {self.facts}\n  {self.levels[-1].launch}"


# Not drawn, as the variables of both are one launcher's, too (a second voice that its family keeps silent about),
# where the ranks happen to be equal: Flux with PALS's names, Hydra with PALS's.
SECOND_VOICES = {("flux", "pals"), ("pals", "mpich")}

registered = []
for part in ("registry.def", "platforms.def"):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib/launcher", part), encoding="utf-8") as file:
        registered += re.findall(r"^ROLLCALL_(?:LAUNCHER|PLATFORM)\((\w+)", file.read(), re.M)
KNOWN = tuple(name for name in FAMILIES if name.rstrip("45") in registered)
PMI = {"mpich", "flux", "pals"}  # write PMI_RANK and PMI_SIZE over each other's


def draw_names(rng):
    while True:
        names = [rng.choice(KNOWN) for _ in range(rng.choice((1, 2, 2, 2, 3)))]
        if not SECOND_VOICES.intersection(itertools.combinations(names, 2)):
            return names


def draw(rng):
    names = draw_names(rng)
    gpus = rng.choice((None, None, 0, 1, 2, 4))
    levels = []
    for name in names:
        family = FAMILIES[name]
        layout = draw_layout(rng, family.shapes, gpus)
        w = family.write(rng, layout)
        kind = "slurm" if name == "slurm" else "torchrun" if name == "torchrun" else "other"
        launch = Launch(kind, layout, w.tasks, argv=["python", "train.py"], told=w.told)
        launch.facts = {"firm": w.firm, "run_id": w.run_id, "counted": w.counted, "sure": w.sure and len(names) == 1, "addresses": {host: w.addresses for host in layout.hosts}}
        levels.append(Level(name, launch))
    evidence = rng.choice(("processes", "processes", "names"))
    if names[-1] == "slurm" and rng.random() < 0.4:
        evidence = rng.choice(("plugin", "pid"))
    rolled = tuple(rng.random() < 0.4 for _ in names[:-1])
    if len(PMI.intersection(names)) > 1 and evidence == "names":
        evidence = "processes"  # nothing else parts what was written over each other
    if names.count("mpich") > 1:
        rolled = (False,) * len(rolled)  # Hydra names no launch: a stamp may look like the own one
    if names[-1].startswith("openmpi") and "openmpi4" in names[:-1]:
        levels[-1].launch.facts["firm"] = False  # mpirun takes its own parameters from OMPI_MCA_*
    if evidence == "names" and "mpich" in names and "slurm" in names:
        evidence = "processes"  # without which equal numbers are those of srun --mpi=pmi2
    if evidence == "names" and "mpich" in names[:-1]:
        rolled = (False,) * len(rolled)  # only its processes name Hydra's launch, which a stamp could know again
    if "slurm" in names[:-1] and levels[-1].launch.told and names[-1].startswith("openmpi"):
        levels[-1].launch.told = None  # mpirun takes the job's hosts, if they are as many
    nest = Nest(levels, evidence, rolled, {})
    around = rng.choice(("nothing",) * 3 + tuple(SURROUNDINGS))
    platform = rng.choice(("nothing",) * 3 + tuple(PLATFORMS))
    nest.user = left_over(rng, levels[-1].launch.layout) if rng.random() < 0.4 else {}
    nest.base = {**login_shell(rng), **SURROUNDINGS[around], **PLATFORMS[platform], **nest.user}
    nest.facts = (around, platform, nest.user)
    for level in levels[:-1]:
        level.start = rng.choice(level.launch.tasks)
        level.start.env.pop("@pmix", None)  # its server would answer a task of the inner launch as well
    nest.shells = [rng.sample(BETWEEN, rng.randint(0, 3)) for _ in names]
    return nest


def descent(nest, upto, task):
    """@ancestor entries of a task of level `upto`, its parent first."""
    lines = []
    for k in range(upto, -1, -1):
        level = nest.levels[k]
        own = (task.starts if k == upto else level.start.starts) or FAMILIES[level.family].starts
        lines += [*nest.shells[k], *own]
    return tuple("@ancestor=" + line for line in lines)


def pmix_inside(nest, k):
    """The launches further inside that write a namespace of their own over PMIX_NAMESPACE."""
    return [level for level in nest.levels[k + 1:] if "PMIX_NAMESPACE" in level.launch.tasks[0].env]


def alive(nest):
    """The launches whose variables are still there: one of the same family, or that uses the same names, hides them."""
    hides = {"openmpi5": {"openmpi4"}, "openmpi4": {"openmpi5"}}
    found = []
    for k, level in enumerate(nest.levels):
        later = [other.family for other in nest.levels[k + 1:]]
        pmix = pmix_inside(nest, k)
        newer_pmix = bool(pmix)
        # an older step's than the task's own is told from Open MPI's by its rank alone
        if pmix and pmix[-1] is not nest.levels[-1] and nest.levels[-1].family == "slurm":
            newer_pmix = pmix[-1].start.rank != level.start.rank
        if level.family in later or any(level.family in hides.get(other, ()) for other in later) or \
                (level.family in ("openmpi4", "openmpi5") and newer_pmix):
            continue
        found.append(k)
    return found


def innermost(nest):
    """The level whose identity must come out, or None: then one of those alive, as a whole, or nothing at all.

    1. Slurm knows its own task: the plugin, and a process whose id is SLURM_TASK_PID, on the node of that name.
    2. A stamp knows its own launch and those outside of it: a single launch that it does not know is inside.
    3. The processes from which the task descends: the nearest that starts tasks.
    4. The order of families, torchrun first, a resource manager's own step last.
    """
    last = len(nest.levels) - 1
    there = alive(nest)
    stamped = [k for k in range(last) if nest.levels[k].stamped]
    if nest.evidence in ("plugin", "pid", "processes") or there == [last]:
        return last
    if stamped and nest.levels[stamped[-1]].family.startswith("openmpi") and pmix_inside(nest, stamped[-1]):
        stamped = []  # by its namespace it would be known again
    if stamped and stamped[-1] in there and sum(k > stamped[-1] for k in there) == 1:
        return last
    order = {k: FAMILIES[nest.levels[k].family].order for k in there}
    return last if all(order[last] < order[k] for k in there if k != last) else None
