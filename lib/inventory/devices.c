/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "inventory/inventory.h"
#include "system/gpufiles.h"

/* The node's GPUs, their driver and IMEX channels, as the drivers' files have them. No driver is opened, so a
 * GPU that the task may not use counts, too. */

#define NVIDIA_VERSION "/proc/driver/nvidia/version"
#define IMEX_CHANNELS  "/dev/nvidia-caps-imex-channels"
#define KFD_NODES      "/sys/class/kfd/kfd/topology/nodes"
#define PCI_DRIVERS    "/sys/bus/pci/drivers"

enum { GPUS_MAX = 64, NODES_MAX = 256, TEXT_SIZE = 256 };

/* Drivers of other vendors, in whose folders their devices are. */
static const struct {
    const char *driver;
    const char *vendor;
} others[] = { { "amdgpu", "AMD" }, { "xe", "Intel" }, { "i915", "Intel" }, { "habanalabs", "Habana" } };

enum { OTHERS = sizeof(others) / sizeof(others[0]) };

static size_t list_nvidia(const char *root, struct rc_nvidia_gpu gpu[RC_NVIDIA_GPUS_MAX])
{
    char folder[RC_FILES_PATH];

    return rc_files_join(root, RC_NVIDIA_FOLDER, "", folder) ? rc_nvidia_read_gpus(folder, gpu) : 0;
}

/* The PCI addresses of the devices that a driver has. */
static unsigned list_others(const char *root, const char *driver, char name[GPUS_MAX][RC_FILES_NAME])
{
    static char all[NODES_MAX][RC_FILES_NAME];
    char folder[RC_FILES_PATH];
    unsigned found = rc_files_join("", PCI_DRIVERS, driver, folder) ? rc_files_list(root, folder, NODES_MAX, all) : 0;
    unsigned count = 0;

    for (unsigned i = 0; i < found && count < GPUS_MAX; i++)
        if (rc_links_is_address(rc_str(all[i])))
            memcpy(name[count++], all[i], RC_FILES_NAME);
    return count;
}

/* Servers' GPUs have their name there; of others the number is known, "AMD 0x744c". */
static void count_other(const char *root, const char *vendor, const char *address, struct rc_tally *tally)
{
    char folder[RC_FILES_PATH];
    char line[RC_FILES_LINE];
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str model;

    if (!rc_files_join("", RC_SYSFS_PCI, address, folder))
        return;
    model = rc_files_line(root, folder, "product_name", line);
    if (!model.p)
        model = rc_files_line(root, folder, "device", line);
    rc_tally_add(tally, rc_str(rc_str_starts(model, vendor) ? rc_copy(&arena, model)
                                                            : rc_format(&arena, "%s %pS", vendor, &model)));
}

/* An AMD GPU can be parted into several (CPX and others): each has a node of its own. A node whose file may not be
 * read is that of a GPU of another job. */
static unsigned count_kfd_gpus(const char *root)
{
    static char name[NODES_MAX][RC_FILES_NAME];
    unsigned nodes = rc_files_list(root, KFD_NODES, NODES_MAX, name);
    unsigned count = 0;

    for (unsigned i = 0; i < nodes; i++) {
        char folder[RC_FILES_PATH];
        char line[RC_FILES_LINE];

        count += rc_files_join("", KFD_NODES, name[i], folder) &&
                 !rc_str_is(rc_files_line(root, folder, "gpu_id", line), "0");
    }
    return count;
}

struct rc_str rc_inventory_gpus(const char *root, struct rc_arena *arena)
{
    static struct rc_nvidia_gpu gpu[RC_NVIDIA_GPUS_MAX];
    static char name[GPUS_MAX][RC_FILES_NAME];
    struct rc_tally tally = { .kinds = 0 };
    size_t count = list_nvidia(root, gpu);
    unsigned amd = 0;
    struct rc_str text;
    unsigned parts;

    for (size_t i = 0; i < count; i++)
        rc_tally_add(&tally, rc_str(gpu[i].model[0] ? gpu[i].model : "NVIDIA"));
    for (unsigned d = 0; d < OTHERS; d++) {
        unsigned found = list_others(root, others[d].driver, name);

        amd += d == 0 ? found : 0;
        for (unsigned i = 0; i < found; i++)
            count_other(root, others[d].vendor, name[i], &tally);
    }
    text = rc_tally_write(&tally, arena);
    parts = amd ? count_kfd_gpus(root) : 0;
    if (!text.p || parts <= amd)
        return text;
    rc_join(arena);
    rc_format(arena, " in %u parts", parts);
    return arena->full ? text : rc_str(text.p);
}

static void count_link(const char *root, const char *address, struct rc_tally *tally)
{
    char text[TEXT_SIZE] = "at ";
    struct rc_arena arena = { .base = text, .size = sizeof(text), .used = 3 };

    if (rc_links_write(root, address, true, &arena).p)
        rc_tally_add(tally, rc_str(text));
}

struct rc_str rc_inventory_gpu_links(const char *root, struct rc_arena *arena)
{
    static struct rc_nvidia_gpu gpu[RC_NVIDIA_GPUS_MAX];
    static char name[GPUS_MAX][RC_FILES_NAME];
    struct rc_tally tally = { .kinds = 0 };
    size_t count = list_nvidia(root, gpu);

    for (size_t i = 0; i < count; i++)
        count_link(root, gpu[i].address, &tally);
    for (unsigned d = 0; d < OTHERS; d++) {
        unsigned found = list_others(root, others[d].driver, name);

        for (unsigned i = 0; i < found; i++)
            count_link(root, name[i], &tally);
    }
    return rc_tally_write(&tally, arena);
}

/* "550.54.15": two or more numbers with points between */
static bool is_version(struct rc_str word)
{
    uint32_t number;
    struct rc_str rest = word;
    unsigned count = 0;

    for (; rest.p; count++)
        if (!rc_parse_u32(rc_str_split(rest, '.', &rest), 99999, &number) && count == 0)
            return false;
    return count > 1;
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023", and of the open module
 * "... NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build ..." */
static struct rc_str read_nvidia_version(const char *root, struct rc_arena *arena)
{
    char line[RC_FILES_LINE];
    struct rc_str rest = rc_files_line(root, NVIDIA_VERSION, "", line);
    bool is_open = false;

    while (rest.p) {
        struct rc_str word = rc_str_split(rest, ' ', &rest);

        is_open = is_open || rc_str_is(word, "Open");
        if (is_version(word))
            return rc_str(rc_format(arena, is_open ? "%pS (open)" : "%pS", &word));
    }
    return RC_ABSENT;
}

struct rc_str rc_inventory_gpu_driver(const char *root, struct rc_arena *arena)
{
    struct rc_str version = read_nvidia_version(root, arena);
    char line[RC_FILES_LINE];

    if (version.p)
        return version;
    version = rc_files_line(root, "/sys/module/amdgpu/version", "", line);
    return version.p ? rc_str(rc_format(arena, "amdgpu %pS", &version)) : RC_ABSENT;
}

/* The numbers of the channels are each job's own. */
struct rc_str rc_inventory_imex(const char *root, struct rc_arena *arena)
{
    static char name[GPUS_MAX][RC_FILES_NAME];
    unsigned count = rc_files_list(root, IMEX_CHANNELS, GPUS_MAX, name);
    char path[RC_FILES_PATH];

    for (unsigned i = 0; i < count; i++)
        if (rc_files_join(root, IMEX_CHANNELS, name[i], path) && access(path, R_OK | W_OK) == 0)
            return rc_str(rc_copy(arena, RC_STR("there")));
    return RC_ABSENT;
}

/* The node's cards for fast networks: InfiniBand, RoCE, EFA and others that the kernel lists in
 * /sys/class/infiniband, and Slingshot's in /sys/class/cxi. Their names, addresses and firmware are not compared. */

#define INFINIBAND "/sys/class/infiniband"
#define SLINGSHOT  "/sys/class/cxi"

enum { CARDS_MAX = 64, PORTS_MAX = 8 };

/* Calls for the folder of each card. */
static void for_each(const char *root, const char *class, void (*look)(const char *, const char *, struct rc_tally *),
                     struct rc_tally *tally)
{
    static char name[CARDS_MAX][RC_FILES_NAME];
    unsigned count = rc_files_list(root, class, CARDS_MAX, name);

    for (unsigned i = 0; i < count; i++) {
        char folder[RC_FILES_PATH];

        if (rc_files_join("", class, name[i], folder))
            look(root, folder, tally);
    }
}

/* "MT4129", or the numbers of a card that has no such name: "0x1d0f:0xefa2" */
static struct rc_str read_model(const char *root, const char *folder, struct rc_arena *arena)
{
    char line[RC_FILES_LINE];
    char more[RC_FILES_LINE];
    struct rc_str model = rc_files_line(root, folder, "hca_type", line);
    struct rc_str device;

    if (model.p)
        return rc_str(rc_copy(arena, model));
    model = rc_files_line(root, folder, "device/vendor", line);
    device = rc_files_line(root, folder, "device/device", more);
    return model.p && device.p ? rc_str(rc_format(arena, "%pS:%pS", &model, &device)) : RC_STR("of no known kind");
}

/* "mlx5_core MT4129" */
static void count_card(const char *root, const char *folder, struct rc_tally *tally)
{
    char path[RC_FILES_PATH];
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str driver = rc_str_base_name(rc_files_link(root, folder, "device/driver", path));
    struct rc_str model = read_model(root, folder, &arena);

    rc_tally_add(tally, driver.n ? rc_str(rc_format(&arena, "%pS %pS", &driver, &model)) : model);
}

struct rc_str rc_inventory_nics(const char *root, struct rc_arena *arena)
{
    struct rc_tally tally = { .kinds = 0 };

    for_each(root, INFINIBAND, count_card, &tally);
    for_each(root, SLINGSHOT, count_card, &tally);
    return rc_tally_write(&tally, arena);
}

/* "ACTIVE InfiniBand 400 Gb/sec (4X NDR)". The rate of a port that is not active says nothing. */
static void count_port(const char *root, const char *folder, struct rc_tally *tally)
{
    char line[RC_FILES_LINE];
    char layer[RC_FILES_LINE];
    char rate[RC_FILES_LINE];
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str is = rc_files_line(root, folder, "state", line); /* "4: ACTIVE" */
    struct rc_str state;
    struct rc_str kind = rc_files_line(root, folder, "link_layer", layer);
    struct rc_str speed = RC_ABSENT;

    rc_str_split(is, ' ', &state);
    if (!state.p)
        return;
    if (rc_str_is(state, "ACTIVE"))
        speed = rc_files_line(root, folder, "rate", rate);
    rc_format(&arena, "%pS%s%pS%s%pS", &state, kind.p ? " " : "", &kind, speed.p ? " " : "", &speed);
    rc_tally_add(tally, rc_str(text));
}

static void count_ports(const char *root, const char *folder, struct rc_tally *tally)
{
    char name[PORTS_MAX][RC_FILES_NAME];
    char ports[RC_FILES_PATH];
    char port[RC_FILES_PATH];
    unsigned count = rc_files_join("", folder, "ports", ports) ? rc_files_list(root, ports, PORTS_MAX, name) : 0;

    for (unsigned i = 0; i < count; i++)
        if (rc_files_join("", ports, name[i], port))
            count_port(root, port, tally);
}

/* Slingshot's cards have an interface each: "up 200000 Mb/s". */
static void count_interfaces(const char *root, const char *folder, struct rc_tally *tally)
{
    char name[PORTS_MAX][RC_FILES_NAME];
    char nets[RC_FILES_PATH];
    unsigned count = rc_files_join("", folder, "device/net", nets) ? rc_files_list(root, nets, PORTS_MAX, name) : 0;

    for (unsigned i = 0; i < count; i++) {
        char net[RC_FILES_PATH];
        char line[RC_FILES_LINE];
        char rate[RC_FILES_LINE];
        char text[TEXT_SIZE];
        struct rc_arena arena = { .base = text, .size = sizeof(text) };
        struct rc_str state = RC_ABSENT;
        struct rc_str speed = RC_ABSENT;

        if (rc_files_join("", nets, name[i], net))
            state = rc_files_line(root, net, "operstate", line);
        if (rc_str_is(state, "up"))
            speed = rc_files_line(root, net, "speed", rate);
        if (state.p)
            rc_tally_add(tally, rc_str(rc_format(&arena, speed.p ? "%pS %pS Mb/s" : "%pS", &state, &speed)));
    }
}

struct rc_str rc_inventory_nic_ports(const char *root, struct rc_arena *arena)
{
    struct rc_tally tally = { .kinds = 0 };

    for_each(root, INFINIBAND, count_ports, &tally);
    for_each(root, SLINGSHOT, count_interfaces, &tally);
    return rc_tally_write(&tally, arena);
}

static void count_card_link(const char *root, const char *folder, struct rc_tally *tally)
{
    char path[RC_FILES_PATH];
    char address[RC_FILES_NAME];
    char text[TEXT_SIZE] = "at ";
    struct rc_arena arena = { .base = text, .size = sizeof(text), .used = 3 };
    struct rc_arena name = { .base = address, .size = sizeof(address) };
    struct rc_str device = rc_str_base_name(rc_files_link(root, folder, "device", path));

    if (rc_links_is_address(device) && rc_links_write(root, rc_copy(&name, device), false, &arena).p)
        rc_tally_add(tally, rc_str(text));
}

struct rc_str rc_inventory_nic_links(const char *root, struct rc_arena *arena)
{
    struct rc_tally tally = { .kinds = 0 };

    for_each(root, INFINIBAND, count_card_link, &tally);
    for_each(root, SLINGSHOT, count_card_link, &tally);
    return rc_tally_write(&tally, arena);
}
