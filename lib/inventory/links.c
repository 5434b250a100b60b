/* SPDX-License-Identifier: BSD-3-Clause */
/* links.c - how wide and fast a PCIe device's link is now, against what both of its ends can do.
 *
 * A GPU lowers its link's speed while it is idle, and raises it when it works: nvidia-smi and hwloc's maintainers warn
 * of that, and lspci shows such a link as "2.5GT/s (downgraded), Width x16". Healthy nodes would differ by what ran
 * on them last. So of a GPU the speed is that which both ends can do, and the width alone is that of now. A network
 * card keeps its speed.
 */
#include "config.h"

#include <string.h>

#include "base/text.h"
#include "inventory/inventory.h"
#include "system/gpufiles.h"

enum { ADDRESS = 16, CHAIN_MAX = 16, LANES_MAX = 32 };

/* Of one end: 0 where it does not say. Speeds are in tenths of GT/s. */
struct side {
    uint32_t width;
    uint32_t speed;
};

/* The devices from the processor to the one in question: a port of the processor, then both ends of each switch. */
struct chain {
    unsigned count;
    char address[CHAIN_MAX][ADDRESS];
};

static bool is_hexadecimal(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool rc_links_is_address(struct rc_str name)
{
    static const char tail[] = ":00:00.0";
    size_t tail_n = sizeof(tail) - 1;

    if (name.n < tail_n + 4 || name.n >= ADDRESS)
        return false;
    for (size_t i = 0; i < name.n; i++) {
        size_t from_end = name.n - i;
        char form = from_end > tail_n ? '0' : tail[tail_n - from_end];

        if (form == '0' ? !is_hexadecimal(name.p[i]) : name.p[i] != form)
            return false;
    }
    return true;
}

/* "16", or 0 for what is no link: 255 of a device that has left the bus, "Unknown" */
static uint32_t read_width(const char *path)
{
    char line[RC_FILES_LINE];
    uint32_t width;

    return rc_parse_u32(rc_files_line(path, line), LANES_MAX, &width) ? width : 0;
}

/* "32.0 GT/s PCIe", in older kernels "16 GT/s" */
static uint32_t read_speed(const char *path)
{
    char line[RC_FILES_LINE];
    struct rc_str tenths;
    struct rc_str rest;
    struct rc_str whole = rc_str_split(rc_str_split(rc_files_line(path, line), ' ', &rest), '.', &tenths);
    uint32_t speed;
    uint32_t part = 0;

    if (!rest.p || !rc_str_starts(rest, "GT/s") || !rc_parse_u32(whole, 10000, &speed) ||
        (tenths.p && !rc_parse_u32(tenths, 9, &part)))
        return 0;
    return 10 * speed + part;
}

static struct side read_side(const char *root, const char *address, const char *which)
{
    char path[RC_FILES_PATH];
    struct side side;

    side.width = read_width(rc_files_path(path, "%s" RC_SYSFS_PCI "/%s/%s_link_width", root, address, which));
    side.speed = read_speed(rc_files_path(path, "%s" RC_SYSFS_PCI "/%s/%s_link_speed", root, address, which));
    return side;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* "../../../devices/pci0000:80/0000:80:01.1/0000:81:00.0": a domain of its own begins a chain of its own */
static void read_chain(const char *root, const char *address, struct chain *chain)
{
    char path[RC_FILES_PATH];
    char target[RC_FILES_PATH];
    struct rc_str rest = rc_files_link(rc_files_path(path, "%s" RC_SYSFS_PCI "/%s", root, address), target);

    chain->count = 0;
    while (rest.p) {
        struct rc_str name = rc_str_split(rest, '/', &rest);

        if (rc_str_starts(name, "pci"))
            chain->count = 0;
        if (!rc_links_is_address(name) || chain->count == CHAIN_MAX)
            continue;
        memcpy(chain->address[chain->count], name.p, name.n);
        chain->address[chain->count++][name.n] = '\0';
    }
}

static void write_side(const struct side *now, const struct side *can, bool idles, struct rc_arena *arena)
{
    uint32_t speed = idles ? can->speed : now->speed;

    rc_format(arena, now->width < can->width ? "x%u of x%u" : "x%u", now->width, can->width);
    if (!speed)
        return;
    rc_join(arena);
    rc_format(arena, " %u.%u", speed / 10, speed % 10);
    rc_join(arena);
    if (speed < can->speed) {
        rc_format(arena, " of %u.%u", can->speed / 10, can->speed % 10);
        rc_join(arena);
    }
    rc_format(arena, " GT/s");
}

static bool read_link(const char *root, const char *above, const char *below, struct side *now, struct side *can)
{
    struct side lower = read_side(root, below, "max");
    struct side upper = above ? read_side(root, above, "max") : (struct side){ .width = 0 };

    *now = read_side(root, below, "current");
    *can = (struct side){ least(lower.width, upper.width), least(lower.speed, upper.speed) };
    return now->width > 0;
}

/* The links above: there is one below each port of the processor and of a switch, which is each other device. */
static void write_bottleneck(const char *root, const struct chain *chain, bool idles, struct rc_arena *arena)
{
    struct side now;
    struct side can;

    if (chain->count % 2 != 0)
        return;
    for (unsigned i = 0; i + 3 < chain->count; i += 2) {
        if (!read_link(root, chain->address[i], chain->address[i + 1], &now, &can))
            continue;
        if (idles)
            now.speed = can.speed = 0;
        if (now.width >= can.width && now.speed >= can.speed)
            continue;
        rc_join(arena);
        rc_format(arena, " behind ");
        rc_join(arena);
        write_side(&now, &can, idles, arena);
        return;
    }
}

struct rc_str rc_links_write(const char *root, const char *address, bool idles, struct rc_arena *arena)
{
    const char *text = arena->base + arena->used;
    struct chain chain;
    struct side now;
    struct side can;

    read_chain(root, address, &chain);
    if (!read_link(root, chain.count > 1 ? chain.address[chain.count - 2] : NULL, address, &now, &can))
        return RC_ABSENT;
    write_side(&now, &can, idles, arena);
    write_bottleneck(root, &chain, idles, arena);
    return arena->full ? RC_ABSENT : rc_str(text);
}
