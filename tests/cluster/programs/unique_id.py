# SPDX-License-Identifier: BSD-3-Clause
"""unique_id.py [NUMBER-OF-IDS] - gets NCCL ids from rollcall and does with each what ncclCommInitRank does first.

Speaks the ranks' side of NCCL's bootstrap (src/bootstrap.cc and src/misc/socket.cc of 2.23 to 2.28) with the root that
ncclGetUniqueId has started in rank 0's process: no GPU is needed for that. Each rank tells the root where it listens,
and hears from it where the next one does; then a ring is closed, as NCCL's own. Prints

    unique RANK of SIZE, DIGEST of each id

and ends with an error where a rank has another neighbour than it should, or an id can be used twice.
"""
import hashlib
import os
import socket
import struct
import sys
import time

import rollcall

BOOTSTRAP = 1  # ncclSocketTypeBootstrap
SECONDS = 60


class Handle:
    """What NCCL's ids of these versions hold: a magic number and the address of the root."""

    def __init__(self, data):
        self.magic = data[:8]
        self.address = read_address(data[8:36])


def read_address(data):
    (family,) = struct.unpack("=H", data[:2])
    (port,) = struct.unpack(">H", data[2:4])
    host = data[4:8] if family == socket.AF_INET else data[8:24]
    return socket.inet_ntop(family, host), port


def write_address(address):
    host, port = address[:2]
    if ":" in host:
        return struct.pack("=H", socket.AF_INET6) + struct.pack(">HI", port, 0) + socket.inet_pton(socket.AF_INET6, host) + bytes(4)
    return struct.pack("=H", socket.AF_INET) + struct.pack(">H", port) + socket.inet_aton(host) + bytes(20)


def connect(address, magic):
    s = socket.create_connection(address, timeout=SECONDS)
    s.sendall(magic + struct.pack("=i", BOOTSTRAP))
    return s


def receive(s, size):
    data = b""
    while len(data) < size:
        more = s.recv(size - len(data))
        if not more:
            sys.exit("a connection ended early")
        data += more
    return data


def accept(listener, magic):
    s = listener.accept()[0]
    s.settimeout(SECONDS)
    if receive(s, 12) != magic + struct.pack("=i", BOOTSTRAP):
        sys.exit("another magic number")
    return s


def listen(host):
    s = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    s.settimeout(SECONDS)
    return s


def first_of(root, size, roots):
    return root * (size // roots) + min(root, size % roots)


def root_of(rank, size, roots):
    return next(r for r in reversed(range(roots)) if first_of(r, size, roots) <= rank)


def close_ring(rank, size, ids):
    """Check in with the root of this rank, and of the rank before where that is another's; meet both neighbours."""
    handles = [Handle(i) for i in ids]
    roots = len(handles)
    own = root_of(rank, size, roots)
    with connect(handles[own].address, handles[own].magic) as s:
        host = s.getsockname()[0]
        from_root, from_previous = listen(host), listen(host)
        where = write_address(from_root.getsockname()) + write_address(from_previous.getsockname()) + bytes(100)
        message = struct.pack("=4i", rank, size, own, roots) + where
        s.sendall(struct.pack("=i", len(message)) + message)
    if roots > 1 and rank == first_of(own, size, roots):
        before = root_of((rank - 1) % size, size, roots)
        message = struct.pack("=4i", (rank - 1) % size + 1, size, before, roots) + where
        with connect(handles[before].address, handles[before].magic) as s:
            s.sendall(struct.pack("=i", len(message)) + message)
    with accept(from_root, handles[own].magic) as s:
        (length,) = struct.unpack("=i", receive(s, 4))
        following = read_address(receive(s, length)[:28])
    magic = handles[0].magic
    with connect(following, magic) as s:
        s.sendall(struct.pack("=i", rank))
        with accept(from_previous, magic) as t:
            (previous,) = struct.unpack("=i", receive(t, 4))
    if previous != (rank - 1) % size:
        sys.exit(f"rank {rank} has rank {previous} before it")
    return handles


def is_used_up(handle):
    """The root is gone; it may still be about to go."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            socket.create_connection(handle.address, timeout=SECONDS).close()
        except (ConnectionRefusedError, ConnectionResetError):
            return True
        time.sleep(0.01)
    return False


def main():
    me = rollcall.identity()
    rank, size = me.rank or 0, me.world_size or 1
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    # not before it is asked to
    if any("libnccl" in line for line in open("/proc/self/maps")):
        sys.exit("libnccl is there already")
    first = rollcall.nccl_unique_id(timeout=SECONDS)
    handles = close_ring(rank, size, [first])
    second = rollcall.nccl_unique_id(timeout=SECONDS)
    close_ring(rank, size, [second])
    several = rollcall.nccl_unique_ids(count, timeout=SECONDS)
    close_ring(rank, size, several)
    if not is_used_up(handles[0]):
        sys.exit("an id can be used twice")
    # whoever has made an id has all of the others by now; nobody ends before they have what they need of it
    for other in range(size):
        rollcall.broadcast(f"end.{other}", b"", root=other, timeout=SECONDS)
    digests = (hashlib.sha256(i).hexdigest()[:16] for i in [first, second, *several])
    # in one piece, whatever else is written there
    os.write(1, f"unique {rank} of {size}, {' '.join(digests)}\n".encode())


main()
