# SPDX-License-Identifier: BSD-3-Clause
"""Bad inputs, one or two variables at a time, into environments that are good: never another identity, never a crash.

A value may be harmless (the same identity), or it contradicts the rest: then
nothing is set and a message with an id says so. Some variables are a choice
and not an identity; what they may change is listed in CHOICES.
"""

import os
import re

import pytest
from hypothesis import HealthCheck, example, given, seed, settings
from hypothesis import strategies as st

import hostile
from conftest import SEED, generator
from judge import one_plan
from layouts import Layout, block, cyclic, slurm_tasks
from mpi import openmpi_launch
from stream import HERE, apply, request

SLOW = 20_000_000  # ns, for at most 131 kB in one variable

# Variables that say what to do, not who one is: they may change mode, master or what a torchrun is told.
CHOICES = {
    "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "SLURM_GPUS_ON_NODE", "SLURM_STEP_GPUS",
    "SLURM_JOB_GPUS", "SLURM_JOB_NAME", "MASTER_ADDR", "MASTER_PORT", "SLURM_STEP_RESV_PORTS", "ROLLCALL",
    "SUBMITIT_EXECUTOR", "PET_NPROC_PER_NODE", "ROLLCALL_SCOPE",
}
# Of the launch's name depends the port; it is the same text in all tasks, or they are of two launches.
NAMES = {"SLURM_JOB_ID", "SLURM_JOBID", "SLURM_STEP_ID", "SLURM_STEPID", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}
# Where mpirun is: all that says on which host rank 0 is. RANK 0 compares it with its own addresses.
VERIFIED = {"OMPI_MCA_orte_hnp_uri", "SLURM_JOB_NODELIST"}
# Of these there is only one witness: another number that is well-formed and fits the rest is believed. mpirun says
# nothing a second time; SLURM_DISTRIBUTION alone says that a distribution is arbitrary.
ONE_WITNESS = {"OMPI_MCA_orte_num_nodes", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"}


def believed(task, name, value):
    if name in ONE_WITNESS:
        return value is not None and value.isascii() and value.isdigit() and len(value) == 1
    return name == "SLURM_DISTRIBUTION" and task.env.get(name) == "arbitrary"


def slurm(ranks, distribution="block", gpus=None, which=1, **facts):
    hosts = [f"n{i}" for i in range(1, 1 + len(ranks))]
    layout = Layout(hosts, ranks, distribution, hosts, gpus=gpus)
    facts = {"distribution": True, "preserve": False, "per_node": "given", "pmix": False, "task_hosts": False,
             "caller": "exec", **facts}
    user = {"MASTER_PORT": "29501", "RANK": "3"} if which == 2 else {}
    tasks = slurm_tasks(generator("hostile", distribution, which), layout, user, facts)
    return tasks[which], ["python", "train.py"]


def openmpi(which=1, **want):
    for number in range(10000):
        launch = openmpi_launch(generator("hostile openmpi", number), counts=[2, 2, 2], idle=0)
        launch.user.clear()
        if launch.options is None and launch.facts["family"] == "4" and \
                all(launch.facts.get(k) == v for k, v in want.items()) and not launch_user(launch):
            return launch.tasks[which], ["python", "train.py"]
    raise AssertionError(want)


def launch_user(launch):
    return {"RANK", "MASTER_ADDR", "MASTER_PORT", "PET_NNODES", "NODE_RANK"} & set(launch.tasks[0].env)


def torchrun_child():
    task, argv = slurm([[0], [1]], gpus=2)
    task.env.update({"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2", "GROUP_RANK": "1",
                     "GROUP_WORLD_SIZE": "2", "ROLE_RANK": "3", "ROLE_WORLD_SIZE": "4", "MASTER_ADDR": "n1",
                     "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "42.0", "TORCHELASTIC_RESTART_COUNT": "0",
                     "TORCHELASTIC_MAX_RESTARTS": "0", "TORCHELASTIC_USE_AGENT_STORE": "True"})
    task.pid += 1
    return task, argv


GOOD = {
    "block": slurm([[0, 1], [2, 3]]),
    "block, last task, plugin": slurm([[0, 1], [2, 3]], which=3, caller="plugin"),
    "cyclic with pmix": slurm(cyclic([2, 2, 1]), "cyclic", pmix=True, which=2),
    "arbitrary with pmix": slurm([[1, 3], [0, 2]], "arbitrary", pmix=True, which=0),
    "arbitrary with hosts": slurm([[2, 3], [0, 4], [1]], "arbitrary", task_hosts=True, which=4),
    "uneven": slurm(block([3, 1]), which=0),
    "one node": slurm(block([4])),
    "one task": slurm(block([1]), gpus=1, which=0),
    "torchrun a node": slurm(block([1, 1]), gpus=4),
    "openmpi": openmpi(around="nothing", mpirun="on the first node"),
    "openmpi by node in sbatch": openmpi(which=4, around="sbatch", way="mapping"),
    "openmpi in salloc": openmpi(which=5, around="salloc", way="slot"),
    "torchrun's child": torchrun_child(),
}
OWN = ("SLURM_", "OMPI_", "PMIX_", "CUDA_", "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_", "ROLE_",
       "NODE_RANK", "MASTER_", "TORCHELASTIC_", "ROLLCALL", "SLURMD_")
FURTHER = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT", "PET_NNODES", "ROLLCALL",
           "ROLLCALL_SCOPE", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "TORCHELASTIC_RUN_ID", "SLURM_GTIDS",
           "SLURM_ROLLCALL_TASK_HOSTS", "SLURM_PMIX_MAPPING_SERV", "SLURM_STEP_RESV_PORTS", "SLURM_TASK_PID",
           "SUBMITIT_EXECUTOR", "SLURM_DISTRIBUTION", "SLURM_HET_SIZE", "SLURM_NTASKS_PER_NODE", "CUDA_VISIBLE_DEVICES")


# Of what identities are made; the other variables take part in the environments of WHOLE.
CORE = re.compile(r"SLURM_(PROCID|LOCALID|NODEID|GTIDS|JOB_ID|STEP_.*|NTASKS.*|NNODES|TASKS_PER_NODE|DISTRIBUTION|"
                  r"JOB_NODELIST|TASK_PID|PMIX_MAPPING_SERV|ROLLCALL_TASK_HOSTS)|SLURMD_NODENAME|PMIX_(RANK|NAMESPACE)|"
                  r"OMPI_COMM_.*|OMPI_MCA_(orte|ess|rmaps).*|(LOCAL_|GROUP_)?(RANK|WORLD_SIZE)|TORCHELASTIC_RUN_ID|MASTER_.*")
WHOLE = ("block", "arbitrary with pmix", "openmpi by node in sbatch")


def cases(which, task):
    names = [n for n in task.env if n.startswith(OWN)] + list(FURTHER)
    for name in dict.fromkeys(names):
        if which not in WHOLE and not CORE.fullmatch(name):
            continue
        for value in hostile.VALUES:
            if which not in WHOLE and value in hostile.LARGE:
                continue  # what takes long takes as long in any environment
            if value != task.env.get(name) and not believed(task, name, value):
                yield name, value


def changed(task, name, value):
    env = dict(task.env)
    if value is None:
        env.pop(name, None)
    else:
        env[name] = value
    return env


def send(task, argv, env, pid=None):
    return request(env, argv, None, task.pid if pid is None else pid, "c" if task.certain else "")


def check(good, answer, task, name, value, env):
    """None, or what is wrong."""
    try:
        if answer["status"] != "usage":
            one_plan(answer)
    except AssertionError as error:
        return str(error)
    if answer["status"] == "usage":
        return None if name == "ROLLCALL" and answer["messages"] else "options are wrong without a word"
    if answer["nanoseconds"] > SLOW:
        return f"took {answer['nanoseconds'] / 1e6:.0f} ms"
    nothing = not any(change for *_, change, _ in answer["plan"])
    if answer["status"] == "contradiction":
        return None if nothing and answer["messages"] else "a contradiction, and not a clean one"
    if good["mode"] == "torchrun":
        # torchrun is authoritative: whatever it says, nothing is touched
        told = {"RANK", "LOCAL_RANK", "TORCHELASTIC_RUN_ID"}
        return None if nothing or (value is None and name in told) else "torchrun's child is touched"
    if name in CHOICES:
        known = {k: v for k, v in answer["identity"].items() if v is not None}
        return None if known.items() <= good["identity"].items() or good["mode"] == "launcher" else "another identity"
    if answer["mode"] == "none" and nothing:
        return None if good["mode"] == "none" or name in NAMES | {"SUBMITIT_EXECUTOR"} else "silently nothing"
    # without it a task of mpirun has only its own sizes, and is told no number of nodes
    uncounted = {"nnodes": None} if name == "OMPI_MCA_orte_num_nodes" and not value else {}
    if answer["identity"] != {**good["identity"], **uncounted} or answer["mode"] != good["mode"]:
        return "another identity"
    if name in NAMES:
        return None
    if name in VERIFIED:
        return None if answer["master"]["hold"] == good["master"]["hold"] else "another holder"
    for key in ("addr", "port", "hold"):
        if answer["master"][key] != good["master"][key]:
            return f"another master {key}"
    after, before = apply(env, answer), apply(task.env, good)
    for family in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK", "MASTER_ADDR",
                   "MASTER_PORT"):
        if after.get(family) != before.get(family) and not (answer["mode"] == "none" and family == name):
            return f"{family}={after.get(family)}"
    return None


@pytest.mark.parametrize("which", GOOD)
def test_each_variable(core, which):
    task, argv = GOOD[which]
    good, = core.ask([send(task, argv, task.env)])
    assert good["status"] == "resolved", good
    wrong = []
    todo = list(cases(which, task))
    for at in range(0, len(todo), 500):
        part = todo[at:at + 500]
        envs = [changed(task, name, value) for name, value in part]
        answers = core.ask(send(task, argv, env) for env in envs)
        for (name, value), env, answer in zip(part, envs, answers):
            problem = check(good, answer, task, name, value, env)
            if problem:
                wrong.append(f"{name}={value!r:.60}: {problem}; {answer['mode']} {answer['identity']}")
    assert not wrong, f"{len(wrong)} of {len(todo)}:\n" + "\n".join(wrong[:40])


def markers():
    """The variables by which the launcher families are known."""
    names = set()
    for part in ("registry.def", "platforms.def"):
        with open(os.path.join(HERE, "..", "..", "lib", "launcher", part), encoding="ascii") as file:
            names.update(re.findall(r"^ROLLCALL_MARKER\(\w+, (\w+)\)", file.read(), re.M))
    return sorted(names)


def answered(answer):
    """Two bad variables may agree on another identity; but there is one plan in time, or none and a reason."""
    if answer["status"] == "usage":
        return None if answer["messages"] else "options are wrong without a word"
    try:
        one_plan(answer)
    except AssertionError as error:
        return str(error)
    if answer["nanoseconds"] > 2 * SLOW:
        return f"took {answer['nanoseconds'] / 1e6:.0f} ms"
    if answer["status"] == "contradiction" and (not answer["messages"] or any(change for *_, change, _ in answer["plan"])):
        return "a contradiction, and not a clean one"
    return None


@pytest.mark.parametrize("which", GOOD)
def test_stamp_and_another_launcher(core, which):
    """A stamp, right or wrong, beside a bad variable of a launcher that has started nothing here: in a task's child,
    which Slurm's process id does not tell from a task of another launcher."""
    task, argv = GOOD[which]
    good, = core.ask([send(task, argv, task.env)])
    own = next((value for _, name, value, *_ in good["plan"] if name == "ROLLCALL_SCOPE"), "slurm:42.0/0/worker/29512")
    todo = [{"ROLLCALL_SCOPE": stamp.format(own=own), name: value}
            for stamp in hostile.STAMPS for name in markers() if name not in task.env for value in hostile.SECOND]
    answers = core.ask(send(task, argv, {**task.env, **change}, task.pid + 1) for change in todo)
    wrong = [f"{change}: {problem}" for change, answer in zip(todo, answers) if (problem := answered(answer))]
    assert not wrong, f"{len(wrong)} of {len(todo)}:\n" + "\n".join(wrong[:40])


def mutated(draw, value):
    """A few edits, as a hand or a broken script makes them."""
    text = list(value)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        what = draw(st.sampled_from(("insert", "delete", "double", "cut")))
        if what == "insert":
            text.insert(at, draw(st.sampled_from(" ,-[]()x+0;.\n\t%@/e\u0663\x7f")))
        elif what == "delete":
            del text[at:at + 1]
        elif what == "double":
            text[at:at] = text[at:at + 4]
        else:
            del text[at:]
    return "".join(text)


EDITED = ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_GTIDS", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_NODES",
          "SLURM_STEP_TASKS_PER_NODE", "SLURM_STEP_NODELIST", "SLURMD_NODENAME", "SLURM_NTASKS", "SLURM_NNODES",
          "SLURM_TASKS_PER_NODE", "SLURM_JOB_NODELIST", "SLURM_TASK_PID", "SLURM_PMIX_MAPPING_SERV", "PMIX_RANK",
          "PMIX_NAMESPACE", "SLURM_ROLLCALL_TASK_HOSTS", "SLURM_STEP_ID", "SLURM_JOB_ID")


@st.composite
def edits(draw):
    which = draw(st.sampled_from([w for w in GOOD if "openmpi" not in w and "torchrun's" not in w]))
    task, _ = GOOD[which]
    name = draw(st.sampled_from([n for n in EDITED if n in task.env]))
    if draw(st.booleans()):
        return which, name, mutated(draw, task.env[name])
    return which, name, draw(st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=60))


@seed(SEED)
@settings(max_examples=400, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(edits())
@example(("block", "SLURM_STEP_TASKS_PER_NODE", "2(x2"))
@example(("uneven", "SLURM_GTIDS", "0,1,2,"))
def test_edited_variable(core, edit):
    """Hypothesis edits one variable: the same identity, or a contradiction; never another identity."""
    which, name, value = edit
    task, argv = GOOD[which]
    env = changed(task, name, value)
    good, answer = core.ask([send(task, argv, task.env), send(task, argv, env)])
    problem = None if value == task.env[name] else check(good, answer, task, name, value, env)
    assert not problem, f"{which}: {name}={value!r}: {problem}; {answer}"
