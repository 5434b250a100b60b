/* nics.h - the network cards of a topology: InfiniBand, Slingshot, EFA, Omni-Path, Ethernet. */
#ifndef ROLLCALL_PLACEMENT_NICS_H
#define ROLLCALL_PLACEMENT_NICS_H

#include "placement/gpus.h"

/* In the order in which a job wants them: where there is one of a kind, those of
 * a later one are for something else. */
enum rc_nic_kind {
    RC_NIC_INFINIBAND,
    RC_NIC_SLINGSHOT,
    RC_NIC_EFA,
    RC_NIC_OMNIPATH,
    RC_NIC_ROCE,
    RC_NIC_ETHERNET,
    RC_NIC_KINDS
};

struct rc_nic {
    hwloc_obj_t pci;
    enum rc_nic_kind kind;
    char bus_id[RC_BUS_ID];
    const char *fabric; /* "mlx5_0", "cxi0": for NCCL_IB_HCA and the like; NULL where there is none */
    const char *network; /* "ib0", "hsn0", "eth0"; NULL where there is none */
};

struct rc_nic_list {
    struct rc_nic *nic;
    size_t count; /* by kind, then by bus id */
    size_t used;  /* of the first kind that there is */
};

/* 0, or -1 without memory. free() list->nic. The names live as long as the topology. */
int rc_nics_find(hwloc_topology_t topology, struct rc_nic_list *list);

const char *rc_nic_kind_name(enum rc_nic_kind kind);

/* The one name of a card that has two. */
const char *rc_nic_name(const struct rc_nic *nic);

#endif
