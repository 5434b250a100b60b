/* SPDX-License-Identifier: BSD-3-Clause */
/* facts.h - what the nodes of a roll say of themselves, thing by thing, and which nodes are unlike most. */
#ifndef ROLLCALL_CLI_FACTS_H
#define ROLLCALL_CLI_FACTS_H

#include "roll/items.h"
#include "roll/roll.h"

/* What every node has, and behind that the items of items.def. */
enum { FACT_MODE, FACT_MASTER, FACT_VERSION, FACT_ITEMS, FACTS = FACT_ITEMS + RC_ITEMS };

struct facts {
    size_t nodes;
    struct rc_str *value; /* FACTS a node; absent: it does not say */
    struct {
        bool known; /* some node says it */
        bool differs;
        struct rc_str usual; /* what more than half of the nodes have; absent: there is no such value */
    } of[FACTS];
};

/* Reads the entries; false without memory. Ends with cli_facts_free. */
bool cli_facts_read(struct facts *facts, const struct rc_roll *roll, size_t count);
void cli_facts_free(struct facts *facts);

struct rc_str cli_facts_value(const struct facts *facts, size_t node, unsigned fact);

/* Whether the node has something else than most nodes. */
bool cli_facts_is_odd(const struct facts *facts, size_t node, unsigned fact);
unsigned cli_facts_count_odd(const struct facts *facts, size_t node);

/* Whether it is odd in something, or on a side of something that no side has more than half of. */
bool cli_facts_is_unlike(const struct facts *facts, size_t node);

/* "GPUs", "limit of locked memory" */
struct rc_str cli_facts_label(unsigned fact);

#endif
