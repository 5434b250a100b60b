/* SPDX-License-Identifier: BSD-3-Clause */
/* nics.h - the network cards of a topology: InfiniBand, Slingshot, EFA, Omni-Path, Ethernet. */
#pragma once

#include "placement/gpus.h"

/* In the order in which a job wants them: where there is one of a kind, those of a later one are for something else. */
enum rc_nic_kind {
    RC_NIC_INFINIBAND,
    RC_NIC_SLINGSHOT,
    RC_NIC_EFA,
    RC_NIC_OMNIPATH,
    RC_NIC_ROCE,
    RC_NIC_ETHERNET,
    RC_NIC_KINDS
};

enum { RC_NIC_NAME = 80 };

struct rc_nic {
    hwloc_obj_t pci;
    enum rc_nic_kind kind;
    char bus_id[RC_BUS_ID];
    const char *fabric;  /* "mlx5_0", "cxi0": for NCCL_IB_HCA and the like; NULL where there is none */
    const char *network; /* "ib0", "hsn0", "eth0"; NULL where there is none */
    unsigned port;       /* of the fabric: the first that is active */
    bool down;           /* no port is active, or it is Ethernet without an address: none for a job */
    bool silent;         /* on this machine, and the interface has no address to be reached by */
    /* What libraries may be told, "" where there is nothing to say: names as the kernel gives them, whatever a file
     * has, and of what can be used. */
    char card[RC_NIC_NAME]; /* with its port where that is not the first */
    char interface[RC_NIC_NAME];
};

struct rc_nic_list {
    struct rc_nic *nic;
    size_t count; /* those that are down last; by kind, then by bus id */
    size_t used;  /* of the first kind that there is and that is not down */
    char *cards;  /* of all that a job uses, each once: "mlx5_0,mlx5_1" */
    char *interfaces;
};

/* 0, or -1 without memory; the caller frees the list in both cases. The names live as long as the topology. */
int rc_nics_find(hwloc_topology_t topology, struct rc_nic_list *list);
void rc_nics_free(struct rc_nic_list *list);

const char *rc_nic_kind_name(enum rc_nic_kind kind);

/* The one name of a card that has two. */
const char *rc_nic_name(const struct rc_nic *nic);
