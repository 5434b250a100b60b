# SPDX-License-Identifier: BSD-3-Clause
"""addr=: what it changes in random launches, and that it changes nothing else."""

import ipaddress

import pytest

from conftest import generator
from layouts import slurm_launch
from mpi import openmpi_launch
from stream import apply, request

SUFFIXES = ["-ib", ".hsn", "-ib.fabric.test", "-0", ".a.b.c"]


def with_suffix(host, suffix):
    label, dot, domain = host.partition(".")
    return label + suffix + (dot + domain if "." not in suffix else "")


def ask(core, launch, addr):
    options = launch.options
    if addr:
        options = f"{options},addr={addr}" if options else f"addr={addr}"
    return core.ask(request(task.env, launch.argv, options, task.pid, "c" if task.certain else "")
                    for task in launch.tasks)


@pytest.mark.parametrize("kind", [slurm_launch, openmpi_launch])
@pytest.mark.parametrize("number", range(150))
def test_addr_changes_the_address_and_nothing_else(core, kind, number):
    rng = generator("addr", kind.__name__, number)
    launch = kind(rng)
    wish = rng.choice([*SUFFIXES, "ib0", "10.0.0.0/8", "fd00::/8"])
    plain, wished = ask(core, launch, None), ask(core, launch, wish)
    for task, before, after in zip(launch.tasks, plain, wished):
        host, nodes = before["master"]["addr"], before["identity"]["nnodes"]
        own = task.env.get("MASTER_ADDR")
        assert (before["mode"], before["identity"]) == (after["mode"], after["identity"]) or after["status"] != "resolved"
        if before["status"] != "resolved" or host is None or nodes == 1:
            assert after["master"] == before["master"] or before["status"] != "resolved"
            continue
        if wish in SUFFIXES and host != own:
            try:
                ipaddress.ip_address(host)
                assert after["status"] != "resolved" and [m[0] for m in after["messages"] if m[0] == "RC411"]
                continue
            except ValueError:
                expected = with_suffix(host, wish)
        elif host != own:
            expected = host  # until somebody has looked it up
        else:
            continue
        assert after["master"]["addr"] == expected
        assert after["master"]["port"] == before["master"]["port"]
        # the rest of the environment is the same
        one, two = apply(task.env, before), apply(task.env, after)
        changed = {name for name in {*one, *two} if one.get(name) != two.get(name)}
        assert changed <= {"MASTER_ADDR", "PET_MASTER_ADDR", "JAX_COORDINATOR_ADDRESS"}
        assert ("MASTER_ADDR" in changed) == (expected != host)
