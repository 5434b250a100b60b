#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# .github: the workflow runs what is there, and the issue templates ask for commands that there are.

load helper

# yaml TEXT FILE...: runs Python's text for each file, whose content is `page`
yaml()
{
    python3 -B - "$@" <<'PY'
import sys
import yaml
for name in sys.argv[2:]:
    with open(name, encoding="utf-8") as file:
        page = yaml.safe_load(file)
    exec(sys.argv[1])
PY
}

@test "the workflow tests on Debian 12, and builds on the distributions that packaging is for" {
    workflow=$top/.github/workflows/tests.yml
    run -0 yaml '
for name, job in page["jobs"].items():
    for image in job.get("strategy", {}).get("matrix", {}).get("image", [job["container"]["image"]]):
        print(name, image, *[step["run"] for step in job["steps"] if step.get("run", "").startswith(".ci/")])' "$workflow"
    expect_same "$output" 'tests debian:12 .ci/run
build rockylinux/rockylinux:8 .ci/build
build rockylinux/rockylinux:9 .ci/build
build ubuntu:24.04 .ci/build'
    for script in run build; do
        [ -x "$top/.ci/$script" ]
        sh -n "$top/.ci/$script"
    done
}

@test "what .ci/build installs is what the recipes of packaging name" {
    for recipe in $(grep -oE 'packaging(/[a-z./]+)?$' "$top/.ci/build"); do
        case $recipe in
            *.spec) command -v rpmspec > /dev/null || skip 'there is no rpmspec'
                rpmspec -q --buildrequires "$top/$recipe" | grep -x slurm-devel
                run -0 rpmspec -q --buildrequires -D '_without_slurm 1' "$top/$recipe"
                [[ $output == *hwloc-devel* && $output != *slurm* ]] ;;
            *) grep -q '^Build-Depends:' "$top/$recipe/debian/control" ;;
        esac
    done
}

@test "an issue template has all that GitHub wants, and asks for commands that rollcall has" {
    run -0 yaml '
ids = [field["id"] for field in page["body"] if field["type"] != "markdown"]
assert page["name"] and page["description"] and len(ids) == len(set(ids)), name
for field in page["body"]:
    assert field["type"] in ("markdown", "textarea", "input"), field
    assert field["attributes"].get("label") or field["type"] == "markdown", field
    parts = field["attributes"].get("label", "").split("`")
    for command in parts[1::2]:
        print(command)' "$top"/.github/ISSUE_TEMPLATE/[!c]*.yml
    expect_same "$(sort -u <<< "$output")" $'rollcall --version\nrollcall doctor\nrollcall show --json'
    "$prefix/bin/rollcall" show --json | python3 -c 'import json, sys; json.load(sys.stdin)'
    "$prefix/bin/rollcall" --version
}
