/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "roll/entry.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolve/options.h"
#include "roll/names.h"
#include "roll/netorder.h"
#include "system/gpufiles.h"
#include "system/net.h"
#include "system/node.h"

/* Return the GPUs of the task if Slurm binds tasks, else of the step: by UUID if the task sees UUIDs. Return RC_ABSENT
 * if unknown. */
static struct rc_str find_list(const struct rc_gpus *gpus)
{
    struct rc_str list = gpus->bound && rc_task_gpus_are_bound(gpus) ? gpus->own : gpus->all;

    if (!gpus->by_slurm || !list.p)
        return RC_ABSENT;
    return rc_gpu_list_has_uuids(gpus->seen) ? gpus->seen : list;
}

struct devices {
    struct rc_nvidia_gpu gpu[RC_NVIDIA_GPUS_MAX];
    size_t count;
    struct rc_str list;
};

static void add_device(const struct devices *devices, uint32_t rank, uint32_t place, struct rc_roll *roll,
                       struct rc_arena *arena)
{
    struct rc_str device = rc_gpu_list_at(devices->list, place);
    const char *id;
    uint32_t index;

    if (rc_parse_u32(device, RC_NVIDIA_GPUS_MAX, &index) && index < devices->count && devices->gpu[index].uuid[0])
        id = rc_format(arena, "%s", devices->gpu[index].uuid);
    else if (rc_gpu_list_has_uuids(device))
        id = rc_copy(arena, device);
    else
        id = rc_format(arena, "%pS of node %u", &device, roll->node);
    if (!arena->full)
        roll->gpu[roll->gpu_count++] = (struct rc_roll_gpu){ rank, rc_str(id) };
}

/* Return as much of a variable as an entry holds. */
static struct rc_str shown_value(const struct rc_env *env, struct rc_str name)
{
    struct rc_str value = rc_env_find(env, name);

    if (value.n > RC_ROLL_TEXT_MAX)
        value.n = RC_ROLL_TEXT_MAX;
    return value;
}

/* Set roll->visible for display: "CUDA_VISIBLE_DEVICES=0,1". */
static void name_seen(const struct rc_env *env, struct rc_roll *roll, struct rc_arena *arena)
{
    unsigned first = rc_gpu_list_first(env);
    struct rc_str name, value;

    if (first == RC_GPU_LISTS)
        return;
    name = rc_gpu_list_name((enum rc_gpu_list_index)first);
    value = shown_value(env, name);
    roll->visible = rc_str(rc_format(arena, "%s=%pS", name.p, &value));
}

void rc_devices_find(const struct rc_result *result, const char *folder, struct rc_roll *roll, struct rc_arena *arena)
{
    const struct rc_gpus *gpus = &result->gpus;
    bool one_has_all = result->mode == RC_MODE_LAUNCHER;
    struct devices devices = { .list = find_list(gpus) };
    struct rc_str rest = roll->tasks;
    uint32_t rank;
    uint32_t last;
    uint32_t seen;
    uint32_t most = RC_ROLL_GPUS_MAX;

    name_seen(&result->env, roll, arena);
    if (devices.list.n == 0 || rc_gpus_may_be_shared(&result->env) || !rc_roll_next_range(&rest, &rank, &last) ||
        (one_has_all && (rank != last || rest.p)))
        return;
    seen = rc_count_devices(devices.list);
    if (one_has_all && seen < most)
        most = seen;
    else if (!one_has_all && gpus->bound)
        most = 1; /* only the first task is known; it has the lowest rank */
    devices.count = rc_nvidia_read_gpus(folder, devices.gpu);
    for (uint32_t i = 0; i < most; i++) {
        if (i > 0 && !one_has_all && rank++ == last && !rc_roll_next_range(&rest, &rank, &last))
            return;
        add_device(&devices, rank, i % seen, roll, arena);
    }
}

enum { TEXT_SIZE = 8192, BOOT_SIZE = 40 };

/* Must be the same in all processes of a communicator. Values are printed: add no secret. */
static const char *const must_agree[] = {
    "MASTER_ADDR",    "MASTER_PORT",        "NCCL_COMM_ID",          "NCCL_ALGO",          "NCCL_PROTO",
    "NCCL_NET",       "NCCL_BUFFSIZE",      "NCCL_NTHREADS",         "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS",
    "NCCL_CROSS_NIC", "NCCL_SOCKET_FAMILY", "GLOO_DEVICE_TRANSPORT",
};

/* "0,1,8,2" becomes "0-2,8". */
static struct rc_str fold_ranks(struct rc_str list, struct rc_arena *arena)
{
    size_t room = rc_str_pieces(list, ',');
    struct rc_range *range = calloc(room + 1, sizeof(*range));
    size_t count = 0;
    const char *text;

    if (!range)
        return RC_ABSENT;
    while (list.p && count < room)
        if (rc_parse_u32(rc_str_split(list, ',', &list), RC_MAX_TASKS, &range[count].first)) {
            range[count].last = range[count].first;
            count++;
        }
    text = rc_compact_ranges(range, count, SIZE_MAX, arena);
    free(range);
    return rc_str(text);
}

/* Return true in a container or virtual node. The number is that of a kernel's initial UTS namespace. */
static bool shares_its_kernel(void)
{
    static const char first[] = "uts:[4026531838]";
    char link[sizeof(first)];
    ssize_t n = readlink("/proc/self/ns/uts", link, sizeof(link));

    return n != (ssize_t)sizeof(first) - 1 || memcmp(link, first, sizeof(first) - 1) != 0;
}

/* Two machines have one boot id only if one was cloned while running. */
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

/* Order in which others try them: network cards first (loopback's interface may have routed addresses: anycast, VIP),
 * IPv4 before IPv6. Return RANKS if unusable by others. */
enum { RANKS = 4 };

static unsigned address_rank(const struct rc_interface *interface)
{
    bool is_card = interface->is_up && strcmp(interface->name, "lo") != 0;

    if (rc_netaddr_is_loopback(&interface->address))
        return RANKS;
    return (is_card ? 0U : 2U) + (interface->address.size == RC_IPV4_BYTES ? 0U : 1U);
}

const char *rc_entry_addresses(unsigned most, const char *between, struct rc_arena *arena)
{
    struct rc_interface list[RC_INTERFACES_MAX];
    unsigned count = rc_interfaces(list);
    const char *text = rc_format(arena, "%s", "");
    char address[RC_NETADDR_TEXT];
    const char *before = "";

    for (unsigned i = 0; i < RANKS * count && most > 0; i++) {
        if (address_rank(&list[i % count]) != i / count)
            continue;
        rc_join(arena);
        rc_format(arena, "%s%s", before, rc_netaddr_text(&list[i % count].address, address));
        before = between;
        most--;
    }
    return text;
}

/* Return all addresses or RC_ABSENT: half a list would be wrong. */
static struct rc_str list_addresses(struct rc_arena *arena)
{
    char text[RC_ROLL_TEXT_MAX + 1];
    struct rc_arena own = { .base = text, .size = sizeof(text) };

    rc_entry_addresses(UINT_MAX, ",", &own);
    return own.full || !*text ? RC_ABSENT : rc_str(rc_copy(arena, rc_str(text)));
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
        /* not Slurm's name: NCCL tells nodes apart by the host name */
        .host = rc_str(rc_node_name(name)),
        .boot = boot_id(boot),
        .node = facts->field[RC_NODE_RANK].value,
        .nodes = facts->field[RC_NNODES].value,
        .world = facts->field[RC_WORLD_SIZE].value,
        .tasks = fold_ranks(tasks, &own),
        .addr = rc_str(result->master.addr),
        .own = port || (result->master.todo & RC_MASTER_HOLD) ? list_addresses(&own) : RC_ABSENT,
        .hosts = list_hosts(&result->env),
        .port = port,
        .dead = asks_order ? RC_ABSENT : rc_str(failed),
        .busy = asks_order ? rc_str(failed) : RC_ABSENT,
        .place = asks_order ? rc_netorder_place(&result->env, rc_str(name), &own) : RC_ABSENT,
    };

    for (size_t i = 0; i < sizeof(must_agree) / sizeof(*must_agree); i++) {
        struct rc_str value = shown_value(&result->env, rc_str(must_agree[i]));

        if (value.p)
            roll.user[roll.user_count++] = rc_str(rc_format(&own, "%s=%pS", must_agree[i], &value));
    }
    rc_devices_find(result, RC_NVIDIA_FOLDER, &roll, &devices);
    return own.full ? NULL : rc_roll_write(&roll, arena);
}
