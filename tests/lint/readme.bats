#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# README.md and the pages of docs: links that lead somewhere, one text in two languages, a true picture.

load helper
load ../pages

setup()
{
    cd "$top"
}

# The levels of the headlines, in their order.
headlines()
{
    awk '/^```/ { code = !code } /^#+ / && !code { print $1 }' "$1"
}

# Code blocks: commands and what they print are not translated, only what follows a # is.
blocks()
{
    awk '/^```/ { code = !code } code || /^    [^ ]/' "$1" | sed 's/  *# .*//'
}

# What is in backquotes: names, options and commands.
words()
{
    grep -oE '``([^`]|`[^`])*``|`[^`]+`' "$1" | LC_ALL=C sort -u
}

# But the other language's.
links()
{
    grep -oE '\]\([^)]+\)' "$1" | grep -v README
}

@test "the Japanese README has the same headlines, commands, names and links" {
    expect_same "$(headlines README.md)" "$(headlines README.ja.md)"
    expect_same "$(blocks README.md)" "$(blocks README.ja.md)"
    expect_same "$(words README.md)" "$(words README.ja.md)"
    [ "$(words README.md | wc -l)" -gt 25 ]
    expect_same "$(links README.md)" "$(links README.ja.md)"
    # nothing of it was left in English
    run awk '/^```/ { code = !code } !code && /^[A-Za-z-].*[a-z] [a-z]/ && !/[^\x00-\x7f]/' README.ja.md
    expect_same "" "$output"
}

@test "the picture is embedded, and is what contrib/demo/picture draws of its lines" {
    grep -q '^!\[.*](docs/before-after.svg)$\|](docs/before-after.svg)$' README.md
    sed -n 's/.*<text [^>]*>\(.*\)<\/text>/\1/p' docs/before-after.svg | sed 's/&gt;/>/g; s/&amp;/\&/g' > "$BATS_TEST_TMPDIR/lines"
    [ "$(wc -l < "$BATS_TEST_TMPDIR/lines")" -gt 20 ]
    # the empty lines between them are not in it
    awk '/^(==|\$)/ && NR > 1 { print "" } { print } /^==/ { blank = 1 }' "$BATS_TEST_TMPDIR/lines" |
        contrib/demo/picture > "$BATS_TEST_TMPDIR/picture.svg"
    expect_same "$(cat docs/before-after.svg)" "$(cat "$BATS_TEST_TMPDIR/picture.svg")"
    run contrib/demo/picture <<< 'no headline'
    [ "$status" -eq 1 ]
}

@test "README.md is short: its first link to a page of docs comes after 450 words at most" {
    words=$(awk '/\]\(docs\/[a-z]*\.md/ { exit } { print }' README.md | wc -w)
    echo "$words words"
    [ "$words" -le 450 ]
    [ "$words" -ge 100 ]
}

# links_lead_somewhere PAGE...
links_lead_somewhere()
{
    for page; do
        while IFS= read -r link; do
            case $link in
                http*) continue ;;
                '#'*) file=$page ;;
                *) file=$(dirname "$page")/${link%%#*} ;;
            esac
            [ -e "$file" ] || { echo "$page: $link"; return 1; }
        done < <(awk '/^```/ { code = !code } !code && !/^    /' "$page" | grep -oE '\]\([^)]+\)' | sed 's/^](//; s/)$//')
    done
}

@test "every link leads to a file that is there, in the sources and where make install puts the pages" {
    links_lead_somewhere "${pages[@]}" README.ja.md CONTRIBUTING.md SECURITY.md packaging/README.md docs/jobs/*.md
    (
        cd "$prefix/share/doc/rollcall"
        [ -e docs/user.md ]
        links_lead_somewhere *.md docs/*.md docs/jobs/*.md
    )
    # each template is installed, with the pages that link to it
    for job in docs/jobs/*; do
        grep -qF "$job" Makefile.am || { echo "Makefile.am does not install $job"; return 1; }
        grep -qF "](jobs/${job##*/})" docs/user.md || { echo "docs/user.md does not have $job"; return 1; }
    done
    # and none of docs that nobody links to
    for page in docs/*.md docs/*.svg; do
        grep -qF "(${page#docs/})" docs/*.md || grep -qF "($page)" README.md || { echo "nobody links to $page"; return 1; }
    done
}

@test "docs/symptoms.md: each line with srun --ddp -> the next one does the same without the plugin" {
    run -0 awk '/^    /{ before = last; last = $0; if (before ~ /srun --ddp/ && before !~ /--ddp .*rollcall / &&
        $0 !~ /rollcall exec --/) print before; next } last ~ /srun --ddp/ { print last } { last = "" }' \
        "$top/docs/symptoms.md"
    expect_same "" "$output"
}

@test "SECURITY.md says as whom each of rollcall's own programs and libraries runs" {
    list installed.txt | sed -nE 's|^f libexec/rollcall/(rollcall-[a-z]+)$|\1|p; s|^f lib/(librollcall-[a-z]+\.so)$|\1|p' \
        > "$BATS_TEST_TMPDIR/programs"
    [ "$(wc -l < "$BATS_TEST_TMPDIR/programs")" -ge 6 ]
    sed -nE 's/^#define RC_(EXCHANGE_[A-Z]+|LOOKUP_ARGUMENT) +"([a-z]+)".*/rollcall-exchange \2/p' lib/*/*.h \
        > "$BATS_TEST_TMPDIR/words"
    [ "$(wc -l < "$BATS_TEST_TMPDIR/words")" -ge 3 ]
    while IFS= read -r name; do
        grep -qF "| \`$name" SECURITY.md || { echo "no row for $name"; return 1; }
    done < <(cat "$BATS_TEST_TMPDIR/programs" "$BATS_TEST_TMPDIR/words" | grep -v preload)
    grep -q '^| preload library |' SECURITY.md
}

@test "what two pages say to install with is the same" {
    install=$(page_lines README.md '## You have a job script, and no root')
    [ -n "$install" ]
    expect_same "$install" "$(page_lines docs/user.md '## Install' | grep -Fx -- "$install")"
    wanted=$(grep -oE 'a C compiler, make, auto[a-z, ]*libtool[^:]*' README.md)
    grep -qF "$wanted" docs/user.md
}

@test "HACKING.md: the seconds of each layer are those of tests/seconds" {
    expect_same "$(sort tests/seconds)" "$(sed -nE 's/^\| ([a-z0-9.-]+) \| ([0-9]+) \|.*/\1 \2/p' HACKING.md | sort)"
}

@test "CONTRIBUTING.md: each subject that it shows is of this tree's history" {
    [ -e .git ] || skip 'a release has no history'
    git -c 'safe.directory=*' log --format=%s > "$BATS_TEST_TMPDIR/subjects"
    [ "$(wc -l < "$BATS_TEST_TMPDIR/subjects")" -gt 1000 ] || skip 'not the whole history'
    sed -n '/^The first line names/,/^The body/s/^    //p' CONTRIBUTING.md > "$BATS_TEST_TMPDIR/shown"
    [ "$(wc -l < "$BATS_TEST_TMPDIR/shown")" -eq 3 ]
    expect_same "" "$(grep -vxFf "$BATS_TEST_TMPDIR/subjects" "$BATS_TEST_TMPDIR/shown")"
}
