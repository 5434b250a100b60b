/* SPDX-License-Identifier: BSD-3-Clause */
/* rollcall-map.c - what `rollcall map` becomes: the one program that loads hwloc.
 *
 * A program of its own, so that `rollcall exec` needs no hwloc on a node and does
 * not pay for loading it (hwloc and libudev: half a millisecond, a third of the
 * command's own start). Plugin and command ask it for a placement (pins.h), too.
 */
#include <string.h>

#include "console/output.h"
#include "map.h"

struct output {
    bool json;
    const char *xml;
    const char *picture;
};

/* The operand is a picture's file. Another file may be a topology, which lstopo would overwrite. */
static int read_operands(int count, char **operand, struct output *output)
{
    if (count > 0 && !map_picture_format(operand[0])) {
        console_fail("map: unexpected argument '%.64s'; a picture ends in .svg, .pdf or .png, a topology goes after "
                     "--from",
                     operand[0]);
        return -1;
    }
    if (count > 1) {
        console_fail("map: unexpected argument '%.64s'; options go before the picture", operand[1]);
        return -1;
    }
    if (output->json + (output->xml != NULL) + count > 1) {
        console_fail("map: one output at a time: --json, --xml or a picture");
        return -1;
    }
    output->picture = operand[0];
    return 0;
}

static int read_arguments(int argc, char **argv, struct wishes *wishes, struct output *output)
{
    static const struct option options[] = {
        { "tasks", required_argument, NULL, 't' },
        { "gpus", required_argument, NULL, 'g' },
        { "cpus", required_argument, NULL, 'c' },
        { "from", required_argument, NULL, 'f' },
        { "json", no_argument, NULL, 'j' },
        { "xml", required_argument, NULL, 'x' },
        { NULL, 0, NULL, 0 },
    };

    for (int c; (c = console_getopt("map", argc, argv, options)) != -1;) {
        switch (c) {
        case 't':
            wishes->tasks = optarg;
            break;
        case 'g':
            wishes->gpus = optarg;
            break;
        case 'c':
            wishes->cpus = optarg;
            break;
        case 'f':
            wishes->file = optarg;
            break;
        case 'j':
            output->json = true;
            break;
        case 'x':
            output->xml = optarg;
            break;
        default:
            return -1;
        }
    }
    return read_operands(argc - optind, argv + optind, output);
}

static int show_mapping(struct mapping *mapping, const struct output *output)
{
    if (output->picture)
        return map_draw_picture(mapping, output->picture);
    if (output->xml)
        return map_write_xml(mapping, output->xml) < 0 ? STATUS_USAGE : STATUS_RESOLVED;
    if (output->json)
        map_print_json(mapping);
    else if (map_print_text(mapping) < 0)
        return console_fail("map: out of memory");
    return STATUS_RESOLVED;
}

int main(int argc, char **argv)
{
    struct wishes wishes = { .file = NULL };
    struct output output = { .json = false };
    static struct mapping mapping;
    int status = STATUS_USAGE;

    /* `rollcall map` starts it as "map"; any other name is its own */
    if (argc > 1 && strcmp(argv[0], "map") != 0 && strcmp(argv[1], "pins") == 0) {
        status = map_answer_pins(argc > 2 ? argv[2] : NULL);
    } else if (read_arguments(argc, argv, &wishes, &output) == 0) {
        paint_choose();
        if (map_make(&wishes, &mapping) == 0)
            status = show_mapping(&mapping, &output);
        map_free(&mapping);
    }
    return console_finish(status);
}
