#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the ROLL lines that the programs printed and says whether everybody answered exactly once.

    roll.py ranks FILE [world=N] [nodes=N] [loss=X] [HOST=RANK,RANK...]...   lines of the training programs
    roll.py whoami FILE [same]                                    lines of whoami.py in worker mode
    roll.py launcher FILE nodes=N [nproc=N]                       lines of whoami.py in launcher mode
    roll.py nothing FILE count=N                                  lines of whoami.py: no identity was set
    roll.py duplicates FILE                                       succeeds if some rank is there twice
    roll.py field FILE NAME [rank=N]                              prints one value of a line

The reason of a failure goes to standard error, the exit status is then 1.
"""

import collections
import json
import sys

IDENTITY = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK", "GROUP_WORLD_SIZE",
            "MASTER_ADDR", "MASTER_PORT")
FOR_WORKERS = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "TORCHELASTIC_RUN_ID")
OURS = ("PET_", "TORCHELASTIC_", "ROLLCALL_SCOPE")
# Their tasks know only their own sizes: they are told the number of nodes where something else counts these.
UNCOUNTED = ("mpich:", "openmpi:prte")


def fail(reason):
    sys.exit(f"roll: {reason}")


def lines_of(path):
    found = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            # srun --label and mpirun's own tags may stand before the line
            _, mark, text = line.rstrip("\n").partition("ROLL ")
            if not mark:
                continue
            if text.startswith("{"):
                found.append(json.loads(text))
            else:
                found.append(dict(word.split("=", 1) for word in text.split(" ")))
    return found


def check_layout(people, wanted):
    """people: dicts with rank, world, local, node (all int) and host."""
    world, nodes = wanted.pop("world", None), wanted.pop("nodes", None)
    if world is None and wanted:  # these hosts are all
        world, nodes = sum(len(text.split(",")) for text in wanted.values()), len(wanted)
    world = int(len(people) if world is None else world)
    if len(people) != world:
        fail(f"{len(people)} processes answered, expected {world}")
    ranks = sorted(p["rank"] for p in people)
    if ranks != list(range(world)):
        fail(f"ranks are {ranks}")
    sizes = {p["world"] for p in people}
    if sizes != {world}:
        fail(f"world sizes are {sorted(sizes)}, expected {world} everywhere")

    by_host = collections.defaultdict(list)
    for p in people:
        by_host[p["host"]].append(p)
    if nodes is not None and len(by_host) != int(nodes):
        fail(f"ran on {sorted(by_host)}, expected {nodes} nodes")
    for host, there in by_host.items():
        local = sorted(p["local"] for p in there)
        if local != list(range(len(there))):
            fail(f"local ranks on {host} are {local}")
        if len({p["node"] for p in there}) != 1:
            fail(f"node ranks on {host} are {sorted(p['node'] for p in there)}")
    # the nodes are numbered by the lowest rank on each
    order = sorted(by_host, key=lambda host: min(p["rank"] for p in by_host[host]))
    for number, host in enumerate(order):
        if by_host[host][0]["node"] != number:
            fail(f"node rank of {host} is {by_host[host][0]['node']}, expected {number}")

    for host, text in wanted.items():
        expected = [int(n) for n in text.split(",")]
        there = sorted(p["rank"] for p in by_host.get(host, []))
        if there != expected:
            fail(f"ranks on {host} are {there}, expected {expected}")
    return order, by_host


def do_ranks(path, wanted):
    loss = wanted.pop("loss", None)
    people = lines_of(path)
    for p in people:
        for name in ("rank", "world", "local", "node"):
            if not p.get(name, "").isdigit():
                fail(f"no {name} in {p}")
            p[name] = int(p[name])
        seen = sorted(int(n) for n in p["seen"].split(","))
        if seen != list(range(p["world"])):
            fail(f"rank {p['rank']} met the ranks {seen}")
        if loss is not None and abs(float(p["loss"]) - float(loss)) > 1e-7:
            fail(f"rank {p['rank']} ended with loss {p['loss']}, one process with {loss}")
    check_layout(people, wanted)


def do_whoami(path, wanted):
    people = []
    for line in lines_of(path):
        identity = line["id"]
        may_lack = {"GROUP_WORLD_SIZE"} if line["env"].get("ROLLCALL_SCOPE", "").startswith(UNCOUNTED) else set()
        missing = [name for name in IDENTITY if not identity.get(name) and not (name in may_lack and name not in identity)]
        if missing:
            fail(f"{line['host']} pid {line['pid']}: no {' '.join(missing)}")
        people.append({
            "host": line["host"], "rank": int(identity["RANK"]), "world": int(identity["WORLD_SIZE"]),
            "local": int(identity["LOCAL_RANK"]), "node": int(identity["NODE_RANK"]),
            "master_here": line["master_here"], "id": identity})
    order, by_host = check_layout(people, wanted)
    for p in people:
        identity = p["id"]
        if identity["GROUP_RANK"] != identity["NODE_RANK"]:
            fail(f"rank {p['rank']}: GROUP_RANK {identity['GROUP_RANK']}, NODE_RANK {identity['NODE_RANK']}")
        if int(identity.get("GROUP_WORLD_SIZE", len(order))) != len(order):
            fail(f"rank {p['rank']}: GROUP_WORLD_SIZE {identity['GROUP_WORLD_SIZE']} on {len(order)} nodes")
        if int(identity["LOCAL_WORLD_SIZE"]) != len(by_host[p["host"]]):
            fail(f"rank {p['rank']}: LOCAL_WORLD_SIZE is {identity['LOCAL_WORLD_SIZE']}")
        # a loopback address is everywhere: right on one node only
        if p["master_here"] != (p["host"] == order[0]):
            fail(f"{p['host']}: MASTER_ADDR is {identity['MASTER_ADDR']}, rank 0 sits on {order[0]}")
    ports = {p["id"]["MASTER_PORT"] for p in people}
    if len(ports) != 1 or not 1024 <= int(min(ports)) <= 65535:
        fail(f"MASTER_PORT is {sorted(ports)}")


def do_launcher(path, wanted):
    nodes = int(wanted["nodes"])
    people = lines_of(path)
    if len(people) != nodes or len({line["host"] for line in people}) != nodes:
        fail(f"{sorted(line['host'] for line in people)} answered, expected one process on each of {nodes}")
    # Slurm's word for it, or, on platforms without Slurm, the names of the hosts (n1, n2)
    slurm = "SLURM_PROCID" in people[0]["env"]
    people.sort(key=lambda line: int(line["env"]["SLURM_PROCID"] if slurm else line["host"].lstrip("n")))
    first = people[0]
    for number, line in enumerate(people):
        identity, env, where = line["id"], line["env"], f"node {number} ({line['host']})"
        told_workers = [name for name in FOR_WORKERS if name in identity or name in env]
        if told_workers:
            fail(f"{where} has {' '.join(told_workers)}")
        expected = {
            "NODE_RANK": str(number),
            "MASTER_ADDR": first["host"],
            "MASTER_PORT": first["id"]["MASTER_PORT"],
            "PET_NODE_RANK": str(number),
            "PET_NNODES": str(nodes),
            "PET_MASTER_ADDR": first["host"],
            "PET_MASTER_PORT": first["id"]["MASTER_PORT"],
            "PET_RDZV_ID": first["env"]["PET_RDZV_ID"],
            "PET_NPROC_PER_NODE": wanted.get("nproc"),
            "SLURM_JOB_NAME": "bash" if slurm else None,
        }
        for name, value in expected.items():
            there = identity.get(name, env.get(name))
            if there != value:
                fail(f"{where}: {name} is {there}, expected {value}")
        # is_host=1 is for the first node only
        if (env.get("PET_RDZV_CONF") or "").count("is_host=1") != (number == 0):
            fail(f"{where}: PET_RDZV_CONF is {env.get('PET_RDZV_CONF')}")


def do_nothing(path, wanted):
    people = lines_of(path)
    if len(people) != int(wanted["count"]):
        fail(f"{len(people)} processes answered, expected {wanted['count']}")
    for line in people:
        found = [name for name in line["id"]]
        found += [name for name in line["env"] if name.startswith(OURS)]
        if found:
            fail(f"{line['host']} pid {line['pid']} has {' '.join(found)}")


def do_duplicates(path):
    ranks = collections.Counter(line.get("rank") for line in lines_of(path))
    twice = [rank for rank, times in ranks.items() if times > 1]
    if not twice:
        fail(f"no rank is there twice: {sorted(ranks)}")
    print(*sorted(twice))


def do_field(path, name, rank=None):
    for line in lines_of(path):
        flat = {**line.get("env", {}), **line.get("id", {}), **line}
        if rank is None or str(flat.get("RANK", flat.get("rank"))) == rank:
            if name not in flat:
                fail(f"no {name} in {line}")
            print(flat[name])
            return
    fail(f"no line{'' if rank is None else ' of rank ' + rank}")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    verb, path, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    if verb == "field":
        do_field(path, rest[0], rest[1].partition("=")[2] if len(rest) > 1 else None)
    elif verb == "duplicates":
        do_duplicates(path)
    else:
        wanted = dict(word.split("=", 1) for word in rest)
        check = {"ranks": do_ranks, "whoami": do_whoami, "launcher": do_launcher, "nothing": do_nothing}[verb]
        check(path, wanted)


if __name__ == "__main__":
    main()
