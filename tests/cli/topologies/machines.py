#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Topologies of machines that people use, as hwloc's XML: machines.py NAME > FILE.xml, machines.py --list.

Written from published figures (named beside each), not recorded: counts of cores, NUMA nodes, GPUs and
cards, which of them hang together, and bus ids where somebody published them. What was not published (the
numbers of bridges, the rest of the bus ids) is ours, and says so.
"""
import sys
from xml.sax.saxutils import quoteattr

NVIDIA, AMD, INTEL, MELLANOX, CRAY, ASPEED, MATROX = 0x10DE, 0x1002, 0x8086, 0x15B3, 0x17DB, 0x1A03, 0x102B
GPU_3D, GPU_VGA, GPU_DISPLAY, OTHER_BRIDGE = 0x0302, 0x0300, 0x0380, 0x0680
INFINIBAND, ETHERNET, WIRELESS = 0x0207, 0x0200, 0x0280
OS_NETWORK, OS_OPENFABRICS = 2, 3


def mask(numbers):
    """As hwloc writes a set: words of 32 bits, the highest first."""
    value = sum(1 << number for number in set(numbers))
    words = []
    while value:
        words.insert(0, f"0x{value & 0xffffffff:08x}")
        value >>= 32
    return ",".join(words) or "0x0"


class Object:
    """An object, its hardware threads and NUMA nodes being those below it."""

    def __init__(self, type, *children, index=None, pus=(), nodes=(), info=(), **attributes):
        self.type, self.children, self.index = type, list(children), index
        self.own_pus, self.own_nodes, self.info, self.attributes = list(pus), list(nodes), list(info), attributes

    def pus(self):
        return self.own_pus + [pu for child in self.children for pu in child.pus()]

    def nodes(self):
        return self.own_nodes + [node for child in self.children for node in child.nodes()]

    def write(self, out, counter, around=((), ()), depth=1):
        counter[0] += 1
        pus = self.pus() or around[0]
        nodes = self.nodes() or around[1]
        attributes = {"type": self.type}
        if self.index is not None:
            attributes["os_index"] = self.index
        if self.type not in ("Bridge", "PCIDev", "OSDev"):
            cpuset = mask([] if self.attributes.get("cpuless") else pus)
            attributes |= {"cpuset": cpuset, "complete_cpuset": cpuset, "nodeset": mask(nodes),
                           "complete_nodeset": mask(nodes)}
            if self.type == "Machine":
                attributes |= {"allowed_cpuset": cpuset, "allowed_nodeset": mask(nodes)}
        attributes["gp_index"] = counter[0]
        attributes |= {name: value for name, value in self.attributes.items() if name != "cpuless"}
        text = " ".join(f"{name}={quoteattr(str(value))}" for name, value in attributes.items())
        out.append(f"{' ' * (2 * depth)}<object {text}>")
        out += [f"{' ' * (2 * depth + 2)}<info name={quoteattr(name)} value={quoteattr(value)}/>"
                for name, value in self.info]
        for child in self.children:
            child.write(out, counter, (pus, nodes), depth + 1)
        out.append(f"{' ' * (2 * depth)}</object>")


def core(index, pus):
    return Object("Core", *[Object("PU", index=pu, pus=[pu]) for pu in pus], index=index)


def memory(index, **attributes):
    return Object("NUMANode", index=index, nodes=[index], local_memory=64 << 30, **attributes)


def numa(index, cores, *rest):
    """A NUMA node that is a part of a package: hwloc puts a group around it."""
    return Object("Group", memory(index), *cores, *rest, kind=1000, subkind=0)


def package(index, *children):
    return Object("Package", *children, index=index)


def pci(bus_id, kind, vendor, device, *names, model=None):
    """A PCI function, and the names that the kernel gives it."""
    info = [("PCIDevice", model)] if model else []
    return Object("PCIDev", *[Object("OSDev", name=name, osdev_type=osdev) for name, osdev in names], info=info,
                  pci_busid=bus_id, pci_type=f"{kind:04x} [{vendor:04x}:{device:04x}] [0000:0000] 00",
                  pci_link_speed="15.753846")


def root_port(first, last, *devices, domain=0):
    """A host bridge, with the devices below one switch behind it where there are several."""
    def buses(depth, kind, **attributes):
        return Object("Bridge", bridge_type=kind, depth=depth, bridge_pci=f"{domain:04x}:[{first:02x}-{last:02x}]",
                      **attributes)
    host = buses(0, "0-1")
    if len(devices) > 1:
        switch = buses(1, "1-1", pci_busid=f"{domain:04x}:{first:02x}:1f.0",
                       pci_type="0604 [1000:c010] [0000:0000] 00", pci_link_speed="15.753846")
        switch.children = list(devices)
        devices = [switch]
    host.children = list(devices)
    return host


def hca(bus_id, number, network=None, kind=INFINIBAND):
    names = [(f"mlx5_{number}", OS_OPENFABRICS)] + ([(network, OS_NETWORK)] if network else [])
    return pci(bus_id, kind, MELLANOX, 0x101B, *names)


def threads(first, count, *offsets):
    """Cores first..first+count-1, whose threads have the same number and that plus each offset."""
    return [core(number, [number, *[number + offset for offset in offsets]]) for number in range(first, first + count)]


def dgx_a100():
    """NVIDIA, "DGX A100 User Guide" (8 GPUs, 2 x EPYC 7742 of 64 cores, which NPS4 makes 8 NUMA nodes; 8 compute
    HCAs) and its `nvidia-smi topo -m`: GPUs 0 and 1 at node 3, 2 and 3 at node 1, 4 and 5 at node 7, 6 and 7 at
    node 5, two HCAs beside each pair. Six NVSwitches, a card for storage, a BMC with an ASPEED VGA."""
    def pair(buses, hcas, numbers):
        return root_port(int(buses[0], 16) - 1, int(buses[0], 16) + 0x20, *[
            pci(f"0000:{bus}:00.0", GPU_3D, NVIDIA, 0x20B0, model="GA100 [A100 SXM4 40GB]") for bus in buses
        ], *[hca(f"0000:{bus}:00.0", number) for bus, number in zip(hcas, numbers)])
    hang = {
        3: [pair(("07", "0f"), ("0c", "12"), (0, 1))],
        1: [pair(("47", "4e"), ("4b", "54"), (2, 3))],
        7: [pair(("87", "90"), ("8d", "94"), (6, 7))],
        5: [pair(("b7", "bd"), ("ba", "cc"), (8, 9))],
        6: [root_port(0xC0, 0xCB, *[pci(f"0000:c{i}:00.0", OTHER_BRIDGE, NVIDIA, 0x1AF1) for i in range(4, 10)]),
            root_port(0xE0, 0xE1, hca("0000:e1:00.0", 4, "enp225s0f0", ETHERNET),
                      hca("0000:e1:00.1", 5, "enp225s0f1", ETHERNET))],
        2: [root_port(0x60, 0x63, pci("0000:62:00.0", GPU_VGA, ASPEED, 0x2000))],
    }
    return Object("Machine", *[
        package(p, *[numa(n, threads(16 * n, 16, 128), *hang.get(n, [])) for n in range(4 * p, 4 * p + 4)])
        for p in range(2)], index=0)


def gh200():
    """A node of four GH200: CSCS, "Alps hardware" (4 x 72 cores of Grace without SMT, a NUMA node each; the GPUs'
    memories are NUMA nodes 4, 12, 20 and 28; four Slingshot cards). Bus ids of the GPUs as NVIDIA's "Grace
    Performance Tuning Guide" has them, of the cards ours."""
    def super_chip(i):
        return package(i, memory(i), memory(4 + 8 * i, subtype="GPUMemory"), *threads(72 * i, 72),
                       root_port(0, 1, pci(f"{0x10 * i + 9:04x}:01:00.0", GPU_3D, NVIDIA, 0x2342,
                                           model="GH100 [GH200 120GB / 480GB]"), domain=0x10 * i + 9),
                       root_port(0, 1, pci(f"{0x10 * i + 2:04x}:01:00.0", ETHERNET, CRAY, 0x0501,
                                           (f"cxi{i}", OS_OPENFABRICS), (f"hsn{i}", OS_NETWORK)),
                                 domain=0x10 * i + 2))
    return Object("Machine", *[super_chip(i) for i in range(4)], index=0)


def frontier():
    """OLCF, "Frontier User Guide": one EPYC 7A53 of 64 cores and 128 threads, four NUMA nodes of 16 cores and two
    L3 each; GCDs 4 and 5 at node 0, 2 and 3 at node 1, 6 and 7 at node 2, 0 and 1 at node 3; bus ids c1 to de.
    A Slingshot card at each MI250X (their numbers are ours)."""
    buses = ["c1", "c6", "c9", "ce", "d1", "d6", "d9", "de"]

    def node(n, gcds, card):
        l3 = [Object("L3Cache", *threads(16 * n + 8 * half, 8, 64), index=2 * n + half, cache_size=32 << 20, depth=3,
                     cache_linesize=64, cache_associativity=16, cache_type=0) for half in range(2)]
        return numa(n, l3, *[
            root_port(int(buses[g], 16) - 1, int(buses[g], 16), pci(f"0000:{buses[g]}:00.0", GPU_DISPLAY, AMD, 0x7408,
                                                                     model="Aldebaran/MI200 [Instinct MI250X/MI250]"))
            for g in gcds], root_port(0x10 * card + 1, 0x10 * card + 2, pci(
                f"0000:{card + 1:x}2:00.0", ETHERNET, CRAY, 0x0501, (f"cxi{card}", OS_OPENFABRICS),
                (f"hsn{card}", OS_NETWORK))))
    return Object("Machine", package(0, node(0, (4, 5), 2), node(1, (2, 3), 1), node(2, (6, 7), 3),
                                     node(3, (0, 1), 0)), index=0)


def summit():
    """OLCF, "Summit User Guide": two POWER9 of 22 cores with four threads each, the last core of each kept for the
    system (so it is not in the cpuset that jobs get); NUMA nodes 0 and 8; three V100 a socket, whose memories are
    NUMA nodes without cores (250 to 255); EDR ports, two at each socket."""
    def socket(p):
        cores = [core(8 * i + 2048 * p, range(88 * p + 4 * i, 88 * p + 4 * i + 4)) for i in range(21)]
        domain = 0x35 if p else 0x04
        gpus = [pci(f"{domain:04x}:{bus:02x}:00.0", GPU_3D, NVIDIA, 0x1DB1, model="GV100GL [Tesla V100 SXM2 16GB]")
                for bus in ((3, 4, 5) if p else (4, 5, 6))]
        ports = [hca(f"00{3 * p}3:01:00.{i}", 2 * p + i, f"ib{2 * p + i}") for i in range(2)]
        return package(p, memory(8 * p), *cores, root_port(0, 6, *gpus, domain=domain),
                       root_port(0, 1, *ports, domain=0x33 if p else 0x03))
    return Object("Machine", *[memory(250 + i, cpuless=True) for i in range(6)], socket(0), socket(1), index=0)


def abci_v():
    """AIST, "ABCI User Guide", compute node (V): two Xeon Gold 6148 of 20 cores, four V100 SXM2, two EDR HCAs; two
    GPUs and an HCA at each socket. With both threads of each core. Bus ids are ours."""
    def socket(p, gpus, bus):
        return package(p, memory(p), *threads(20 * p, 20, 40), root_port(
            int(gpus[0], 16) - 1, int(bus, 16), *[
                pci(f"0000:{gpu}:00.0", GPU_3D, NVIDIA, 0x1DB1, model="GV100GL [Tesla V100 SXM2 16GB]")
                for gpu in gpus], hca(f"0000:{bus}:00.0", p, f"ib{p}")))
    return Object("Machine", socket(0, ("3d", "3e"), "41"), socket(1, ("b1", "b2"), "b5"), index=0)


def cpu_node():
    """Two Xeon Platinum 8268 of 24 cores (Intel's product page), numbered as such nodes often are: even on one
    socket, odd on the other. One HCA, an Ethernet card, a BMC with a Matrox VGA. No GPU."""
    def socket(p, *rest):
        return package(p, memory(p), *[core(c, [2 * c + p]) for c in range(24)], *rest)
    return Object("Machine", socket(
        0, root_port(0x17, 0x18, pci("0000:18:00.0", ETHERNET, INTEL, 0x1563, ("eno1", OS_NETWORK))),
        root_port(0x02, 0x03, pci("0000:03:00.0", GPU_VGA, MATROX, 0x0538)),
    ), socket(1, root_port(0xAE, 0xAF, hca("0000:af:00.0", 0, "ib0"))), index=0)


def laptop():
    """Four cores with two threads, the processor's own graphics (Intel's, always at 00:02.0), a GeForce as VGA, WLAN."""
    return Object("Machine", package(0, memory(0), *threads(0, 4, 4), root_port(
        0, 0, pci("0000:00:02.0", GPU_VGA, INTEL, 0x9BC4, model="CometLake-H GT2 [UHD Graphics]")),
        root_port(1, 1, pci("0000:01:00.0", GPU_VGA, NVIDIA, 0x1F95, model="TU117M [GeForce GTX 1650 Ti Mobile]")),
        root_port(2, 2, pci("0000:02:00.0", WIRELESS, INTEL, 0x2723, ("wlan0", OS_NETWORK)))), index=0)


def no_locality():
    """Four GPUs behind a bridge of which the firmware does not say where it is, as in many virtual machines."""
    return Object("Machine", package(0, memory(0), *threads(0, 8)), package(1, memory(1), *threads(8, 8)), root_port(
        0, 0x10, *[pci(f"0000:{bus:02x}:00.0", GPU_3D, NVIDIA, 0x20B0) for bus in (1, 2, 3, 4)]), index=0)


def one_socket():
    """Two packages, and all four GPUs at the second: tasks have its cores alone."""
    return Object("Machine", package(0, memory(0), *threads(0, 8)), package(1, memory(1), *threads(8, 8), root_port(
        0, 0x10, *[pci(f"0000:{bus:02x}:00.0", GPU_3D, AMD, 0x740F) for bus in (1, 2, 3, 4)])), index=0)


def offline():
    """Cores 1, 2 and 5 of 8 are offline, and so are the second threads of 6 and 7: the kernel's numbers have gaps."""
    return Object("Machine", package(0, memory(0), *[
        core(c, [c] if c in (6, 7) else [c, c + 8]) for c in (0, 3, 4, 6, 7)]), index=0)


def large():
    """4,096 cores in 64 NUMA nodes, 64 GPUs: no such machine, a bound."""
    return Object("Machine", *[package(n, memory(n), *threads(64 * n, 64), root_port(
        0, 1, pci(f"{n:04x}:01:00.0", GPU_3D, NVIDIA, 0x2330), domain=n)) for n in range(64)], index=0)


def bench():
    """2 x 128 cores with two threads, four NUMA nodes, 8 GPUs and 8 HCAs."""
    def node(n):
        return numa(n, threads(64 * n, 64, 256), root_port(0x40 * n, 0x40 * n + 0x20, *[
            pci(f"0000:{0x40 * n + i:02x}:00.0", GPU_3D, NVIDIA, 0x2330) for i in (1, 2)
        ], *[hca(f"0000:{0x40 * n + 8 + i:02x}:00.0", 2 * n + i) for i in range(2)]))
    return Object("Machine", *[package(p, node(2 * p), node(2 * p + 1)) for p in range(2)], index=0)


MACHINES = {function.__name__.replace("_", "-"): function for function in (
    dgx_a100, gh200, frontier, summit, abci_v, cpu_node, laptop, no_locality, one_socket, offline, large, bench)}


def xml(name):
    out = ['<?xml version="1.0" encoding="UTF-8"?>', '<!DOCTYPE topology SYSTEM "hwloc2.dtd">',
           '<topology version="2.0">']
    MACHINES[name]().write(out, [0])
    return "\n".join([*out, "</topology>"]) + "\n"


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(MACHINES))
    elif len(sys.argv) == 2 and sys.argv[1] in MACHINES:
        sys.stdout.write(xml(sys.argv[1]))
    else:
        sys.exit(f"usage: machines.py --list | {' | '.join(MACHINES)}")


if __name__ == "__main__":
    main()
