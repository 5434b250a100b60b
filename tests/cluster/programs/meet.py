#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Meets the others at MASTER_ADDR:MASTER_PORT, as torch's store does, and then says who it is (whoami.py)."""

import os
import socket
import time

DEADLINE = time.monotonic() + 20

rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
master = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])

if rank == 0:
    with socket.socket() as listener:
        # rollcall holds the port, for sockets that say so
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", master[1]))
        listener.listen(size)
        listener.settimeout(DEADLINE - time.monotonic())
        guests = [listener.accept()[0] for _ in range(size - 1)]
    came = sorted(int(guest.recv(16)) for guest in guests)
    assert came == list(range(1, size)), came
    for guest in guests:
        guest.sendall(b"all")
else:
    while True:
        try:
            visit = socket.create_connection(master)
            break
        except ConnectionRefusedError:
            # rank 0 is not there yet
            assert time.monotonic() < DEADLINE, master
            time.sleep(0.02)
    visit.settimeout(20)
    visit.sendall(str(rank).encode())
    assert visit.recv(16) == b"all"

import whoami  # noqa: E402,F401  it prints the line
