# SPDX-License-Identifier: BSD-3-Clause
# examples.awk - the examples of a manual page, as what they are: commands and programs.
#
#   awk -v mark=run -f examples.awk PAGE     all blocks .EX of the page that stand behind the comment .\" run
#   awk -v mark=run -v number=2 ...          the second of them
#   awk -v mark=count ...                    how many blocks have no such comment in the section EXAMPLES

function plain(line)
{
    gsub(/\\f[BIRP]|\\&/, "", line)
    gsub(/\\-/, "-", line)
    gsub(/\\\(aq/, "\047", line)
    gsub(/\\\(dq/, "\"", line)
    gsub(/\\e/, "\\", line)
    return line
}

/^\.SH / { examples = /EXAMPLES/ }
/^\.\\" / { comment = substr($0, 5); next }
/^\.EX/ {
    unmarked += examples && comment == ""
    shown = comment == mark && (++count == number || !number)
    next
}
/^\.EE/ { shown = 0; comment = "" }
shown { print plain($0) }
END { if (mark == "count") print unmarked + 0 }
