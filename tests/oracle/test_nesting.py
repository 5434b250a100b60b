# SPDX-License-Identifier: BSD-3-Clause
"""One launcher inside another: every ordered pair of recorded environments, the inner one's over the outer's.

srun, mpirun and torchrun hand on the environment that they find and write their own variables over it. So a task of
the inner launch has {**outer, **inner}, and descends from the inner launcher's processes before the outer's. The
inner one's identity must come out unchanged, and what the outer one says against it must be named as not believed.
"""

import functools
import itertools
import os
import re
import sys

import pytest

from stream import apply, ids, request

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "vectors"))
import expectation
import recordings

RANK, LOCAL_RANK, NODE_RANK, SIZE, LOCAL_SIZE, NODES = (
    "rank", "local_rank", "node_rank", "world_size", "local_world_size", "nnodes")

# What each launcher says of a task, from its own documents (facts of the design, section 1.1).
SAYS = {
    "torchrun": {"RANK": RANK, "LOCAL_RANK": LOCAL_RANK, "WORLD_SIZE": SIZE, "LOCAL_WORLD_SIZE": LOCAL_SIZE,
                 "GROUP_RANK": NODE_RANK, "GROUP_WORLD_SIZE": NODES},
    "openmpi": {"OMPI_COMM_WORLD_RANK": RANK, "OMPI_COMM_WORLD_SIZE": SIZE, "OMPI_COMM_WORLD_LOCAL_RANK": LOCAL_RANK,
                "OMPI_COMM_WORLD_LOCAL_SIZE": LOCAL_SIZE},
    "slurm": {"SLURM_PROCID": RANK, "SLURM_LOCALID": LOCAL_RANK, "SLURM_NODEID": NODE_RANK,
              "SLURM_STEP_NUM_TASKS": SIZE, "SLURM_NTASKS": SIZE, "SLURM_STEP_NUM_NODES": NODES,
              "SLURM_NNODES": NODES},
    "mpich": {"PMI_RANK": RANK, "PMI_SIZE": SIZE, "MPI_LOCALRANKID": LOCAL_RANK, "MPI_LOCALNRANKS": LOCAL_SIZE},
    "flux": {"FLUX_TASK_RANK": RANK, "FLUX_JOB_SIZE": SIZE, "FLUX_TASK_LOCAL_ID": LOCAL_RANK,
             "FLUX_JOB_NNODES": NODES},
    "pals": {"PALS_RANKID": RANK, "PALS_LOCAL_RANKID": LOCAL_RANK, "PALS_NODEID": NODE_RANK},
}
# The process that each launcher's tasks are children of.
STARTS = {
    "torchrun": "/usr/bin/python3 /usr/local/bin/torchrun --nproc-per-node 2 train.py",
    "openmpi": "orted -mca ess env", "pmix": "prted --prtemca ess env", "slurm": "slurmstepd: [42.0]",
    "mpich": "/usr/bin/hydra_pmi_proxy --control-port n1:40001 --proxy-id 0",
    "flux": "flux-shell 120259084288", "pals": "palsd: apid 1",
    "lsf": "blaunch", "pbs": "pbs_mom",
}
# What the task's user chooses and not the launcher: an outer launch's choice reaches the inner one, and may change
# the mode that it gets; srun takes its own default of -m from SLURM_DISTRIBUTION.
CHOICES = ("HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE", "SLURM_DISTRIBUTION", "ROLLCALL", "PET_NPROC_PER_NODE", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
           "ZE_AFFINITY_MASK", "SLURM_GPUS_ON_NODE", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "SUBMITIT_EXECUTOR")


class Recorded:
    """A task of some launcher, as it was recorded and reviewed."""

    def __init__(self, recording):
        self.name = recording.name
        answer = expectation.answer_of(recording)
        self.launcher = answer["launcher"]
        self.identity = answer["identity"]
        self.good = not any(m["level"] == "error" for m in answer["messages"])
        self.mode = answer["mode"]
        self.words = recording.options
        self.env = recording.env
        self.handed_on = {key: value for key, value in recording.env.items() if key not in CHOICES}
        self.ancestors = [line for line in recording.node if line.startswith("@ancestor=")]
        self.node = [line for line in recording.node if not line.startswith("@ancestor=")]

    def descent(self):
        """The processes between it and its launcher's daemon, that one included; a wrapper and a shell are between."""
        if self.ancestors:
            return self.ancestors
        if self.launcher not in STARTS:
            return []
        return ["@ancestor=python launch.py", "@ancestor=/bin/bash -c ./wrapper.sh", "@ancestor=" + STARTS[self.launcher]]


@functools.cache
def recorded():
    # those that have a stale launch in them already are no launch of one launcher, and one with its own task's stamp
    # was set up where nothing was further outside; AMD's spur replaces Slurm at a site, and sets a part of its names
    return [r for r in map(Recorded, recordings.recordings()) if r.launcher and not r.words and "stale" not in r.name
            and "SPUR_NODEID" not in r.env and not r.env.get("ROLLCALL_SCOPE", "").startswith(r.launcher + ":")]


def of(launcher):
    return [r for r in recorded() if r.launcher == launcher]


def ask(env, lines, pid=0):
    """As `rollcall explain --from FILE` asks."""
    return request(env, ["python", "train.py"], None, pid, "xi", lines)


# These start no processes: their names are around a whole container or shell, and nothing that rollcall could be
# called in is further inside of them than in a launcher that does start processes.
PLATFORMS = ("runpod", "kubeflow", "lws", "vertex", "sagemaker", "azureml", "env")
LAUNCHERS = sorted({r.launcher for r in recorded()})
STARTING = [launcher for launcher in LAUNCHERS if launcher not in PLATFORMS]
PAIRS = list(itertools.product(LAUNCHERS, STARTING))


def contradicted(outer, inner):
    """The variables that only the outer launch set, and that say something else than the inner one's identity."""
    for name, field in {**SAYS.get(outer.launcher, {}), "NODE_RANK": NODE_RANK}.items():
        right = inner.identity[field]
        if name in outer.handed_on and name not in inner.env and right is not None and outer.handed_on[name] != str(right):
            yield name


def has_foreign_local_rank(task):
    """MPI_LOCALRANKID was exported by hand, for oneCCL: inside of another launch it looks like half of MPICH's task."""
    return task.launcher == "slurm" and "MPI_LOCALRANKID" in task.env


def identities(cells, answers):
    wrong = [(o.name, i.name, a["launcher"], a["identity"], a["messages"]) for (o, i), a in zip(cells, answers)
             if a["launcher"] != i.launcher or a["identity"] != i.identity]
    assert not wrong, f"{len(wrong)} of {len(cells)} cells, the first: {wrong[0]}"


# A recording that was shortened by hand lacks what hides the outer launch's: these are in every task.
ALWAYS = {"slurm": "SLURMD_NODENAME", "openmpi": "PMIX_NAMESPACE", "pals": "PALS_LOCAL_SIZE"}
STEP = ("SLURM_JOB_ID", "SLURM_STEP_ID")


def apart(o, i):
    """Whether the variables can be told apart, which some of two launchers of one kin cannot."""
    if any(name.startswith(("OMPI_MCA_orte", "OMPI_MCA_ess")) for name in o.env) and "@" in i.env.get("PMIX_NAMESPACE", ""):
        return False  # Open MPI 5 in a task of Open MPI 4
    if i.launcher == "pmix" and o.env.get("OMPI_COMM_WORLD_RANK") == i.env["PMIX_RANK"]:
        return False  # plain prterun in a task of Open MPI, whose PMIX_* look the same where the ranks do
    return True


def takes_mapping(o, i):
    """An inner mpirun takes the outer one's mapping from its parameters: no recording without them can be inside."""
    return any(name.startswith("OMPI_MCA_rmaps") and name not in i.env for name in o.env if i.launcher == "openmpi")


# A task's own hide those of an outer launch in the same cluster; a recording that was shortened by hand lacks them.
SET_BY_SLURMSTEPD = ("SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR_PATTERN", "SLURM_JOB_SLUID")
# Their values name the job or the step: an outer launch of the same number is that one.
NAME_THE_STEP = ("ROLLCALL_ORDER", "SLURM_HET_SIZE")


def one_cluster(o, i):
    """Whether a task of Slurm can be inside of another one: recordings are of several series, with the same job ids."""
    return not any(name in o.env and name not in i.env for name in SET_BY_SLURMSTEPD) and not (
        any(name in o.env for name in NAME_THE_STEP) and all(o.env.get(name) == i.env[name] for name in STEP))


@functools.cache
def cells_of(outer, inner):
    """All pairs of recordings, but for those that are of one and the same Slurm step."""
    return [(o, i) for o in of(outer) for i in of(inner) if i.good and i.mode in ("worker", "torchrun")
            and apart(o, i) and not takes_mapping(o, i)
            and (inner not in ALWAYS or ALWAYS[inner] in i.env)
            and ((outer, inner) != ("slurm", "slurm") or one_cluster(o, i))
            and (inner != "slurm" or outer == "slurm" or any(o.env.get(name) != i.env[name] for name in STEP))]


def is_numbered_by_script(o, i):
    """A step of one task in a job of several nodes, with numbers of all steps and a master: it is left as it is."""
    env = {**o.handed_on, **i.env}
    rank, size = env.get("RANK") or env.get("NODE_RANK"), env.get("WORLD_SIZE") or env.get("NNODES")
    several = i.launcher == "slurm" and i.identity[SIZE] == 1 and re.search(r"[\[,]", env["SLURM_JOB_NODELIST"])
    return bool(several and rank and size and int(rank) < int(size) > 1 and env.get("MASTER_ADDR") and env.get("MASTER_PORT")
                and "ROLLCALL_SCOPE" not in env)


@pytest.mark.parametrize("outer, inner", PAIRS)
def test_inner_wins(core, outer, inner):
    cells = cells_of(outer, inner)
    answers = core.ask(ask({**o.handed_on, **i.env}, i.node + i.descent() + o.descent()) for o, i in cells)
    identities(cells, answers)
    for (o, i), answer in zip(cells, answers):
        after = apply({**o.handed_on, **i.env}, answer)
        if is_numbered_by_script(o, i):
            assert answer["mode"] == "none" and after == {**o.handed_on, **i.env}
            continue
        missing = set(contradicted(o, i)) - {name for name, *_ in answer["rejected"]}
        if i.mode == "worker":
            assert after["RANK"] == str(i.identity[RANK]) and after["NODE_RANK"] == str(i.identity[NODE_RANK])
            # the number of the task's GPU, which is 0 where it sees that one alone, is no stale local rank
            if after["LOCAL_RANK"] == o.handed_on.get("LOCAL_RANK"):
                missing.discard("LOCAL_RANK")
        else:  # torchrun's own, which nobody may change
            missing.discard("NODE_RANK")
            assert after == {**o.handed_on, **i.env}
        assert not missing, f"{o.name} > {i.name}: not said to be stale: {missing}"


@pytest.mark.parametrize("outer, inner", PAIRS)
def test_stamp_of_the_outer_launch(core, outer, inner):
    """No process tree, but the outer task was set up by rollcall: what its stamp does not know is further inside."""
    cells = [(o, i) for o, i in cells_of(outer, inner) if o.good and o.mode == "worker" and not i.ancestors
             # PALS writes its PMI_RANK over Hydra's: without processes the rest of Hydra's names looks like a task's
             and not (inner == "pals" and "MPI_LOCALRANKID" in o.env)]
    first = core.ask(ask(o.handed_on, o.node + o.descent()) for o, _ in cells)
    cells = [(o, i, apply(o.handed_on, a)) for (o, i), a in zip(cells, first) if a["mode"] == "worker"]
    answers = core.ask(ask({**env, **i.env}, i.node) for _, i, env in cells)
    halves = [(cell, a) for cell, a in zip(cells, answers) if has_foreign_local_rank(cell[0])]
    assert all(a["identity"] == cell[1].identity or "RC102" in ids(a) for cell, a in halves)
    whole = [(cell[:2], a) for cell, a in zip(cells, answers) if not has_foreign_local_rank(cell[0])]
    identities(*zip(*whole)) if whole else None


@pytest.mark.parametrize("launcher, platform", itertools.product(STARTING, [p for p in PLATFORMS if p in LAUNCHERS]))
def test_platform_is_outside(core, launcher, platform):
    """A platform's names, also where they were set later (by a script in the task): the process launcher counts.

    torchrun is numbered by the same names as platforms use: there is nothing left of it to believe.
    """
    cells = [(p, t) for t in of(launcher) for p in of(platform) if t.good and t.mode == "worker"]
    answers = core.ask(ask({**t.env, **p.handed_on}, t.node + t.descent()) for p, t in cells)
    identities(cells, answers)


# Whose names come first where nothing but the names is there: innermost first (design, and rollcall(7)).
ORDER = ["torchrun", "openmpi", "flux", "mpich", "pmix", "pals", "lsf", "pbs", "slurm"]


def told_by_names(o, i):
    """What the variables alone decide rightly."""
    if o.launcher in PLATFORMS or ORDER.index(i.launcher) <= ORDER.index(o.launcher):
        return True
    # PMIx names a newer launch than Open MPI's, and a step of srun --mpi=pmix is named by its job and number
    return o.launcher in ("openmpi", "pmix") and "PMIX_NAMESPACE" in i.env and i.env["PMIX_RANK"] != o.env.get("PMIX_RANK")


@pytest.mark.parametrize("outer, inner", PAIRS)
def test_names_alone(core, outer, inner):
    """No process tree, no stamp: right where the names tell, else the whole of the outer launch, never a mixture."""
    cells = [(o, i) for o, i in cells_of(outer, inner)
             if not i.ancestors and not o.ancestors and not has_foreign_local_rank(o)]
    answers = core.ask(ask({**o.handed_on, **i.env}, i.node) for o, i in cells)
    told = [(cell, a) for cell, a in zip(cells, answers) if told_by_names(*cell)]
    identities(*zip(*told)) if told else None
    for (o, i), a in zip(cells, answers):
        if not told_by_names(o, i) and a["launcher"] != i.launcher:
            assert a["launcher"] == o.launcher, f"{o.name} > {i.name}: {a['launcher']}"
            # the outer launch may be taken for the inner one, but never without a word
            assert "RC126" in ids(a) or a["status"] == "contradiction" or o.launcher == i.launcher, f"{o.name} > {i.name}: {a['messages']}"
            identity = o.identity
            # refused as it was recorded, with the inner one's MASTER_ADDR it may be whole; GPUs decide the mode
            given = {name: value for name, value in i.env.items()
                     if (name == "MASTER_ADDR" and not o.good) or name == "CUDA_VISIBLE_DEVICES"}
            if given:
                identity = core.ask([ask({**o.handed_on, **given}, i.node)])[0]["identity"]
            assert a["identity"] == identity or a["status"] == "contradiction", f"{o.name} > {i.name}: {a['identity']}"


PID = 4711


def named(node, host):
    return [line for line in node if not line.startswith("@host=")] + ["@host=" + host]


@pytest.mark.parametrize("inner", [launcher for launcher in STARTING if launcher != "slurm"])
def test_process_id_of_another_node(core, inner):
    """mpiexec hands the batch script's environment on to all nodes: there SLURM_TASK_PID is some other process's.

    Recorded as mpich43-batch-2; that it was rank 2's own happened once in a thousand tasks.
    """
    cells = cells_of("slurm", inner)
    stray = {"SLURM_TASK_PID": str(PID), "SLURMD_NODENAME": "elsewhere"}
    hosts = [next((line[6:] for line in i.node if line.startswith("@host=")), "n2") for _, i in cells]
    answers = core.ask(ask({**o.handed_on, **i.env, **stray}, named(i.node, host) + i.descent() + o.descent(), PID)
                       for (o, i), host in zip(cells, hosts))
    identities(cells, answers)


@pytest.mark.parametrize("outer", STARTING)
def test_process_id_of_this_node(core, outer):
    """The first process of a task of srun: that proves it, by whichever name its node goes, and without a process tree."""
    cells = cells_of(outer, "slurm")
    for domain in ("", ".cluster.example"):
        answers = core.ask(ask({**o.handed_on, **i.env, "SLURM_TASK_PID": str(PID)},
                               named(i.node, i.env["SLURMD_NODENAME"] + domain), PID) for o, i in cells)
        identities(cells, answers)
