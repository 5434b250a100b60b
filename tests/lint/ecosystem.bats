#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The files that other programs read: licences (REUSE), citation, bill of materials, container, SKILL.md.

load helper

# linter NAME: the program of PyPI that tests/layer installs; the test is skipped without it.
linter()
{
    linter=$top/build/linters/bin/$1
    [ -x "$linter" ] || skip "there is no build/linters/bin/$1: run tests/run lint"
}

@test "licences: each file has one, whose text is in LICENSES" {
    cmp "$top/LICENSE" "$top/LICENSES/BSD-3-Clause.txt"
    grep -qx 'path = "\*\*"' "$top/REUSE.toml"
    expect_same BSD-3-Clause "$(cd "$top" && files . | xargs -d '\n' sed -nE '1,2s/.*SPDX-License-Identifier[:] ([^ "]+).*/\1/p' | sort -u)"
    linter reuse
    mkdir "$BATS_TEST_TMPDIR/tree"
    (cd "$top" && files . | tar -cf - -T -) | tar -C "$BATS_TEST_TMPDIR/tree" -xf -
    cd "$BATS_TEST_TMPDIR/tree"
    "$linter" lint
    rm REUSE.toml
    run -1 "$linter" lint
}

@test "CITATION.cff: valid by its schema" {
    linter cffconvert
    "$linter" --validate -i "$top/CITATION.cff"
    grep -v '^title' "$top/CITATION.cff" > "$BATS_TEST_TMPDIR/CITATION.cff"
    run ! "$linter" --validate -i "$BATS_TEST_TMPDIR/CITATION.cff"
}

@test "bill of materials: SPDX 2.3, with the release's checksum, and the same each time" {
    cd "$BATS_TEST_TMPDIR"
    echo release > rollcall-1.tar.gz
    "$top/packaging/sbom" rollcall-1.tar.gz 1 86400 > sbom.spdx.json
    expect_same "$(cat sbom.spdx.json)" "$("$top/packaging/sbom" rollcall-1.tar.gz 1 86400)"
    expect_same "SPDX-2.3 1970-01-02T00:00:00Z rollcall 1 NOASSERTION $(sha256sum rollcall-1.tar.gz | cut -d' ' -f1)" "$(
        jq -r '[.spdxVersion, .creationInfo.created, (.packages[0] | .name, .versionInfo, .downloadLocation,
            .checksums[0].checksumValue)] | join(" ")' sbom.spdx.json)"
    # each element that a relationship names is there
    jq -e '[.SPDXID, .packages[].SPDXID] as $ids | all(.relationships[]; [.spdxElementId, .relatedSpdxElement] - $ids == [])' \
        sbom.spdx.json
    "$top/packaging/sbom" rollcall-1.tar.gz 1 86400 https://example.org/r | grep -q '"downloadLocation": "https://example.org/r"'
    linter pyspdxtools
    "$linter" -i sbom.spdx.json
    sed 's/"SPDXRef-hwloc", "name"/"hwloc", "name"/' sbom.spdx.json > wrong.spdx.json
    run ! "$linter" -i wrong.spdx.json
}

@test "the demo's container file: hadolint finds nothing, and what it names is there" {
    file=$top/contrib/demo/Containerfile
    [ -x "$top/$(sed -nE 's/^ENTRYPOINT \["(.*)"\]$/\1/p' "$file")" ]
    linter hadolint
    "$linter" "$file"
    run ! "$linter" <(sed 's/^WORKDIR .*/WORKDIR relative/' "$file")
}

@test "SKILL.md: name and description first, with what an agent's loader takes of them" {
    [ "$(head -n 1 "$top/SKILL.md")" = --- ]
    grep -qxE 'name: [a-z0-9-]{1,64}' "$top/SKILL.md"
    description=$(sed -n 's/^description: //p' "$top/SKILL.md")
    [ ${#description} -gt 50 ]
    [ ${#description} -le 1024 ]
    [[ $description != *[\<\>:]* ]]
}
