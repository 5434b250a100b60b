# SPDX-License-Identifier: BSD-3-Clause
"""store.py ROUNDS N...: what meet.c measures, through torch's TCPStore: N clients (its C++, one thread each,
without the interpreter's lock) connect and get the 128 bytes that one of them has set."""
import statistics
import sys
import threading
import time
from datetime import timedelta

from torch.distributed import TCPStore


def meet(participants):
    server = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=60))
    ready = threading.Barrier(participants + 1)
    answers = []

    def participate(number):
        ready.wait()
        store = TCPStore("127.0.0.1", server.port, is_master=False, wait_for_workers=False,
                         timeout=timedelta(seconds=60))
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
    return took * 1e6


rounds = int(sys.argv[1])
for n in map(int, sys.argv[2:]):
    print(f"{statistics.median(meet(n) for _ in range(rounds)):.0f}")
