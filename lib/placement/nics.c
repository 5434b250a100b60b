#include "placement/nics.h"

#include <stdlib.h>
#include <string.h>

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

static bool starts(const char *name, const char *prefix)
{
    return name && strncmp(name, prefix, strlen(prefix)) == 0;
}

/* The port of an adapter that can be both says by its class which it is now. */
static enum rc_nic_kind kind_of(const struct rc_nic *nic)
{
    const struct hwloc_pcidev_attr_s *pci = &nic->pci->attr->pcidev;

    if (pci->vendor_id == VENDOR_HPE_CRAY || starts(nic->network, "hsn") || starts(nic->fabric, "cxi"))
        return RC_NIC_SLINGSHOT;
    if (pci->vendor_id == VENDOR_AMAZON && (pci->device_id & 0xfff0) == 0xefa0)
        return RC_NIC_EFA;
    if (pci->vendor_id == VENDOR_CORNELIS || starts(nic->fabric, "hfi1_") || pci->class_id == CLASS_FABRIC)
        return RC_NIC_OMNIPATH;
    if (pci->class_id == CLASS_INFINIBAND || starts(nic->network, "ib"))
        return RC_NIC_INFINIBAND;
    if (nic->fabric)
        return pci->class_id == CLASS_ETHERNET ? RC_NIC_ROCE : RC_NIC_INFINIBAND;
    return RC_NIC_ETHERNET;
}

/* hwloc 3 has a set of types: one of OpenFabrics' is a network device as well. */
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

static bool read_nic(hwloc_obj_t pci, struct rc_nic *nic)
{
    *nic = (struct rc_nic){ .pci = pci };
    for (hwloc_obj_t os = pci->io_first_child; os; os = os->next_sibling) {
        if (os->type != HWLOC_OBJ_OS_DEVICE || !os->name)
            continue;
        if (is_fabric(os) && !nic->fabric)
            nic->fabric = os->name;
        if (is_network(os) && !nic->network)
            nic->network = os->name;
    }
    if (!nic->fabric && !nic->network)
        return false;
    nic->kind = kind_of(nic);
    rc_bus_id(pci, nic->bus_id);
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct rc_nic *left = a;
    const struct rc_nic *right = b;
    size_t n = strlen(left->bus_id);
    size_t m = strlen(right->bus_id);

    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    /* of a longer domain, which has a larger number, there are more digits */
    return n == m ? strcmp(left->bus_id, right->bus_id) : (n > m) - (n < m);
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
    qsort(nic, count, sizeof(*nic), compare);
    *list = (struct rc_nic_list){ .nic = nic, .count = count };
    while (list->used < count && nic[list->used].kind == nic[0].kind)
        list->used++;
    return 0;
}
