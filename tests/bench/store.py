# SPDX-License-Identifier: BSD-3-Clause
"""store.py ROUNDS N...: what meet.c measures, through torch's TCPStore: N clients (its C++, one thread each,
without the interpreter's lock) connect and get the 128 bytes that one of them has set.
store.py processor N: microseconds of processor that its server needs for a client, in a process of its own.
With --legacy first, through torch's older back end instead of libuv."""
import os
import resource
import statistics
import sys
import threading
import time
from datetime import timedelta

from torch.distributed import TCPStore

LIBUV = sys.argv[1] != "--legacy"


def open_server():
    return TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=60),
                    use_libuv=LIBUV)


def meet(participants):
    server = open_server()
    return join(participants, server.port)[0]


def join(participants, port):
    ready = threading.Barrier(participants + 1)
    answers = []

    def participate(number):
        ready.wait()
        store = TCPStore("127.0.0.1", port, is_master=False, wait_for_workers=False,
                         timeout=timedelta(seconds=60), use_libuv=LIBUV)
        if number == 0:
            store.set("master", b"x" * 128)
        answers.append((store.get("master"), store))

    threads = [threading.Thread(target=participate, args=(i,)) for i in range(participants)]
    for thread in threads:
        thread.start()
    ready.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - start
    assert [value for value, _ in answers] == [b"x" * 128] * participants
    return took * 1e6, answers


def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def processor(participants):
    done, end = os.pipe()
    report, tell = os.pipe()
    if os.fork() == 0:
        os.close(end)
        server, before = open_server(), used()
        os.write(tell, f"{server.port}\n".encode())
        os.read(done, 1)
        os.write(tell, f"{(used() - before) / participants * 1e6}\n".encode())
        os._exit(0)
    join(participants, int(os.read(report, 64)))
    os.close(end)
    return float(os.read(report, 64))


arguments = sys.argv[1 if LIBUV else 2:]
if arguments[0] == "processor":
    print(f"{processor(int(arguments[1])):.0f}")
    sys.exit()
rounds = int(arguments[0])
for n in map(int, arguments[1:]):
    print(f"{statistics.median(meet(n) for _ in range(rounds)):.0f}")
