#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""statements.py FILE... - assertions of bats files that cannot fail, as NAME:LINE: TEXT

A test fails at the first statement that fails, but bash does not count a command that is followed by && as one, nor one
after "!". In the middle of a test `[ A ] && [ B ]` never checks A, and `! grep ...` nothing. So a condition is a statement
of its own, and `run !` is for a command that must fail.
"""
import re
import sys

# ... and what a group in braces prints
CONDITION = re.compile(r"(if|elif|while|until|done|\{) ")
HEREDOC = re.compile(r"(?<!<)<<-?\s*([\"']?)(\w+)\1")


def without_quoted(text):
    """The text with every quoted string and what is in brackets as `_`; None where one of them does not end."""
    kept, at, closing = "", 0, []
    while at < len(text):
        char = text[at]
        inside = closing[-1] if closing else ""
        if char == "\\" and inside != "'":
            at += 2
            continue
        if inside and char == inside:
            closing.pop()
        elif inside != "'" and text.startswith("$(", at):
            closing.append(")")
            at += 1
        elif inside in ("'", '"'):
            pass
        elif char in "'\"":
            closing.append(char)
        elif text.startswith("[[ ", at):
            at = text.find(" ]]", at) + 2 if " ]]" in text[at:] else len(text)
        elif char == "(":
            closing.append(")")
        elif char == "#" and (at == 0 or text[at - 1].isspace()) and not inside:
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
            continue
        elif not inside:
            kept += char
            at += 1
            continue
        if not closing:
            kept += "_"
        at += 1
    return None if closing else kept


def statements(lines):
    """(line number, text without what is quoted)"""
    text, first, ends_at = "", 0, None
    for number, line in enumerate(lines, 1):
        if ends_at:
            ends_at = None if line.strip() == ends_at else ends_at
            continue
        first = first if text else number
        text += line
        code = without_quoted(text)
        here = HEREDOC.search(line)
        if code is not None and here:
            ends_at = here.group(2)
        if code is None or re.search(r"(\\|&&|\|)\s*$", text):
            continue
        yield first, code.strip()
        text = ""


for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        for number, code in statements(file):
            is_list = "&&" in code and "||" not in code and not CONDITION.match(code)
            if is_list or (code.startswith("! ") and "||" not in code):
                print(f"{name}:{number}: {' '.join(code.split())}")
