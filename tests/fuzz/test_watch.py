# SPDX-License-Identifier: BSD-3-Clause
"""The watch: whatever it was told, and whatever the environment says, init_process_group does what it did before."""
import importlib.util
import os
import sys
import types
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

WATCH = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "shim", "watch")
sys.path.insert(0, WATCH)

NUMBERS = st.sampled_from(["0", "1", "2", "3", "4", "8", "-1", "x", "", "9" * 30, "٣", "1.5"])
IDENTITIES = st.lists(st.tuples(st.sampled_from(["rank", "size", "node", "nodes", "other", "task", "tasks", "arrivals",
                                                 "script"]),
                                NUMBERS), max_size=6).map(lambda pairs: " ".join("%s=%s" % pair for pair in pairs))
NAMES = ["RANK", "WORLD_SIZE", "LOCAL_RANK", "GROUP_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
         "PET_NNODES", "ROLLCALL_DEBUG", "SLURM_JOB_ID", "SLURM_GTIDS"]
ENVIRONMENTS = st.dictionaries(st.sampled_from(NAMES), NUMBERS)
CALLS = st.fixed_dictionaries({}, optional={
    "backend": st.sampled_from(["nccl", "mpi", "fake", None, 3]),
    "init_method": st.sampled_from(["env://", "tcp://n1:1?rank=1&world_size=2", "tcp://n1:1?rank=x", "file:///x", 7]),
    "rank": st.sampled_from([-1, 0, 1, 7, "1", None, "x", 1 << 70]),
    "world_size": st.sampled_from([-1, 0, 1, 2, 4, 8, None, "4", [1]]),
    "store": st.sampled_from([None, object()])})


def load():
    """Anew each time: it knows what it has said."""
    path = os.path.join(WATCH, "rollcall_watch.py")
    spec = importlib.util.spec_from_file_location("rollcall_watch_tried", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fake_torch():
    def init_process_group(backend=None, init_method=None, rank=-1, world_size=-1, store=None):
        if world_size == 8:
            raise ValueError("as torch does")
        return "made"

    c10d = types.ModuleType("torch.distributed.distributed_c10d")
    c10d.init_process_group = init_process_group
    c10d.is_initialized = lambda: False
    c10d.get_rank = lambda: 0
    c10d.get_world_size = lambda: 2
    return c10d


@given(identity=IDENTITIES, environment=ENVIRONMENTS, call=CALLS)
def test_the_call_is_as_without_it(identity, environment, call):
    watch = load()
    c10d = fake_torch()
    lines = []
    environment = {**environment, "ROLLCALL_IDENTITY": identity}
    with mock.patch.dict(os.environ, environment, clear=True), \
            mock.patch.dict(sys.modules, {c10d.__name__: c10d}), \
            mock.patch.object(watch, "start_environment", lambda: dict(environment)), \
            mock.patch.object(watch.os, "write", lambda file, text: lines.append(text)), \
            mock.patch("threading.Timer", mock.MagicMock()):
        watch.install()
        try:
            assert c10d.init_process_group(**call) == "made" and call.get("world_size") != 8
        except ValueError:
            assert call.get("world_size") == 8
    for line in lines:
        assert line.endswith(b"\n") and all(0x20 <= byte <= 0x7e for byte in line[:-1])


@given(words=st.lists(st.one_of(st.text(max_size=12), st.sampled_from(
    ["torchrun", "--nnodes=2", "--nnodes", "2:4", "-m", "torch.distributed.run", "--num_machines", "--max-restarts=3",
     "--max_restarts", "t.py"])), max_size=6),
    by_exec=st.booleans())
def test_any_command_line(words, by_exec):
    watch = load()
    with mock.patch.dict(os.environ, {}, clear=True):
        assert watch.nodes_of_agent(words) >= 0
        if words:
            line = watch.srun_line(words, by_exec)
            assert line.startswith("srun ") and ("rollcall exec -- " if by_exec else "--ddp ") in line
