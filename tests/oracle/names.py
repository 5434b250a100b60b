# SPDX-License-Identifier: BSD-3-Clause
"""Host names as sites give them, and host lists as Slurm writes them."""

import re

STYLES = (
    "plain", "padded", "dashed", "wide", "rack", "deep", "suffix", "domain", "zeroes", "words", "mixed", "leading", "grid",
)


def make(rng, count, style=None):
    """`count` different host names, in the order of the cluster's configuration."""
    style = style or rng.choice(STYLES)
    first = rng.choice((0, 1, 1, 7, 9, 95, 98, 1000))
    numbers = [first + i for i in range(count)]
    if rng.random() < 0.3:  # holes in the numbering
        numbers = sorted(rng.sample(range(first, first + 3 * count + 2), count))
    if style == "plain":
        return [f"n{i}" for i in numbers]
    if style == "padded":
        return [f"node{i:03d}" for i in numbers]
    if style == "dashed":
        return [f"b04-{i:02d}" for i in numbers]
    if style == "wide":
        return [f"nid{i:06d}" for i in numbers]
    if style == "rack":
        return [f"rack{1 + i // 4}n{1 + i % 4}" for i in range(count)]
    if style == "deep":
        return [f"r{i // 16}i{i // 4 % 4}c{i % 4:02d}" for i in range(count)]
    if style == "suffix":
        return [f"gpu{i:02d}-ib" for i in numbers]
    if style == "domain":
        return [f"node-{i}.cluster.example.org" for i in numbers]
    if style == "zeroes":  # n1 and n01 are two hosts
        return [f"n{'0' * (i % 3)}{1 + i // 3}" for i in range(count)]
    if style == "words":
        words = "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike".split()
        return [words[i % 13] + ("" if i < 13 else "-" + words[i // 13]) for i in range(count)]
    if style == "leading":  # digits in front, as RFC 1123 allows
        return [f"{i % 10}gpu{i:04d}" for i in numbers]
    if style == "grid":
        return [f"x{1 + i // 8}y{i // 4 % 2}z{i % 4}" for i in range(count)]
    cut = rng.randint(0, count)
    rest = make(rng, count, rng.choice([style for style in STYLES if style != "mixed"]))
    return rest[:cut] + [f"login{i}" for i in range(1, 1 + count - cut)]


def split(name):
    """Prefix and trailing digits, as hostlist_create sees a name."""
    return re.fullmatch(r"(.*?)([0-9]*)", name, re.S).groups()


def order(names):
    """As bitmap2node_name sorts them: by prefix, then by width and number."""
    def key(name):
        prefix, digits = split(name)
        return prefix, len(digits) if digits.startswith("0") else 0, int(digits or -1), name
    return sorted(names, key=key)


def compress(names):
    """As hostlist_ranged_string writes them: neighbours that share a prefix in one bracket."""
    groups = []  # [prefix, [first, last, width]...]
    for name in names:
        prefix, digits = split(name)
        if len(digits) > 9:
            prefix, digits = name, ""
        if groups and digits and groups[-1][0] == prefix and groups[-1][1]:
            first, last, width = groups[-1][1][-1]
            # 9 and 10 join when neither is padded, 09 and 10 when the width stays
            if int(digits) == last + 1 and (len(digits) == width or (len(str(first)) == width and digits[0] != "0")):
                groups[-1][1][-1] = (first, last + 1, width)
            else:
                groups[-1][1].append((int(digits), int(digits), len(digits)))
        else:
            groups.append([prefix, [(int(digits), int(digits), len(digits))] if digits else []])
    parts = []
    for prefix, ranges in groups:
        texts = []
        for first, last, width in ranges:
            texts.append(f"{first:0{width}d}" + (f"-{last:0{width}d}" if last != first else ""))
        if not texts:
            parts.append(prefix)
        elif len(texts) == 1 and "-" not in texts[0]:
            parts.append(prefix + texts[0])
        else:
            parts.append(f"{prefix}[{','.join(texts)}]")
    return ",".join(parts)


def odometer(names):
    """The same hosts with a bracket in the middle of the names as well, where they are a full grid."""
    matches = [re.fullmatch(r"(\D+)(\d+)(\D+)(\d+)", name) for name in names]
    if len(names) < 2 or not all(matches):
        return None
    rows = {}
    for m in matches:
        rows.setdefault((m[1], m[2], m[3]), []).append(m[4])
    inner = list(rows.values())
    keys = list(rows)
    outer = [k[1] for k in keys]
    if any(i != inner[0] for i in inner) or len({(k[0], k[2]) for k in keys}) != 1 or len(inner) < 2:
        return None
    if [m[0] for m in matches] != [a + o + b + i for (a, o, b) in keys for i in inner[0]]:
        return None
    return f"{keys[0][0]}[{','.join(outer)}]{keys[0][2]}[{','.join(inner[0])}]"


def counts(numbers):
    """Slurm's compressed counts: 2(x3),1 (uint16_array_to_str)."""
    parts = []
    for n in numbers:
        if parts and parts[-1][0] == n:
            parts[-1][1] += 1
        else:
            parts.append([n, 1])
    return ",".join(f"{n}(x{times})" if times > 1 else str(n) for n, times in parts)
