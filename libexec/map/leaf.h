/* SPDX-License-Identifier: BSD-3-Clause */
/* leaf.h - the map of one node of a step, as it goes to the server, and all of them as they are printed. */
#ifndef ROLLCALL_LIBEXEC_MAP_LEAF_H
#define ROLLCALL_LIBEXEC_MAP_LEAF_H

#include "base/numbers.h"
#include "base/text.h"
#include "mapping.h"

enum { LEAF_HOST = RC_NIC_NAME };

struct leaf {
    char host[LEAF_HOST];
    uint32_t node;
    uint32_t rank;   /* of its first task */
    uint32_t number; /* that the launcher gave that one */
    uint32_t tasks;
    struct rc_str numbers; /* of all of them: "0,1,2,3"; absent where the launcher does not say */
    struct rc_str body;    /* the map, text or JSON; absent where there is none */
    char *text;            /* that it is a slice of */
};

/* Makes this node's map. 0, or -1 after a line on standard error, and then without a body. */
int leaf_draw(const struct wishes *wishes, bool json, struct leaf *leaf);

/* As text, to be freed; NULL without memory. */
char *leaf_write(const struct leaf *leaf, size_t *size);

/* Takes the text over; false, with *leaf untouched, where it is none. */
bool leaf_read(char *text, size_t size, struct leaf *leaf);
void leaf_free(struct leaf *leaf);

/* Nodes with the same map once; JSON: each. Those without a body are left out. 0 or -1. */
int leaves_print(struct leaf *leaf, size_t count, const char *step, bool json);

#endif
