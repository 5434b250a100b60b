# SPDX-License-Identifier: BSD-3-Clause
"""Time of two commands in turns: pairs.py [--processor FILE] ROUNDS COMMAND-A -- COMMAND-B

Prints the median seconds of A and of B and the median of the ratios of
neighbours, B over A: of wall time, or of the processor that a control group
counts in FILE. Part of tests/bench/run, which also runs it inside the
cluster's login node.
"""
import functools
import statistics
import subprocess
import sys
import time


def processor(file):
    """Seconds: cpuacct.usage has nanoseconds, cpu.stat a line "usage_usec N"."""
    with open(file, encoding="ascii") as opened:
        words = opened.readline().split()
    return int(words[-1]) / (1e6 if len(words) > 1 else 1e9)


def pairs(rounds, a, b, clock=time.perf_counter):
    def once(command):
        start = clock()
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return clock() - start

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
    words = sys.argv[1:]
    clock = time.perf_counter
    if words[0] == "--processor":
        clock = functools.partial(processor, words[1])
        words = words[2:]
    split = words.index("--")
    print(*pairs(int(words[0]), words[1:split], words[split + 1:], clock))
