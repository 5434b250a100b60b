#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# packaging/: in step with what is installed and exported. That the packages build and work, tests/packages shows.

load helper

debian=$top/packaging/debian

# An installed file's name in Debian: usr/lib/* stands for the architecture's folder.
in_debian()
{
    sed -E -e 's|^[fl] ||' -e 's|^lib/librollcall-|usr/lib/x/rollcall/librollcall-|' -e 's|^lib/slurm/|usr/lib/x/slurm-wlm/|' \
        -e 's|^lib/|usr/lib/x/|' -e 's|^share/rollcall/python/|usr/lib/python3/dist-packages/|' -e 's|^share/zsh/site-functions/|usr/share/zsh/vendor-completions/|' \
        -e 's|^(bin\|include\|libexec\|share)/|usr/\1/|'
}

@test "every installed file is in one Debian package" {
    mapfile -t patterns < <(cat "$debian"/*.install "$debian/not-installed")
    while read -r file; do
        found=0
        for pattern in "${patterns[@]}"; do
            if [[ $file == $pattern || $file == $pattern/* ]]; then found=$((found + 1)); fi
        done
        [ "$found" -eq 1 ] || { echo "$file is in $found packages"; return 1; }
    done < <(list installed.txt | in_debian | grep -v '^usr/share/doc/rollcall/LICENSE$')
}

@test "what a reader of Debian finds in share/doc is what make install puts there, not compressed" {
    list installed.txt | sed -nE 's|^f share/doc/rollcall/([^/]+).*|\1|p' | grep -vx LICENSE | uniq > "$BATS_TEST_TMPDIR/pages"
    expect_same "$(LC_ALL=C sort "$BATS_TEST_TMPDIR/pages")" "$(LC_ALL=C sort "$debian/rollcall.docs")"
    excluded=$(sed -n 's/^\tdh_compress //p' "$debian/rules")
    for suffix in $(list installed.txt | sed -nE 's|^f share/doc/rollcall/.*(\.[a-z]+)$|\1|p' | LC_ALL=C sort -u); do
        [[ " $excluded " == *" -X$suffix "* ]] || { echo "dh_compress may take *$suffix"; return 1; }
    done
}

@test "the library has the symbols of librollcall0.symbols, neither less nor more" {
    command -v dpkg-gensymbols > /dev/null || skip 'there is no dpkg-gensymbols'
    symbols=$debian/librollcall0.symbols
    version=$(cat "$top/VERSION")-1
    check=(dpkg-gensymbols -plibrollcall0 "-v$version" "-e$library.0" -c4 -O/dev/null)
    # it wants a debian/control in the folder that it runs in
    mkdir "$BATS_TEST_TMPDIR/debian"
    cp "$debian/control" "$debian/changelog" "$BATS_TEST_TMPDIR/debian"
    cd "$BATS_TEST_TMPDIR"
    "${check[@]}" "-I$symbols"
    # a symbol that is gone, and one that nobody has written down
    { cat "$symbols" && echo ' rollcall_gone@ROLLCALL_0.1 0.1.0'; } > gone
    run ! "${check[@]}" -Igone
    [[ $output == *'+#MISSING: '*rollcall_gone* ]]
    grep -v rollcall_rank@ "$symbols" > new
    run ! "${check[@]}" -Inew
    [[ $output == *'+ rollcall_rank@ROLLCALL_0.1'* ]]
}

@test "the packages have this version, and so has NEWS" {
    version=$(cat "$top/VERSION")
    [[ $(sed -n '1s/^rollcall (\(.*\)) .*/\1/p' "$debian/changelog") == "$version"-* ]]
    grep -qx "Version:  *$version" "$top/packaging/rpm/rollcall.spec"
    [[ $(head -n 1 "$top/NEWS") == "rollcall $version "* ]]
    # grep would miss these forms
    expect_same "$(printf '%s\n' "version: $version" "version = '$version'" "    version(\"$version\")")" "$(cd "$top" &&
        grep -hE '^(version\b|    version\()' CITATION.cff packaging/easybuild/rollcall-*.eb packaging/spack/package.py)"
    # no other is named
    expect_same "$version" "$(grep -rhoE 'rollcall[-/ ][0-9]+\.[0-9]+\.[0-9]+' "$top/packaging" | grep -oE '[0-9.]+' | sort -u)"
}

# A name that nobody has registered yet belongs to whoever does so first.
@test "no page, and no description of a package, has a reader pip install rollcall-ddp or rollcall-watch by name" {
    cd "$top"
    run -1 grep -nE 'pip install ([a-z-]+ )*rollcall-' README.md NEWS docs/*.md man/*.in packaging/README.md python/*.py python/rollcall/*.py
    [ -z "$output" ]
}

@test "Debian's copyright file has the whole licence" {
    licence=$(sed -n '5,$p' "$top/LICENSE")
    expect_same "$licence" "$(sed -n '/^License: BSD-3-Clause$/,$p' "$debian/copyright" | sed -n '/^ Redis/,$p' | sed -e 's/^ //' -e 's/^\.$//')"
}
