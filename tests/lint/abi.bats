#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The library's binary interface against lib/api/abi's baseline (libabigail's abidiff), and that a change would be seen.

load helper

# compare [FOLDER]: the library, or that of a folder, which small has made
compare()
{
    local library=${1:+$1/librollcall.so.0} header=${1:-$top/lib/api}/rollcall.h

    run "$top/lib/api/abi/compare" "${library:-$build/lib/.libs/librollcall.so}" "$header"
    echo "$output"
    [ "$status" -ne 77 ] || skip "$output"
}

# small FOLDER: a library of the public functions alone, with the FOLDER's rollcall.h, rollcall.map and more.c
small()
{
    local file objects=()

    for file in "$top"/lib/api/*.c "$1/more.c"; do
        objects+=("$1/$(basename "$file" .c).o")
        gcc -g -fPIC -fvisibility=hidden -include "$1/rollcall.h" -I"$build/lib" -I"$top/lib/api" -I"$top/lib" \
            -c "$file" -o "${objects[-1]}"
    done
    gcc -shared -Wl,-soname,librollcall.so.0 -Wl,--version-script="$1/rollcall.map" "${objects[@]}" \
        -o "$1/librollcall.so.0"
}

# changed SED-SCRIPT-FOR-THE-HEADER [SED-SCRIPT-FOR-THE-MAP [MORE-CODE]]: such a library, compared
changed()
{
    local folder=$BATS_TEST_TMPDIR/changed

    rm -rf "$folder"
    mkdir "$folder"
    sed -E "$1" "$top/lib/api/rollcall.h" > "$folder/rollcall.h"
    sed "${2:-}" "$top/lib/api/librollcall.map" > "$folder/rollcall.map"
    printf '%s\n' "${3:-}" > "$folder/more.c"
    [ -z "$1" ] || ! cmp -s "$folder/rollcall.h" "$top/lib/api/rollcall.h"
    small "$folder"
    compare "$folder"
}

@test "the library's binary interface is that of the baseline" {
    compare
    [ "$status" -eq 0 ]
    # what was added is no failure, but a thing to be told
    [ -z "$output" ] || sed 's/^/# /' <<< "$output" >&3
}

@test "abidiff sees a structure, a constant, a function or a type that is another one" {
    # the small library itself is as the whole one
    changed ''
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    # two members of a structure in the other order
    changed '/^struct rollcall_message \{/,/^\}/{/const char \*id;/d; s|^( *)(const char \*text;).*|\1\2 const char *id;|}'
    [ "$status" -eq 1 ]
    [[ $output == *rollcall_message*"make abi-baseline"* ]]
    # a member more
    changed 's|^( *)const char \*source;|\1int more;\n&|'
    [ "$status" -eq 1 ]
    # a longer one
    changed 's|char text\[512\];|char text[1024];|'
    [ "$status" -eq 1 ]
    # a constant that functions give, one that they do not
    changed 's|(ROLLCALL_MODE_WORKER = )1|\13|; s|(ROLLCALL_MODE_TORCHRUN = )3|\11|'
    [ "$status" -eq 1 ]
    [[ $output == *ROLLCALL_MODE_WORKER* ]]
    changed 's|(ROLLCALL_TIMEOUT = )4|\15|; s|(ROLLCALL_NO_WAY = )5|\14|'
    [ "$status" -eq 1 ]
    [[ $output == *"no longer in rollcall.h: ROLLCALL_TIMEOUT = 4"* ]]
    # a function that is gone
    changed '' '/rollcall_nnodes;/d'
    [ "$status" -eq 1 ]
    [[ $output == *rollcall_nnodes* ]]
    # one that has another version
    changed '' 's/ROLLCALL_0.1/ROLLCALL_0.3/'
    [ "$status" -eq 1 ]
}

@test "abidiff lets a function and a constant be added, and says so" {
    changed 's|^(ROLLCALL_API .*rollcall_rank)\(.*|&\nROLLCALL_API int rollcall_more(void);|
             s|^( *)ROLLCALL_NO_NCCL = 6,|&\n\1ROLLCALL_MORE = 7,|
             s|^( *)ROLLCALL_MODE_TORCHRUN = 3,|&\n\1ROLLCALL_MODE_MORE = 4,|' \
        '$a ROLLCALL_0.3 { global: rollcall_more; } ROLLCALL_0.2;' \
        'int rollcall_more(void) { return 1; }'
    [ "$status" -eq 0 ]
    [[ $output == *rollcall_more* ]]
    [[ $output == *"new in rollcall.h: ROLLCALL_MORE = 7"* ]]
    [[ $output == *"Nothing was taken away."* ]]
}
