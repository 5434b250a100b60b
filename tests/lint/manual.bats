#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The manual pages: well formed, complete, and true of what is installed.

load helper

setup()
{
    man=$prefix/share/man
    page=$man/man7/rollcall.7
    mapfile -t pages < <(find "$man" -type f | LC_ALL=C sort)
    [ ${#pages[@]} -ge 4 ]
}

shown()
{
    MANWIDTH=${1:-100} LC_ALL=C.UTF-8 man --warnings=all -P cat "${2:-$page}" 2> "$BATS_TEST_TMPDIR/warnings" | col -b
}

# section PAGE TITLE: what it says, as the page's source has it
section()
{
    sed -n "/^\.SH \"\{0,1\}$2/,/^\.SH /{/^\.SH/d;p}" "$1"
}

@test "the pages are well formed, also on a narrow terminal" {
    for file in "${pages[@]}"; do
        # a folder's name is one word, and here a long one
        sed "s|$prefix|/opt/rollcall|g" "$file" > "$BATS_TEST_TMPDIR/page"
        shown 80 "$BATS_TEST_TMPDIR/page" > "$BATS_TEST_TMPDIR/text"
        expect_same "" "$(cat "$BATS_TEST_TMPDIR/warnings")"
        [ "$(wc -l < "$BATS_TEST_TMPDIR/text")" -gt 100 ]
        expect_same "" "$(mandoc -Tlint -W warning "$file" || true)"
    done
}

@test "make html makes each page for a browser, with links to pages and places that are there" {
    make -s -C "$build" install-html DESTDIR="$BATS_TEST_TMPDIR/stage"
    cd "$BATS_TEST_TMPDIR/stage$prefix/share/doc/rollcall"
    for file in "${pages[@]}"; do
        [ -s "$(basename "$file").html" ]
        grep -qF "href=\"$(basename "$file").html\"" index.html
    done
    count=0
    while IFS=: read -r file link; do
        count=$((count + 1))
        target=${link%%#*}
        [ -e "${target:-$file}" ] || { echo "$file: $link"; return 1; }
        [[ $link != *#* ]] || grep -qF "id=\"${link#*#}\"" "${target:-$file}" || { echo "$file: $link"; return 1; }
    done < <(grep -oE '<a [^>]*href="[^"]*"' -- *.html | sed 's/<a .*href="\(.*\)"/\1/')
    [ "$count" -gt 200 ]
    # RC602 can be linked to
    grep -q 'id="RC602"' rollcall.7.html
    grep -q 'href="rollcall.7.html"' spank_rollcall.8.html
}

@test "nothing is left to be put in, and the version is there" {
    for file in "${pages[@]}"; do
        run grep -nE '@[A-Za-z]+@' "$file"
        [ -z "$output" ]
        name=$(basename "$file")
        grep -qiE "^\.TH ${name%.*} ${name#*.} [0-9-]+ \"rollcall $(cat "$top/VERSION")\" " "$file"
    done
}

@test "sections are in their order" {
    sections='NAME SYNOPSIS DESCRIPTION IN SEVERAL TASKS EXIT STATUS JSON ENVIRONMENT FILES EXAMPLES SEE ALSO'
    expect_same "$sections" "$(sed -n 's/^\.SH //p' "$man/man1/rollcall.1" | tr -d '"' | paste -sd' ')"
    sections='NAME SYNOPSIS DESCRIPTION RETURN VALUE ATTRIBUTES FILES EXAMPLES SEE ALSO'
    expect_same "$sections" "$(sed -n 's/^\.SH //p' "$man/man3/librollcall.3" | tr -d '"' | paste -sd' ')"
    sections='NAME SYNOPSIS DESCRIPTION MODES ADDRESSES MASTER PORT AND ROLL CALL WATCH STORE GPUS CORES MAP'
    sections+=' LAUNCHERS FRAMEWORKS TRAPS ENVIRONMENT FILES MESSAGES SEE ALSO'
    expect_same "$sections" "$(sed -n 's/^\.SH //p' "$page" | paste -sd' ')"
    sections='NAME SYNOPSIS DESCRIPTION INSTALLATION PORTS WHAT RUNS AS WHOM CONTAINERS UPGRADING SWITCHING IT OFF'
    sections+=' FILES SEE ALSO'
    expect_same "$sections" "$(sed -n 's/^\.SH //p' "$man/man8/spank_rollcall.8" | tr -d '"' | paste -sd' ')"
}

@test "rollcall(7) begins with a list of all its sections" {
    listed=$(section "$page" DESCRIPTION | sed -nE '/^\.TS/,/^\.TE/s/^\\fB([A-Z ]+)\\fR\t.*/\1/p')
    expect_same "$(sed -n 's/^\.SH //p' "$page" | grep -vxE 'NAME|SYNOPSIS|DESCRIPTION|SEE ALSO')" "$listed"
}

@test "each page refers to pages and sections that are there, and the first one to all others" {
    for file in "${pages[@]}"; do
        for reference in $(grep -ohE '\b(lib|spank_)?rollcall (\(|"\()[1-9]\)' "$file" | tr -d ' "'); do
            name=${reference%(*}
            number=${reference#*(}
            [ -e "$man/man${number%)}/$name.${number%)}" ] || { echo "$file: $reference"; return 1; }
        done
        name=$(basename "$file")
        [ "$name" = rollcall.1 ] || section "$man/man1/rollcall.1" 'SEE ALSO' | grep -qF "${name%.*} (${name#*.})"
    done
}

@test "no line of text is in two pages" {
    for file in "${pages[@]}"; do
        grep -vE '^\.|^\\&' "$file" | awk 'length > 45' | LC_ALL=C sort -u
    done | LC_ALL=C sort | uniq -d > "$BATS_TEST_TMPDIR/twice"
    expect_same "" "$(cat "$BATS_TEST_TMPDIR/twice")"
}

@test "every example says what runs it" {
    for file in "${pages[@]}"; do
        [ "$(awk -v mark=count -f "$top/tests/examples.awk" "$file")" = 0 ] || { echo "$file"; return 1; }
    done
}

@test "every message of the catalogue is there, with what to do" {
    ids=$(sed -n 's/^ROLLCALL_MESSAGE(\(RC[0-9]*\),.*/\1/p' "$top/lib/base/messages.def")
    expect_same "$ids" "$(grep -oE '^\.BR RC[0-9]+' "$page" | cut -d' ' -f2)"
    shown 2000 > "$BATS_TEST_TMPDIR/text"
    grep -qF 'use the same number on each node: #SBATCH --ntasks-per-node=N in a job script' "$BATS_TEST_TMPDIR/text"
}

@test "every finding of the doctor is there" {
    ids=$(sed -n 's/^ROLLCALL_FINDING(\(D[0-9]*\),.*/\1/p' "$top/cli/findings.def")
    [ "$(wc -l <<< "$ids")" -gt 50 ]
    expect_same "$ids" "$(grep -oE '^\.BR D[0-9]+ "' "$page" | grep -oE 'D[0-9]+')"
}

@test "every launcher of the registry has its row, in that order, and no other has" {
    ids=$(launchers)
    [ "$(wc -l <<< "$ids")" -gt 15 ]
    expect_same "$ids" "$(sed -n '/^\.TS$/,/^\.TE$/s/^\([a-z0-9]*\)\t.*/\1/p' "$page" | grep -v '^name$')"
}

@test "every variable that rollcall sets is named" {
    names=$(cd "$top" && grep -hoE 'RC_(STR|NAME)\("(RANK|[A-Z]+_[A-Z_]+)"\)' lib/resolve/planning.c | cut -d'"' -f2 |
        grep -vE '^(TORCHELASTIC|PET)_' | LC_ALL=C sort -u)
    [ "$(wc -l <<< "$names")" -gt 10 ]
    text=$(shown)
    names+=$'\nPET_SIGNALS_TO_HANDLE'
    [[ $names == *$'\n'JAX_* ]]
    for name in $names ROLLCALL ROLLCALL_DEBUG ROLLCALL_SCOPE ROLLCALL_IDENTITY PYTHONPATH LD_PRELOAD; do
        grep -qw "$name" <<< "$text" || { echo "$name is not in the page"; return 1; }
    done
}

@test "librollcall(3) has every function of rollcall.h and of the module, and every code" {
    declared=$(gcc -E -P "$prefix/include/rollcall.h" | grep -oE '\brollcall_[a-z_]+\(' | LC_ALL=C sort -u)
    expect_same "$declared" "$(section "$man/man3/librollcall.3" SYNOPSIS | grep -oE '\brollcall_[a-z_]+\(' | LC_ALL=C sort -u)"
    codes=$(sed -nE 's/^ +(ROLLCALL_[A-Z_]+) = ([1-9]).*/.BR \1 " (\2)"/p' <(sed -n '/^enum rollcall_error_code/,/^}/p' "$prefix/include/rollcall.h"))
    expect_same "$codes" "$(grep '^\.BR ROLLCALL_[A-Z_]* " ([1-9])"$' "$man/man3/librollcall.3")"
    functions=$(sed -n '/^__all__ = /,/^\]/p' "$prefix/share/rollcall/python/rollcall/__init__.py" |
        grep -oE '"[a-z][a-z_]*"' | tr -d '"')
    expect_same "$(LC_ALL=C sort <<< "$functions")" "$(section "$man/man3/librollcall.3" SYNOPSIS |
        sed -nE 's/^\\fBrollcall\.([a-z_]+)\(.*/\1/p' | LC_ALL=C sort)"
}

@test "installed files are where the pages say, each in one page" {
    for file in "${pages[@]}"; do
        section "$file" FILES | sed -n 's|^\.I \(/.*\)$|\1|p' | sed 's/\\-/-/g'
    done > "$BATS_TEST_TMPDIR/files"
    expect_same "" "$(LC_ALL=C sort "$BATS_TEST_TMPDIR/files" | uniq -d)"
    while read -r file; do
        [ -e "$file" ] || { echo "$file is not there"; return 1; }
    done < "$BATS_TEST_TMPDIR/files"
    # and they are all; a folder stands for what is in it
    (cd "$prefix" && find . \( -name __pycache__ -o -path './lib/slurm-*' \) -prune -o -type f -printf "$prefix/%P\n") |
        grep -vE '/share/(doc|man)/|/lib/pkgconfig/|\.so\.[0-9.]+$' |
        while read -r file; do
            grep -qxF -e "$file" -e "${file%/watch/*}/watch" -e "${file%/python/*}/python" \
                -e "${file%/doctor/*}/doctor" -e "${file%/rehearse/*}/rehearse" "$BATS_TEST_TMPDIR/files" ||
                echo "$file"
        done > "$BATS_TEST_TMPDIR/missing"
    expect_same "" "$(cat "$BATS_TEST_TMPDIR/missing")"
}
