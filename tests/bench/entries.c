/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "entries.h"

#include "roll/roll.h"

static const char items[] = "has=gpus 8 NVIDIA H100 80GB HBM3\n"
                            "has=gpu_links 8 at x16 32.0 GT/s\n"
                            "has=gpu_driver 550.54.15 (open)\n"
                            "has=imex there\n"
                            "has=nics 8 mlx5_core MT4129\n"
                            "has=nic_ports 8 ACTIVE InfiniBand 400 Gb/sec (4X NDR)\n"
                            "has=nic_links 8 at x16 32.0 GT/s\n"
                            "has=kernel 6.8.0-45-generic\n"
                            "has=memlock unlimited\n"
                            "has=nofile 1048576\n"
                            "has=stack unlimited\n"
                            "has=shm 1007 GiB\n"
                            "has=hugepages 0 of 2048 kB, transparent ones: madvise\n"
                            "has=memory 2015 GiB\n"
                            "has=cores 128 of 128\n";

/* Each task has a GPU, with a UUID of its own. */
static void add_gpus(struct rc_roll *roll, uint32_t first, uint32_t tasks, struct rc_arena *arena)
{
    roll->visible = rc_str("CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7");
    for (uint32_t i = 0; i < tasks && i < RC_ROLL_GPUS_MAX; i++)
        roll->gpu[roll->gpu_count++] = (struct rc_roll_gpu){
            .rank = first + i,
            .id = rc_str(rc_format(arena, "GPU-%u-9c3e-4f5e-8d2b-1b0c9f6d2a11", 1000000000 + first + i)),
        };
}

/* Lines that another node does not have. */
static struct rc_str make_different(uint32_t number, struct rc_arena *arena)
{
    const char *text = rc_format(arena, "");
    struct rc_str rest = rc_str(items);

    while (rest.n > 0) {
        struct rc_str line = rc_str_split(rest, '\n', &rest);

        rc_join(arena);
        rc_format(arena, "%S, unit %u\n", &line, number);
    }
    return rc_str(text);
}

const char *entries_write(uint32_t number, uint32_t nodes, uint32_t tasks, enum entries_items kind,
                          struct rc_arena *arena)
{
    char words[1024], lines[2048];
    struct rc_arena names = { .base = words, .size = sizeof(words) };
    struct rc_arena own = { .base = lines, .size = sizeof(lines) };
    uint32_t first = number * tasks;
    struct rc_roll roll = {
        .version = rc_str("0.1.0"),
        .scope = rc_str("slurm:4711.0"),
        .launcher = rc_str("slurm"),
        .mode = rc_str("worker"),
        .addr = rc_str("node100000"),
        .host = rc_str(rc_format(&names, "node%u", 100000 + number)),
        .boot = rc_str(rc_format(&names, "%u-4ac5-4f5e-9c3e-1b0c9f6d2a11", number * 2654435761u)),
        .hosts = rc_str(rc_format(&names, "node[100000-%u]", 100000 + nodes - 1)),
        .node = number,
        .nodes = nodes,
        .world = nodes * tasks,
        .tasks = rc_str(rc_format(&names, tasks > 1 ? "%u-%u" : "%u", first, first + tasks - 1)),
        .port = number == 0 ? 24512 : 0,
    };
    const char *entry;

    if (kind != ENTRIES_WITHOUT)
        roll.items = kind == ENTRIES_ALIKE ? rc_str(items) : make_different(number, &own);
    add_gpus(&roll, first, tasks, &names);
    entry = rc_roll_write(&roll, arena);
    return names.full || own.full ? NULL : entry;
}
