#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""expectation.py - what `rollcall show --json` must answer to a recorded environment.

    expectation.py check ROLLCALL   compares its answer to every recording with what the recording expects
    expectation.py write ROLLCALL   writes its answers into the recordings: review them before you commit them
    expectation.py print            every expected answer as JSON, one a line, with the recording's name

A recording (recordings.py) has its expected answer in lines of its own:

    # expect LAUNCHER MODE rank=R/SIZE local=R/SIZE node=R/NODES job=JOB outer=JOB master=HOST:PORT by SOURCE
    # expect set NAME=VALUE...      variables that cannot be derived from the first line, or differ from that
    # expect absent NAME...         variables that can be derived and yet are not set
    # expect unset NAME...          variables that are removed
    # expect error|warning|note ID...   messages, in their order, without their text

"-" is no launcher; words that do not apply are left out. derive() alone knows which variables follow from the
first line, so that a change of every task's plan is a change of that function. The lines say all of an answer:
both directions, compact() and expand(), have to agree for each.

Lines that the tasks of a job share are at the head of its file, those of a host's tasks below "# on HOST". If all of
the job's tasks are recorded, a first line at the head lacks rank=, local= and node=, which follow from where they were;
nodes=? says that the launcher does not tell how many nodes there are. Otherwise the head has the first line that most
have, and the others have one of their own.
"""
import collections
import difflib
import json
import re
import subprocess
import sys

import recordings

LEVELS = ("error", "warning", "note")
NODES_UNKNOWN = "nodes=?"
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


def is_first(line):
    """Whether a line is the first one of an expectation."""
    return line.partition(" ")[0] not in ("set", "absent", "unset", *LEVELS)


def placed(first, recording):
    """A shared first line, with what follows from where this task was."""
    launcher, mode, *rest = first.split(" ")
    nodes = recording.nodes
    if rest[:1] == [NODES_UNKNOWN]:
        nodes, rest = "?", rest[1:]
    where = [f"node={recording.node_rank}/{nodes}"] if mode in ("worker", "torchrun", "launcher") else []
    if mode in ("worker", "torchrun"):
        where[:0] = [f"rank={recording.rank}/{recording.size}", f"local={recording.local_rank}/{recording.local_size}"]
    return " ".join([launcher, mode, *where, *rest])


def lines_of(recording):
    """All lines of what a recording expects."""
    firsts = [line for line in [*recording.expected, *recording.shared_expected] if is_first(line)]
    lines = [line for line in [*recording.shared_expected, *recording.expected] if not is_first(line)]
    if recording.size and firsts[0] in recording.shared_expected:
        firsts[0] = placed(firsts[0], recording)
    return [firsts[0], *lines]


def answer_of(recording):
    """What a recording expects, as `rollcall show --json` says it."""
    return expand(lines_of(recording), recording.env)


def alike(words, per_task):
    """The lines with these words, if all tasks have the same ones in the same order."""
    of_words = [[line for line in lines if line.partition(" ")[0] in words] for lines in per_task]
    return of_words[0] if all(lines == of_words[0] for lines in of_words) else []


def shared_first(job, firsts):
    """The first line that all tasks of a job can share; None where there is none."""
    if not job[0].size:
        first, count = collections.Counter(firsts).most_common(1)[0]
        return first if count > 1 else None
    launcher, mode, *rest = re.sub(r" (rank|local|node)=\S+", "", firsts[0]).split(" ")
    for unknown in ([], [NODES_UNKNOWN]):
        first = " ".join([launcher, mode, *unknown, *rest])
        if firsts == [placed(first, recording) for recording in job]:
            return first
    return None


def share(per_task):
    """Splits lines that tasks expect: those that all have, and each one's others."""
    shared = [line for line in per_task[0]
              if line.startswith(("set ", "absent ")) and all(line in lines for lines in per_task)]
    shared += alike(("unset",), per_task) + alike(LEVELS, per_task)
    return shared, [[line for line in lines if line not in shared] for lines in per_task]


def ask(recording, command):
    """What `command` answers, without the messages' text."""
    done = subprocess.run([command, "show", "--json", "--from", "-", *recording.options], stdout=subprocess.PIPE,
                          input=recording.text(), text=True, encoding="utf-8", errors="surrogateescape", check=False)
    if done.returncode not in (0, 1):
        raise ValueError(f"rollcall show ends with {done.returncode}")
    answer = json.loads(done.stdout)
    for message in answer["messages"]:
        del message["text"]
    return answer


def asked_lines(recording, command):
    """What `command` answers, as lines."""
    answer = ask(recording, command)
    lines = compact(answer, recording.env)
    again = expand(lines, recording.env)
    if again != answer:
        raise ValueError(f"these lines do not say all of the answer:\n{json.dumps(answer)}\nthey say:\n{json.dumps(again)}")
    return lines


def write(path, command):
    """The answers of a file's recordings as what they expect."""
    job = recordings.read(path)
    own = [asked_lines(recording, command) for recording in job]
    shared, first, on = [], None, {}
    if len(job) > 1:
        if first := shared_first(job, [lines[0] for lines in own]):
            own = [lines[1:] if recording.size or lines[0] == first else lines for recording, lines in zip(job, own)]
        shared, own = share(own)
    for recording, lines in zip(job, own):
        recording.expected = lines
    for host, tasks in recordings.of_hosts(job).items():
        on[host], own = share([task.expected for task in tasks])
        for task, lines in zip(tasks, own):
            task.expected = lines
    recordings.write(path, job, [*([first] if first else []), *shared], on)


def check(path, command):
    """Why recordings of a file are not answered as they expect; nothing where they are."""
    for recording in recordings.read(path):
        expected, answered = answer_of(recording), asked_lines(recording, command)
        if expected != expand(answered, recording.env):
            lines = compact(expected, recording.env)
            yield from difflib.unified_diff(lines, answered, f"{recording.name} expected", "answered", lineterm="")


def main(what, command=None):
    """The exit status."""
    failed = 0
    for path in recordings.paths():
        try:
            if what == "print":
                for recording in recordings.read(path):
                    print(json.dumps({"name": recording.name, **answer_of(recording)}))
            elif what == "write":
                write(path, command)
            else:
                for line in check(path, command):
                    failed = 1
                    print(line)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            failed = 1
            print(f"{path}: {error!r}")
    return failed


if __name__ == "__main__":
    if len(sys.argv) < 2 or (sys.argv[1], len(sys.argv)) not in (("check", 3), ("write", 3), ("print", 2)):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
