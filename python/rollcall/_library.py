# SPDX-License-Identifier: BSD-3-Clause
"""The C library librollcall in ctypes: where it is, its functions and structs, and what they become in Python."""

from __future__ import annotations

import _thread
import ctypes
import functools
import glob
import os
import shutil
import threading
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

# The way to the library, of a module that was installed with it; a wheel's knows none.
_FROM_HERE = "@library_from_python@"
_NAME = "librollcall.so.0"
_INVALID, _TIMEOUT = 2, 4


class Error(RuntimeError):
    """What librollcall says went wrong, in one line; rollcall(7) explains the id that it begins with.

    code is one of enum rollcall_error_code in rollcall.h.
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code

    def __reduce__(self) -> Tuple[Any, ...]:
        """For pickle: a pool of processes hands on what its workers raise."""
        return type(self), (self.code, str(self))


class Timeout(Error, TimeoutError):
    """Another rank has not made the call in time."""


class Identity(NamedTuple):
    """Who this process is. None is what is not known, or not meant: a process without a launcher has no rank."""

    rank: Optional[int]
    world_size: Optional[int]
    local_rank: Optional[int]
    local_world_size: Optional[int]
    node_rank: Optional[int]
    nnodes: Optional[int]
    master_addr: Optional[str]
    master_port: Optional[int]
    launcher: Optional[str]
    mode: str


class Message(NamedTuple):
    """A warning or a note; rollcall(7) explains its id."""

    id: str
    level: str
    text: str


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 512)]


class _Variable(ctypes.Structure):
    _fields_ = [("action", ctypes.c_int), ("name", ctypes.c_char_p), ("value", ctypes.c_char_p),
                ("source", ctypes.c_char_p), ("reason", ctypes.c_char_p)]


class _Message(ctypes.Structure):
    _fields_ = [("id", ctypes.c_char_p), ("level", ctypes.c_int), ("text", ctypes.c_char_p)]


def _find() -> ctypes.CDLL:
    """The library of the same installation, else the one that the loader finds, else that of the command in PATH."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), _FROM_HERE, _NAME)
    if os.path.exists(beside):
        return ctypes.CDLL(beside)
    names, reason = [_NAME], ""
    command = shutil.which("rollcall")
    if command is not None:
        prefix = glob.escape(os.path.dirname(os.path.dirname(os.path.realpath(command))))
        for folder in ("lib", "lib64", "lib/*-linux-*"):
            names += sorted(glob.glob(os.path.join(prefix, folder, _NAME)))
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            reason = str(error)
    raise ImportError(
        f"{_NAME}, the C library that this module speaks to, was not found ({reason}): install rollcall itself "
        f"(Debian: librollcall0), put the folder of its command rollcall on PATH, or that of {_NAME} on LD_LIBRARY_PATH"
    )


@functools.lru_cache(maxsize=None)
def load() -> ctypes.CDLL:
    library = _find()
    job, error, text, number = ctypes.c_void_p, ctypes.POINTER(_Error), ctypes.c_char_p, ctypes.c_int
    size, buffer = ctypes.c_size_t, ctypes.c_void_p
    numbers = ("rank", "world_size", "local_rank", "local_world_size", "node_rank", "nnodes", "master_port", "mode")
    functions: Dict[str, Tuple[Any, List[Any]]] = {
        **{name: (number, [job]) for name in numbers},
        **{name: (text, [job]) for name in ("master_addr", "launcher")},
        **{name: (size, [job]) for name in ("variable_count", "message_count")},
        "variable_at": (ctypes.POINTER(_Variable), [job, size]),
        "message_at": (ctypes.POINTER(_Message), [job, size]),
        "version": (text, []),
        "mode_name": (text, [number]),
        "create": (number, [ctypes.c_void_p, ctypes.POINTER(job), error]),
        "destroy": (None, [job]),
        "hold_port": (number, [job, ctypes.POINTER(number), error]),
        "broadcast": (number, [job, text, buffer, size, number, number, error]),
        "allgather": (number, [job, text, text, size, buffer, number, error]),
        "barrier": (number, [job, text, number, error]),
        "nccl_unique_id": (number, [job, buffer, number, error]),
        "nccl_unique_ids": (number, [job, buffer, number, number, error]),
    }
    for name, (result, arguments) in functions.items():
        getattr(library, "rollcall_" + name).restype = result
        getattr(library, "rollcall_" + name).argtypes = arguments
    return library


def _check(result: int, error: _Error) -> None:
    if result < 0:
        raise (Timeout if error.code == _TIMEOUT else Error)(error.code, error.text.decode("ascii", "replace"))


def _interruptible(call: Callable[[], int]) -> int:
    """Calls it in a thread if this is the main one: Python runs signal handlers there, but not during a call of C.

    If a handler raises, the thread ends with the call, or with the process. The lock is C's: if a handler raises inside
    of threading.Event.wait, which Thread.start calls too, RuntimeError can replace that (release unlocked lock).
    """
    results: List[int] = []
    failures: List[BaseException] = []
    running = threading.Lock()

    def run() -> None:
        try:
            results.append(call())
        except BaseException as failure:
            failures.append(failure)
        running.release()

    if threading.current_thread() is not threading.main_thread():
        return call()
    running.acquire()
    try:
        _thread.start_new_thread(run, ())
    except RuntimeError:  # no more threads, or the interpreter ends
        return call()
    # a signal that another thread receives does not end the wait
    while not running.acquire(timeout=0.1):
        pass
    if failures:
        raise failures[0]
    return results[0]


class Job:
    """A struct rollcall of the environment as it is now."""

    def __init__(self) -> None:
        self.pointer = ctypes.c_void_p()
        self.library = load()

    def __enter__(self) -> Job:
        error = _Error()
        _check(self.library.rollcall_create(None, ctypes.byref(self.pointer), ctypes.byref(error)), error)
        return self

    def __exit__(self, *_: object) -> None:
        self.library.rollcall_destroy(self.pointer)

    def number(self, name: str) -> Optional[int]:
        value: int = getattr(self.library, "rollcall_" + name)(self.pointer)
        return None if value < 0 else value

    def text(self, name: str) -> Optional[str]:
        value: Optional[bytes] = getattr(self.library, "rollcall_" + name)(self.pointer)
        return None if value is None else value.decode()

    def call(self, name: str, *arguments: object) -> None:
        error, pointer = _Error(), self.pointer
        # of a call that is interrupted the thread still uses the struct, which is never freed then
        self.pointer = ctypes.c_void_p()
        function = getattr(self.library, "rollcall_" + name)
        result = _interruptible(lambda: function(pointer, *arguments, ctypes.byref(error)))
        self.pointer = pointer
        _check(result, error)

    def share(self, name: str, key: str, *arguments: object) -> None:
        """call() for what has a name of the user's, which C would read up to a NUL."""
        if "\0" in key:
            raise Error(_INVALID, f"rollcall_{name}: a name has 1 to 64 letters, digits and . _ -")
        self.call(name, key.encode(), *arguments)

    def identity(self) -> Identity:
        mode: bytes = self.library.rollcall_mode_name(self.library.rollcall_mode(self.pointer))
        return Identity(
            rank=self.number("rank"),
            world_size=self.number("world_size"),
            local_rank=self.number("local_rank"),
            local_world_size=self.number("local_world_size"),
            node_rank=self.number("node_rank"),
            nnodes=self.number("nnodes"),
            master_addr=self.text("master_addr"),
            master_port=self.number("master_port"),
            launcher=self.text("launcher"),
            mode=mode.decode(),
        )

    def variables(self) -> List[Tuple[str, str, Optional[str]]]:
        """set, unset or keep; name, value: in the library's order."""
        found = []
        for index in range(self.library.rollcall_variable_count(self.pointer)):
            one = self.library.rollcall_variable_at(self.pointer, index).contents
            action = ("set", "unset", "keep")[one.action]
            value = None if one.value is None else os.fsdecode(one.value)
            found.append((action, one.name.decode(), value))
        return found

    def messages(self) -> Tuple[Message, ...]:
        found = []
        for index in range(self.library.rollcall_message_count(self.pointer)):
            one = self.library.rollcall_message_at(self.pointer, index).contents
            found.append(Message(one.id.decode(), ("note", "warning")[one.level], one.text.decode("ascii", "replace")))
        return tuple(found)


# a pickle or a traceback names the package, which is where users find them
for _public in (Error, Timeout, Identity, Message):
    _public.__module__ = "rollcall"
