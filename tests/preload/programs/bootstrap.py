#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What NCCL's own bootstrap makes of ranks: bootstrap.py LIBNCCL SECONDS NRANKS RANK...

Makes an id with the real library, whose root answers without a GPU, and has one caller check in with it for each RANK,
as ncclCommInitRank does (src/bootstrap.cc of 2.23 to 2.28), one after the other. Prints of each whether the root has told it
its neighbour: "RANK answered", "RANK waits" after SECONDS of silence, "RANK refused".
"""
import ctypes
import socket
import struct
import sys
import time

BOOTSTRAP = 1  # ncclSocketTypeBootstrap


def write_address(listener):
    host, port = listener.getsockname()
    return struct.pack("=H", socket.AF_INET) + struct.pack(">H", port) + socket.inet_aton(host) + bytes(20)


def check_in(root, magic, rank, nranks):
    """Returns the sockets at which the root, and the rank before, would call; the message names them."""
    mine = [socket.create_server((root[0], 0)) for _ in range(2)]
    message = struct.pack("=4i", rank, nranks, 0, 1) + b"".join(map(write_address, mine)) + bytes(100)
    with socket.create_connection(root, timeout=60) as s:
        s.sendall(magic + struct.pack("=i", BOOTSTRAP) + struct.pack("=i", len(message)) + message)
    return mine


def main():
    library, seconds, nranks, *ranks = sys.argv[1:]
    nccl = ctypes.CDLL(library)
    data = ctypes.create_string_buffer(128)
    if nccl.ncclGetUniqueId(data) != 0:
        sys.exit("NCCL makes no id")
    magic, root = data.raw[:8], (socket.inet_ntoa(data.raw[12:16]), struct.unpack(">H", data.raw[10:12])[0])
    callers = []
    for rank in map(int, ranks):
        try:
            callers.append((rank, check_in(root, magic, rank, int(nranks))))
        except (ConnectionRefusedError, ConnectionResetError, BrokenPipeError):
            callers.append((rank, None))
    until = time.monotonic() + float(seconds)
    for rank, mine in callers:
        said = "refused"
        if mine:
            mine[0].settimeout(max(0.001, until - time.monotonic()))
            try:
                with mine[0].accept()[0] as s:
                    while s.recv(4096):
                        pass
                said = "answered"
            except socket.timeout:
                said = "waits"
        print(rank, said)


if __name__ == "__main__":
    main()
