# SPDX-License-Identifier: BSD-3-Clause
"""sentences.py - whether the texts of lib/base/messages.def and cli/findings.def are plain English.

    sentences.py TOP

Prints what is not, one a line: a sentence of a cause or a cure with too many words, or too many in the mean; a cure
that sends the reader back to the line that he comes from; words that only this project uses.
"""

import ast
import re
import sys

MEAN, LONGEST = 15, 30  # words of a sentence

STRING = r'"(?:[^"\\\n]|\\.)*"'
ROW = re.compile(
    r"^ROLLCALL_(?:MESSAGE|FINDING)\((\w+)(?:, \w+)+,\s+(%s),\s+(%s)\)$" % (STRING, STRING), re.M
)
BACK = re.compile(
    r"\b(?:what|as|that|which) (?:the|this|another) (?:line|message|warning)\b"
    r"|\b(?:line|message|warning)s? (?:says?|said|names?|lists?|shows?|tells?|beside|above)\b"
)
HOUSE = re.compile(
    r"\b(?:desks?|boards?|stamps?|told|whoever|nobody|somebody|goes before|is said|half an identity|roll is called"
    r"|lost the others?|hands? (?:\w+ )?on)\b"
)


def read(name):
    with open(name, encoding="utf-8") as file:
        return file.read()


def sentences(text):
    return re.split(r"; |\. ", text)


def complaints(identifier, cause, cure):
    for name, text in (("cause", cause), ("cure", cure)):
        for sentence in sentences(text):
            if len(sentence.split()) > LONGEST:
                yield f"{identifier}: {name}: more than {LONGEST} words: {sentence}"
    if BACK.search(cure):
        yield f"{identifier}: cure: points back: {BACK.search(cure).group()}"
    for text in (cause, cure):
        if HOUSE.search(text):
            yield f"{identifier}: not a word of the field: {HOUSE.search(text).group()}"


def main(top):
    for name in ("lib/base/messages.def", "cli/findings.def"):
        lengths = []
        for identifier, *strings in ROW.findall(read(top + "/" + name)):
            cause, cure = map(ast.literal_eval, strings)
            lengths += [len(sentence.split()) for sentence in sentences(cause) + sentences(cure)]
            for complaint in complaints(identifier, cause, cure):
                print(complaint)
        if sum(lengths) > MEAN * len(lengths):
            print(f"{name}: {sum(lengths) / len(lengths):.1f} words a sentence in the mean, more than {MEAN}")


main(sys.argv[1])
