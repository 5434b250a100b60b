/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_map - `rollcall map --from` with an XML file of any bytes, as text and as JSON.
 *
 * An input is "TASKS\n" and the file. hwloc's own crashes stay in the child that tries the file first
 * (lib/placement/topology.c); so each input costs a process.
 */
#include "config.h"

#include "fuzz.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "libexec/map/map.h"

enum { PATH_SIZE = 64, TASKS_MAX = 512 };

static int write_file(struct rc_str input, char path[PATH_SIZE])
{
    int fd = memfd_create("topology", MFD_CLOEXEC);

    CHECK(fd >= 0 && write(fd, input.p, input.n) == (ssize_t)input.n);
    snprintf(path, PATH_SIZE, "/proc/self/fd/%d", fd);
    return fd;
}

static int print_json(const struct mapping *mapping)
{
    map_print_json(mapping);
    return 0;
}

static struct rc_str print_mapping(const struct mapping *mapping, int (*print)(const struct mapping *mapping))
{
    FILE *kept = stdout;
    struct rc_str text;
    char *bytes = NULL;

    stdout = open_memstream(&bytes, &text.n);
    CHECK(stdout != NULL && print(mapping) == 0);
    fclose(stdout);
    stdout = kept;
    text.p = bytes;
    return text;
}

static void check_output(const struct mapping *mapping)
{
    struct rc_str text = print_mapping(mapping, map_print_text);
    struct rc_str json = print_mapping(mapping, print_json);

    CHECK(fuzz_is_json(json));
    for (struct rc_str rest = text; rest.p;)
        CHECK(fuzz_is_printable(rc_str_split(rest, '\n', &rest)));
    fuzz_free(text);
    fuzz_free(json);
}

/* A mask is never wider than what is allowed and never empty. */
static void check_places(const struct mapping *mapping)
{
    for (unsigned i = 0; i < mapping->tasks; i++) {
        CHECK(!hwloc_bitmap_iszero(mapping->place[i].cpus));
        CHECK(hwloc_bitmap_isincluded(mapping->place[i].cpus, mapping->allowed));
    }
}

void fuzz_one(struct rc_str input)
{
    struct rc_str file;
    struct rc_str head = rc_str_split(input, '\n', &file);
    char tasks[16] = "";
    char path[PATH_SIZE];
    struct wishes wishes = { .file = path };
    struct mapping mapping;
    uint32_t number;
    int fd = write_file(file.p ? file : RC_STR(""), path);

    if (rc_parse_u32(head, TASKS_MAX, &number)) {
        snprintf(tasks, sizeof(tasks), "%u", number);
        wishes.tasks = tasks;
    }
    if (map_make(&wishes, &mapping) == 0) {
        check_places(&mapping);
        check_output(&mapping);
    }
    map_free(&mapping);
    close(fd);
    CHECK(fuzz_free_descriptor() == fd);
}
