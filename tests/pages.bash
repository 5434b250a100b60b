# SPDX-License-Identifier: BSD-3-Clause
# pages.bash - what a Markdown page tells its readers to type. $pages are all of them, of README.md's language.
#
#   page_lines FILE [HEADLINE]  the lines of indented code blocks: one command each; of one section
#   page_words FILE             whole commands among the words in backquotes
#   page_blocks FILE LANGUAGE NUMBER
#                               the text of a fenced block of that language; fails where there is none

# shellcheck disable=SC2034 # used in the tests
pages=(README.md docs/user.md docs/symptoms.md docs/admin.md docs/limits.md docs/developer.md SKILL.md)

page_lines()
{
    awk -v headline="${2:-}" '
        /^ *```/ { fenced = !fenced }
        /^#+ / && !fenced { shown = $0 == headline }
        /^    +[^ ]/ && !fenced && !text && (shown || headline == "") { sub(/^ +/, ""); print; next }
        { text = /[^ ]/ }' "$1"
}

# Their dots stand for something, and so what has them is no command.
page_words()
{
    grep -oE '`[^`]+`' <(sed 's/``[^`]*`[^`]*`[^`]*``//g' "$1") | tr -d '`' | grep -v -e '\.\.\.' -e '--$' |
        grep -E '^([A-Z_]+=[^ ]+ )*(srun|mpirun) .*(python|torchrun|rollcall) [a-z]|^rollcall [a-z]+ .*[A-Za-z0-9]$' || true
}

page_blocks()
{
    awk -v language="$2" -v wanted="$3" '
        $0 == "```" && inside { exit }
        inside { print; found = 1 }
        $0 == "```" language && ++number == wanted { inside = 1 }
        END { exit !found }' "$1"
}
