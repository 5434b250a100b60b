# SPDX-License-Identifier: BSD-3-Clause
"""comments.py TOP FILE... - how many words the comments of C have, and which words.

Prints what is above a limit, one a line: comment words a line of a folder's files, or a word's share of all comment
words. The models of the field have 0.3 to 0.8 words a line, and at most 1.2 "where" in 1,000 words.
"""
import collections
import pathlib
import re
import sys

# strings and character constants are matched, so that what looks like a comment in one is none
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
WORDS_A_LINE, OF_A_FOLDER = 1.0, 1.3
IN_A_THOUSAND = 1.5
HOUSE = "where own say said told tell who whoever ask asked alone absent".split()
LICENSE = r"SPDX-License-\S+ \S+"


def main(top, names):
    words, lines = collections.defaultdict(list), collections.Counter()
    for name in names:
        text = re.sub(LICENSE, "", pathlib.Path(top, name).read_text(encoding="utf-8"))
        folder = str(pathlib.Path(name).parent)
        comments = " ".join(match.group() for match in TOKEN.finditer(text) if match.group().startswith("/"))
        words[folder] += re.findall(r"[a-z_][a-z_0-9']*", comments.lower())
        lines[folder] += text.count("\n")
    means = {folder: (len(found) / lines[folder], OF_A_FOLDER) for folder, found in words.items()}
    means["all folders"] = (sum(map(len, words.values())) / lines.total(), WORDS_A_LINE)
    for folder, (mean, limit) in sorted(means.items()):
        if round(mean, 2) > limit:
            print(f"{folder}: {mean:.2f} comment words a line, {limit} at most")
    used = collections.Counter(word for found in words.values() for word in found)
    for word in HOUSE:
        if used[word] * 1000 > IN_A_THOUSAND * used.total():
            print(f'"{word}": {used[word] * 1000 / used.total():.1f} of 1,000 comment words, {IN_A_THOUSAND} at most')


main(sys.argv[1], sys.argv[2:])
