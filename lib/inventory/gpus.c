/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "inventory/gpus.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers.h"
#include "inventory/files.h"
#include "inventory/links.h"
#include "inventory/tally.h"
#include "system/nvidia.h"
#include "system/sysfs.h"

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
                                                            : rc_format(&arena, "%s %S", vendor, &model)));
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
            return rc_str(rc_format(arena, is_open ? "%S (open)" : "%S", &word));
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
    return version.p ? rc_str(rc_format(arena, "amdgpu %S", &version)) : RC_ABSENT;
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
