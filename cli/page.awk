# SPDX-License-Identifier: BSD-3-Clause
# page.awk - makes rows ROLLCALL_PAGE(NAME, "TEXT") of the blocks of page.html.

/^<!--block [a-z_]+-->$/ {
    if (name)
        print ")"
    name = $2
    sub(/-->$/, "", name)
    printf "ROLLCALL_PAGE(%s,", name
    next
}
name {
    gsub(/"/, "\\\"")
    printf "\n    \"%s\\n\"", $0
}
END { print ")" }
