# SPDX-License-Identifier: BSD-3-Clause
# symptoms.awk PAGE - the entries of docs/symptoms.md as rows of C, for cli/symptoms.c.
#
# A headline is what a program prints: numbers, n1, RANK and a list in brackets stand for any words, which a row has as
# "*". One that ends in ", twice" counts only if a log has it twice. The advice has a line for each paragraph and each
# line to type; the latter begin with blanks.

function quoted(text)
{
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}

function end_paragraph()
{
    if (paragraph != "")
        advice = advice "        " quoted(paragraph) " \"\\n\"\n"
    paragraph = ""
}

function end_entry()
{
    end_paragraph()
    if (text != "")
        printf "    { %s, %s, %s,\n%s    },\n", quoted(text), level, least, advice
    text = advice = ""
}

function begin_entry(line)
{
    least = sub(/, twice$/, "", line) ? 2 : 1
    if (least > 1) {
        sub(/[0-9]+$/, "*", line)
    } else {
        gsub(/\[.*\]/, "*", line)
        gsub(/\(n1, /, "(*, ", line)
        gsub(/ RANK /, " * ", line)
        gsub(/-?[0-9]+/, "*", line)
    }
    sub(/\*$/, "", line)
    text = line
}

/^## / {
    end_entry()
    is_text = !/No message/
    level = /harmless/ ? "RC_LEVEL_NOTE" : "RC_LEVEL_ERROR"
}
/^### / && is_text {
    end_entry()
    begin_entry(substr($0, 5))
    next
}
text == "" || /^#/ { next }
/^    / {
    end_paragraph()
    advice = advice "        " quoted($0) " \"\\n\"\n"
    next
}
/^$/ { end_paragraph(); next }
{ paragraph = paragraph (paragraph == "" ? "" : " ") $0 }
END { end_entry() }
