/* SPDX-License-Identifier: BSD-3-Clause */
/* asked.c - the question of a look-up and its answer. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "effects/lookup.h"
#include "resolve/options.h"
#include "system/node.h"
#include "system/program.h"

static const struct rc_row question_rows[] = {
    RC_ROW_TEXT(struct rc_lookup_question, addr, RC_LOOKUP_TEXT),
    RC_ROW_TEXT(struct rc_lookup_question, source, RC_LOOKUP_TEXT),
    RC_ROW_TEXT(struct rc_lookup_question, wish, RC_LOOKUP_TEXT),
    RC_ROW_TEXT(struct rc_lookup_question, own, RC_LOOKUP_TEXT),
    RC_ROW_TEXT(struct rc_lookup_question, node, RC_LOOKUP_TEXT),
    RC_ROW_TEXT(struct rc_lookup_question, outcome, RC_LOOKUP_TEXT),
    RC_ROW_CHOICE(struct rc_lookup_question, kind, "interface|network|suffix|given"),
    RC_ROW_CHOICE(struct rc_lookup_question, given, "user|stamp"),
    RC_ROW_FLAG(struct rc_lookup_question, certain, "yes|no"),
    RC_ROW_FLAG(struct rc_lookup_question, once, "yes|no"),
    RC_ROW_NUMBER(struct rc_lookup_question, node_rank, 0, RC_UNKNOWN),
    RC_ROW_NUMBER(struct rc_lookup_question, nodes, 0, RC_UNKNOWN),
    RC_ROW_NUMBER(struct rc_lookup_question, port, 0, UINT16_MAX),
};

const struct rc_form rc_lookup_question_form = { RC_FORM_ROWS(question_rows) };

static const struct rc_row rows[] = {
    RC_ROW_CHOICE(struct rc_lookup, state, "found|wrong"),
    RC_ROW_NUMBER(struct rc_lookup, id, 0, RC_MESSAGE_COUNT - 1),
    RC_ROW_TEXT(struct rc_lookup, text, RC_LOOKUP_TEXT),
    RC_ROW_TEXT(struct rc_lookup, addr, RC_NETADDR_TEXT),
    RC_ROW_TEXT(struct rc_lookup, interface, RC_INTERFACE_SIZE),
    RC_ROW_TEXT(struct rc_lookup, strange, RC_NETADDR_TEXT),
    RC_ROW_TEXT(struct rc_lookup, leads, RC_LOOKUP_TEXT),
    RC_ROW_TEXT(struct rc_lookup, unreached, RC_LOOKUP_TEXT),
    RC_ROW_FLAG(struct rc_lookup, elsewhere, "yes|no"),
    RC_ROW_FLAG(struct rc_lookup, unstarted, "yes|no"),
    RC_ROW_NUMBER(struct rc_lookup, seconds, 0, UINT16_MAX),
};

const struct rc_form rc_lookup_form = { RC_FORM_ROWS(rows) };

/* Return the port that another node holds, or 0. */
static uint16_t port_to_reach(const struct rc_result *result)
{
    return result->master.port_told && result->identity.field[RC_NODE_RANK] != 0 ? result->master.port : 0;
}

bool rc_lookup_is_needed(const struct rc_result *result)
{
    const struct rc_master *master = &result->master;
    struct rc_netaddr address;

    if (!master->addr || master->wish)
        return master->addr != NULL;
    return rc_netaddr_read(rc_str(master->addr), &address) ? port_to_reach(result) != 0
                                                           : master->todo & RC_MASTER_LOOKUP;
}

struct rc_lookup_question rc_lookup_question_of(const struct rc_result *result, const char *outcome)
{
    const struct rc_master *master = &result->master;

    return (struct rc_lookup_question){
        .addr = rc_str(master->addr),
        .source = rc_str(master->addr_source),
        .wish = rc_str(master->wish),
        .kind = master->kind,
        .given = master->addr_given,
        .own = rc_str(master->own),
        .node = rc_env_get(&result->env, "SLURMD_NODENAME"),
        .outcome = rc_str(outcome),
        .certain = result->facts.master_certain,
        .node_rank = result->identity.field[RC_NODE_RANK],
        .nodes = result->identity.field[RC_NNODES],
        .port = port_to_reach(result),
    };
}

bool rc_lookup_read(struct rc_str answer, struct rc_lookup *lookup)
{
    *lookup = (struct rc_lookup){ .state = RC_LOOKUP_SAME };
    return rc_pairs_read(answer, '\n', &rc_lookup_form, lookup) && lookup->state != RC_LOOKUP_SAME;
}

void rc_lookup_ask(const char *path, const struct rc_lookup_question *asked, uint32_t milliseconds,
                   char answer[RC_LOOKUP_SIZE])
{
    static const char *const nothing[] = { NULL };
    char text[RC_LOOKUP_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_arena failure = { .base = answer, .size = RC_LOOKUP_SIZE };
    const struct rc_program program = {
        .path = path,
        .argument = RC_LOOKUP_ARGUMENT,
        .env = nothing,
        .input = rc_str(rc_pairs_write(&rc_lookup_question_form, asked, &arena)),
        .milliseconds = milliseconds,
    };
    struct rc_lookup lookup;
    int status;
    ssize_t n = program.input.p ? rc_program_run(&program, answer, RC_LOOKUP_SIZE, &status) : -E2BIG;

    if (n >= 0 && rc_lookup_read((struct rc_str){ answer, (size_t)n }, &lookup))
        return;
    lookup = (struct rc_lookup){
        .unstarted = n == -ETIMEDOUT && !rc_str_starts(rc_str(answer), RC_LOOKUP_BEGUN),
        .seconds = n == -ETIMEDOUT ? milliseconds / 1000 : 0,
    };
    /* else the name stays, and torch looks it up */
    if (rc_lookup_needs_address(asked)) {
        lookup.state = RC_LOOKUP_WRONG;
        lookup.id = RC410;
        arena.used = 0;
        lookup.text = rc_str(rc_format(&arena, "addr=%pS: rollcall-exchange cannot look up %pS: %s; %pS", &asked->wish,
                                       &asked->addr, n < 0 ? strerror((int)-n) : "its answer is malformed",
                                       &asked->outcome));
    }
    answer[0] = '\0';
    rc_pairs_write(&rc_lookup_form, &lookup, &failure);
}

void rc_lookup_warn(const struct rc_master *master, const struct rc_lookup *lookup, struct rc_messages *messages)
{
    char node[RC_NODE_NAME_SIZE];

    rc_node_name(node);
    if (lookup->unstarted)
        rc_say(messages, RC418,
               "rollcall-exchange did not start on %s within %u s, so nobody looked up MASTER_ADDR %s (%s) there; see "
               "what makes programs slow on %s (processors, or the file system of rollcall)",
               node, lookup->seconds, master->addr, master->addr_source, node);
    else if (lookup->seconds)
        rc_say(messages, RC418,
               "the resolver of %s took %u s for MASTER_ADDR %s (%s); its tasks start that much later; take name "
               "servers that do not answer out of /etc/resolv.conf, or put the name into /etc/hosts",
               node, lookup->seconds, master->addr, master->addr_source);
    if (lookup->strange.n)
        rc_say(messages, RC421,
               "%s resolves MASTER_ADDR %s (%s) to %pS, but rank 0's node has %s; the tasks start; if those of %s "
               "wait for rank 0 in vain, correct that name in its /etc/hosts or in DNS",
               node, master->addr, master->addr_source, &lookup->strange, master->own, node);
    if (lookup->unreached.n)
        rc_say(messages, RC422,
               "%s cannot reach port %u of MASTER_ADDR %s (%s), at %pS; the tasks start; those of %s may wait for rank "
               "0 in vain; open the firewall between the nodes, or choose another network (addr=ib0) or other ports "
               "(port=23000-23999)",
               node, (uint32_t)master->port, master->addr, master->addr_source, &lookup->unreached, node);
}

bool rc_lookup_apply(struct rc_context *context, struct rc_result *result, const struct rc_lookup *lookup)
{
    struct rc_told *told = &context->told;

    if (lookup->state == RC_LOOKUP_WRONG) {
        rc_say(&result->messages, lookup->id, "%pS%s", &lookup->text,
               result->master.wish ? rc_options_origin(&context->options, RC_KEY_addr) : "");
        rc_result_refuse(result, "the address of rank 0's node was not found");
        return false;
    }
    if (lookup->state == RC_LOOKUP_SAME || (!lookup->addr.n && !lookup->interface.n))
        return true;
    told->addr = lookup->addr.n ? rc_copy(&result->arena, lookup->addr) : NULL;
    told->interface = lookup->interface.n ? rc_copy(&result->arena, lookup->interface) : NULL;
    if (lookup->addr.n && !result->master.wish) {
        rc_say(&result->messages, RC414, "%s does not resolve, but all tasks are on this node: MASTER_ADDR is %s",
               result->master.addr, told->addr);
        told->addr_source = "all tasks are on one node, whose name does not resolve";
    }
    return rc_resolve_again(context, result) == RC_RESOLVED;
}

bool rc_lookup_settle(struct rc_context *context, struct rc_result *result, const char *outcome)
{
    char text[RC_LOOKUP_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_lookup_question asked = rc_lookup_question_of(result, outcome);
    /* each task of the node waits as long; one warns */
    bool speaks = result->identity.field[RC_LOCAL_RANK] == 0 || result->identity.field[RC_LOCAL_RANK] == RC_UNKNOWN;
    struct rc_lookup lookup;

    if (!rc_lookup_is_needed(result))
        return true;
    asked.port = speaks ? asked.port : 0;
    rc_lookup_find(&asked, &lookup, &arena);
    if (speaks)
        rc_lookup_warn(&result->master, &lookup, &result->messages);
    return rc_lookup_apply(context, result, &lookup);
}
