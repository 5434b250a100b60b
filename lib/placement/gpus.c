/* SPDX-License-Identifier: BSD-3-Clause */
#include "placement/gpus.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "system/gpufiles.h"
#include "system/node.h"

/* PCI Code and ID Assignment Specification: base class 03 is display; 1200 is a
 * processing accelerator, as which AMD's Instincts without display register. */
enum { CLASS_VGA = 0x0300, CLASS_3D = 0x0302, CLASS_DISPLAY = 0x0380, CLASS_ACCELERATOR = 0x1200 };

static const unsigned short classes[] = { CLASS_VGA, CLASS_3D, CLASS_DISPLAY, CLASS_ACCELERATOR };

enum { DIGITS = sizeof("0x0300") };

static const struct {
    unsigned short id; /* https://pci-ids.ucw.cz */
    const char *name;
} vendors[RC_GPU_VENDORS] = {
    [RC_GPU_NVIDIA] = { 0x10de, "NVIDIA" },
    [RC_GPU_AMD] = { 0x1002, "AMD" },
    [RC_GPU_INTEL] = { 0x8086, "Intel" },
};

const struct rc_gpu_variable rc_gpu_variables[] = {
#define ROLLCALL_GPU_LIST(id, vendor, name, forms, order) { RC_GPU_##vendor, name, forms, order },
#define ROLLCALL_GPU_SELECTOR(vendor, name, forms, order) { RC_GPU_##vendor, name, forms, order },
#include "launcher/gpulist.def"
#undef ROLLCALL_GPU_LIST
#undef ROLLCALL_GPU_SELECTOR
    { RC_GPU_VENDORS, NULL, NULL, NULL },
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

static bool may_be_gpu(unsigned short class)
{
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
        if (class == classes[i])
            return true;
    return false;
}

/* A BMC's VGA (ASPEED, Matrox) has another vendor; a switch of NVLink (0680), the sound of a GPU (0403)
 * and its USB (0c03) have another class. */
static bool is_gpu(const struct hwloc_pcidev_attr_s *pci, enum rc_gpu_vendor *vendor)
{
    for (*vendor = 0; *vendor < RC_GPU_VENDORS; (*vendor)++)
        if (pci->vendor_id == vendors[*vendor].id)
            break;
    if (*vendor == RC_GPU_VENDORS)
        return false;
    return may_be_gpu(pci->class_id) && (pci->class_id != CLASS_ACCELERATOR || *vendor == RC_GPU_AMD);
}

/* Finds the one of these numbers with which a file of sysfs begins, "0x030200". 0: none of them. */
static unsigned short find_number(const char *folder, const char *device, const char *name,
                                  const unsigned short *numbers, size_t count)
{
    char path[PATH_MAX];
    char text[DIGITS];
    char hex[DIGITS];

    snprintf(path, sizeof(path), "%s/%s/%s", folder, device, name);
    if (rc_file_read(path, text, sizeof(text)) < DIGITS - 1)
        return 0;
    for (size_t i = 0; i < count; i++) {
        snprintf(hex, sizeof(hex), "0x%04x", numbers[i]);
        if (memcmp(text, hex, DIGITS - 1) == 0)
            return numbers[i];
    }
    return 0;
}

static bool is_gpu_in(const char *folder, const char *device)
{
    struct hwloc_pcidev_attr_s pci = { .vendor_id = 0 };
    unsigned short ids[RC_GPU_VENDORS];
    enum rc_gpu_vendor vendor;

    for (unsigned i = 0; i < RC_GPU_VENDORS; i++)
        ids[i] = vendors[i].id;
    pci.class_id = find_number(folder, device, "class", classes, sizeof(classes) / sizeof(*classes));
    if (pci.class_id)
        pci.vendor_id = find_number(folder, device, "vendor", ids, RC_GPU_VENDORS);
    return is_gpu(&pci, &vendor);
}

bool rc_pci_gpus_are_there(const char *folder)
{
    DIR *devices = opendir(folder);
    bool found = false;

    for (struct dirent *entry; devices && !found && (entry = readdir(devices));)
        found = entry->d_name[0] != '.' && is_gpu_in(folder, entry->d_name);
    if (devices)
        closedir(devices);
    return found;
}

static int compare_numbers(unsigned a, unsigned b)
{
    return (a > b) - (a < b);
}

static int compare_gpus(const void *a, const void *b)
{
    const struct rc_pci_gpu *left = a;
    const struct rc_pci_gpu *right = b;
    const struct hwloc_pcidev_attr_s *l = &left->pci->attr->pcidev;
    const struct hwloc_pcidev_attr_s *r = &right->pci->attr->pcidev;
    int order = compare_numbers(left->integrated, right->integrated);

    if (order == 0)
        order = compare_numbers(left->vendor, right->vendor);
    if (order == 0)
        order = compare_numbers(l->domain, r->domain);
    if (order == 0)
        order = compare_numbers(l->bus, r->bus);
    if (order == 0)
        order = compare_numbers(l->dev, r->dev);
    return order ? order : compare_numbers(l->func, r->func);
}

static bool same_device(const struct rc_pci_gpu *a, const struct rc_pci_gpu *b)
{
    return strcmp(a->bus_id, b->bus_id) == 0;
}

int rc_pci_gpus_find(hwloc_topology_t topology, struct rc_pci_gpus *list)
{
    int most = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PCI_DEVICE);
    struct rc_pci_gpu *gpu = calloc(most > 0 ? (size_t)most + 1 : 1, sizeof(*gpu));
    size_t count = 0;
    size_t kept = 0;

    if (!gpu)
        return -1;
    for (hwloc_obj_t pci = NULL; (pci = hwloc_get_next_pcidev(topology, pci)) != NULL && count < (size_t)most;) {
        if (!is_gpu(&pci->attr->pcidev, &gpu[count].vendor))
            continue;
        gpu[count].pci = pci;
        rc_bus_id(pci, gpu[count].bus_id);
        gpu[count].integrated = gpu[count].vendor == RC_GPU_INTEL && strcmp(gpu[count].bus_id, "0000:00:02.0") == 0;
        count++;
    }
    qsort(gpu, count, sizeof(*gpu), compare_gpus);
    /* a topology file may have a GPU twice */
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !same_device(&gpu[kept - 1], &gpu[i]))
            gpu[kept++] = gpu[i];
    *list = (struct rc_pci_gpus){ .gpu = gpu, .count = kept };
    while (list->used < kept && gpu[list->used].vendor == gpu[0].vendor && !gpu[list->used].integrated)
        list->used++;
    return 0;
}

const char *rc_pci_gpu_model(const struct rc_pci_gpu *gpu)
{
    static const char *const names[] = { "GPUModel", "PCIDevice" };

    for (hwloc_obj_t os = gpu->pci->io_first_child; os; os = os->next_sibling) {
        const char *model = os->type == HWLOC_OBJ_OS_DEVICE ? hwloc_obj_get_info_by_name(os, names[0]) : NULL;

        if (model)
            return model;
    }
    return hwloc_obj_get_info_by_name(gpu->pci, names[1]);
}

/* In capitals or not, with "0000:" or without. */
static bool is_bus_id(struct rc_str name, const char *bus_id)
{
    return name.n > 0 && ((strncasecmp(bus_id, name.p, name.n) == 0 && bus_id[name.n] == '\0') ||
                          (strncmp(bus_id, "0000:", 5) == 0 && strncasecmp(bus_id + 5, name.p, name.n) == 0 &&
                           bus_id[5 + name.n] == '\0'));
}

/* The bus id of the only GPU whose UUID begins with the name; absent without one, or with several. */
static struct rc_str find_uuid(struct rc_str name, const struct rc_nvidia_gpus *driver)
{
    struct rc_str found = RC_ABSENT;

    for (size_t i = 0; driver && i < driver->count; i++) {
        const struct rc_nvidia_gpu *gpu = &driver->gpu[i];

        if (!rc_str_starts(rc_str(gpu->uuid), "GPU-") || strncmp(gpu->uuid, name.p, name.n) != 0)
            continue;
        if (found.p)
            return RC_ABSENT;
        found = rc_str(gpu->address);
    }
    return found;
}

bool rc_pci_gpus_named(const struct rc_pci_gpus *list, struct rc_str name, const struct rc_nvidia_gpus *driver,
                       unsigned *index)
{
    uint32_t number;

    if (rc_parse_u32(name, UINT32_MAX - 1, &number)) {
        if (number < list->count)
            *index = number;
        return number < list->count;
    }
    if (rc_str_starts(name, "GPU-"))
        name = find_uuid(name, driver);
    for (size_t i = 0; i < list->count; i++) {
        if (is_bus_id(name, list->gpu[i].bus_id)) {
            *index = (unsigned)i;
            return true;
        }
    }
    return false;
}

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
