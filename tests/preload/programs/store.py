# SPDX-License-Identifier: BSD-3-Clause
"""store.py CLIENTS - torch's TCPStore with so many clients, with one back end and then with the other."""
import sys
from datetime import timedelta

from torch.distributed import TCPStore


def connect(clients, use_libuv):
    more = {"wait_for_workers": False, "use_libuv": use_libuv, "timeout": timedelta(seconds=60)}
    server = TCPStore("127.0.0.1", 0, is_master=True, **more)
    for _ in range(clients):
        TCPStore("127.0.0.1", server.port, is_master=False, **more).add("clients", 1)
    print(f"libuv={use_libuv} clients={server.add('clients', 0)}")


for back_end in (True, False):
    connect(int(sys.argv[1]), back_end)
