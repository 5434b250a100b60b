#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Exported and imported symbols: what is in the lists, and nothing else.

load helper

@test "the library exports what its header declares" {
    declared=$(sed -n 's/^ROLLCALL_API .*[ *]\(rollcall_[a-z_]*\)(.*/\1/p' "$top/lib/api/rollcall.h")
    expect_same "$(LC_ALL=C sort <<< "$declared")" "$(defined "$library")"
}

# slurm_spank_init_failure_mode came with Slurm 25.05: the plugin's other releases may do without.
@test "the plugin exports the names of its list" {
    expected=$(list plugin.exports)
    series=$(sed -n 's/^#define SLURM_SERIES "\(.*\)"/\1/p' "$build/lib/config.h")
    found=$(defined "$plugin")
    if [ "${series/./}" -lt 2505 ] && [[ $found != *slurm_spank_init_failure_mode* ]]; then
        expected=$(grep -v slurm_spank_init_failure_mode <<< "$expected")
    fi
    expect_same "$expected" "$found"
}

@test "the plugin wants of Slurm no more than its list" {
    # nm marks libc's with a version; weak ones are the compiler's own
    found=$(nm -D --undefined-only "$plugin" | awk '$1 == "U" && $2 !~ /@GLIBC/ { print $2 }' | LC_ALL=C sort)
    [ -n "$found" ]
    expect_same "" "$(comm -13 <(list plugin.imports | LC_ALL=C sort) <(printf '%s\n' "$found"))"
}

@test "every name that the plugin wants of Slurm is in Slurm's header" {
    names=$(nm -D --undefined-only "$plugin" | awk '$1 == "U" && $2 ~ /^s[a-z]*_/ && $2 !~ /@GLIBC/ { print $2 }')
    for name in $names; do
        printf '#include <%s>\n' stdint.h sys/types.h slurm/spank.h > "$BATS_TEST_TMPDIR/name.c"
        printf 'void *name = (void *)%s;\n' "$name" >> "$BATS_TEST_TMPDIR/name.c"
        gcc -Werror -fsyntax-only "$BATS_TEST_TMPDIR/name.c" || return 1
    done
}

@test "the preload exports nothing" {
    expect_same "" "$(defined "$preload")"
    expect_same "" "$(defined "$pins")"
}

@test "the preload wants environ and nothing else" {
    expect_same environ "$(wanted "$preload")"
    expect_same environ "$(wanted "$pins")"
}

# All of libc that it needs is in each one, in any version.
@test "the library between torch and getnameinfo exports that name, and wants one of the loader's" {
    expect_same getnameinfo "$(defined "$lookup")"
    expect_same dl_iterate_phdr "$(wanted "$lookup")"
}

@test "no object has a symbol of the core that others could see" {
    for object in "$library" "$plugin" "$preload" "$pins" "$lookup" "$command" "$asker" "$mapper"; do
        run defined "$object"
        [[ $output != *rc_* ]]
    done
}

# The preload links it without one.
@test "the core wants nothing but what it defines itself" {
    archive=$build/lib/.libs/librollcall-core.a
    [ -f "$archive" ]
    defined=$(nm --defined-only "$archive" 2> /dev/null | awk 'NF == 3 { print $3 }' | LC_ALL=C sort -u)
    wanted=$(nm --undefined-only "$archive" 2> /dev/null | awk '$1 == "U" { print $2 }' | LC_ALL=C sort -u)
    # compilers may call these four in freestanding code, too (and the stack protector is the hosted build's)
    left=$(comm -13 <(printf '%s\n' "$defined") <(printf '%s\n' "$wanted") |
        grep -vxE '_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|memcpy|memset|memmove|memcmp') || true
    expect_same "" "$left"
}
