# SPDX-License-Identifier: BSD-3-Clause
"""store.py [--legacy] ROUNDS N: how long N clients of torch's TCPStore (its C++, one thread each,
without the interpreter's lock) take to connect and get the 128 bytes that one of them has set.
store.py [--legacy] processor N: what its server needs of the processor for a client, in a process of its own.
store.py [--legacy] ids N RANKS K: the same for all of RANKS clients that each get K NCCL ids, as ProcessGroupNCCL's
allgatherUniqueNCCLIDs does, once they are connected. N of them are measured.
Prints microseconds. --legacy: torch's older back end instead of libuv."""
import os
import sys
import threading
import time
from datetime import timedelta

from torch.distributed import TCPStore

LIBUV = sys.argv[1] != "--legacy"


def store(port, is_master):
    return TCPStore("127.0.0.1", port, is_master=is_master, wait_for_workers=False, timeout=timedelta(seconds=60),
                    use_libuv=LIBUV)


def join(participants, port):
    ready = threading.Barrier(participants + 1)
    answers = []

    def participate(number):
        ready.wait()
        client = store(port, False)
        if number == 0:
            client.set("master", b"x" * 128)
        answers.append((client.get("master"), client))

    threads = [threading.Thread(target=participate, args=(i,)) for i in range(participants)]
    for thread in threads:
        thread.start()
    ready.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - start
    assert [value for value, _ in answers] == [b"x" * 128] * participants
    return took


def serve():
    """A server in a process of its own: its port, and a function that returns what it has used of the processor."""
    asked, ask = os.pipe()
    answers, answer = os.pipe()
    if os.fork() == 0:
        os.close(ask)
        server = store(0, True)
        os.write(answer, f"{server.port}\n".encode())
        while os.read(asked, 1):
            os.write(answer, f"{time.process_time()}\n".encode())
        os._exit(0)

    def used():
        os.write(ask, b"?")
        return float(os.read(answers, 64))

    return int(os.read(answers, 64)), used


def processor(participants):
    port, used = serve()
    before = used()
    join(participants, port)
    return (used() - before) / participants


def get_ids(participants, ids):
    port, used = serve()
    clients = [store(port, False) for _ in range(participants)]
    keys = [f"UniqueNCCLID:{number}" for number in range(ids)]
    answers = []
    threads = [threading.Thread(target=lambda client: answers.append(client.multi_get(keys)), args=[client])
               for client in clients]
    clients[0].multi_set(keys, [b"x" * 128] * ids)
    before = used()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [[b"x" * 128] * ids] * participants
    return (used() - before) / participants


what, clients, *of_ids = sys.argv[1 if LIBUV else 2:]
for _ in range(int(what) if what.isdigit() else 1):
    if what == "processor":
        took = processor(int(clients))
    elif what == "ids":
        took = get_ids(int(clients), int(of_ids[1])) * int(of_ids[0])
    else:
        server = store(0, True)
        took = join(int(clients), server.port)
    print(f"{took * 1e6:.0f}")
