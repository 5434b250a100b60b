/* SPDX-License-Identifier: BSD-3-Clause */
#include "placement/placement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/gpufiles.h"
#include "system/net.h"

enum {
    CLASS_ETHERNET = 0x0200,
    CLASS_INFINIBAND = 0x0207,
    CLASS_FABRIC = 0x0208,
    VENDOR_HPE_CRAY = 0x17db, /* Slingshot's Cassini */
    VENDOR_AMAZON = 0x1d0f,   /* 0xefaN is EFA, 0xec20 ENA, which is Ethernet */
    VENDOR_CORNELIS = 0x434e,
};

const char *rc_nic_kind_name(enum rc_nic_kind kind)
{
    static const char *const names[RC_NIC_KINDS] = {
        [RC_NIC_INFINIBAND] = "InfiniBand", [RC_NIC_SLINGSHOT] = "Slingshot", [RC_NIC_EFA] = "EFA",
        [RC_NIC_OMNIPATH] = "Omni-Path",    [RC_NIC_ROCE] = "RoCE",           [RC_NIC_ETHERNET] = "Ethernet",
    };

    return names[kind];
}

const char *rc_nic_name(const struct rc_nic *nic)
{
    const char *first = nic->kind == RC_NIC_SLINGSHOT ? nic->network : nic->fabric;
    const char *second = nic->kind == RC_NIC_SLINGSHOT ? nic->fabric : nic->network;

    return first ? first : second;
}

/* The class shows the current mode of a port that supports both. */
static enum rc_nic_kind kind_of(const struct rc_nic *nic)
{
    const struct hwloc_pcidev_attr_s *pci = &nic->pci->attr->pcidev;
    struct rc_str network = rc_str(nic->network);
    struct rc_str fabric = rc_str(nic->fabric);

    if (pci->vendor_id == VENDOR_HPE_CRAY || rc_str_starts(network, "hsn") || rc_str_starts(fabric, "cxi"))
        return RC_NIC_SLINGSHOT;
    if (pci->vendor_id == VENDOR_AMAZON && (pci->device_id & 0xfff0) == 0xefa0)
        return RC_NIC_EFA;
    if (pci->vendor_id == VENDOR_CORNELIS || rc_str_starts(fabric, "hfi1_") || pci->class_id == CLASS_FABRIC)
        return RC_NIC_OMNIPATH;
    if (pci->class_id == CLASS_INFINIBAND || rc_str_starts(network, "ib"))
        return RC_NIC_INFINIBAND;
    if (nic->fabric)
        return pci->class_id == CLASS_ETHERNET ? RC_NIC_ROCE : RC_NIC_INFINIBAND;
    return RC_NIC_ETHERNET;
}

/* hwloc 3 has a set of types: an OpenFabrics device is a network device as well. */
static bool is_fabric(hwloc_obj_t os)
{
#if HWLOC_API_VERSION >= 0x00030000
    return (os->attr->osdev.types & HWLOC_OBJ_OSDEV_OPENFABRICS) != 0;
#else
    return os->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS;
#endif
}

static bool is_network(hwloc_obj_t os)
{
#if HWLOC_API_VERSION >= 0x00030000
    return (os->attr->osdev.types & HWLOC_OBJ_OSDEV_NETWORK) != 0 && !is_fabric(os);
#else
    return os->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK;
#endif
}

/* hwloc has the first character of /sys/class/infiniband/NAME/ports/N/state: "4: ACTIVE". Return the first active port,
 * 0 if none is, 1 if unknown. */
static unsigned active_port(hwloc_obj_t os)
{
    enum { PORTS_MAX = 8, NAME = 16 };
    bool known = false;

    for (unsigned port = 1; port <= PORTS_MAX; port++) {
        char name[NAME];
        const char *state;

        snprintf(name, sizeof(name), "Port%uState", port);
        state = hwloc_obj_get_info_by_name(os, name);
        if (state && *state == '4')
            return port;
        known = known || state;
    }
    return known ? 0 : 1;
}

static bool read_nic(hwloc_obj_t pci, struct rc_nic *nic)
{
    *nic = (struct rc_nic){ .pci = pci, .port = 1 };
    for (hwloc_obj_t os = pci->io_first_child; os; os = os->next_sibling) {
        if (os->type != HWLOC_OBJ_OS_DEVICE || !os->name)
            continue;
        if (is_fabric(os) && !nic->fabric) {
            nic->fabric = os->name;
            nic->port = active_port(os);
            nic->down = nic->port == 0;
        }
        if (is_network(os) && !nic->network)
            nic->network = os->name;
    }
    if (!nic->fabric && !nic->network)
        return false;
    nic->kind = kind_of(nic);
    rc_bus_id(pci, nic->bus_id);
    return true;
}

static int compare_nics(const void *a, const void *b)
{
    const struct rc_nic *left = a;
    const struct rc_nic *right = b;

    if (left->down != right->down)
        return left->down ? 1 : -1;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return rc_pci_address_order(left->bus_id, right->bus_id);
}

/* Libraries fail if given an interface without an address, but otherwise find another. */
static void find_silent(struct rc_nic *nic, size_t count)
{
    static struct rc_interface list[RC_INTERFACES_MAX];
    unsigned interfaces = rc_interfaces(list);

    for (size_t i = 0; i < count; i++) {
        nic[i].silent = nic[i].network != NULL;
        for (unsigned k = 0; k < interfaces && nic[i].silent; k++)
            nic[i].silent = !list[k].is_up || strcmp(list[k].name, nic[i].network) != 0;
        nic[i].down = nic[i].down || (nic[i].silent && nic[i].kind == RC_NIC_ETHERNET);
    }
}

enum { NAME_MAX_LENGTH = 63 }; /* IB_DEVICE_NAME_MAX, with its NUL; interfaces have 15 */

static bool is_plain(const char *name)
{
    size_t n = name ? strlen(name) : 0;

    return n > 0 && n <= NAME_MAX_LENGTH &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.@") == n;
}

static void write_names(struct rc_nic *nic)
{
    if (!nic->down && is_plain(nic->fabric))
        snprintf(nic->card, RC_NIC_NAME, nic->port > 1 ? "%s:%u" : "%s", nic->fabric, nic->port);
    if (!nic->down && !nic->silent && is_plain(nic->network))
        snprintf(nic->interface, RC_NIC_NAME, "%s", nic->network);
}

static void add_name(char *text, size_t size, const char *name)
{
    size_t used = strlen(text);

    if (*name)
        snprintf(text + used, size - used, "%s%s", used ? "," : "", name);
}

static int list_names(struct rc_nic_list *list)
{
    size_t size = (list->used + 1) * (RC_NIC_NAME + 1);

    list->cards = calloc(1, size);
    list->interfaces = calloc(1, size);
    for (size_t i = 0; list->cards && list->interfaces && i < list->used; i++) {
        add_name(list->cards, size, list->nic[i].card);
        add_name(list->interfaces, size, list->nic[i].interface);
    }
    return list->cards && list->interfaces ? 0 : -1;
}

void rc_nics_free(struct rc_nic_list *list)
{
    free(list->nic);
    free(list->cards);
    free(list->interfaces);
}

int rc_nics_find(hwloc_topology_t topology, struct rc_nic_list *list)
{
    int most = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PCI_DEVICE);
    struct rc_nic *nic = calloc(most > 0 ? (size_t)most + 1 : 1, sizeof(*nic));
    size_t count = 0;

    if (!nic)
        return -1;
    for (hwloc_obj_t pci = NULL; (pci = hwloc_get_next_pcidev(topology, pci)) != NULL && count < (size_t)most;)
        if (read_nic(pci, &nic[count]))
            count++;
    if (hwloc_topology_is_thissystem(topology))
        find_silent(nic, count);
    for (size_t i = 0; i < count; i++)
        write_names(&nic[i]);
    qsort(nic, count, sizeof(*nic), compare_nics);
    *list = (struct rc_nic_list){ .nic = nic, .count = count };
    while (list->used < count && !nic[list->used].down && nic[list->used].kind == nic[0].kind)
        list->used++;
    return list_names(list);
}
