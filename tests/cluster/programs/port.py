#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints PORT rank=R addr=A port=P, as one line; with arguments OWN and OTHER, after a file OWN was made and OTHER seen.

Rank 0 does what torch's store does, and first what a stranger would do: "held" is printed where that one is refused.
"""

import os
import socket
import sys
import time

port = int(os.environ["MASTER_PORT"])
rank = int(os.environ["RANK"])
held = ""
if rank == 0:
    try:
        socket.socket().bind(("", port))
    except OSError:
        held = " held"
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("", port))
    listener.listen()
if len(sys.argv) > 2:
    open(sys.argv[1], "w").close()
    deadline = time.monotonic() + 30
    while not os.path.exists(sys.argv[2]):
        if time.monotonic() > deadline:
            raise SystemExit(f"{sys.argv[2]} did not come")
        time.sleep(0.05)
os.write(1, f"PORT rank={rank} addr={os.environ['MASTER_ADDR']} port={port}{held}\n".encode())
# PRRTE loses what a task prints that ends at once
time.sleep(1)
