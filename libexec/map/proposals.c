/* SPDX-License-Identifier: BSD-3-Clause */
#include "proposals.h"

#include <stdlib.h>

/* Returns the names of the cards that a job uses, absent where none of them has one. */
static struct rc_str present_names(const char *names)
{
    return *names ? rc_str(names) : RC_ABSENT;
}

int map_proposals_make(const struct mapping *mapping, struct proposals *proposals)
{
    *proposals = (struct proposals){
        .fabric = rc_nics_names(&mapping->nics, rc_nic_card),
        .network = rc_nics_names(&mapping->nics, rc_nic_interface),
        .size = 2 * (mapping->nics.used + 1) * (RC_NIC_NAME + 1),
    };
    proposals->value = malloc(proposals->size);
    if (!proposals->fabric || !proposals->network || !proposals->value)
        return -1;
    proposals->pins.fabric = present_names(proposals->fabric);
    proposals->pins.network = present_names(proposals->network);
    return 0;
}

void map_proposals_free(struct proposals *proposals)
{
    free(proposals->fabric);
    free(proposals->network);
    free(proposals->value);
    *proposals = (struct proposals){ .fabric = NULL };
}

const char *map_proposals_value(const struct proposals *proposals, const struct mapping *mapping, unsigned task,
                                unsigned i)
{
    struct rc_arena arena = { .base = proposals->value, .size = proposals->size };
    const struct rc_nic *nic = mapping->place[task].nic >= 0 ? &mapping->nics.nic[mapping->place[task].nic] : NULL;
    char card[RC_NIC_NAME];
    char interface[RC_NIC_NAME];
    struct rc_pin pin = { .gpu = RC_UNKNOWN };

    if (nic && rc_nic_card(nic, card))
        pin.fabric = rc_str(card);
    if (nic && rc_nic_interface(nic, interface))
        pin.network = rc_str(interface);
    return rc_nicnames_value(i, &proposals->pins, &pin, &arena);
}

bool map_proposals_is_own(unsigned i)
{
    return rc_str_is(rc_nicnames_variable(i), "UCX_NET_DEVICES");
}
