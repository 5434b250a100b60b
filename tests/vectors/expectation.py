#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""expectation.py - what `rollcall show --json` must answer to a recorded environment.

    expectation.py check ROLLCALL   compares its answer to every recording with what the recording expects
    expectation.py write ROLLCALL   writes its answers into the recordings: review them before you commit them
    expectation.py print            every expected answer as JSON, one a line, with the recording's name and truth

A recording (NAME.env, see `record`) has its expected answer in lines of its own:

    # expect LAUNCHER MODE rank=R/SIZE local=R/SIZE node=R/NODES job=JOB outer=JOB master=HOST:PORT by SOURCE
    # expect set NAME=VALUE         a variable that cannot be derived from the first line, or differs from that
    # expect absent NAME...         variables that can be derived and yet are not set
    # expect unset NAME...          variables that are removed
    # expect error|warning|note ID...   messages, in their order, without their text

"-" is no launcher; words that do not apply are left out. derive() alone knows which variables follow from the
first line, so that a change of every task's plan is a change of that function. The lines say all of an answer:
both directions, compact() and expand(), have to agree for each.
"""
import difflib
import json
import os
import re
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
MARK = "# expect "
LEVELS = ("error", "warning", "note")
KEPT = ("MASTER_ADDR", "MASTER_PORT")
# a word of the first line, and the two fields of the identity that it holds
FIELDS = {"rank": ("rank", "world_size"), "local": ("local_rank", "local_world_size"), "node": ("node_rank", "nnodes")}


def stamp(answer, job, outer, local=None):
    """ROLLCALL_SCOPE. local: the worker's LOCAL_RANK, where it is not the launcher's."""
    identity = answer["identity"]
    rank = identity["node_rank" if answer["mode"] == "launcher" else "rank"]
    text = f"{answer['launcher']}:{job}/{rank}/{answer['mode']}/{answer['master']['port']}"
    if answer["mode"] == "worker" and answer["launcher"] != "env":  # what the user has set is not told
        told = (rank, identity["world_size"], identity["local_rank"] if local is None else local,
                identity["local_world_size"], identity["node_rank"])
        text += " =" + "/".join(map(str, told))
    return text + (f" {outer}" if outer else "")


def derive(answer, job, outer, env, local=None):
    """What the plan of an answer sets as far as identity, master and job say it. A master that a task has is kept."""
    identity, master, mode = answer["identity"], answer["master"], answer["mode"]
    if mode not in ("worker", "launcher"):
        return {}
    if mode == "worker":
        values = {
            "RANK": identity["rank"], "WORLD_SIZE": identity["world_size"],
            "LOCAL_RANK": identity["local_rank"], "LOCAL_WORLD_SIZE": identity["local_world_size"],
            "NODE_RANK": identity["node_rank"],
            "GROUP_RANK": identity["node_rank"], "GROUP_WORLD_SIZE": identity["nnodes"],
        }
        if identity["nnodes"] is None:  # the launcher does not tell it
            del values["GROUP_WORLD_SIZE"]
    else:
        values = {
            "NODE_RANK": identity["node_rank"],
            "PET_NNODES": identity["nnodes"], "PET_NODE_RANK": identity["node_rank"],
            "PET_MASTER_ADDR": master["addr"], "PET_MASTER_PORT": master["port"],
            "PET_RDZV_ID": job, "PET_SIGNALS_TO_HANDLE": "SIGTERM,SIGINT,SIGHUP,SIGQUIT,SIGUSR1,SIGUSR2",
        }
        if identity["node_rank"] == 0:
            values["PET_RDZV_CONF"] = "is_host=1"
    values["MASTER_ADDR"], values["MASTER_PORT"] = master["addr"], master["port"]
    host = f"[{master['addr']}]" if ":" in master["addr"] else master["addr"]
    values["JAX_COORDINATOR_ADDRESS"] = f"{host}:{master['port'] + 1}"
    values["ROLLCALL_SCOPE"] = stamp(answer, job, outer, local)
    return {name: str(value) for name, value in values.items() if name not in KEPT or env.get(name) != str(value)}


def job_of(answer):
    """The words JOB and OUTER of an answer's stamp; None and None where it has none."""
    form = re.escape(stamp(answer, "JOB", None, answer["set"].get("LOCAL_RANK"))).replace("JOB", "(.+)", 1) + "(?: (.+))?"
    found = re.fullmatch(form, answer["set"].get("ROLLCALL_SCOPE", ""))
    return found.groups() if found else (None, None)


def compact(answer, env):
    """An answer as lines of a recording."""
    job, outer = job_of(answer)
    words = [answer["launcher"] or "-", answer["mode"]]
    for word, (rank, size) in FIELDS.items():
        if answer["identity"][rank] is not None:
            known = answer["identity"][size] is not None
            words.append(f"{word}={answer['identity'][rank]}/{answer['identity'][size] if known else '?'}")
    if job:
        words.append("job=" + job)
    if outer:
        words.append("outer=" + outer.replace(" ", ","))
    if answer["master"]["addr"] is not None:
        words.append("master={addr}:{port} by {source}".format(**answer["master"]))
    lines = [" ".join(words)]

    derived = derive(answer, job, outer, env, answer["set"].get("LOCAL_RANK"))
    lines += [f"set {name}={value}" for name, value in answer["set"].items() if derived.get(name) != value]
    absent = [name for name in derived if name not in answer["set"]]
    if absent:
        lines.append("absent " + " ".join(absent))
    if answer["unset"]:
        lines.append("unset " + " ".join(answer["unset"]))
    level = None
    for message in answer["messages"]:
        if message["level"] == level:
            lines[-1] += " " + message["id"]
        else:
            level = message["level"]
            lines.append(f"{level} {message['id']}")
    return lines


def read_first(line):
    """The first line's answer, with the stamp's words."""
    head, _, source = line.partition(" by ")
    launcher, mode, *words = head.split(" ")
    named = dict(word.split("=", 1) for word in words)
    identity = dict.fromkeys(("rank", "local_rank", "node_rank", "world_size", "local_world_size", "nnodes"))
    for word, fields in FIELDS.items():
        if word in named:
            identity.update(zip(fields, (None if number == "?" else int(number) for number in named.pop(word).split("/"))))
    master = dict.fromkeys(("addr", "port", "source"))
    if "master" in named:
        addr, _, port = named.pop("master").rpartition(":")
        master = {"addr": addr, "port": int(port), "source": source}
    job, outer = named.pop("job", None), named.pop("outer", "").replace(",", " ") or None
    if named:
        raise ValueError(f"unknown words: {', '.join(named)}")
    answer = {"schema": 1, "launcher": None if launcher == "-" else launcher, "mode": mode, "identity": identity,
              "master": master, "set": {}, "unset": [], "messages": []}
    return answer, job, outer


def expand(lines, env):
    """The lines of a recording as an answer."""
    answer, job, outer = read_first(lines[0])
    local = next((line.partition("=")[2] for line in lines if line.startswith("set LOCAL_RANK=")), None)
    answer["set"] = derive(answer, job, outer, env)
    if "ROLLCALL_SCOPE" in answer["set"]:
        answer["set"]["ROLLCALL_SCOPE"] = stamp(answer, job, outer, local)
    for line in lines[1:]:
        word, _, rest = line.partition(" ")
        if word == "set":
            name, _, value = rest.partition("=")
            answer["set"][name] = value
        elif word == "absent":
            for name in rest.split(" "):
                del answer["set"][name]
        elif word == "unset":
            answer["unset"] += rest.split(" ")
        elif word in LEVELS:
            answer["messages"] += [{"id": one, "level": word} for one in rest.split(" ")]
        else:
            raise ValueError(f"unknown line: {line}")
    return answer


class Recording:
    """NAME.env: its variables, the lines about its node, the options it is asked with, where it really was, what it expects."""

    def __init__(self, name):
        self.name = name
        self.path = os.path.join(FOLDER, name + ".env")
        with open(self.path, encoding="utf-8", errors="surrogateescape") as file:
            self.lines = file.read().splitlines()
        self.options, self.expected, self.node, self.env = [], [], [], {}
        self.truth = None
        key = None
        for line in self.lines:
            if line.startswith(MARK):
                self.expected.append(line[len(MARK):])
            elif line.startswith("# rollcall show "):
                self.options = line.split()[3:]
            elif found := re.fullmatch(r"# rank (\d+) of (\S+) on (\S+)", line):
                self.truth = {"rank": int(found[1]), "job": found[2], "host": found[3]}
            elif line.startswith("@"):
                self.node.append(line)
            elif "=" in line and not line.startswith("#"):
                key, _, value = line.partition("=")
                self.env[key] = value
            elif key and line and not line.startswith("#"):
                self.env[key] += "\n" + line  # a value of several lines

    def answer(self):
        """What it expects, as `rollcall show --json` says it."""
        return expand(self.expected, self.env)

    def ask(self, command):
        """What `command` answers, without the messages' text."""
        done = subprocess.run([command, "show", "--json", "--from", self.path, *self.options],
                              stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode not in (0, 1):
            raise ValueError(f"rollcall show ends with {done.returncode}")
        answer = json.loads(done.stdout)
        for message in answer["messages"]:
            del message["text"]
        return answer

    def write(self, expected):
        """The file anew, its expectation below its first comments."""
        lines = [line for line in self.lines if not line.startswith(MARK)]
        head = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
        lines[head:head] = [MARK + line for line in expected]
        with open(self.path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.writelines(line + "\n" for line in lines)


def recordings():
    """All of this folder."""
    return [Recording(name[:-4]) for name in sorted(os.listdir(FOLDER)) if name.endswith(".env")]


def compare(recording, command, renew):
    """Why a recording is not answered as it expects; "" where it is."""
    answer = recording.ask(command)
    lines = compact(answer, recording.env)
    again = expand(lines, recording.env)
    if again != answer:
        return f"expectation.py cannot write this answer:\n{json.dumps(answer)}\nit reads:\n{json.dumps(again)}\n"
    if renew:
        recording.write(lines)
    elif lines != recording.expected:
        return "\n".join(difflib.unified_diff(recording.expected, lines, "expected", "answered", lineterm="")) + "\n"
    return ""


def main(what, command=None):
    """The exit status."""
    failed = 0
    for recording in recordings():
        if what == "print":
            print(json.dumps({"name": recording.name, "truth": recording.truth, **recording.answer()}))
            continue
        try:
            difference = compare(recording, command, what == "write")
        except (ValueError, KeyError, TypeError) as error:
            difference = f"{error!r}\n"
        if difference:
            failed = 1
            print(f"{recording.name}:\n{difference}")
    return failed


if __name__ == "__main__":
    if len(sys.argv) < 2 or (sys.argv[1], len(sys.argv)) not in (("check", 3), ("write", 3), ("print", 2)):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
