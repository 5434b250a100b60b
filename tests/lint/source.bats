#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What may not be in the sources.

load helper

# code FILE...: the files without comments and strings, as NAME:LINE:TEXT.
code()
{
    python3 "$here/code.py" "$top" "$@"
}

# c_files [FOLDER...]: C of these folders, or all that a user runs.
c_files()
{
    if [ $# -gt 0 ]; then files "$@"; else files . | grep -vE '^(tests|contrib)/'; fi | grep -E '\.[ch]$'
}

@test "no forbidden call outside of the command" {
    mapfile -t sources < <(c_files | grep -vE '^cli/[^/]*$')
    [ ${#sources[@]} -gt 20 ]
    words='ato[il]|atoll|strto[ul]|strtoul|strtou?ll|strtok|strtok_r|v?sprintf|strn?cpy|strn?cat|gets|popen|system'
    words+='|exit|abort|assert|alloca|getpw[a-z_]*|getgr[a-z_]*'
    found=$(code "${sources[@]}" | grep -E "\\b($words)[[:space:]]*\\(" || true)
    expect_same "" "$found"
}

@test "no call that cannot be given a size anywhere" {
    mapfile -t sources < <(c_files)
    found=$(code "${sources[@]}" | grep -E '\b(v?sprintf|strcpy|strcat|gets|strtok)[[:space:]]*\(' || true)
    expect_same "" "$found"
}

@test "the core includes no header of a libc, nor config.h" {
    mapfile -t sources < <(c_files lib/base lib/launcher lib/resolve)
    [ ${#sources[@]} -gt 20 ]
    found=$(cd "$top" && grep -nE '^#[[:space:]]*include' "${sources[@]}" |
        grep -E '<|config\.h' | grep -vE '<(stdarg|stdbool|stddef|stdint|stdalign|limits)\.h>' || true)
    expect_same "" "$found"
}

@test "the core has no global that can be written" {
    archive=$build/lib/.libs/librollcall-core.a
    # .data.rel.ro is constant once it is loaded
    found=$(objdump -t "$archive" | awk '
        $4 ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && $4 !~ /^\.data\.rel\.ro/ && $NF !~ /^\./ { print $NF }')
    expect_same "" "$found"
}

@test "no tab in C, no blank at a line's end" {
    mapfile -t sources < <(c_files .)
    found=$(cd "$top" && grep -nP '\t|[ \t]+$' "${sources[@]}" || true)
    expect_same "" "$found"
}

@test "no line of C has more than 120 columns" {
    mapfile -t sources < <(c_files .)
    expect_same "" "$(cd "$top" && awk 'length > 120 { print FILENAME ":" FNR }' "${sources[@]}")"
}

@test "no file of C has more than 600 lines" {
    mapfile -t sources < <(c_files .)
    found=$(cd "$top" && wc -l "${sources[@]}" | awk '$1 > 600 && $2 != "total" { print $2 ": " $1 }')
    expect_same "" "$found"
}

@test "every header opens with what it is and guards itself" {
    mapfile -t headers < <(c_files | grep '\.h$')
    cd "$top"
    expect_same "" "$(awk '
        FNR == 1 { bare[FILENAME]; name = FILENAME; sub(/.*\//, "", name) }
        FNR == 2 && index($0, "/* " name " - ") != 1 { print FILENAME " has no head" }
        /^#pragma once$/ || /^#ifndef ROLLCALL_/ { delete bare[FILENAME]; nextfile }
        END { for (file in bare) print file " has no guard" }' "${headers[@]}")"
}

@test "folders include what HACKING.md's table lets them, and nothing in a circle" {
    mapfile -t sources < <(c_files)
    expect_same "" "$(python3 "$here/includes.py" "$top" "${sources[@]}")"
}

@test "what HACKING.md and CONTRIBUTING.md call by name is there" {
    mapfile -t all < <(files .)
    for document in HACKING.md CONTRIBUTING.md; do
        expect_same "" "$(python3 "$here/names.py" "$top" "$document" "${all[@]}")"
    done
}

@test "C is written as .clang-format says" {
    command -v clang-format > /dev/null
    mapfile -t sources < <(c_files .)
    cd "$top"
    clang-format --dry-run -Werror "${sources[@]}"
}

@test "every source says its licence" {
    mapfile -t sources < <(files . | grep -E '\.([ch]|def|py|bash|bats|sh|am|m4|awk)$' |
        grep -vE '^(packaging|docs)/')
    [ ${#sources[@]} -gt 500 ]
    cd "$top"
    # an empty one has nothing to be licensed
    expect_same "" "$(awk '
        FNR == 1 { wanted[FILENAME] }
        /SPDX-License-Identifier[:] BSD-3-Clause/ { delete wanted[FILENAME] }
        FNR == 2 { nextfile }
        END { for (file in wanted) print file }' "${sources[@]}")"
}

# Sorted, none twice, each with three digits: what is used is listed so.
@test "every message is used, and every one used is in the catalogue" {
    ids=$(sed -n 's/^ROLLCALL_MESSAGE(\(RC[0-9]*\),.*/\1/p' "$top/lib/base/messages.def")
    mapfile -t sources < <(c_files)
    used=$({ code "${sources[@]}" | grep -oE '\bRC[1-9][0-9]{2}\b' &&
        grep -hoE '"RC[1-9][0-9]{2}"' "$top"/shim/watch/*.py | tr -d '"'; } | LC_ALL=C sort -u)
    expect_same "$ids" "$used"
}

@test "every finding is used, and every one used is in the catalogue" {
    ids=$(sed -n 's/^ROLLCALL_FINDING(\(D[0-9]*\),.*/\1/p' "$top/cli/findings.def")
    used=$(cd "$top" && grep -hoE '(FINDING_|")D[1-6][0-9]{2}\b' cli/doctor/*.c cli/doctor/python/*.py cli/rehearse/*.py | grep -oE 'D[0-9]+' | LC_ALL=C sort -u)
    expect_same "$ids" "$used"
}

@test "each launcher family has one line of the registry" {
    rows=$(sed -n 's/^ROLLCALL_LAUNCHER(\(.*\))$/\1/p' "$top/lib/launcher/registry.def" | LC_ALL=C sort)
    families=$(cd "$top" && sed -n 's/^const struct rc_launcher rc_launcher_\([a-z0-9_]*\) = .*/\1/p' lib/launcher/*.c |
        LC_ALL=C sort)
    [ "$(wc -l <<< "$rows")" -gt 10 ]
    expect_same "$families" "$rows"
}

# What a launcher is like is in its struct rc_launcher: so a new one needs no change elsewhere. Its id is
# for output, which these files write.
@test "nothing outside of lib/launcher goes by a launcher's id" {
    mapfile -t sources < <(c_files | grep -v '^lib/launcher/')
    [ ${#sources[@]} -gt 100 ]
    found=$(code "${sources[@]}" | grep -E 'launcher(\)|\])?(->|\.)id\b|\bRC_LAUNCHER_INDEX_|\brc_launcher_[a-z]+\b[^(]' |
        grep -vE '^(cli/json|lib/api/job|lib/roll/entry|shim/preload)\.c:' || true)
    expect_same "" "$found"
    found=$(code cli/json.c lib/api/job.c lib/roll/entry.c shim/preload.c |
        grep -E '(cmp|rc_str_(is|eq|starts)) ?\(.*launcher->id' || true)
    expect_same "" "$found"
}

@test "no unfinished work is left in the tree" {
    # the pattern is put together here, so that it does not find itself
    pattern="\b(TO""DO|FIX""ME|X""XX|HA""CK)\b"
    mapfile -t sources < <(files . | grep -vE '^(\./)?(LICENSE|tests/lint/source\.bats)$')
    found=$(cd "$top" && grep -nIE "$pattern" "${sources[@]}" || true)
    expect_same "" "$found"
}

@test "shell scripts pass shellcheck" {
    mapfile -t scripts < <(cd "$top" && files . | while read -r file; do
        case $file in
            *.bats | *helper*.bash) ;;
            *.sh | *.bash) echo "$file" ;;
            *) if head -c 64 "$file" | head -n 1 | grep -qaE '^#!.*\b(ba|da)?sh$'; then echo "$file"; fi ;;
        esac
    done)
    [ ${#scripts[@]} -ge 4 ]
    cd "$top"
    shellcheck -x -S warning "${scripts[@]}"
}

# Their variables are used by those that source them.
@test "shell helpers pass shellcheck" {
    mapfile -t scripts < <(files tests contrib | grep 'helper[^/]*\.bash$')
    [ ${#scripts[@]} -ge 2 ]
    cd "$top"
    shellcheck -x -S warning -s bash -e SC2034,SC2054,SC2154 "${scripts[@]}"
}

# Its own time limit is a child of the test's shell: a bare wait waits for that.
@test "bats files wait for a process by its number" {
    mapfile -t scripts < <(files tests | grep -E '\.bats$|helper[^/]*\.bash$')
    found=$(cd "$top" && grep -nE '^[[:space:]]*wait[[:space:]]*($|[;&|#])' "${scripts[@]}" || true)
    expect_same "" "$found"
}

@test "bats files have tests, each with a name of its own" {
    mapfile -t scripts < <(files tests | grep '\.bats$')
    cd "$top"
    expect_same "" "$(grep -L '^@test ' "${scripts[@]}")"
    # bats finds them all, and no two of a name in a file
    expect_same "$(cat "${scripts[@]}" | grep -c '^@test ')" "$(bats --count "${scripts[@]}")"
}

@test "bats files have no assertion that cannot fail: one condition a statement, run ! for what must fail" {
    mapfile -t scripts < <(files tests | grep '\.bats$')
    cd "$top"
    expect_same "" "$(python3 "$here/statements.py" "${scripts[@]}")"
    # it finds them
    printf '%s\n' '@test "x" {' '    for i in 1; do' '        [ "$a" = "&&" ] && [[ $b == *y ]]' '        ! grep x file' \
        '        [ "$a" = "$(c && d)" ]' '    done' '}' > "$BATS_TEST_TMPDIR/x.bats"
    expect_same 3,4, "$(python3 "$here/statements.py" "$BATS_TEST_TMPDIR/x.bats" | cut -d : -f 2 | tr '\n' ,)"
}

# A watchdog (alarm) and a lower bound are right on a busy machine, too.
@test "no unit test fails because it took too long" {
    mapfile -t sources < <(c_files tests/unit)
    clocks='rc_milliseconds|clock_gettime|gettimeofday|timespec_get|time'
    found=$(code "${sources[@]}" | grep -E "\\b($clocks)[[:space:]]*\\([^;]*(<|assert_in_range)|assert_in_range[^;]*\\b($clocks)\\(" || true)
    expect_same "" "$found"
}

# bats itself reports a syntax error when it runs the file
# bats test_tags=all
@test "bats files pass shellcheck" {
    mapfile -t scripts < <(files tests | grep '\.bats$')
    cd "$top"
    shellcheck -S error -s bats "${scripts[@]}"
    shellcheck -i SC2314,SC2315 -s bats "${scripts[@]}"
}
