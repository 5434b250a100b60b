/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "roll/entry.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "roll/devices.h"
#include "roll/netorder.h"
#include "system/file.h"
#include "system/interfaces.h"
#include "system/node.h"
#include "system/nvidia.h"
#include "system/resolver.h"

enum { TEXT_SIZE = 8192, BOOT_SIZE = 40 };

/* What all processes of a communicator must have alike, or none. */
static const char *const must_agree[] = {
    "MASTER_ADDR",    "MASTER_PORT",        "NCCL_COMM_ID",          "NCCL_ALGO",          "NCCL_PROTO",
    "NCCL_NET",       "NCCL_BUFFSIZE",      "NCCL_NTHREADS",         "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS",
    "NCCL_CROSS_NIC", "NCCL_SOCKET_FAMILY", "GLOO_DEVICE_TRANSPORT",
};

static int compare_ranks(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/* "0,1,8,2" becomes "0-2,8". */
static struct rc_str fold_ranks(struct rc_str list, struct rc_arena *arena)
{
    size_t room = 1;
    size_t count = 0;
    uint32_t *rank;
    struct rc_str text = { arena->base + arena->used, 0 };
    const char *between = "";

    for (size_t i = 0; i < list.n; i++)
        room += list.p[i] == ',';
    rank = malloc(room * sizeof(*rank));
    if (!rank)
        return RC_ABSENT;
    for (struct rc_str rest = list; rest.p && count < room;)
        if (rc_parse_u32(rc_str_split(rest, ',', &rest), RC_MAX_TASKS, &rank[count]))
            count++;
    qsort(rank, count, sizeof(*rank), compare_ranks);
    for (size_t i = 0; i < count;) {
        size_t run = 1;

        while (i + run < count && rank[i + run] == rank[i] + run)
            run++;
        rc_format(arena, run > 1 ? "%s%u-%u" : "%s%u", between, rank[i], rank[i] + (uint32_t)run - 1);
        rc_join(arena);
        between = ",";
        i += run;
    }
    free(rank);
    text.n = (size_t)(arena->base + arena->used - text.p);
    arena->used += !arena->full;
    return text;
}

/* A container, or a virtual node: a host name of its own, but a kernel that other
 * nodes run on, too. The first such namespace of a kernel has always this number. */
static bool shares_its_kernel(void)
{
    static const char first[] = "uts:[4026531838]";
    char link[sizeof(first)];
    ssize_t n = readlink("/proc/self/ns/uts", link, sizeof(link));

    return n != (ssize_t)sizeof(first) - 1 || memcmp(link, first, sizeof(first) - 1) != 0;
}

/* Another one after each start of the kernel, and the same in two machines only
 * where one is a copy of the other, made while it ran. */
static struct rc_str boot_id(char text[BOOT_SIZE])
{
    size_t n = shares_its_kernel() ? 0 : rc_file_read("/proc/sys/kernel/random/boot_id", text, BOOT_SIZE);
    struct rc_str rest;

    return n > 0 ? rc_str_split((struct rc_str){ text, n }, '\n', &rest) : RC_ABSENT;
}

/* Half a list would name wrong hosts. */
static struct rc_str list_hosts(const struct rc_env *env)
{
    struct rc_str hosts = rc_env_get(env, "SLURM_STEP_NODELIST");

    return hosts.n <= RC_ROLL_HOSTS_MAX ? hosts : RC_ABSENT;
}

/* Where they do not fit, none: half a list would be a wrong one. */
static struct rc_str list_addresses(struct rc_arena *arena)
{
    struct rc_interface list[RC_INTERFACES_MAX];
    unsigned count = rc_interfaces(list);
    struct rc_str text = { arena->base + arena->used, 0 };
    char address[RC_NETADDR_TEXT];
    const char *between = "";

    for (unsigned i = 0; i < count; i++) {
        if (list[i].address.size == 0 || rc_netaddr_is_loopback(&list[i].address))
            continue;
        rc_format(arena, "%s%s", between, rc_netaddr_text(&list[i].address, address));
        rc_join(arena);
        between = ",";
    }
    text.n = (size_t)(arena->base + arena->used - text.p);
    arena->used += !arena->full;
    return text.n > 0 && text.n <= RC_ROLL_TEXT_MAX && count < RC_INTERFACES_MAX ? text : RC_ABSENT;
}

const char *rc_entry_write(const struct rc_result *result, struct rc_str tasks, uint16_t port, const char *failed,
                           bool asks_order, struct rc_arena *arena)
{
    const struct rc_facts *facts = &result->facts;
    char name[RC_NODE_NAME_SIZE];
    char boot[BOOT_SIZE];
    char text[TEXT_SIZE];
    char device[RC_DEVICES_TEXT];
    struct rc_arena own = { .base = text, .size = sizeof(text) };
    struct rc_arena devices = { .base = device, .size = sizeof(device) };
    struct rc_roll roll = {
        .version = rc_str(PACKAGE_VERSION),
        .scope = rc_str(facts->scope),
        .launcher = rc_str(result->launcher->id),
        .mode = rc_str(rc_mode_name(result->mode)),
        /* its own, not Slurm's name for it: NCCL tells nodes apart by this one */
        .host = rc_str(rc_node_name(name)),
        .boot = boot_id(boot),
        .node = facts->field[RC_NODE_RANK].value,
        .nodes = facts->field[RC_NNODES].value,
        .world = facts->field[RC_WORLD_SIZE].value,
        .tasks = fold_ranks(tasks, &own),
        .addr = rc_str(result->master.addr),
        .own = port ? list_addresses(&own) : RC_ABSENT,
        .hosts = list_hosts(&result->env),
        .port = port,
        .dead = asks_order ? RC_ABSENT : rc_str(failed),
        .busy = asks_order ? rc_str(failed) : RC_ABSENT,
        .place = asks_order ? rc_netorder_place(&result->env, rc_str(name), &own) : RC_ABSENT,
    };

    for (size_t i = 0; i < sizeof(must_agree) / sizeof(*must_agree) && roll.user_count < RC_ROLL_USER_MAX; i++) {
        struct rc_str value = rc_env_find(&result->env, rc_str(must_agree[i]));

        if (value.p)
            roll.user[roll.user_count++] = rc_str(rc_format(&own, "%s=%S", must_agree[i], &value));
    }
    rc_devices_find(result, RC_NVIDIA_FOLDER, &roll, &devices);
    return own.full ? NULL : rc_roll_write(&roll, arena);
}
