# SPDX-License-Identifier: BSD-3-Clause
"""The entries of a step of made-up nodes (lib/roll/roll.h). entries.py NODES [ODD]

Without ODD all nodes are alike. ODD odd: one node has a GPU fewer, one another rollcall, two less memory, one another
limit, and the last one has not come. hostile: the same, and texts that a page must not take for its own. components:
two components, alike inside, each with other GPUs. kernels: the second half has another kernel. twice: the last node
has the ranks of the one before it. memory: amounts that are almost the same, and the last node has less; the nodes'
own names have a domain, and MASTER_ADDR is an IPv6 address. foreign: the first node speaks another version of the wire.
"""

import sys

HAS = {
    "gpus": "8 NVIDIA H100 80GB HBM3",
    "gpu_links": "8 at x16",
    "gpu_driver": "550.54.15",
    "nics": "8 mlx5",
    "nic_ports": "8 ACTIVE 400 Gb/sec",
    "kernel": "6.1.0-28-amd64",
    "memlock": "unlimited",
    "nofile": "1048576",
    "shm": "1007 GiB",
    "memory": "2015 GiB",
    "cores": "192",
}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=\"alert('1')\">&amp;{{step}}"


def write_entry(node, nodes, has, block, **more):
    ranks = range(8 * block, 8 * block + 8)
    entry = {"version": "0.9.0", "scope": "slurm:42.0", "launcher": "slurm", "mode": "worker", "host": f"n{node + 1}",
             "addr": "n1", "hosts": f"n[1-{nodes}]", "node": node, "nodes": nodes, "world": 8 * nodes,
             "tasks": f"{ranks[0]}-{ranks[-1]}"}
    if node == 0:
        entry["port"] = 24512
    entry.update(more)
    print("roll=1", *(f"{name}={value}" for name, value in entry.items() if value is not None), sep="\n")
    for gpu, rank in enumerate(ranks):
        if gpu < int(has.get("gpus", "0").split()[0]):
            print(f"gpu={rank} GPU-{node:08x}-{gpu:04x}-4c1e-9d3a-0123456789ab")
    print(*(f"has={name} {value}" for name, value in has.items()), "", sep="\n")


def main():
    nodes = int(sys.argv[1])
    kind = sys.argv[2] if len(sys.argv) > 2 else ""
    odd = kind in ("odd", "hostile")
    for node in range(nodes - odd):
        has = dict(HAS)
        more = {"block": node}
        second = node >= nodes // 2
        if kind == "components":
            has["component"] = str(int(second))
            has["gpus"] = "8 NVIDIA " + ("H100" if second else "A100")
        if kind == "kernels":
            has["kernel"] = "6.5.0" if second else "6.1.0"
        if kind == "memory":
            more.update(host=f"n{node + 1}.example", addr="fd00::1")
            has["memory"] = "1511 GiB" if node == nodes - 1 else f"{2015 - node % 2} GiB"
            has["shm"] = "100 GiB" if node == 0 else "102396 MiB"
        if kind == "foreign" and node == 0:
            has = {}
            more.update(version="0.7.0", launcher=None, mode=None, addr=None, hosts=None, port=None, foreign=1)
        if kind == "twice" and node == nodes - 1:
            more["block"] = node - 1
        if odd and node == nodes // 2:
            has["gpus"] = "7 NVIDIA H100 80GB HBM3"
            has["gpu_links"] = "7 at x16"
        if odd and node == nodes // 3:
            more["version"] = "0.8.0"
        if odd and nodes > 5 and node in (3, 4):
            has["memory"] = "1511 GiB"
        if odd and nodes > 9 and node == 8:
            has["nofile"] = "1024"
        if kind == "hostile":
            has["kernel"] = more["mode"] = HOSTILE
            more["host"] = f"n{node + 1}<b>\"'&"
        write_entry(node, nodes, has, **more)


main()
