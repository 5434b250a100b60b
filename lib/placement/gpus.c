/* SPDX-License-Identifier: BSD-3-Clause */
#include "placement/placement.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "system/gpufiles.h"
#include "system/node.h"

/* PCI Code and ID Assignment Specification: base class 03 is display; 1200 an accelerator, as AMD's Instincts without
 * display. */
enum { CLASS_VGA = 0x0300, CLASS_3D = 0x0302, CLASS_DISPLAY = 0x0380, CLASS_ACCELERATOR = 0x1200 };

static const struct {
    unsigned short id; /* https://pci-ids.ucw.cz */
    const char *name;
} vendors[RC_GPU_VENDORS] = {
    [RC_GPU_NVIDIA] = { 0x10de, "NVIDIA" },
    [RC_GPU_AMD] = { 0x1002, "AMD" },
    [RC_GPU_INTEL] = { 0x8086, "Intel" },
};

const char *rc_gpu_vendor_name(enum rc_gpu_vendor vendor)
{
    return vendors[vendor].name;
}

void rc_bus_id(hwloc_obj_t pci, char text[RC_BUS_ID])
{
    snprintf(text, RC_BUS_ID, "%04x:%02x:%02x.%01x", (unsigned)pci->attr->pcidev.domain,
             (unsigned)pci->attr->pcidev.bus, (unsigned)pci->attr->pcidev.dev, (unsigned)pci->attr->pcidev.func);
}

/* Others: BMC VGA (ASPEED, Matrox) by its vendor; NVLink switch (0680), GPU audio (0403) and USB (0c03) by class. */
static bool is_gpu(unsigned short class, unsigned short vendor_id, enum rc_gpu_vendor *vendor)
{
    for (*vendor = 0; *vendor < RC_GPU_VENDORS; (*vendor)++)
        if (vendor_id == vendors[*vendor].id)
            break;
    if (*vendor == RC_GPU_VENDORS)
        return false;
    return class == CLASS_VGA || class == CLASS_3D || class == CLASS_DISPLAY ||
           (class == CLASS_ACCELERATOR && *vendor == RC_GPU_AMD);
}

static int compare_gpus(const void *a, const void *b)
{
    const struct rc_pci_gpu *left = a;
    const struct rc_pci_gpu *right = b;

    if (left->integrated != right->integrated)
        return left->integrated ? 1 : -1;
    if (left->vendor != right->vendor)
        return left->vendor < right->vendor ? -1 : 1;
    return rc_pci_address_order(left->bus_id, right->bus_id);
}

int rc_pci_gpus_find(hwloc_topology_t topology, struct rc_pci_gpus *list)
{
    int most = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PCI_DEVICE);
    struct rc_pci_gpu *gpu = calloc(most > 0 ? (size_t)most + 1 : 1, sizeof(*gpu));
    size_t count = 0;

    if (!gpu)
        return -1;
    for (hwloc_obj_t pci = NULL; (pci = hwloc_get_next_pcidev(topology, pci)) != NULL && count < (size_t)most;) {
        if (!is_gpu(pci->attr->pcidev.class_id, pci->attr->pcidev.vendor_id, &gpu[count].vendor))
            continue;
        gpu[count].pci = pci;
        gpu[count].minor = -1;
        rc_bus_id(pci, gpu[count].bus_id);
        gpu[count].integrated = gpu[count].vendor == RC_GPU_INTEL && strcmp(gpu[count].bus_id, "0000:00:02.0") == 0;
        count++;
    }
    qsort(gpu, count, sizeof(*gpu), compare_gpus);
    *list = (struct rc_pci_gpus){ .gpu = gpu, .count = count };
    while (list->used < count && gpu[list->used].vendor == gpu[0].vendor && !gpu[list->used].integrated)
        list->used++;
    return 0;
}

bool rc_pci_gpus_own(const struct rc_pci_gpus *list, unsigned number, unsigned *index)
{
    bool has_driver = false;

    for (unsigned i = 0; i < list->used; i++)
        has_driver = has_driver || list->gpu[i].minor >= 0;
    for (unsigned i = 0; i < list->used; i++) {
        if ((list->gpu[i].minor >= 0 || !has_driver) && number-- == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

/* Case-insensitive, with or without "0000:". */
static bool is_bus_id(struct rc_str name, const char *bus_id)
{
    return name.n > 0 && ((strncasecmp(bus_id, name.p, name.n) == 0 && bus_id[name.n] == '\0') ||
                          (strncmp(bus_id, "0000:", 5) == 0 && strncasecmp(bus_id + 5, name.p, name.n) == 0 &&
                           bus_id[5 + name.n] == '\0'));
}

bool rc_pci_gpus_named(const struct rc_pci_gpus *list, struct rc_str name, unsigned *index)
{
    bool is_uuid = rc_str_starts(name, "GPU-");
    unsigned found = 0;
    unsigned count = 0;
    uint32_t number;

    if (rc_parse_u32(name, UINT32_MAX - 1, &number)) {
        if (number < list->count)
            *index = number;
        return number < list->count;
    }
    for (unsigned i = 0; i < list->count; i++) {
        const struct rc_pci_gpu *gpu = &list->gpu[i];

        if (is_uuid ? gpu->uuid[0] && strncmp(gpu->uuid, name.p, name.n) == 0 : is_bus_id(name, gpu->bus_id)) {
            found = i;
            count++;
        }
    }
    /* a prefix of several matches none */
    if (count == 1)
        *index = found;
    return count == 1;
}

static void read_nvidia(const char *root, struct rc_pci_gpu *gpu)
{
    struct rc_nvidia_gpu file;
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%s%s", root, RC_NVIDIA_FOLDER);
    if (snprintf(file.address, sizeof(file.address), "%s", gpu->bus_id) >= (int)sizeof(file.address))
        return;
    rc_nvidia_read_gpu(folder, &file);
    memcpy(gpu->uuid, file.uuid, sizeof(file.uuid));
    gpu->minor = file.minor;
}

/* ROCr's UUID: "GPU-" and the 16 hex digits of unique_id (rocminfo; ROCm's "GPU isolation techniques"), 0 if unset. */
static void read_amd(const char *root, struct rc_pci_gpu *gpu)
{
    enum { DIGITS = 16 };
    char path[PATH_MAX];
    char id[DIGITS + 1] = "";

    snprintf(path, sizeof(path), "%s" RC_SYSFS_PCI "/%s/unique_id", root, gpu->bus_id);
    rc_file_read(path, id, DIGITS);
    if (strspn(id, "0123456789abcdef") == DIGITS && strspn(id, "0") < DIGITS)
        snprintf(gpu->uuid, sizeof(gpu->uuid), "GPU-%s", id);
}

void rc_pci_gpus_name(struct rc_pci_gpus *list, const char *root)
{
    for (size_t i = 0; i < list->count; i++) {
        struct rc_pci_gpu *gpu = &list->gpu[i];

        if (gpu->vendor == RC_GPU_NVIDIA)
            read_nvidia(root, gpu);
        else if (gpu->vendor == RC_GPU_AMD)
            read_amd(root, gpu);
    }
}
