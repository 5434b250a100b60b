# SPDX-License-Identifier: BSD-3-Clause
"""Random launches, each one over all of its tasks: the invariants of the design and the oracle's values."""

import pytest

from conftest import generator
from judge import judge, one_plan
from layouts import Layout, Launch, slurm_launch, slurm_tasks, block
from mpi import openmpi_launch
from stream import apply, request

SLURM, OPENMPI, UNEVEN = 1600, 600, 300


def ask(core, launch, tasks=None):
    return core.ask(request(task.env, launch.argv, launch.options, task.pid,
                            "c" if task.certain else "") for task in tasks or launch.tasks)


@pytest.mark.parametrize("number", range(SLURM))
def test_slurm(core, number):
    launch = slurm_launch(generator("slurm", number))
    judge(launch, ask(core, launch))


@pytest.mark.parametrize("number", range(OPENMPI))
def test_openmpi(core, number):
    launch = openmpi_launch(generator("openmpi", number))
    judge(launch, ask(core, launch))


@pytest.mark.parametrize("number", range(UNEVEN))
def test_openmpi_uneven(core, number):
    """Not every uneven layout can be told from one rank's environment: then nothing is set, never a wrong value.

    No idle daemons: a job that is uneven but looks even from one rank, on fewer nodes than there are daemons, is
    the same as an even one beside mpirun's own idle node. Only the tasks together can tell these two apart. So is
    the node's number not asked for in such a task where mpirun itself, on a login node, is the idle daemon.
    """
    rng = generator("uneven", number)
    counts = [rng.randint(1, 5) for _ in range(rng.randint(2, 6))]
    launch = openmpi_launch(rng, counts, idle=0)
    launch.options, launch.argv = None, ["python", "train.py"]
    layout = launch.layout
    if max(counts) == 1:
        return
    for task, answer in zip(launch.tasks, ask(core, launch)):
        one_plan(answer)
        if answer["status"] != "resolved":
            assert answer["messages"] and not answer["plan"], launch
            continue
        looks_even = counts[task.node] * len(counts) == layout.size
        node = answer["identity"]["node_rank"] if looks_even and launch.facts["mpirun"] == "on a login node" else task.node
        assert answer["identity"] == {
            "rank": task.rank, "local_rank": task.local, "node_rank": node, "world_size": layout.size,
            "local_world_size": counts[task.node], "nnodes": len(counts)}, launch
        assert answer["mode"] == "worker"


def test_mpirun_rank_file(core):
    """A rank file puts ranks anywhere: 0 and 3 on one node, 1 and 2 on the other (measured with 4.1.4)."""
    for way in ({"OMPI_MCA_orte_rankfile": "rf"}, {"OMPI_MCA_rmaps": "seq"}):
        for rank, local, daemon, nodes in ((0, 0, 0, 2), (1, 0, 1, 4), (2, 1, 1, 4), (3, 1, 0, 2)):
            env = {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "4",
                   "OMPI_COMM_WORLD_LOCAL_RANK": str(local), "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
                   "OMPI_MCA_orte_num_nodes": str(nodes), "OMPI_MCA_orte_local_daemon_uri": f"9.{daemon};tcp://10.0.0.1:1",
                   "OMPI_MCA_orte_hnp_uri": "9.0;tcp://10.0.0.1:1", "PMIX_NAMESPACE": "77", "PMIX_RANK": str(rank), **way}
            answer, = core.ask([request(env, ["python", "t.py"])])
            assert answer["status"] == "contradiction" and answer["messages"][0][0] == "RC110", (way, rank, answer)


@pytest.mark.parametrize("nodes, each", [(12500, 8), (1, 1024), (2, 1024), (4096, 1)])
def test_large(core, nodes, each):
    """100,000 tasks: those of a few nodes, in full."""
    rng = generator("large", nodes)
    hosts = [f"nid{i:06d}" for i in range(nodes)]
    layout = Layout(hosts, block([each] * nodes), "block", hosts)
    facts = {"distribution": True, "preserve": False, "per_node": "absent", "pmix": True, "task_hosts": False,
             "caller": "exec"}
    launch = Launch("slurm", layout, [], argv=["python", "t.py"], facts=facts)
    some = {0, nodes - 1, *(rng.randrange(nodes) for _ in range(5))}
    tasks = slurm_tasks(rng, layout, {}, facts, only=some)
    answers = ask(core, launch, tasks)
    for task, answer in zip(tasks, answers):
        one_plan(answer)
        after = apply(task.env, answer)
        assert answer["identity"] == {"rank": task.rank, "local_rank": task.local, "node_rank": task.node,
                                      "world_size": nodes * each, "local_world_size": each, "nnodes": nodes}
        assert after["MASTER_ADDR"] == hosts[0] and after["RANK"] == str(task.rank)
        assert answer["nanoseconds"] < 20_000_000
    assert len({a["master"]["port"] for a in answers}) == 1
