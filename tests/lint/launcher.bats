#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# HACKING's "Adding a launcher": a file and its lines in the registry, or a platform's row; nothing else changes.

load helper

# A family that no launcher of this world is: "moon run".
new_family()
{
    cat <<'C'
#include "launcher/layout.h"
#include "launcher/launcher.h"

enum rc_claim rc_moon_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    if (!rc_read_number(reader, "MOON_RANK", &facts->field[RC_RANK]))
        return RC_CLAIM_BROKEN;
    rc_facts_name(reader, facts, "moon", rc_env_get(reader->env, "MOON_JOB"));
    return RC_CLAIM_TASK;
}

bool rc_moon_read(struct rc_reader *reader, struct rc_facts *facts)
{
    if (!rc_read_fields(reader, &rc_launcher_moon, facts, "MOON_RANK", 0) || !rc_layout_nnodes(reader, facts))
        return false;
    facts->field[RC_NODE_RANK].value = rc_layout_node_rank(facts, facts->field[RC_LOCAL_WORLD_SIZE].value);
    rc_layout_spread(facts);
    facts->hosts = rc_env_get(reader->env, "MOON_HOSTS");
    facts->master_node = 0;
    facts->master_certain = true;
    facts->master_source = "first host of MOON_HOSTS";
    return true;
}

const struct rc_launcher rc_launcher_moon = {
    .id = "moon",
    .title = "Moon (moon run)",
    .processes = "moond",
    .variables = {
        RC_VARIABLE("MOON_RANK", RC_RANK),
        RC_VARIABLE("MOON_SIZE", RC_WORLD_SIZE),
        RC_VARIABLE("MOON_LOCAL_RANK", RC_LOCAL_RANK),
        RC_VARIABLE("MOON_LOCAL_SIZE", RC_LOCAL_WORLD_SIZE),
    },
};
C
}

# A platform that no cloud has: it numbers the stations of an orbit.
new_platform()
{
    cat <<'C'
ROLLCALL_PLATFORM(orbit,
    (.title = "Orbit"),
    .needs = { "ORBIT_NAME" },
    .index = "ORBIT_STATION",
    .count = "ORBIT_STATIONS",
    .run_id = { "ORBIT_NAME" },
    .master = "ORBIT_FIRST",
    .gpus = "ORBIT_GPUS")
ROLLCALL_MARKER(orbit, ORBIT_STATION)
C
}

# made VARIABLE: its value in the build's Makefile
made()
{
    make -s -C "$build" --no-print-directory --eval "print-it: ; @echo \$($1)" print-it
}

# build_command TREE: the command, with the core of that tree and all else as it was built
build_command()
{
    local tree=$1 cc objects folder
    cc=$(made CC)
    objects=$(made rollcall_OBJECTS)
    # a word each: a compiler may have options
    for folder in base launcher resolve; do
        mkdir "$tree/$folder"
        (cd "$tree/$folder" &&
            printf '%s\0' ../lib/$folder/*.c | xargs -0 -n 12 -P 2 $cc -std=gnu11 -fPIE -I../lib -c)
        ar rcs "$tree/$folder.a" "$tree/$folder"/*.o
    done
    (cd "$build" && $cc -pie -o "$tree/rollcall" $objects lib/.libs/librollcall-{console,rendezvous,system}.a \
        "$tree"/{resolve,launcher,base}.a)
}

@test "a new launcher is one file and its lines in the registry, a new platform a row: nothing else changes" {
    tree=$BATS_TEST_TMPDIR/tree
    mkdir "$tree"
    files lib | tar -C "$top" -cf - -T - | tar -C "$tree" -xf -
    new_family > "$tree/lib/launcher/moon.c"
    sed -i 's/^ROLLCALL_LAUNCHER(slurm)$/ROLLCALL_LAUNCHER(moon)\nROLLCALL_MARKER(moon, MOON_RANK)\n\n&/' \
        "$tree/lib/launcher/registry.def"
    new_platform >> "$tree/lib/launcher/platforms.def"
    build_command "$tree"

    cat > "$BATS_TEST_TMPDIR/recording.env" <<'ENV'
MOON_JOB=7
MOON_RANK=3
MOON_SIZE=4
MOON_LOCAL_RANK=1
MOON_LOCAL_SIZE=2
MOON_HOSTS=192.0.2.[1-2]
ENV
    answer=$("$tree/rollcall" show --json --from "$BATS_TEST_TMPDIR/recording.env")
    expect_same 'moon worker 3 4 1 1 192.0.2.1' "$(jq -r '[.launcher, .mode, .set.RANK, .set.WORLD_SIZE,
        .set.LOCAL_RANK, .set.NODE_RANK, .set.MASTER_ADDR] | join(" ")' <<< "$answer")"
    # where the command is run, and beside another launcher's older variables
    run -0 env -i MOON_JOB=7 MOON_RANK=1 MOON_SIZE=2 MOON_LOCAL_RANK=1 MOON_LOCAL_SIZE=2 RANK=0 WORLD_SIZE=8 \
        "$tree/rollcall" exec --ddp=exchange=off -- sh -c 'echo "$RANK $WORLD_SIZE $MASTER_ADDR"'
    expect_same '1 2 127.0.0.1' "${lines[-1]}"
    # the release's own command knows nothing of it
    expect_same none "$("$command" show --json --from "$BATS_TEST_TMPDIR/recording.env" | jq -r .mode)"

    for gpus in 1 4; do
        printf '%s\n' ORBIT_NAME=leo ORBIT_STATION=1 ORBIT_STATIONS=3 ORBIT_FIRST=192.0.2.7 "ORBIT_GPUS=$gpus" \
            > "$BATS_TEST_TMPDIR/$gpus.env"
        "$tree/rollcall" show --json --from "$BATS_TEST_TMPDIR/$gpus.env" |
            jq -r '[.launcher, .mode, .set.RANK, .set.WORLD_SIZE, .set.NODE_RANK, .set.MASTER_ADDR] | join(" ")'
    done > "$BATS_TEST_TMPDIR/answers"
    expect_same 'orbit worker 1 3 1 192.0.2.7
orbit launcher   1 192.0.2.7' "$(< "$BATS_TEST_TMPDIR/answers")"
    expect_same none "$("$command" show --json --from "$BATS_TEST_TMPDIR/1.env" | jq -r .mode)"
}
