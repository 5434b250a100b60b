#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""inputs.py - what the harnesses begin with.

    inputs.py unpack FOLDER        writes FOLDER/NAME/* for each harness: its corpus and seeds; removes what was there
    inputs.py dictionary FILE      names and words of the launchers' tables and of the recordings, for libFuzzer
    inputs.py pack NAME FOLDER     makes tests/fuzz/corpus/NAME of the files of a folder, a minimised corpus

tests/fuzz/corpus/NAME has an input a line, with escapes as in Python's bytes (\\n, \\x00, \\\\). A line that begins
with # is a comment: what an input was found with. Recordings, topologies and values of recorded variables are seeds
as well; they are made here, and not stored twice.
"""
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
LARGEST = 65536

sys.path.append(os.path.join(TESTS, "vectors"))
import recordings as vectors

# The reader of fuzz_parsers that a variable's value is for.
READERS = [
    (r".*NODELIST.*|SLURM_NODE_ALIASES", b"h"), (r".*TASKS_PER_NODE|SLURM_JOB_CPUS_PER_NODE", b"t"),
    (r"PMI_process_mapping|SLURM_PMIX_MAPPING_SERV", b"m8 2 0\n"), (r"@host-file|LSB_.*HOSTS", b"f"),
    (r"OMPI_MCA_orte_node_regex|PRTE_MCA.*regex", b"o1\n"), (r"@ancestor", b"P"), (r".*VISIBLE_DEVICES.*", b"g"),
    (r"ROLLCALL_SCOPE", b"S"), (r"ROLLCALL", b"O"), (r"ROLLCALL_PINS|.*CPU_BIND_LIST", b"c"), (r".*ADDR.*", b"n"),
]


def unescape(line):
    return re.sub(rb"\\(x[0-9a-f]{2}|[n\\])",
                  lambda m: {b"n": b"\n", b"\\": b"\\"}.get(m.group(1)) or bytes([int(m.group(1)[1:], 16)]), line)


def escape(data):
    text = re.sub(rb"[^\x20-\x7e]|\\", lambda m: {b"\n": b"\\n", b"\\": b"\\\\"}.get(m.group(0))
                  or b"\\x%02x" % m.group(0)[0], data)
    return b"\\x23" + text[1:] if text.startswith(b"#") else text


def corpus(name):
    path = os.path.join(HERE, "corpus", name)
    if not os.path.exists(path):
        return []
    with open(path, "rb") as file:
        return [unescape(line) for line in file.read().split(b"\n")[:-1] if not line.startswith(b"#")]


def recordings():
    for recording in vectors.recordings():
        yield recording.text().encode("utf-8", "surrogateescape")


def topologies():
    machines = [sys.executable, os.path.join(TESTS, "cli", "topologies", "machines.py")]
    for name in subprocess.check_output(machines + ["--list"], text=True).split():
        yield b"4\n" + subprocess.check_output(machines + [name])


def values():
    """The values of recorded variables, for the readers alone."""
    for recording in recordings():
        for name, value in re.findall(rb"(?m)^([@\w-]+)=(.+)$", recording):
            for pattern, reader in READERS:
                if re.fullmatch(pattern, name.decode()):
                    yield reader + value
                    break


def call_lines(recording):
    """Of `# rollcall show --ddp=OPTIONS -- COMMAND`: what fuzz_resolve reads of the call."""
    call = re.search(rb"(?m)^# rollcall show(?: --ddp=(\S+))?(?: -- (.+))?$", recording)
    return b"".join(b"!%s=%s\n" % (name, text) for name, text in zip((b"ddp", b"argv"), call.groups() if call else ())
                    if text)


def blocks():
    for recording in recordings():
        yield call_lines(recording) + re.sub(rb"(?m)^#.*\n", b"", recording)


SEEDS = {"resolve": blocks, "from": recordings, "parsers": values, "map": topologies}


def unpack(folder):
    for source in sorted(glob.glob(os.path.join(HERE, "fuzz_*.c"))):
        name = os.path.basename(source)[len("fuzz_"):-len(".c")]
        to = os.path.join(folder, name)
        shutil.rmtree(to, ignore_errors=True)
        os.makedirs(to)
        for data in corpus(name) + list(SEEDS.get(name, list)()):
            if len(data) <= LARGEST:
                with open(os.path.join(to, hashlib.sha1(data).hexdigest()), "wb") as file:
                    file.write(data)


def dictionary(path):
    words = set()
    for folder in ("lib/launcher", "lib/resolve", "lib/base", "lib/roll", "lib/rendezvous"):
        for source in glob.glob(os.path.join(os.path.dirname(TESTS), folder, "*.[chd]*")):
            with open(source, encoding="utf-8") as file:
                words.update(re.findall(r'"([A-Za-z@!][\w.:/=-]{1,40})"', file.read()))
    for recording in recordings():
        words.update(name.decode() for name in re.findall(rb"(?m)^([@\w-]+=)", recording))
    with open(path, "w", encoding="utf-8") as file:
        file.writelines('"%s"\n' % word for word in sorted(words))


def pack(name, folder):
    path = os.path.join(HERE, "corpus", name)
    lines = set()
    kept = []
    known = {bytes(data) for data in SEEDS.get(name, list)()}
    if os.path.exists(path):
        with open(path, "rb") as file:
            kept = file.read().split(b"\n")[:-1]
    for entry in os.scandir(folder):
        with open(entry.path, "rb") as file:
            data = file.read()
        if data not in known and escape(data) not in kept:
            lines.add(escape(data))
    with open(path, "wb") as file:
        file.write(b"".join(line + b"\n" for line in kept + sorted(lines)))


if __name__ == "__main__":
    {"unpack": unpack, "dictionary": dictionary, "pack": pack}[sys.argv[1]](*sys.argv[2:])
