/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of MASTER_ADDR without a resolver: whose addresses those of an earlier look-up are. */
#include "effects/lookup.h"
#include "system/node.h"
#include "unit.h"

enum kind { NEEDS_RESOLVER, FINE, STRANGE, WRONG };

struct known_row {
    struct rc_str input; /* what the look-up before the roll call found */
    const char *addr;
    const char *own; /* addresses of rank 0's node */
    enum rc_address_kind kind;
    enum kind is;
    const char *why;
};

static const struct known_row rows[] = {
    { NO_TEXT, "rank0", NULL, RC_ADDRESS_DEFAULT, NEEDS_RESOLVER, "a name that nobody has looked up" },
    { TEXT(RC_LEADS_UNKNOWN), "rank0", NULL, RC_ADDRESS_DEFAULT, NEEDS_RESOLVER, "a name that led to nothing" },
    { TEXT(RC_LEADS_UNANSWERED), "rank0", NULL, RC_ADDRESS_DEFAULT, NEEDS_RESOLVER, "no name server has answered" },
    { TEXT("192.0.2.7,192.0.2."), "rank0", NULL, RC_ADDRESS_DEFAULT, NEEDS_RESOLVER, "an address that is cut" },
    { TEXT("192.0.2.7"), "rank0", NULL, RC_ADDRESS_INTERFACE, NEEDS_RESOLVER, "addr=ib0 tries other names" },
    { TEXT("192.0.2.7"), "rank0", NULL, RC_ADDRESS_NETWORK, NEEDS_RESOLVER, "addr=CIDR tries other names" },
    { NO_TEXT, "192.0.2.7", NULL, RC_ADDRESS_DEFAULT, FINE, "an address" },
    { NO_TEXT, "2001:db8::7", NULL, RC_ADDRESS_DEFAULT, FINE, "an address of IPv6" },
    { TEXT("192.0.2.7"), "rank0", NULL, RC_ADDRESS_DEFAULT, FINE, "a name's address, to be compared with none" },
    { TEXT("192.0.2.7"), "rank0", "192.0.2.7", RC_ADDRESS_DEFAULT, FINE, "an address of rank 0's node" },
    { TEXT("192.0.2.8,2001:db8::7"), "rank0", "2001:db8::7", RC_ADDRESS_DEFAULT, FINE, "the second one is" },
    { TEXT("192.0.2.8"), "rank0", "192.0.2.7", RC_ADDRESS_DEFAULT, STRANGE, "another one" },
    { TEXT("127.0.0.1"), "rank0", "192.0.2.7", RC_ADDRESS_DEFAULT, WRONG, "this node, and rank 0 is elsewhere" },
};

UNIT_ROWS(finds_known, "a look-up of", rows)
{
    char node[RC_NODE_NAME_SIZE];
    struct rc_lookup_question asked = {
        .addr = rc_str(row->addr),
        .leads = row->input.p ? unit_guard(row->input) : RC_ABSENT,
        .own = rc_str(row->own),
        .kind = row->kind,
        .node = rc_str(rc_node_name(node)),
        .node_rank = 1,
        .nodes = 2,
    };
    char answer[RC_LOOKUP_SIZE] = "untouched";
    struct rc_lookup found;

    assert_int_equal(rc_lookup_find_known(&asked, answer), row->is != NEEDS_RESOLVER);
    if (row->is == NEEDS_RESOLVER) {
        assert_string_equal(answer, "untouched");
        return;
    }
    assert_true(rc_lookup_read(rc_str(answer), &found));
    assert_int_equal(found.state, row->is == WRONG ? RC_LOOKUP_WRONG : RC_LOOKUP_FOUND);
    if (row->is == WRONG)
        assert_int_equal(found.id, RC416);
    assert_int_equal(found.strange.n > 0, row->is == STRANGE);
    assert_false(found.addr.n > 0 || found.seconds || found.unstarted);
}
