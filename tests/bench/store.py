# SPDX-License-Identifier: BSD-3-Clause
"""store.py [--legacy] ROUNDS N: how long N clients of torch's TCPStore (its C++, one thread each,
without the interpreter's lock) take to connect and get the 128 bytes that one of them has set.
store.py [--legacy] processor N: what its server needs of the processor for a client, in a process of its own.
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


def processor(participants):
    done, end = os.pipe()
    report, tell = os.pipe()
    if os.fork() == 0:
        os.close(end)
        server, before = store(0, True), time.process_time()
        os.write(tell, f"{server.port}\n".encode())
        os.read(done, 1)
        os.write(tell, f"{(time.process_time() - before) / participants}\n".encode())
        os._exit(0)
    join(participants, int(os.read(report, 64)))
    os.close(end)
    return float(os.read(report, 64))


rounds, clients = sys.argv[1 if LIBUV else 2:]
for _ in range(1 if rounds == "processor" else int(rounds)):
    if rounds == "processor":
        took = processor(int(clients))
    else:
        server = store(0, True)
        took = join(int(clients), server.port)
    print(f"{took * 1e6:.0f}")
