# SPDX-License-Identifier: BSD-3-Clause
"""hosts.py - lists of nodes and of counts as Slurm writes them: n[1-3,7], 2(x3),1."""
import itertools
import re

MOST = 20000


def compress_counts(counts):
    runs = [(value, len(list(run))) for value, run in itertools.groupby(counts)]
    return ",".join("%d(x%d)" % run if run[1] > 1 else "%d" % run[0] for run in runs)


def compress(names):
    """n1, n2, n4 -> n[1-2,4]. Names with other prefixes stay apart."""
    groups = []
    for name in names:
        prefix, digits = re.match(r"^(.*?)(\d*)$", name).groups()
        if groups and digits and groups[-1][0] == prefix and groups[-1][1]:
            groups[-1][1].append(digits)
        else:
            groups.append((prefix, [digits] if digits else []))
    return ",".join(prefix + ranges(digits) for prefix, digits in groups)


def ranges(digits):
    if len(digits) < 2:
        return "".join(digits)
    found = []
    for text in digits:
        if found and int(text) == int(found[-1][1]) + 1 and len(text) >= len(found[-1][1]):
            found[-1][1] = text
        else:
            found.append([text, text])
    return "[%s]" % ",".join(first if first == last else "%s-%s" % (first, last) for first, last in found)


def expand(text):
    """The names of a list; [] for what is none."""
    names = []
    for prefix, inner, suffix in re.findall(r"([^,\[\]\s]+)(?:\[([^\]]*)\]([^,\[\]\s]*))?", text):
        if not inner:
            names.append(prefix)
            continue
        for part in inner.split(","):
            first, _, last = part.partition("-")
            last = last or first
            if not first.isdecimal() or not last.isdecimal() or int(last) - int(first) > MOST:
                return []
            names.extend("%s%0*d%s" % (prefix, len(first), value, suffix)
                         for value in range(int(first), int(last) + 1))
    return names
