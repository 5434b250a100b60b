# SPDX-License-Identifier: BSD-3-Clause
"""rollcall - who this process is in its distributed job, and a few bytes that all of its ranks share.

The C library librollcall in Python: ctypes, nothing to be compiled. Install it with pip, or put the folder that rollcall
itself has installed on PYTHONPATH:

    pip install rollcall_ddp-VERSION-*.whl
    export PYTHONPATH=PREFIX/share/rollcall/python

Who is this process?

    >>> import rollcall
    >>> me = rollcall.identity()
    >>> me.rank, me.world_size, me.local_rank
    (3, 8, 1)

In a script under any launcher, before torch.distributed.init_process_group() and best before `import torch`: the
environment that env:// wants, and the master port held for rank 0 until torch listens there.

    >>> rollcall.apply()
    >>> torch.distributed.init_process_group("nccl")

The same script on a laptop, as `python train.py`, where no launcher is: a job of one process.

    >>> rollcall.apply(alone=True)
    >>> torch.distributed.init_process_group("gloo")

And what would rollcall set for it? (`rollcall show` says why.)

    >>> rollcall.plan().set["MASTER_ADDR"]
    'n1'

An NCCL unique id, the same in all ranks, without MPI and without torch.distributed. Rank 0's process makes it,
with the libnccl that it has loaded, and must live until all have their communicators.

CuPy, which takes the id as numbers with a sign:

    >>> import struct
    >>> from cupy.cuda import nccl
    >>> id = struct.unpack("128b", rollcall.nccl_unique_id())
    >>> comm = nccl.NcclCommunicator(me.world_size, id, me.rank)

nccl4py:

    >>> import nccl.core as nccl
    >>> id = nccl.UniqueId.from_bytes(rollcall.nccl_unique_id())
    >>> comm = nccl.Communicator.init(nranks=me.world_size, rank=me.rank, unique_id=id)

torch, without a process group:

    >>> import torch
    >>> comm = torch.cuda.nccl.init_rank(me.world_size, rollcall.nccl_unique_id(), me.rank)

Anything else that one rank knows and the others need at their start:

    >>> folder = rollcall.broadcast("folder", b"/scratch/run-7" if me.rank == 0 else None)

And what each of them has to tell all others:

    >>> hosts = rollcall.allgather("hosts", os.uname().nodename.encode())

Or only that all of them are there:

    >>> rollcall.barrier()

Each of these calls meets the other ranks' calls in order, the first the first and so on. How the ranks find each
other, and what has to live how long, is in librollcall(3). A process that no launcher started has no other ranks, and
the calls raise Error: rollcall exec and apply(alone=True) make it rank 0 of 1.
"""

from __future__ import annotations

import ctypes
import operator
import os
import sys
import time
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple, TypeVar

from . import _library
from ._library import Error, Identity, Message, Timeout

__all__ = [
    "Applied", "Error", "Identity", "Message", "Plan", "Timeout",
    "allgather", "apply", "barrier", "broadcast", "identity", "nccl_unique_id", "nccl_unique_ids", "plan", "version",
]

# python/makewheel.py and the build write the number
__version__ = "@VERSION@"

_T = TypeVar("_T")
_ID_SIZE = 128
_PIECE = 16384


class Plan(NamedTuple):
    """What rollcall exec would do to this process's environment."""

    set: Dict[str, str]
    unset: Tuple[str, ...]
    keep: Dict[str, str]
    messages: Tuple[Message, ...]


def _milliseconds(timeout: float) -> int:
    if not timeout > 0:
        raise ValueError("timeout is not above 0")
    return max(1, int(min(timeout * 1000, 2**31 - 1)))


def _clock(timeout: float) -> Callable[[], int]:
    """The milliseconds that are left: all pieces of a call have one deadline."""
    deadline = time.monotonic() + _milliseconds(timeout) / 1000
    return lambda: _milliseconds(max(deadline - time.monotonic(), 0.001))


def version() -> str:
    """The C library's version, such as "0.1.0"."""
    text: bytes = _library.load().rollcall_version()
    return text.decode()


def _by_hand(me: Identity) -> Identity:
    """RANK and WORLD_SIZE that were set by hand, and count processes, as LOCAL_RANK tells."""
    if me.launcher not in (None, "env") or me.mode != "none":
        return me
    texts = [os.environ.get(name, "") for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK")]
    if not all(text.isascii() and text.isdigit() for text in texts):
        return me
    rank, world_size, local_rank = map(int, texts)
    if not local_rank <= rank < world_size:
        return me
    return me._replace(rank=rank, world_size=world_size, local_rank=local_rank)


def identity() -> Identity:
    """Who this process is. Raises Error where its launcher's variables contradict each other.

    Of RANK, WORLD_SIZE and LOCAL_RANK that were set by hand these three are told, also where too little is set for
    rollcall to complete the environment (RC118).
    """
    with _library.Job() as job:
        return _by_hand(job.identity())


def plan() -> Plan:
    """What rollcall exec would do to the environment that this process has now. It does nothing itself.

    set also names what is there already with that value. Raises Error as identity() does.
    """
    with _library.Job() as job:
        variables = job.variables()
        return Plan(
            {name: value or "" for action, name, value in variables if action == "set"},
            tuple(name for action, name, _ in variables if action == "unset"),
            {name: value or "" for action, name, value in variables if action == "keep"},
            job.messages(),
        )


class Applied:
    """What apply() has done. As a context manager it puts the environment back at the end, and gives the port back."""

    def __init__(self, identity: Identity, before: Dict[str, Optional[str]], port: int) -> None:
        self.identity = identity
        self._before = before
        self._port = port

    def release(self) -> None:
        """Gives the held port back. torch does not need that: it may listen at the port while it is held."""
        if self._port >= 0:
            os.close(self._port)
        self._port = -1

    def __enter__(self) -> Applied:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        for name, value in self._before.items():
            _put(name, value)


def _put(name: str, value: Optional[str]) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def _change(wanted: Dict[str, Optional[str]]) -> Dict[str, Optional[str]]:
    """Changes os.environ; what these variables were before."""
    before = {name: os.environ.get(name) for name in wanted}
    for name, value in wanted.items():
        _put(name, value)
    return before


def _with_wish(wish: str, act: Callable[[_library.Job], _T]) -> _T:
    before = _change({"ROLLCALL": wish})
    try:
        with _library.Job() as job:
            return act(job)
    finally:
        _change(before)


def _apply_alone(me: Identity, messages: Tuple[Message, ...]) -> Applied:
    """A job of this process, where nothing is left of a launcher: the other tasks of that would be alone as well."""
    if me.launcher is None:
        # the core names what is left if a mode is asked for
        messages = tuple(one for one in _with_wish("worker", _library.Job.messages) if one.id == "RC128")
    if me.launcher is not None or messages:
        why = [f"{one.id}: {one.text}" for one in messages] + [f"{me.launcher} is there"]
        # RC128 has the same cure in its text
        cure = "; start it with srun, mpirun or torchrun; or unset what is left of a launcher" if me.launcher else ""
        raise Error(1, f"this process is no task of a job, and not alone either: {why[0]}{cure}")
    applied = _with_wish("alone,nproc=1", _apply_job)
    print("rollcall: there is no launcher: this process is alone, rank 0 of 1", file=sys.stderr)
    return applied


def _apply_job(job: _library.Job) -> Applied:
    port = ctypes.c_int(-1)
    job.call("hold_port", ctypes.byref(port))
    before = _change({name: value for action, name, value in job.variables() if action != "keep"})
    return Applied(_by_hand(job.identity()), before, port.value)


def apply(alone: bool = False) -> Applied:
    """Puts into os.environ what rollcall exec would set, takes away what must go, and holds the master port in rank 0.

    Call it before torch.distributed.init_process_group(), best before torch is imported: torch and CUDA read some of
    the variables then. The port is held until the process ends, or until release(); torch's own store may listen there
    meanwhile, other programs get another port. Rank 0 prints what is wrong but does not keep the job from running.
    Raises Error, with nothing changed, as identity() does, and where the port is taken or the master address is
    another node's.

        with rollcall.apply() as applied:
            train(applied.identity)

    Without a launcher it changes nothing, so that init_process_group() fails; with alone=True the process is rank 0 of
    1 then, and prints so on stderr. If a launcher was recognised, in a batch script for instance, or a variable is left
    by which a launcher or a script numbers processes or nodes (RC128: PMI_RANK, NODE_RANK and so on), that is an Error:
    each task of a launch that has lost its variables would train alone.
    """
    with _library.Job() as job:
        me = _by_hand(job.identity())
        if alone and me.mode == "none" and me.rank is None:
            return _apply_alone(me, job.messages())
        applied = _apply_job(job)
        if not me.rank:
            for message in job.messages():
                if message.level == "warning":
                    print(f"rollcall: warning {message.id}: {message.text}", file=sys.stderr)
        return applied


def broadcast(name: str, data: Optional[bytes] = None, root: int = 0, timeout: float = 300.0) -> bytes:
    """The bytes that rank root gives, in all ranks. The others' data does not matter.

    name has 1 to 64 letters, digits and . _ -; all ranks give the same one, and the same root. The root returns at
    once, the others within timeout seconds, or Timeout is raised, and their next call meets the root's next one. For a
    program's start: what was broadcast stays until the launch ends, 64 MiB in all. A call that finds no
    room raises Error (RC620).
    """
    left, root = _clock(timeout), operator.index(root)
    with _library.Job() as job:
        own = job.number("rank") == root
        if own and data is None:
            raise ValueError("the root has no data")
        # not bytes(5), which is five zeros
        content = bytearray(memoryview(data).tobytes()) if own and data is not None else bytearray()

        def give(name: str, piece: bytearray) -> None:
            view = (ctypes.c_char * len(piece)).from_buffer(piece)
            # ctypes would cut a number that is no int of C
            job.share("broadcast", name, view, len(piece), root if 0 <= root < 2**31 else -1, left())

        # the pieces have a name that no other broadcast has: a rank that misses some takes none of them for another's
        head = bytearray(len(content).to_bytes(8, "little") + os.urandom(8).hex().encode())
        give(name, head)
        size, name_of_pieces = int.from_bytes(head[:8], "little"), f"{name[:47]}.{head[8:].decode()}"
        whole = bytearray()
        for begin in range(0, size, _PIECE):
            length = min(_PIECE, size - begin)
            piece = content[begin : begin + length] if own else bytearray(length)
            give(name_of_pieces, piece)
            whole += piece
        return bytes(whole)


def allgather(name: str, data: bytes, timeout: float = 300.0) -> List[bytes]:
    """The bytes that each rank gives, of any size, in all ranks: a list in the order of the ranks.

    name is as for broadcast. No rank returns before all have made the call. Where one has not made it when the time of
    another is over, Timeout is raised in all, and names it. What was gathered stays until the launch ends, and counts
    twice.
    """
    left, content = _clock(timeout), memoryview(data).tobytes()
    with _library.Job() as job:
        world = job.number("world_size") or 1

        def give(name: str, piece: bytes) -> List[bytes]:
            every = ctypes.create_string_buffer(len(piece) * world)
            job.share("allgather", name, piece, len(piece), every, left())
            raw = every.raw
            return [raw[i : i + len(piece)] for i in range(0, len(raw), len(piece))]

        heads = give(name, len(content).to_bytes(8, "little") + os.urandom(8))
        sizes = [int.from_bytes(head[:8], "little") for head in heads]
        name_of_pieces = f"{name[:47]}.{heads[0][8:].hex()}"
        wholes = [bytearray() for _ in sizes]
        for begin in range(0, max(sizes), _PIECE):
            length = min(_PIECE, max(sizes) - begin)
            for whole, piece in zip(wholes, give(name_of_pieces, content[begin : begin + length].ljust(length, b"\0"))):
                whole += piece
        return [bytes(whole[:size]) for whole, size in zip(wholes, sizes)]


def barrier(name: str = "barrier", timeout: float = 300.0) -> None:
    """Returns when all ranks have made the call. Timeout is as for allgather.

    Each call leaves less than 1 KiB a rank where broadcast's bytes stay.
    """
    milliseconds = _milliseconds(timeout)
    with _library.Job() as job:
        job.share("barrier", name, milliseconds)


def nccl_unique_id(timeout: float = 300.0) -> bytes:
    """An ncclUniqueId (128 bytes), the same in all ranks, for one communicator of all of them.

    Rank 0 makes it, in this process and not before this call, with the libnccl that is loaded, or that the loader
    finds. Where it cannot, all ranks say why.
    """
    milliseconds = _milliseconds(timeout)
    with _library.Job() as job:
        buffer = ctypes.create_string_buffer(_ID_SIZE)
        job.call("nccl_unique_id", buffer, milliseconds)
        return buffer.raw


def nccl_unique_ids(count: int, timeout: float = 300.0) -> List[bytes]:
    """The count ids of one ncclCommInitRankScalable, the same in all ranks; each is made by the first of its ranks."""
    milliseconds, count = _milliseconds(timeout), operator.index(count)
    with _library.Job() as job:
        if not 1 <= count <= (job.number("world_size") or 1):
            raise ValueError("count is not 1 to the number of ranks")
        buffer = ctypes.create_string_buffer(_ID_SIZE * count)
        job.call("nccl_unique_ids", buffer, count, milliseconds)
        return [buffer.raw[i : i + _ID_SIZE] for i in range(0, _ID_SIZE * count, _ID_SIZE)]
