# SPDX-License-Identifier: BSD-3-Clause
"""Wall time of two commands in turns: pairs.py ROUNDS COMMAND-A -- COMMAND-B

Prints the median seconds of A and of B and the median of the ratios of
neighbours, B over A. Part of tests/bench/run, which also runs it inside the
cluster's login node.
"""
import statistics
import subprocess
import sys
import time


def once(command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def pairs(rounds, a, b):
    once(a)
    once(b)
    times_a, times_b = [], []
    for i in range(rounds):
        # which of the two is first alternates as well
        if i % 2:
            times_b.append(once(b))
            times_a.append(once(a))
        else:
            times_a.append(once(a))
            times_b.append(once(b))
    ratios = [b / a for a, b in zip(times_a, times_b)]
    return statistics.median(times_a), statistics.median(times_b), statistics.median(ratios)


if __name__ == "__main__":
    split = sys.argv.index("--")
    print(*pairs(int(sys.argv[1]), sys.argv[2:split], sys.argv[split + 1:]))
