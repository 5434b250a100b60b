# SPDX-License-Identifier: BSD-3-Clause
"""System calls and allocations that fail, one at a time: nothing hangs, nothing crashes, nobody has a wrong identity.

Of the programs that speak with others, which takes longer, some of them by default, and each with --all.
"""
import collections
import os
import re
import shlex
import subprocess

import pytest

from programs import PROGRAMS

HERE = os.path.dirname(os.path.abspath(__file__))
ALL = os.environ.get("ROLLCALL_ALL") == "yes"
SLOW = [name for name in PROGRAMS if "node" in name or "server" in name]
ERRORS = {
    "openat": "EMFILE", "open": "EMFILE", "read": "EIO", "pread64": "EIO", "write": "ENOSPC", "mmap": "ENOMEM",
    "mprotect": "ENOMEM", "munmap": "ENOMEM", "socket": "EMFILE", "connect": "ECONNREFUSED",
    "bind": "EACCES", "listen": "EADDRINUSE", "accept4": "EMFILE", "clone": "EAGAIN", "clone3": "EAGAIN",
    "vfork": "EAGAIN", "pipe2": "EMFILE", "fcntl": "EMFILE", "getrandom": "ENOSYS", "epoll_create1": "EMFILE",
    "timerfd_create": "EMFILE",
}
# these are told apart from a failure
INTERRUPTED = ("read", "write", "poll", "ppoll", "connect", "accept4", "epoll_wait", "wait4", "waitid")
# What ends a program cannot fail; where brk or futex does, the C library itself ends the program; and Linux closes a
# descriptor whatever close says, which a call that is left out does not.
LEFT_OUT = {"brk", "close", "exit", "exit_group", "futex", "rt_sigreturn", "restart_syscall", "arch_prctl",
            "set_tid_address", "set_robust_list"}


def whole(name, wrap=()):
    """What it says where nothing fails. On a busy machine a node may come too late to meet the other."""
    for _ in range(10):
        outcome = PROGRAMS[name](list(wrap), {})
        if outcome.status == 0 and outcome.identity():
            return outcome.identity()
    raise AssertionError(f"{name}: {outcome}")


def calls_of(name, folder):
    """[(system call, which one of these in its process, whether the loader makes it)]"""
    trace = folder / "trace"
    whole(name, ["strace", "-f", "-qq", "-o", str(trace)])
    count, loads, calls = collections.Counter(), {}, set()
    for line in trace.read_text(errors="replace").splitlines():
        if not (match := re.match(r"(\d+) +([a-z_0-9]+)\(", line)):
            continue
        pid, call = match.groups()
        count[pid, call] += 1
        # glibc's loader begins with the program, and asks for the stack's limit when it is done
        loads[pid] = call == "execve" or (loads.get(pid, False) and call != "prlimit64")
        if call not in LEFT_OUT and (call, count[pid, call]) != ("execve", 1):
            calls.add((call, count[pid, call], loads[pid] and call != "execve"))
    return sorted(calls)


def find_fault(name, right, outcome, by_loader=False):
    """None, or what must not be. The loader may crash where it gets no memory, before anything of ours runs."""
    got = outcome.identity()
    wrong = {key: value for key, value in got.items() if value != right[key]}
    if outcome.status is None:
        return "it hangs"
    if outcome.strange:
        return f"beside it: {outcome.strange}"
    if (outcome.status < 0 or outcome.status >= 128) and not by_loader:
        return f"it is ended by a signal, status {outcome.status}"
    if wrong:
        return f"a wrong identity: {wrong}"
    if outcome.status != 0:
        return None
    if got != right and not (got == {} and not name.startswith(("exec", "show"))):
        return f"status 0 with a part of the identity: {got}"
    return None


def report(faults, count):
    assert count > 0
    assert not faults, f"{len(faults)} of {count}: " + "\n".join(faults[:20])


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    library = tmp_path_factory.mktemp("failing") / "failing.so"
    subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror",
                    "-o", library, f"{HERE}/failing.c"], check=True)
    return str(library)


@pytest.mark.parametrize("name", PROGRAMS)
def test_system_calls(name, tmp_path):
    right = whole(name)
    faults, count = [], 0
    cases = [(call, n, error, by_loader) for call, n, by_loader in calls_of(name, tmp_path)
             for error in [ERRORS.get(call, "EPERM")] + ["EINTR"] * (call in INTERRUPTED)]
    for call, n, error, by_loader in cases[::12 if name in SLOW and not ALL else 1]:
        inject = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={call}:error={error}:when={n}"]
        fault = find_fault(name, right, PROGRAMS[name](inject, {}), by_loader)
        count += 1
        if fault:
            faults.append(f"{call} {n}, {error}: {fault}")
    report(faults, count)


# The preload allocates nothing.
@pytest.mark.parametrize("name", [name for name in PROGRAMS if "preload" not in name])
def test_allocations(name, failing, tmp_path):
    right = whole(name)
    counted = tmp_path / "count"
    PROGRAMS[name]([], {"LD_PRELOAD": failing, "FAIL_AT": "0", "FAIL_COUNT": str(counted)})
    most = int(counted.read_text()) if counted.exists() else 64
    faults, count = [], 0
    for n in range(1, most + 1, 3 if name in SLOW and not ALL else 1):
        fault = find_fault(name, right, PROGRAMS[name]([], {"LD_PRELOAD": failing, "FAIL_AT": str(n)}))
        count += 1
        if fault:
            faults.append(f"allocation {n}: {fault}")
    report(faults, count)
