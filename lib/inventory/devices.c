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

enum { NODES_MAX = 256, CARDS_MAX = 64, PORTS_MAX = 8, LANES_MAX = 32, TEXT_SIZE = 256 };

/* Drivers of other vendors, in whose folders their devices are. */
static const struct {
    const char *driver;
    const char *vendor;
} others[] = { { "amdgpu", "AMD" }, { "xe", "Intel" }, { "i915", "Intel" }, { "habanalabs", "Habana" } };

/* As a file of a driver's folder is named by: "0000:3b:00.0". The others are "bind" and its like. */
static bool is_address(struct rc_str name)
{
    return rc_str_pieces(name, ':') == 3;
}

/* Called with each of the node's GPUs. model: of NVIDIA's, as the driver has it, "" without; NULL of others. */
typedef void look_at_gpu(const char *root, const char *vendor, const char *address, const char *model,
                         struct rc_tally *tally);

/* Other drivers' devices are in their folders by their PCI addresses. Returns how many GPUs are AMD's. */
static unsigned look_at_gpus(const char *root, look_at_gpu *look, struct rc_tally *tally)
{
    static struct rc_nvidia_gpu gpu[RC_NVIDIA_GPUS_MAX];
    static char name[NODES_MAX][RC_FILES_NAME];
    char path[RC_FILES_PATH];
    size_t count = rc_nvidia_read_gpus(rc_files_path(path, "%s" RC_NVIDIA_FOLDER, root), gpu);
    unsigned amd = 0;

    for (size_t i = 0; i < count; i++)
        look(root, "NVIDIA", gpu[i].address, gpu[i].model, tally);
    for (unsigned d = 0; d < sizeof(others) / sizeof(others[0]); d++) {
        unsigned names = rc_files_list(rc_files_path(path, "%s" PCI_DRIVERS "/%s", root, others[d].driver), NODES_MAX,
                                       name);

        for (unsigned i = 0; i < names; i++) {
            if (!is_address(rc_str(name[i])))
                continue;
            look(root, others[d].vendor, name[i], NULL, tally);
            amd += d == 0;
        }
    }
    return amd;
}

/* Servers' GPUs have their name there; of others the number is known, "AMD 0x744c". */
static void count_gpu(const char *root, const char *vendor, const char *address, const char *model,
                      struct rc_tally *tally)
{
    char path[RC_FILES_PATH];
    char line[RC_FILES_LINE];
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str name;

    if (model) {
        rc_tally_add(tally, rc_str(*model ? model : vendor));
        return;
    }
    name = rc_files_line(rc_files_path(path, "%s" RC_SYSFS_PCI "/%s/product_name", root, address), line);
    if (!name.p)
        name = rc_files_line(rc_files_path(path, "%s" RC_SYSFS_PCI "/%s/device", root, address), line);
    rc_tally_add(tally, rc_str_starts(name, vendor) ? name : rc_str(rc_format(&arena, "%s %pS", vendor, &name)));
}

/* An AMD GPU can be split into several (CPX and others): each has a node of its own. A node whose file may not be
 * read is that of a GPU of another job. */
static unsigned count_kfd_gpus(const char *root)
{
    static char name[NODES_MAX][RC_FILES_NAME];
    char path[RC_FILES_PATH];
    char line[RC_FILES_LINE];
    unsigned nodes = rc_files_list(rc_files_path(path, "%s" KFD_NODES, root), NODES_MAX, name);
    unsigned count = 0;

    for (unsigned i = 0; i < nodes; i++)
        count += !rc_str_is(rc_files_line(rc_files_path(path, "%s" KFD_NODES "/%s/gpu_id", root, name[i]), line), "0");
    return count;
}

struct rc_str rc_inventory_gpus(const char *root, struct rc_arena *arena)
{
    struct rc_tally tally = { .kinds = 0 };
    unsigned amd = look_at_gpus(root, count_gpu, &tally);
    struct rc_str text = rc_tally_write(&tally, arena);
    unsigned parts = amd ? count_kfd_gpus(root) : 0;

    if (!text.p || parts <= amd)
        return text;
    rc_join(arena);
    rc_format(arena, " in %u parts", parts);
    return arena->full ? text : rc_str(text.p);
}

static struct rc_str read_link(const char *root, struct rc_str address, const char *what, char line[RC_FILES_LINE])
{
    char path[RC_FILES_PATH];

    return rc_files_line(rc_files_path(path, "%s" RC_SYSFS_PCI "/%pS/%s", root, &address, what), line);
}

/* The width of a PCIe link now, against what the device can do, and a network card's speed. A GPU lowers its speed
 * while it is idle, so healthy nodes would differ by what ran on them last. Virtual functions and many virtual machines
 * do not say the width: there is 0, or 255. */
static void count_link(const char *root, struct rc_str address, bool idles, struct rc_tally *tally)
{
    char line[RC_FILES_LINE];
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    uint32_t width;
    uint32_t most = 0;

    if (!rc_parse_u32(read_link(root, address, "current_link_width", line), LANES_MAX, &width) || width == 0)
        return;
    rc_parse_u32(read_link(root, address, "max_link_width", line), LANES_MAX, &most);
    rc_format(&arena, width < most ? "at x%u of x%u" : "at x%u", width, most);
    if (!idles) {
        struct rc_str speed = read_link(root, address, "current_link_speed", line);

        rc_join(&arena);
        rc_format(&arena, " %pS", &speed);
    }
    rc_tally_add(tally, rc_str(text));
}

static void count_gpu_link(const char *root, const char *vendor, const char *address, const char *model,
                           struct rc_tally *tally)
{
    (void)vendor;
    (void)model;
    count_link(root, rc_str(address), true, tally);
}

struct rc_str rc_inventory_gpu_links(const char *root, struct rc_arena *arena)
{
    struct rc_tally tally = { .kinds = 0 };

    look_at_gpus(root, count_gpu_link, &tally);
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
    char path[RC_FILES_PATH];
    char line[RC_FILES_LINE];
    struct rc_str rest = rc_files_line(rc_files_path(path, "%s" NVIDIA_VERSION, root), line);
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
    char path[RC_FILES_PATH];
    char line[RC_FILES_LINE];

    if (version.p)
        return version;
    version = rc_files_line(rc_files_path(path, "%s/sys/module/amdgpu/version", root), line);
    return version.p ? rc_str(rc_format(arena, "amdgpu %pS", &version)) : RC_ABSENT;
}

/* The numbers of the channels are each job's own. */
struct rc_str rc_inventory_imex(const char *root, struct rc_arena *arena)
{
    static char name[NODES_MAX][RC_FILES_NAME];
    char path[RC_FILES_PATH];
    unsigned count = rc_files_list(rc_files_path(path, "%s" IMEX_CHANNELS, root), NODES_MAX, name);

    for (unsigned i = 0; i < count; i++)
        if (access(rc_files_path(path, "%s" IMEX_CHANNELS "/%s", root, name[i]), R_OK | W_OK) == 0)
            return rc_str(rc_copy(arena, RC_STR("there")));
    return RC_ABSENT;
}

/* The node's cards for fast networks: InfiniBand, RoCE, EFA and others that the kernel lists in
 * /sys/class/infiniband, and Slingshot's in /sys/class/cxi. Their names, addresses and firmware are not compared. */

#define INFINIBAND "/sys/class/infiniband"
#define SLINGSHOT  "/sys/class/cxi"

/* Calls for the folder of each card. */
static void for_each(const char *root, const char *class, void (*look)(const char *, const char *, struct rc_tally *),
                     struct rc_tally *tally)
{
    static char name[CARDS_MAX][RC_FILES_NAME];
    char path[RC_FILES_PATH];
    unsigned count = rc_files_list(rc_files_path(path, "%s%s", root, class), CARDS_MAX, name);

    for (unsigned i = 0; i < count; i++)
        look(root, rc_files_path(path, "%s%s/%s", root, class, name[i]), tally);
}

/* "mlx5_core MT4129", or the numbers of a card that has no such name: "efa 0x1d0f:0xefa2" */
static void count_card(const char *root, const char *folder, struct rc_tally *tally)
{
    char path[RC_FILES_PATH];
    char target[RC_FILES_PATH];
    char line[RC_FILES_LINE];
    char more[RC_FILES_LINE];
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str driver = rc_str_base_name(rc_files_link(rc_files_path(path, "%s/device/driver", folder), target));
    struct rc_str model = rc_files_line(rc_files_path(path, "%s/hca_type", folder), line);
    struct rc_str device;

    (void)root;
    if (!model.p) {
        model = rc_files_line(rc_files_path(path, "%s/device/vendor", folder), line);
        device = rc_files_line(rc_files_path(path, "%s/device/device", folder), more);
        model = model.p && device.p ? rc_str(rc_format(&arena, "%pS:%pS", &model, &device))
                                    : RC_STR("of no known kind");
    }
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
static void count_ports(const char *root, const char *folder, struct rc_tally *tally)
{
    char port[PORTS_MAX][RC_FILES_NAME];
    char path[RC_FILES_PATH];
    unsigned count = rc_files_list(rc_files_path(path, "%s/ports", folder), PORTS_MAX, port);

    (void)root;
    for (unsigned i = 0; i < count; i++) {
        char line[RC_FILES_LINE];
        char layer[RC_FILES_LINE];
        char rate[RC_FILES_LINE];
        char text[TEXT_SIZE];
        struct rc_arena arena = { .base = text, .size = sizeof(text) };
        struct rc_str kind = rc_files_line(rc_files_path(path, "%s/ports/%s/link_layer", folder, port[i]), layer);
        struct rc_str speed = RC_ABSENT;
        struct rc_str state;

        /* "4: ACTIVE" */
        rc_str_split(rc_files_line(rc_files_path(path, "%s/ports/%s/state", folder, port[i]), line), ' ', &state);
        if (!state.p)
            continue;
        if (rc_str_is(state, "ACTIVE"))
            speed = rc_files_line(rc_files_path(path, "%s/ports/%s/rate", folder, port[i]), rate);
        rc_format(&arena, "%pS%s%pS%s%pS", &state, kind.p ? " " : "", &kind, speed.p ? " " : "", &speed);
        rc_tally_add(tally, rc_str(text));
    }
}

/* Slingshot's cards have an interface each: "up 200000 Mb/s". */
static void count_interfaces(const char *root, const char *folder, struct rc_tally *tally)
{
    char net[PORTS_MAX][RC_FILES_NAME];
    char path[RC_FILES_PATH];
    unsigned count = rc_files_list(rc_files_path(path, "%s/device/net", folder), PORTS_MAX, net);

    (void)root;
    for (unsigned i = 0; i < count; i++) {
        char line[RC_FILES_LINE];
        char rate[RC_FILES_LINE];
        char text[TEXT_SIZE];
        struct rc_arena arena = { .base = text, .size = sizeof(text) };
        struct rc_str state = rc_files_line(rc_files_path(path, "%s/device/net/%s/operstate", folder, net[i]), line);
        struct rc_str speed = RC_ABSENT;

        if (rc_str_is(state, "up"))
            speed = rc_files_line(rc_files_path(path, "%s/device/net/%s/speed", folder, net[i]), rate);
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
    char target[RC_FILES_PATH];
    struct rc_str device = rc_str_base_name(rc_files_link(rc_files_path(path, "%s/device", folder), target));

    if (is_address(device))
        count_link(root, device, false, tally);
}

struct rc_str rc_inventory_nic_links(const char *root, struct rc_arena *arena)
{
    struct rc_tally tally = { .kinds = 0 };

    for_each(root, INFINIBAND, count_card_link, &tally);
    for_each(root, SLINGSHOT, count_card_link, &tally);
    return rc_tally_write(&tally, arena);
}
