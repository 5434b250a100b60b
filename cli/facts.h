/* SPDX-License-Identifier: BSD-3-Clause */
/* facts.h - what the nodes of a roll say of themselves, thing by thing, and which nodes are unlike most. */
#ifndef ROLLCALL_CLI_FACTS_H
#define ROLLCALL_CLI_FACTS_H

#include "roll/items.h"
#include "roll/roll.h"

/* What every node has, and behind that the items of items.def. */
enum { FACT_MODE, FACT_MASTER, FACT_VERSION, FACT_ITEMS, FACTS = FACT_ITEMS + RC_ITEMS };

/* A node beside those that it is compared with: of most of them, odd, or on one of several sides, none of which has
 * more than half. */
enum side { SIDE_OF_MOST, SIDE_ODD, SIDE_OF_SEVERAL };

struct fact {
    struct rc_str value; /* absent: the node does not say it */
    struct rc_str usual; /* of an odd one: what most of the others have */
    enum side side;
};

struct facts {
    size_t nodes;
    struct fact *fact; /* FACTS a node */
    struct {
        bool known;          /* some node says it */
        bool differs;        /* some node is not SIDE_OF_MOST */
        struct rc_str usual; /* what all have, or most; absent: there is no such value */
    } of[FACTS];
};

/* Reads the entries; false without memory. Ends with cli_facts_free. */
bool cli_facts_read(struct facts *facts, const struct rc_roll *roll, size_t count);
void cli_facts_free(struct facts *facts);

const struct fact *cli_facts_of(const struct facts *facts, size_t node, unsigned fact);

/* Whether it tells the part of the launch, which is compared by itself. */
bool cli_facts_is_part(unsigned fact);

/* In how many facts the node is odd. */
unsigned cli_facts_count_odd(const struct facts *facts, size_t node);

/* Whether it is odd in something, or on one of several sides. */
bool cli_facts_is_unlike(const struct facts *facts, size_t node);

/* "GPUs", "limit of locked memory" */
struct rc_str cli_facts_label(unsigned fact);

#endif
