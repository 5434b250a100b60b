# SPDX-License-Identifier: BSD-3-Clause
"""Two commands in turns: pairs.py ROUNDS CLOCK COMMAND-A against COMMAND-B

Prints the median of A, the median of B, the median of the ratios of neighbours, B over A, and what B printed after its
last number. CLOCK, or one for each command as CLOCK,CLOCK:

    wall     microseconds from the command's start to its end
    prints   the command prints numbers, one a line: their median
    own      microseconds of processor of the command and of what it has waited for
    FILE     likewise of a whole control group, as its FILE counts them
"""
import os
import statistics
import subprocess
import sys
import time


def wall():
    return time.perf_counter() * 1e6


def own():
    used = os.times()
    return (used.children_user + used.children_system) * 1e6


def group(file):
    """cpuacct.usage has nanoseconds, cpu.stat a line "usage_usec N"."""
    with open(file, encoding="ascii") as opened:
        words = opened.readline().split()
    return int(words[-1]) / (1 if len(words) > 1 else 1e3)


def once(command, clock):
    """One measure, and a note."""
    prints = clock == "prints"
    read = {"wall": wall, "own": own, "prints": wall}.get(clock) or (lambda: group(clock))
    start = read()
    done = subprocess.run(command, check=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE if prints else subprocess.DEVNULL, text=True)
    if not prints:
        return read() - start, ""
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    return statistics.median(float(number) for number, _, _ in lines), lines[-1][2]


def pairs(rounds, clocks, a, b):
    # the first pair of several finds cold caches, and is forgotten
    for i in range(-1 if rounds > 1 else 0, rounds):
        # which of the two is first alternates as well
        if i % 2:
            measured, note = once(b, clocks[-1])
            base, _ = once(a, clocks[0])
        else:
            base, _ = once(a, clocks[0])
            measured, note = once(b, clocks[-1])
        if i < 0:
            continue
        yield base, measured, measured / base if base else float("inf"), note


def main():
    rounds, clock, *words = sys.argv[1:]
    split = words.index("against")
    *figures, notes = zip(*pairs(int(rounds), clock.split(","), words[:split], words[split + 1:]))
    print(*map(statistics.median, figures), notes[-1])


if __name__ == "__main__":
    main()
