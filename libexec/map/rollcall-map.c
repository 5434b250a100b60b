/* SPDX-License-Identifier: BSD-3-Clause */
/* rollcall-map.c - `rollcall map`, the only program that loads hwloc.
 *
 * Separate, so that `rollcall exec` neither needs nor loads hwloc and libudev (half a millisecond, a third of the
 * command's start). Plugin and command also query it for placements (pins.h). */
#include <string.h>

#include "console/output.h"
#include "map.h"

static int read_arguments(char **argv, struct wishes *wishes, unsigned *json)
{
    const struct console_option options[] = {
        { "--tasks", .value = &wishes->tasks },
        { "--gpus", .value = &wishes->gpus },
        { "--cpus", .value = &wishes->cpus },
        { "--from", .value = &wishes->file },
        { "--json", .count = json },
        { NULL },
    };
    int at = console_options("map", argv, 1, options);

    if (at && argv[at])
        console_fail("map: unexpected argument '%.64s'; a topology goes after --from", argv[at]);
    return at && !argv[at] ? 0 : -1;
}

static int print_mapping(const struct mapping *mapping, unsigned json)
{
    if (json)
        map_print_json(mapping);
    else if (map_print_text(mapping) < 0)
        return console_fail("map: out of memory");
    return STATUS_RESOLVED;
}

int main(int argc, char **argv)
{
    struct wishes wishes = { .file = NULL };
    static struct mapping mapping;
    int status = STATUS_USAGE;
    unsigned json = 0;

    /* `rollcall map` starts it as "map"; otherwise argv[0] is its name */
    if (argc > 1 && strcmp(argv[0], "map") != 0 && strcmp(argv[1], "pins") == 0) {
        status = map_answer_pins(argc > 2 ? argv[2] : NULL);
    } else if (read_arguments(argv, &wishes, &json) == 0) {
        paint_choose();
        if (map_make(&wishes, &mapping) == 0)
            status = print_mapping(&mapping, json);
        map_free(&mapping);
    }
    return console_finish(status);
}
