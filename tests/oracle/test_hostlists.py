# SPDX-License-Identifier: BSD-3-Clause
"""lib/launcher/hostlist.c against Slurm itself: scontrol show hostnames, one scontrol for all lists."""

import os
import re
import shutil
import subprocess

import pytest

import hostile
import names
from conftest import generator

LISTS = 600

GOOD = ["n", "n1", "n[1-3]", "n[001-010]", "n[9-11]", "b04-[09-10]", "a[1,3-4],b7,c", "rack[1-2]n[1-4]", "host.with.dots",
        "n[1-2],n[1-2]", "r[1-2]i[0-1]c[08-11]", "n[01-03,7],login1", "n[5]", "x[0-1]y[0-1]z[0-1]"]


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    """A function from lists to Slurm's answers: a list of names, or None."""
    scontrol = shutil.which("scontrol")
    assert scontrol, "scontrol is not there: install Slurm's client programs (Debian: slurm-client)"
    conf = tmp_path_factory.mktemp("slurm") / "slurm.conf"
    conf.write_text("ClusterName=x\nSlurmctldHost=localhost\n")

    def ask(lists):
        # a mark after each list, because an invalid one prints nothing on standard output
        commands = "".join(f"show hostnames {text}\nshow hostnames MARK{i}\n" for i, text in enumerate(lists))
        env = {**os.environ, "SLURM_CONF": str(conf), "TERM": "dumb", "COLUMNS": "30000"}
        done = subprocess.run([scontrol], input=commands, capture_output=True, text=True, env=env, timeout=60)
        answers, now = [], []
        for line in done.stdout.splitlines():
            if line.startswith("scontrol:") or " show hostnames " in line:
                continue
            if line.startswith("MARK"):
                answers.append(now or None)
                now = []
            elif line.strip():
                now.append(line.strip())
        assert len(answers) == len(lists), done.stderr[-2000:]
        return answers

    return ask


def ours(hostlists, lists):
    answers = hostlists.ask(text.encode() + b"\0" for text in lists)
    return [None if a is None else a[1:] for a in answers], [a and a[0] for a in answers]


def random_list(rng):
    """Any grammar that Slurm has, not only what it writes itself."""
    parts = []
    for _ in range(rng.randint(1, 4)):
        prefix = rng.choice(("n", "node", "b04-", "rack1n", "gpu-a", "x.y", "N", "a_b"))
        digits = rng.choice((1, 1, 2, 3))
        ranges = []
        for _ in range(rng.randint(1, 4)):
            first = rng.randint(0, 10 ** digits - 1)
            last = first + rng.choice((0, 0, 1, 2, 5, 12))
            width = rng.choice((0, 0, digits, 3))
            ranges.append(f"{first:0{width}d}" if last == first else f"{first:0{width}d}-{last:0{width}d}")
        pick = rng.random()
        if pick < 0.2:
            parts.append(prefix + ranges[0].split("-")[0])
        elif pick < 0.3:
            parts.append(prefix.rstrip("-"))
        elif pick < 0.5:
            second = f"[{rng.randint(0, 1)}-{rng.randint(1, 4)}]"
            parts.append(f"{prefix}[{ranges[0]}]c{second}")
        else:
            parts.append(f"{prefix}[{','.join(ranges)}]")
    return ",".join(parts)


def test_lists_as_slurm_reads_them(hostlists, slurm):
    rng = generator("hostlists")
    lists = GOOD + [random_list(rng) for _ in range(LISTS)]
    lists += [names.compress(names.order(names.make(rng, rng.randint(1, 40)))) for _ in range(200)]
    lists += [text for text in (names.odometer(names.make(rng, 16, "rack")) for _ in range(5)) if text]
    theirs = slurm(lists)
    mine, counts = ours(hostlists, lists)
    differ = [(text, a, b) for text, a, b in zip(lists, mine, theirs) if a != b]
    assert not differ, f"{len(differ)} of {len(lists)}: {differ[:5]}"
    assert all(count == len(found) for count, found in zip(counts, mine) if found)
    assert sum(found is not None for found in mine) > LISTS


def test_names_as_slurm_compresses_them(hostlists):
    """What Slurm writes is read back: the generator's host names, compressed and expanded again."""
    rng = generator("compressed")
    whole = [names.order(names.make(rng, rng.randint(1, 64))) for _ in range(300)]
    mine, _ = ours(hostlists, [names.compress(hosts) for hosts in whole])
    assert mine == whole


def test_invalid_lists(hostlists, slurm):
    """Slurm takes more than we do, and what both take means the same.

    What follows a bracket without one of its own, as in n[1-2]-ib, is Slurm's from 24.11 on; 22.05 refuses it.
    """
    lists = [v for v in hostile.LISTS + hostile.COUNTS if len(v) < 500 and not set(v) & set(" \n\t;#\"'()")
             and v.isascii() and v.count("-") < 6 and "999999999" not in v and "65535" not in v and "184467" not in v]
    lists = [text for text in lists if not text.startswith(",") and "," * 2 not in text]
    mine, _ = ours(hostlists, lists)
    theirs = slurm(lists)
    for text, a, b in zip(lists, mine, theirs):
        assert a is None or a == b or (b is None and re.search(r"\][^][,]+(,|$)", text)), (text, a, b)
