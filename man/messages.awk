# messages.awk - lib/messages.def as the section MESSAGES of the manual page.

function text(line)
{
    sub(/^[^"]*"/, "", line)
    sub(/"[^"]*$/, "", line)
    gsub(/\\"/, "\"", line)
    gsub(/\\/, "\\e", line)
    gsub(/-/, "\\-", line)
    return line
}

/^ROLLCALL_MESSAGE\(RC/ {
    split($0, word, /[(, ]+/)
    level = tolower(word[3])
    sub(/^rc_level_/, "", level)
    printf ".TP\n.BR %s \" (%s)\"\n", word[2], level
    next
}

# The cause, then the cure.
/^ +"/ {
    print "\\&" text($0) ($0 ~ /,$/ ? ":" : ".")
}
