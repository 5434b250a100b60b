# SPDX-License-Identifier: BSD-3-Clause
"""The C core behind a pipe: many requests, one process."""

import fcntl
import json
import os
import signal
import subprocess
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 120  # seconds for one call of ask(): a program that takes longer has no end


def program(name):
    """A program of this folder: from ORACLE_BIN, or from a build below the source tree."""
    release = os.path.join(HERE, "../../build/release/tests/oracle")
    for folder in (os.environ.get("ORACLE_BIN"), release, HERE, os.path.join(os.getcwd(), "tests", "oracle")):
        if folder and os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    raise FileNotFoundError(f"{name}: not built; make check-oracle-programs builds it, ORACLE_BIN names its folder")


def encode(text):
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def strings(values):
    if values is None:
        return [b"-"]
    return [str(len(values)).encode(), *map(encode, values)]


def request(env, argv=None, options=None, pid=0, flags="", more=()):
    """The bytes of one request; env is a dict, a list of entries, or None; more: entries that may come twice."""
    if isinstance(env, dict):
        try:  # nearly always, and much faster
            fields = ["-" if options is None else options, str(pid), flags,
                      *(("-",) if argv is None else (str(len(argv)), *argv)), str(len(env) + len(more)),
                      *(name + "=" + value for name, value in env.items()), *more, ""]
            text = "\0".join(fields)
            assert text.count("\0") == len(fields) - 1
            return text.encode("utf-8", "surrogateescape")
        except TypeError:
            pass
        env = [*(encode(name) + b"=" + encode(value) for name, value in env.items()), *more]
    fields = [encode("-" if options is None else options), str(pid).encode(), flags.encode(),
              *strings(argv), *strings(env)]
    assert not any(b"\0" in f for f in fields)
    return b"\0".join(fields) + b"\0"


class Stream:
    """A filter program that answers each request with one line."""

    def __init__(self, name):
        self.process = subprocess.Popen([program(name)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        # in bytes, also where each write leaves most of a page empty
        self.pipe_holds = fcntl.fcntl(self.process.stdin, fcntl.F_GETPIPE_SZ) // 2

    def ask(self, requests):
        """One answer for each request; an answer that is missing tells which request ended the program."""
        requests = list(requests)
        signal.signal(signal.SIGALRM, lambda *_: self.process.kill())
        signal.alarm(LIMIT)
        try:
            return self.answers(requests)
        finally:
            signal.alarm(0)

    def answers(self, requests):
        # a thread that writes while this one reads; what the pipe holds needs none
        if sum(map(len, requests)) <= self.pipe_holds:
            self.write(requests)
            return [self.answer(sent) for sent in requests]
        writer = threading.Thread(target=self.write, args=(requests,))
        writer.start()
        try:
            return [self.answer(sent) for sent in requests]
        finally:
            writer.join()

    def write(self, requests):
        try:
            for i in range(0, len(requests), 64):
                self.process.stdin.write(b"".join(requests[i:i + 64]))
            self.process.stdin.flush()
        except BrokenPipeError:  # the answer that does not come says it
            pass

    def answer(self, sent):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the core died (status {self.process.wait()}) of {sent[:2000]!r}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def apply(env, answer):
    """The environment afterwards: what the plugin, exec or the shim make of the plan."""
    after = dict(env)
    for action, name, value, _, _ in answer["plan"]:
        if action == "set":
            after[name] = value
        elif action == "unset":
            after.pop(name, None)
    return after


def ids(answer):
    return {message[0] for message in answer["messages"]}
