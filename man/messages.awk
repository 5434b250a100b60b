# SPDX-License-Identifier: BSD-3-Clause
# messages.awk - lib/base/messages.def, and cli/findings.def, as two parts of the section MESSAGES of rollcall(7).

function text(line)
{
    sub(/^[^"]*"/, "", line)
    sub(/"[^"]*$/, "", line)
    gsub(/\\"/, "\"", line)
    gsub(/\\/, "\\e", line)
    gsub(/-/, "\\-", line)
    return line
}

/^ROLLCALL_(MESSAGE\(RC|FINDING\(D)/ {
    split($0, word, /[(, ]+/)
    level = tolower(word[3])
    sub(/^rc_level_/, "", level) # a finding's
    part = 0
    printf ".TP\n.BR %s \" (%s)\"\n", word[2], level
    next
}

# The cause, then the cure.
/^ +"/ {
    print (++part == 1 ? "\\&" : ".br\nCure: ") text($0) "."
}
