# SPDX-License-Identifier: BSD-3-Clause
"""lines.py - the text of a shell script: what is quoted, where a command ends, which lines are one."""
import re
import shlex


def scan(text, marks="'\""):
    """(letter, how) of a text: how is the quotation mark that it stands in (a closing one stands in none), a backslash
    for one and what it escapes, # for a comment, and else nothing."""
    quote, escaped, comment, previous = "", False, False, " "
    for letter in text:
        how = quote
        if comment:
            comment = letter != "\n"
            how = "#" if comment else ""
        elif escaped:
            escaped = False
            how = quote or "\\"
        elif letter == "\\" and quote != "'":
            escaped = True
            how = quote or "\\"
        elif quote:
            quote = "" if letter == quote else quote
            how = quote
        elif letter in marks:
            how = quote = letter
        elif letter == "#" and previous in " \t;\n":
            comment = True
            how = "#"
        yield letter, how
        previous = letter


def unquoted(line):
    """The line without comments and single-quoted text, which the shell does not expand."""
    return "".join(letter for letter, how in scan(line) if how not in ("'", "#") and letter != "'")


def open_quote(text):
    """Whether a quote is open at the end."""
    how = ""
    for _, how in scan(text.lstrip()):
        pass
    return how in ("'", '"')


def split(text):
    """The words of a command."""
    text = "".join(letter for letter, how in scan(text) if how != "#")
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def statements(line):
    """The commands of a line. ; & && || and | separate them, except in quotes, $(...) and backquotes."""
    parts, current, depth = [], "", 0
    for position, (letter, how) in enumerate(scan(line, "'\"`")):
        if how == "#":
            if depth <= 0:
                continue
        elif not how:
            depth += {"(": 1, ")": -1}.get(letter, 0)
            redirects = letter == "&" and (line[position + 1:position + 2] == ">" or current.endswith(">"))
            if letter in ";|&" and depth <= 0 and not redirects:
                parts.append(current.strip())
                current = ""
                continue
        current += letter
    parts.append(current.strip())
    return [part for part in parts if part]


ARRAY = re.compile(r"^\s*(?:(?:declare|local|readonly|export|typeset)\s+(?:-\w+\s+)*)?\w+\+?=\(")


def open_array(text):
    """Whether an array's parenthesis is open at the end."""
    if not ARRAY.match(text):
        return False
    plain = [letter for letter, how in scan(text) if not how]
    return plain.count("(") > plain.count(")")


def logical_lines(text):
    """Logical lines: a backslash, an open quote or an array's parenthesis joins lines. Here-documents are left out."""
    pending, start, end = "", 0, None
    for number, line in enumerate(text.split("\n"), 1):
        if end is not None:
            if line.strip() == end:
                end = None
            continue
        bare = line.rstrip()
        if not pending:
            start = number
            if bare.lstrip().startswith("#"):  # a backslash does not continue a comment
                yield bare.strip(), number
                continue
        if pending and bare.lstrip().startswith("#") and not open_quote(pending):
            continue
        pending += bare
        if bare.endswith("\\"):
            pending = pending[:-1] + " "
            continue
        if open_quote(pending) and number - start < 60:
            pending += "\n"
            continue
        if open_array(pending) and number - start < 60:
            pending = "".join(letter for letter, how in scan(pending) if how != "#") + " "
            continue
        document = re.search(r"<<-?\s*(['\"]?)(\w+)\1", pending)
        if document and "<<<" not in pending:
            end = document.group(2)
        yield pending.strip(), start
        pending = ""
    if pending:
        yield pending.strip(), start
