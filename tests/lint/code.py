# SPDX-License-Identifier: BSD-3-Clause
"""code.py TOP FILE... - C without comments, strings and character constants, as FILE:LINE:TEXT.

Forbidden words may be in comments ("no exit here") and messages, not in code.
"""
import re
import sys

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def main(top, names):
    for name in names:
        with open(f"{top}/{name}", encoding="utf-8") as file:
            text = TOKEN.sub(blank, file.read())
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                print(f"{name}:{number}:{line}")


main(sys.argv[1], sys.argv[2:])
