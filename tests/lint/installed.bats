#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The installed tree: its files, its headers, and that nothing stays behind.

load helper

# Byte code is left by a Python that ran there, and lib/slurm-SERIES by tests/series.bash, beside this layer.
tree()
{
    (cd "$1" && find . \( -name __pycache__ -o -path './lib/slurm-*' \) -prune -o ! -type d -printf '%y %P\n' | LC_ALL=C sort -k 2)
}

@test "the installed files are those of the list" {
    expect_same "$(list installed.txt)" "$(tree "$prefix")"
}

@test "make install honours DESTDIR and another prefix" {
    make -C "$build" install DESTDIR="$BATS_TEST_TMPDIR/stage"
    expect_same "$(list installed.txt)" "$(tree "$BATS_TEST_TMPDIR/stage$prefix")"
    stage=$BATS_TEST_TMPDIR/stage
    expect_same "" "$(find "$stage" -path "$stage$prefix" -prune -o ! -type d -print)"
}

# A folder of mode 700 ended srun, sbatch and salloc of every user but root.
@test "make install: umask 077 or 027 -> every user can read the files and run the command" {
    stage=$BATS_TEST_TMPDIR/stage
    for mask in 077 027; do
        (umask "$mask" && make -C "$build" install DESTDIR="$stage/$mask")
        expect_same "" "$(find "$stage/$mask" -type d ! -perm 755 -o -type f ! -perm -444)"
        [ "$(id -u)" != 0 ] || as_user="setpriv --reuid=65534 --regid=65534 --clear-groups"
        run -0 $as_user "$stage/$mask$prefix/bin/rollcall" --version
        [[ $output == *"plugin: "* ]]
        run -0 $as_user cat "$stage/$mask$prefix/share/rollcall/rollcall.conf"
    done
}

# The hook that removes libtool's own files of them comes after install-exec, and beside install-data.
@test "every library is installed by install-exec: make -j install" {
    make -C "$build" install-data DESTDIR="$BATS_TEST_TMPDIR/data"
    expect_same "" "$(find "$BATS_TEST_TMPDIR/data" -name '*.so*' -o -name '*.la')"
    make -C "$build" install-exec DESTDIR="$BATS_TEST_TMPDIR/exec"
    expect_same "" "$(find "$BATS_TEST_TMPDIR/exec" -name '*.la')"
    expect_same "$(list installed.txt | grep '\.so')" "$(tree "$BATS_TEST_TMPDIR/exec$prefix" | grep '\.so')"
}

# Who has the old plugin mapped, as slurmd and each running step, goes on with it.
@test "make install over an older installation changes no file that is there: each is renamed into its place" {
    make -C "$build" install DESTDIR="$BATS_TEST_TMPDIR/stage"
    cp -al "$BATS_TEST_TMPDIR/stage" "$BATS_TEST_TMPDIR/old"
    files='find . -type f -printf %i\t%T@\t%P\n'
    before=$(cd "$BATS_TEST_TMPDIR/old" && $files | sort)
    make -C "$build" install DESTDIR="$BATS_TEST_TMPDIR/stage"
    expect_same "$before" "$(cd "$BATS_TEST_TMPDIR/old" && $files | sort)"
    # install takes the old file away first, and a step may begin then
    grep -qF 'INSTALL = $(install_sh) -c' "$build/Makefile"
}

@test "make uninstall leaves nothing" {
    make -C "$build" install DESTDIR="$BATS_TEST_TMPDIR/stage"
    make -C "$build" uninstall DESTDIR="$BATS_TEST_TMPDIR/stage"
    expect_same "" "$(find "$BATS_TEST_TMPDIR/stage$prefix" -mindepth 1)"
    # what others have installed stays, and below a system's prefix also folders that are not rollcall's
    for other in "$BATS_TEST_TMPDIR/other" /usr; do
        make -C "$build" install DESTDIR="$BATS_TEST_TMPDIR/stage" prefix="$other" plugindir="$other/lib/slurm"
        [ $other = /usr ] || touch "$BATS_TEST_TMPDIR/stage$other/bin/other"
        make -C "$build" uninstall DESTDIR="$BATS_TEST_TMPDIR/stage" prefix="$other" plugindir="$other/lib/slurm"
    done
    expect_same "$BATS_TEST_TMPDIR/other/bin/other" "$(cd "$BATS_TEST_TMPDIR/stage" && find . -path './usr' -prune -o -type f -print | cut -c 2-)"
    [ -d "$BATS_TEST_TMPDIR/stage/usr/share/man/man1" ]
    expect_same "" "$(find "$BATS_TEST_TMPDIR/stage/usr" -name '*rollcall*')"
}

@test "make install ends with what to do next; a package's does not" {
    run -0 make -s -C "$build" install-data-hook prefix="$BATS_TEST_TMPDIR/opt"
    [[ $output == *"Next, for users: export PATH=$BATS_TEST_TMPDIR/opt/bin:"*"rollcall doctor"* ]]
    [[ $output == *"this line in plugstack.conf."*$'\n'"    include $BATS_TEST_TMPDIR/opt/share/rollcall/rollcall.conf" ]]
    run make -s -C "$build" install-data-hook DESTDIR="$BATS_TEST_TMPDIR/stage"
    [[ $output != *Next* ]]
}

@test "the line to link names the plugin by its whole path" {
    conf=$prefix/share/rollcall/rollcall.conf
    lines=$(grep -vE '^#|^$' "$conf")
    [[ $lines == "optional $plugin"* ]]
    [ "$(wc -l <<< "$lines")" -eq 1 ]
    run grep -n '@' "$conf"
    [ -z "$output" ]
}

@test "every installed header compiles alone, in C and C++, with gcc and clang" {
    for header in "$prefix"/include/*.h; do
        name=$(basename "$header")
        for compiler in "gcc -std=c99" "gcc -std=c11" "gcc -std=c2x" "g++ -std=c++11" "g++ -std=c++20" \
            "clang -std=c99" "clang++ -std=c++17"; do
            language=c
            [[ $compiler != *++* ]] || language=c++
            echo "#include <$name>" | $compiler -x $language -Wall -Wextra -Wpedantic -Wconversion -Wundef \
                -Werror -I"$prefix/include" -fsyntax-only - || { echo "$name: $compiler"; return 1; }
        done
    done
}

@test "an installed header may be included twice and beside config.h's macros" {
    for header in "$prefix"/include/*.h; do
        name=$(basename "$header")
        printf '#include <%s>\n#include <%s>\n' "$name" "$name" |
            gcc -Werror -I"$prefix/include" -fsyntax-only -x c -
        run grep -nE 'HAVE_|config\.h|PACKAGE' "$header"
        [ -z "$output" ]
    done
}

@test "pkg-config says the library's version" {
    expect_same "$(cat "$top/VERSION")" "$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --modversion rollcall)"
}

@test "CMake finds it with pkg-config, and its programs find the library" {
    cp "$top"/contrib/examples/* "$BATS_TEST_TMPDIR"
    cmake -S "$BATS_TEST_TMPDIR" -B "$BATS_TEST_TMPDIR/build" -DCMAKE_PREFIX_PATH="$prefix"
    cmake --build "$BATS_TEST_TMPDIR/build"
    expect_same 'no launcher: rank 0 of 1' "$(env -i "$BATS_TEST_TMPDIR/build/who")"
}

# The folder of a build in another place holds what a build in place leaves in the tree.
@test "git ignores what a build makes: nothing of it can be committed" {
    [ -e "$top/.git" ] || skip 'this is no repository'
    shown=$(cd "$build" && find . -path './rollcall-*' -prune -o -type f ! -name configured ! -name 'conftest*' -printf '%P\n' |
        git -c 'safe.directory=*' -C "$top" check-ignore --no-index --verbose --non-matching --stdin | sed -n 's/^::\t//p')
    expect_same "" "$shown"
}
