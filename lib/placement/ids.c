/* SPDX-License-Identifier: BSD-3-Clause */
#include "placement/ids.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/nvidia.h"
#include "system/sysfs.h"

enum { PATH_SIZE = 512 };

static bool make_path(char path[PATH_SIZE], const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool make_path(char path[PATH_SIZE], const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(path, PATH_SIZE, format, args);
    va_end(args);
    return n < PATH_SIZE;
}

static void read_nvidia(const char *root, struct rc_gpu_ids *ids, const char *bus_id)
{
    struct rc_nvidia_gpu gpu;
    char folder[PATH_SIZE];

    if (!make_path(folder, "%s%s", root, RC_NVIDIA_FOLDER) ||
        snprintf(gpu.address, sizeof(gpu.address), "%s", bus_id) >= (int)sizeof(gpu.address))
        return;
    rc_nvidia_read_gpu(folder, &gpu);
    memcpy(ids->uuid, gpu.uuid, sizeof(gpu.uuid));
    ids->minor = gpu.minor;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    size_t n = strlen((*a)->d_name);
    size_t m = strlen((*b)->d_name);

    return n == m ? strcmp((*a)->d_name, (*b)->d_name) : (n > m) - (n < m);
}

/* The numbers of a folder's entries that begin so, in order: giN, ciN, renderDN. */
static int list_folder(const char *path, int (*wanted)(const struct dirent *entry), struct dirent ***entries)
{
    int count = scandir(path, entries, wanted, compare_names);

    return count < 0 ? 0 : count;
}

static int is_numbered(const struct dirent *entry, const char *before)
{
    size_t n = strlen(before);

    return strncmp(entry->d_name, before, n) == 0 && isdigit((unsigned char)entry->d_name[n]) &&
           strlen(entry->d_name) < RC_IDS_RENDER;
}

static int is_gi(const struct dirent *entry)
{
    return is_numbered(entry, "gi");
}

static int is_ci(const struct dirent *entry)
{
    return is_numbered(entry, "ci");
}

static int is_render(const struct dirent *entry)
{
    return is_numbered(entry, "renderD");
}

static int is_node(const struct dirent *entry)
{
    return is_numbered(entry, "");
}

static void add_slice(struct rc_gpu_ids *ids, const char *gi, const char *ci)
{
    size_t used = strlen(ids->slices);
    int n = snprintf(ids->slices + used, sizeof(ids->slices) - used, "%s%s/%s", used ? "," : "", gi, ci);

    if (n < 0 || (size_t)n >= sizeof(ids->slices) - used)
        ids->slices[used] = '\0';
    ids->slice_count++;
}

/* NVIDIA's "MIG User Guide", "Device Nodes and Capabilities": /proc/driver/nvidia/capabilities/gpuMINOR/mig/giN/ciM.
 * What UUIDs they have the driver tells by its library alone. */
static void read_slices(const char *root, struct rc_gpu_ids *ids)
{
    char path[PATH_SIZE];
    struct dirent **gi = NULL;
    int count = 0;

    if (ids->minor >= 0 && make_path(path, "%s/proc/driver/nvidia/capabilities/gpu%d/mig", root, ids->minor))
        count = list_folder(path, is_gi, &gi);
    for (int i = 0; i < count; i++) {
        struct dirent **ci = NULL;
        int inner = 0;

        if (make_path(path, "%s/proc/driver/nvidia/capabilities/gpu%d/mig/%s", root, ids->minor, gi[i]->d_name))
            inner = list_folder(path, is_ci, &ci);
        for (int k = 0; k < inner; k++) {
            add_slice(ids, gi[i]->d_name, ci[k]->d_name);
            free(ci[k]);
        }
        free(ci);
        free(gi[i]);
    }
    free(gi);
}

static void read_render(const char *root, struct rc_gpu_ids *ids, const char *bus_id)
{
    char path[PATH_SIZE];
    struct dirent **entry = NULL;
    int count = 0;

    if (make_path(path, "%s" RC_SYSFS_PCI "/%s/drm", root, bus_id))
        count = list_folder(path, is_render, &entry);
    for (int i = 0; i < count; i++) {
        if (i == 0)
            snprintf(ids->render, sizeof(ids->render), "%.*s", RC_IDS_RENDER - 1, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
}

/* A GPU of AMD's driver: ROCr numbers them as their nodes go (rocr-runtime, topology.cpp), and makes a UUID of
 * "GPU-" and 16 hexadecimal digits of unique_id (rocminfo; ROCm's "GPU isolation techniques"). */
struct node {
    uint64_t cores;
    uint64_t domain;
    uint64_t location;
    uint64_t unique;
};

static bool read_node(const char *path, struct node *node)
{
    FILE *file = fopen(path, "re");
    char name[64];
    uint64_t value;

    *node = (struct node){ .cores = 0 };
    if (!file)
        return false;
    while (fscanf(file, "%63s %" SCNu64, name, &value) == 2) {
        if (strcmp(name, "simd_count") == 0)
            node->cores = value;
        else if (strcmp(name, "domain") == 0)
            node->domain = value;
        else if (strcmp(name, "location_id") == 0)
            node->location = value;
        else if (strcmp(name, "unique_id") == 0)
            node->unique = value;
    }
    fclose(file);
    return true;
}

static void take_node(const struct rc_pci_gpus *list, const struct node *node, int index, struct rc_gpu_ids *ids)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct hwloc_pcidev_attr_s *pci = &list->gpu[i].pci->attr->pcidev;

        if (list->gpu[i].vendor != RC_GPU_AMD || pci->domain != node->domain ||
            node->location != ((uint64_t)pci->bus << 8 | (uint64_t)pci->dev << 3 | pci->func))
            continue;
        /* partitions of one device have its address all of them: the first */
        if (ids[i].rocr < 0)
            ids[i].rocr = index;
        if (node->unique && !ids[i].uuid[0])
            snprintf(ids[i].uuid, sizeof(ids[i].uuid), "GPU-%016" PRIx64, node->unique);
    }
}

static void read_amd(const struct rc_pci_gpus *list, const char *root, struct rc_gpu_ids *ids)
{
    char path[PATH_SIZE];
    struct dirent **entry = NULL;
    int count = 0;
    int index = 0;

    if (make_path(path, "%s/sys/class/kfd/kfd/topology/nodes", root))
        count = list_folder(path, is_node, &entry);
    for (int i = 0; i < count; i++) {
        struct node node;

        /* processors are nodes, too; of a GPU that a cgroup denies there is nothing to be read */
        if (make_path(path, "%s/sys/class/kfd/kfd/topology/nodes/%s/properties", root, entry[i]->d_name) &&
            read_node(path, &node) && node.cores > 0)
            take_node(list, &node, index++, ids);
        free(entry[i]);
    }
    free(entry);
}

/* What lstopo on that machine had from the drivers' libraries. */
static void read_topology(const struct rc_pci_gpu *gpu, struct rc_gpu_ids *ids)
{
    static const char *const names[] = { "NVIDIAUUID", "AMDUUID" };

    for (hwloc_obj_t os = gpu->pci->io_first_child; os; os = os->next_sibling) {
        for (unsigned i = 0; i < 2; i++) {
            const char *uuid = hwloc_obj_get_info_by_name(os, names[i]);

            if (!uuid || strlen(uuid) + 4 >= sizeof(ids->uuid) ||
                strspn(uuid, "0123456789abcdefABCDEFGPUx-") != strlen(uuid))
                continue;
            snprintf(ids->uuid, sizeof(ids->uuid), "%s%s", strncmp(uuid, "GPU-", 4) == 0 ? "" : "GPU-",
                     strncmp(uuid, "0x", 2) == 0 ? uuid + 2 : uuid);
        }
    }
}

void rc_gpu_ids_find(const struct rc_pci_gpus *list, const char *root, struct rc_gpu_ids *ids)
{
    for (size_t i = 0; i < list->count; i++) {
        ids[i] = (struct rc_gpu_ids){ .minor = -1, .rocr = -1 };
        if (!root) {
            read_topology(&list->gpu[i], &ids[i]);
            continue;
        }
        if (list->gpu[i].vendor == RC_GPU_NVIDIA)
            read_nvidia(root, &ids[i], list->gpu[i].bus_id);
        read_slices(root, &ids[i]);
        read_render(root, &ids[i], list->gpu[i].bus_id);
    }
    if (root)
        read_amd(list, root, ids);
}
