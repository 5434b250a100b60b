# SPDX-License-Identifier: BSD-3-Clause
"""lib/console/json.c against Python's json: random documents, with strings of any bytes."""

import json
import subprocess

from conftest import generator
from stream import program

DOCUMENTS = 400
PIECES = [b"", b"a", b"RANK=0", b'"', b"\\", b"/", b"</script>", b"\n\r\t\b\f\v", bytes(range(1, 32)), b"\x7f\x80\x9b",
          "é€😀\u2028\ufeff".encode(), b"\xc0\xaf", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf0\x8f\xbf\xbf",
          b"\xf4\x8f\xbf\xbf\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xe2\x82", b"\xf0\x9f\x98", b"\xff\xfe"]
NUMBERS = [0, 1, -1, 2**31, 2**32 - 1, 2**53 + 1, 2**63 - 1, -2**63]


def random_bytes(rng):
    return b"".join(rng.choice(PIECES) if rng.random() < 0.7 else rng.randbytes(rng.randint(0, 6)).replace(b"\0", b"")
                    for _ in range(rng.randint(0, 4)))


def text_of(written):
    """What is no UTF-8 is escaped byte by byte."""
    return written.decode("utf-8", "backslashreplace")


def random_value(rng, depth):
    """A value for Python, and what makes the writer write it: (kind, text) and the fields that follow."""
    kind = rng.choice(("string", "string", "number", "bool", "null", *(("{", "[") if depth < 8 else ())))
    if kind == "string":
        written = random_bytes(rng)
        return text_of(written), (kind, written), []
    if kind == "number":
        number = rng.choice(NUMBERS)
        return number, (kind, str(number).encode()), []
    if kind == "bool":
        value = rng.random() < 0.5
        return value, (kind, b"true" if value else b"false"), []
    if kind == "null":
        return None, (kind, b""), []
    value, fields = random_members(rng, depth + 1, named=kind == "{")
    return value, (kind, b""), [*fields, b"]", b"", b""]


def random_members(rng, depth, named):
    members, fields = {} if named else [], []
    for _ in range(rng.randint(0, 4)):
        name = random_bytes(rng) or b"x" if named else b""
        if named and text_of(name) in (*members, "schema"):
            continue
        value, (kind, text), more = random_value(rng, depth)
        fields += [kind.encode(), name, text, *more]
        if named:
            members[text_of(name)] = value
        else:
            members.append(value)
    return members, fields


def test_documents_as_python_reads_them():
    rng = generator("json")
    documents, fields = [], []
    for _ in range(DOCUMENTS):
        members, described = random_members(rng, 1, named=True)
        documents.append({"schema": 1, **members})
        fields += [*described, b".", b"", b""]
    fields = fields[:-3]
    written = subprocess.run([program("json_stream")], input=b"".join(field + b"\0" for field in fields),
                             stdout=subprocess.PIPE, check=True, timeout=60).stdout.decode("ascii")
    assert all(" " <= c <= "~" and c != "<" for c in written.replace("\n", ""))
    read, decoder = [], json.JSONDecoder()
    while written:
        document, end = decoder.raw_decode(written)
        read.append(document)
        assert written[end] == "\n"
        written = written[end + 1:]
    assert read == documents
    assert [list(document) for document in read] == [list(document) for document in documents]
