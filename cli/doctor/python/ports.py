# SPDX-License-Identifier: BSD-3-Clause
"""ports.py - a master port that a job script draws by chance, from numbers that are no ports for users."""
import re

NAMES = ("MASTER_PORT", "RDZV_PORT", "MAIN_PROCESS_PORT")
FIRST, LAST = 1024, 65535
MOST = 32767  # of $RANDOM


def drawn(value):
    """(least, most) of a value that the shell draws by chance; None for any other, and for one that is not clear."""
    shuffled = re.match(r"^\$\(\s*shuf\s+.*?-i\s*(\d+)-(\d+)\b", value)
    if shuffled:
        return int(shuffled.group(1)), int(shuffled.group(2))
    if re.match(r"^\$(RANDOM|\{RANDOM\})$", value):
        return 0, MOST
    arithmetic = re.match(r"^\$\(\((.*)\)\)$", value)
    text = re.sub(r"[\s$(){}]", "", arithmetic.group(1)) if arithmetic else ""
    found = re.match(r"^(?:(\d+)\+)?RANDOM(?:%(\d+))?(?:\+(\d+))?$", text)
    if not found or arithmetic and re.search(r"RANDOM\s*\+.*%|\+\s*\$?RANDOM\s*\)+\s*%", arithmetic.group(1)):
        return None
    base = int(found.group(1) or 0) + int(found.group(3) or 0)
    return base, base + (min(int(found.group(2)) - 1, MOST) if found.group(2) else MOST)


def check(job, report):
    for name, value, number in job.exports:
        numbers = drawn(value.strip("\"")) if name in NAMES else None
        if numbers and (numbers[0] < FIRST or numbers[1] > LAST):
            report("D533", job.path, number, "%s is any number from %d to %d" % ((name,) + numbers),
                   "(leave the line out: srun --ddp holds a free port)")
