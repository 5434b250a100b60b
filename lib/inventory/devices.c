/* SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "base/text.h"
#include "inventory/inventory.h"
#include "system/gpufiles.h"

/* GPUs, their driver, IMEX channels and network cards, from the drivers' files. No driver is opened, so GPUs that the
 * task may not use count. */

#define IMEX_CHANNELS "/dev/nvidia-caps-imex-channels"
#define KFD_NODES     "/sys/class/kfd/kfd/topology/nodes"

enum { LANES_MAX = 32, TEXT_SIZE = 1024 };

/* Other vendors' drivers, whose folders contain their devices. */
static const struct {
    const char *driver;
    const char *vendor;
} others[] = { { "amdgpu", "AMD" }, { "xe", "Intel" }, { "i915", "Intel" }, { "habanalabs", "Habana" } };

/* Accept "0000:3b:00.0"; a driver's folder also has files such as "bind". */
static bool is_address(struct rc_str name)
{
    return rc_str_pieces(name, ':') == 3;
}

/* Called for each GPU. `model`: NVIDIA's, "" if unknown; NULL for other vendors. */
typedef void look_at_gpu(const char *vendor, const char *address, const char *model, struct rc_tally *tally);

/* Return the number of AMD GPUs. */
static unsigned look_at_gpus(look_at_gpu *look, struct rc_tally *tally)
{
    static struct rc_nvidia_gpu gpu[RC_NVIDIA_GPUS_MAX];
    char name[RC_FILES_MAX][RC_FILES_NAME];
    size_t count = rc_nvidia_read_gpus(rc_files_path(RC_NVIDIA_FOLDER), gpu);
    unsigned amd = 0;

    for (size_t i = 0; i < count; i++)
        look("NVIDIA", gpu[i].address, gpu[i].model, tally);
    for (unsigned d = 0; d < sizeof(others) / sizeof(others[0]); d++) {
        unsigned names = rc_files_list(rc_files_path("/sys/bus/pci/drivers/%s", others[d].driver), name);

        for (unsigned i = 0; i < names; i++) {
            if (!is_address(rc_str(name[i])))
                continue;
            look(others[d].vendor, name[i], NULL, tally);
            amd += d == 0;
        }
    }
    return amd;
}

static struct rc_str read_device(struct rc_str address, const char *what, struct rc_arena *arena)
{
    return rc_files_line(rc_files_path(RC_SYSFS_PCI "/%pS/%s", &address, what), arena);
}

/* Server GPUs have a product name; print the device id of others: "AMD 0x744c". */
static void count_gpu(const char *vendor, const char *address, const char *model, struct rc_tally *tally)
{
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str name;

    if (model) {
        rc_tally_add(tally, rc_str(*model ? model : vendor));
        return;
    }
    name = read_device(rc_str(address), "product_name", &arena);
    if (!name.p)
        name = read_device(rc_str(address), "device", &arena);
    rc_tally_add(tally, rc_str_starts(name, vendor) ? name : rc_str(rc_format(&arena, "%s %pS", vendor, &name)));
}

/* Each part of a split AMD GPU (CPX and others) has a node. An unreadable node belongs to another job's GPU. */
static unsigned count_kfd_gpus(void)
{
    char name[RC_FILES_MAX][RC_FILES_NAME];
    unsigned nodes = rc_files_list(rc_files_path(KFD_NODES), name);
    unsigned count = 0;

    for (unsigned i = 0; i < nodes; i++) {
        char text[TEXT_SIZE];
        struct rc_arena arena = { .base = text, .size = sizeof(text) };

        count += !rc_str_is(rc_files_line(rc_files_path(KFD_NODES "/%s/gpu_id", name[i]), &arena), "0");
    }
    return count;
}

struct rc_str rc_inventory_gpus(struct rc_arena *arena)
{
    struct rc_tally tally = { .kinds = 0 };
    unsigned amd = look_at_gpus(count_gpu, &tally);
    struct rc_str text = rc_tally_write(&tally, arena);
    unsigned parts = amd ? count_kfd_gpus() : 0;

    if (!text.p || parts <= amd)
        return text;
    rc_join(arena);
    rc_format(arena, " in %u parts", parts);
    return arena->full ? text : rc_str(text.p);
}

/* Compare a PCIe link's width with the device's maximum, and report a network card's speed. Idle GPUs lower their
 * speed, so healthy nodes would differ. Virtual functions and many virtual machines report width 0 or 255. */
static void count_link(struct rc_str address, bool idles, struct rc_tally *tally)
{
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str speed = idles ? RC_ABSENT : read_device(address, "current_link_speed", &arena);
    uint32_t width;
    uint32_t most = 0;
    const char *link;

    if (!rc_parse_u32(read_device(address, "current_link_width", &arena), LANES_MAX, &width) || width == 0)
        return;
    rc_parse_u32(read_device(address, "max_link_width", &arena), LANES_MAX, &most);
    link = rc_format(&arena, width < most ? "at x%u of x%u" : "at x%u", width, most);
    rc_tally_add(tally, rc_str(rc_format(&arena, idles ? "%s" : "%s %pS", link, &speed)));
}

static void count_gpu_link(const char *vendor, const char *address, const char *model, struct rc_tally *tally)
{
    (void)vendor;
    (void)model;
    count_link(rc_str(address), true, tally);
}

struct rc_str rc_inventory_gpu_links(struct rc_arena *arena)
{
    struct rc_tally tally = { .kinds = 0 };

    look_at_gpus(count_gpu_link, &tally);
    return rc_tally_write(&tally, arena);
}

/* Accept "550.54.15": at least two numbers. */
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

/* Formats: "NVRM version: NVIDIA UNIX x86_64 Kernel Module 535.104.05 Sat Aug 19 ...", and for the open module "...
 * NVIDIA UNIX Open Kernel Module for x86_64 550.54.15 Release Build ...". */
struct rc_str rc_inventory_gpu_driver(struct rc_arena *arena)
{
    struct rc_str rest = rc_files_line(rc_files_path("/proc/driver/nvidia/version"), arena);
    struct rc_str version;
    bool is_open = false;

    while (rest.p) {
        struct rc_str word = rc_str_split(rest, ' ', &rest);

        is_open = is_open || rc_str_is(word, "Open");
        if (is_version(word))
            return rc_str(rc_format(arena, is_open ? "%pS (open)" : "%pS", &word));
    }
    version = rc_files_line(rc_files_path("/sys/module/amdgpu/version"), arena);
    return version.p ? rc_str(rc_format(arena, "amdgpu %pS", &version)) : RC_ABSENT;
}

/* Channel numbers differ between jobs, so they are not reported. */
struct rc_str rc_inventory_imex(struct rc_arena *arena)
{
    char name[RC_FILES_MAX][RC_FILES_NAME];
    unsigned count = rc_files_list(rc_files_path(IMEX_CHANNELS), name);

    (void)arena;
    for (unsigned i = 0; i < count; i++)
        if (access(rc_files_path(IMEX_CHANNELS "/%s", name[i]), R_OK | W_OK) == 0)
            return RC_STR("there");
    return RC_ABSENT;
}

/* Cards in /sys/class/infiniband (InfiniBand, RoCE, EFA, ...) and /sys/class/cxi (Slingshot). Names, addresses and
 * firmware are not compared. */

#define INFINIBAND "/sys/class/infiniband"
#define SLINGSHOT  "/sys/class/cxi"

static void for_each(const char *folder, const char *below, void (*look)(const char *entry, struct rc_tally *tally),
                     struct rc_tally *tally)
{
    char name[RC_FILES_MAX][RC_FILES_NAME];
    unsigned count = rc_files_list(rc_files_path("%s%s", folder, below), name);

    for (unsigned i = 0; i < count; i++) {
        char entry[RC_FILES_PATH];
        struct rc_arena arena = { .base = entry, .size = sizeof(entry) };

        look(rc_format(&arena, "%s%s/%s", folder, below, name[i]), tally);
    }
}

/* Report "mlx5_core MT4129", or ids for a card without hca_type: "efa 0x1d0f:0xefa2". */
static void count_card(const char *card, struct rc_tally *tally)
{
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str driver = rc_files_link(rc_files_path("%s/device/driver", card), &arena);
    struct rc_str model = rc_files_line(rc_files_path("%s/hca_type", card), &arena);
    struct rc_str device;

    if (!model.p) {
        model = rc_files_line(rc_files_path("%s/device/vendor", card), &arena);
        device = rc_files_line(rc_files_path("%s/device/device", card), &arena);
        model = model.p && device.p ? rc_str(rc_format(&arena, "%pS:%pS", &model, &device))
                                    : RC_STR("of no known kind");
    }
    rc_tally_add(tally, driver.n ? rc_str(rc_format(&arena, "%pS %pS", &driver, &model)) : model);
}

struct rc_str rc_inventory_nics(struct rc_arena *arena)
{
    struct rc_tally tally = { .kinds = 0 };

    for_each(INFINIBAND, "", count_card, &tally);
    for_each(SLINGSHOT, "", count_card, &tally);
    return rc_tally_write(&tally, arena);
}

/* Report "ACTIVE InfiniBand 400 Gb/sec (4X NDR)". The rate counts only if the port is active. */
static void count_port(const char *port, struct rc_tally *tally)
{
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str kind = rc_files_line(rc_files_path("%s/link_layer", port), &arena);
    struct rc_str speed = RC_ABSENT;
    struct rc_str state;

    /* "4: ACTIVE" */
    rc_str_split(rc_files_line(rc_files_path("%s/state", port), &arena), ' ', &state);
    if (!state.p)
        return;
    if (rc_str_is(state, "ACTIVE"))
        speed = rc_files_line(rc_files_path("%s/rate", port), &arena);
    rc_tally_add(tally, rc_str(rc_format(&arena, "%pS%s%pS%s%pS", &state, kind.p ? " " : "", &kind, speed.p ? " " : "",
                                         &speed)));
}

static void count_ports(const char *card, struct rc_tally *tally)
{
    for_each(card, "/ports", count_port, tally);
}

/* Report the interface of a Slingshot card: "up 200000 Mb/s". */
static void count_interface(const char *interface, struct rc_tally *tally)
{
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str state = rc_files_line(rc_files_path("%s/operstate", interface), &arena);
    struct rc_str speed = RC_ABSENT;

    if (rc_str_is(state, "up"))
        speed = rc_files_line(rc_files_path("%s/speed", interface), &arena);
    if (state.p)
        rc_tally_add(tally, rc_str(rc_format(&arena, speed.p ? "%pS %pS Mb/s" : "%pS", &state, &speed)));
}

static void count_interfaces(const char *card, struct rc_tally *tally)
{
    for_each(card, "/device/net", count_interface, tally);
}

struct rc_str rc_inventory_nic_ports(struct rc_arena *arena)
{
    struct rc_tally tally = { .kinds = 0 };

    for_each(INFINIBAND, "", count_ports, &tally);
    for_each(SLINGSHOT, "", count_interfaces, &tally);
    return rc_tally_write(&tally, arena);
}

static void count_card_link(const char *card, struct rc_tally *tally)
{
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str device = rc_files_link(rc_files_path("%s/device", card), &arena);

    if (is_address(device))
        count_link(device, false, tally);
}

struct rc_str rc_inventory_nic_links(struct rc_arena *arena)
{
    struct rc_tally tally = { .kinds = 0 };

    for_each(INFINIBAND, "", count_card_link, &tally);
    for_each(SLINGSHOT, "", count_card_link, &tally);
    return rc_tally_write(&tally, arena);
}
