/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/netaddr.h"
#include "effects/lookup.h"
#include "rendezvous/client.h"
#include "rendezvous/server.h"
#include "roll/entry.h"
#include "roll/netorder.h"
#include "system/net.h"
#include "system/node.h"
#include "system/port.h"
#include "system/program.h"

enum {
    BEYOND_MS = 1500,  /* so that a node receives the server's last decision */
    WORD_MS = 1000,    /* for a message without a roll call */
    RESERVE_MS = 2000, /* for a waiter on a busy node */
};

static void copy_text(struct rc_str text, char *to, size_t size)
{
    struct rc_arena arena = { .base = to, .size = size };

    if (text.n >= size)
        text.n = size - 1;
    rc_copy(&arena, text);
}

/* If the entry was sent, other nodes may count on this one. */
static void break_off(struct rc_outcome *outcome, bool sent, const char *why)
{
    outcome->how = sent ? RC_LOST : RC_MISSED;
    copy_text(rc_str(why), outcome->why, sizeof(outcome->why));
}

void rc_outcome_miss(struct rc_outcome *outcome, const char *why)
{
    break_off(outcome, false, why);
}

bool rc_session_asks_order(const struct rc_options *options, const struct rc_result *result)
{
    return options->order == RC_ORDER_TOPOLOGY && result->identity.field[RC_NNODES] > 1;
}

bool rc_session_compares_leads(const struct rc_options *options, const struct rc_result *result)
{
    const struct rc_master *master = &result->master;
    bool is_given = options->addr && options->addr_kind == RC_ADDRESS_GIVEN;

    return master->addr && !master->wish && !is_given && result->identity.field[RC_NNODES] > 1 &&
           !rc_session_asks_order(options, result) &&
           (master->addr_given == RC_GIVEN_BY_USER || (master->todo & RC_MASTER_LOOKUP));
}

bool rc_session_hold(const struct rc_options *options, struct rc_result *result, const struct rc_rank0 *hooks,
                     int *held)
{
    struct rc_master *master = &result->master;
    bool is_free = master->port_given == RC_GIVEN_BY_LAUNCH && (options->port_first || !result->facts.reserved_ports.n);

    *held = -1;
    if (rc_session_asks_order(options, result))
        master->todo |= RC_MASTER_HOLD;
    if (!(master->todo & RC_MASTER_HOLD))
        return true;
    /* verify now, because other nodes cannot; addr= is not resolved yet */
    if (master->addr_given == RC_GIVEN_BY_USER && !rc_session_compares_leads(options, result) &&
        !rc_rank0_verify(result, hooks))
        return false;
    if (is_free && !options->port_first)
        master->port = 0;
    /* start at the computed port: launches seldom try the same one */
    for (uint32_t i = options->port_first; is_free && i < options->port_last; i++) {
        *held = rc_port_hold(master->port);
        if (*held >= 0)
            return true;
        master->port = master->port == options->port_last ? options->port_first : (uint16_t)(master->port + 1);
    }
    return rc_rank0_hold(result, hooks, held);
}

static uint32_t call_milliseconds(uint32_t seconds)
{
    return RC_MEETING_MOST * seconds * 1000 + BEYOND_MS;
}

uint32_t rc_session_patience(uint32_t seconds)
{
    /* rc_session_meet: two killed helpers, the search for the server, two messages */
    return RC_SESSION_LEADS_MS + RC_SESSION_INVENTORY_MS + 2 * RC_PROGRAM_END_MS + seconds * 1000 +
           call_milliseconds(seconds) + 2 * WORD_MS + RESERVE_MS;
}

/* Return false if the order lacks this node or a first node. */
static bool take_order(const struct rc_answer *answer, uint32_t node, struct rc_outcome *outcome)
{
    copy_text(answer->unordered, outcome->unordered, sizeof(outcome->unordered));
    if (!answer->order.p)
        return true;
    outcome->ordered = rc_netorder_find(answer->order, node, &outcome->place, &outcome->before);
    copy_text(answer->first, outcome->first, sizeof(outcome->first));
    return outcome->ordered && outcome->first[0];
}

void rc_outcome_read(struct rc_str text, uint32_t node, struct rc_answer *answer, struct rc_outcome *outcome,
                     struct rc_arena *arena)
{
    *answer = (struct rc_answer){ .port = 0 };
    if (rc_str_is(text, "full\n")) {
        break_off(outcome, true, "the server has no room");
    } else if (!rc_answer_read(text, answer, arena)) {
        break_off(outcome, true, "the answer cannot be read");
    } else if (!take_order(answer, node, outcome)) {
        break_off(outcome, true, "the order of the nodes does not have this one");
    } else {
        outcome->how = answer->stop ? RC_STOPPED : RC_MET;
        outcome->port = (uint16_t)answer->port;
        copy_text(answer->own, outcome->own, sizeof(outcome->own));
        copy_text(answer->addr, outcome->addr, sizeof(outcome->addr));
    }
}

void rc_outcome_take(struct rc_str bytes, struct rc_outcome *outcome)
{
    struct rc_outcome taken;

    if (bytes.n != sizeof(taken)) {
        break_off(outcome, true, "the answer cannot be read");
        return;
    }
    memcpy(&taken, bytes.p, sizeof(taken));
    taken.first[sizeof(taken.first) - 1] = taken.unordered[sizeof(taken.unordered) - 1] = '\0';
    taken.own[sizeof(taken.own) - 1] = taken.why[sizeof(taken.why) - 1] = '\0';
    taken.addr[sizeof(taken.addr) - 1] = taken.leads[sizeof(taken.leads) - 1] = '\0';
    *outcome = taken;
}

int rc_session_attend(const struct rc_endpoint *endpoint, const struct rc_env *env)
{
    char text[RC_GATHER_HEAD_MAX];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_gather_request request = { .name = RC_STR(RC_GATHER_NODES), .verb = RC_ATTENDS };

    if (!rc_parse_u32(rc_env_get(env, "SLURM_NODEID"), RC_MAX_TASKS - 1, &request.member) ||
        !rc_parse_u32(rc_env_get(env, "SLURM_STEP_NUM_NODES"), RC_MAX_TASKS, &request.of))
        return -EINVAL;
    return rc_client_tell(endpoint, rc_str(rc_gather_request_write(&request, &arena)), WORD_MS);
}

int rc_session_report(const struct rc_env *env, enum rc_message_id id, const char *text)
{
    char room[2 * RC_REPORT_SIZE];
    struct rc_arena arena = { .base = room, .size = sizeof(room) };
    struct rc_endpoint server;
    struct rc_str step;
    uint32_t node;
    const char *report;

    if (!rc_endpoint_of_srun(env, &server, &step, &arena) || !rc_endpoint_is_own_step(env, step) ||
        !rc_parse_u32(rc_env_get(env, "SLURM_NODEID"), RC_MAX_TASKS, &node))
        return -ENOTCONN;
    report = rc_report_write(id, node, text, &arena);
    return report ? rc_client_tell(&server, rc_str(report), WORD_MS) : -EMSGSIZE;
}

/* Append as many whole lines as fit. */
static void add_lines(struct rc_arena *entry, struct rc_str lines)
{
    while (lines.n > 0 && entry->used < entry->size) {
        struct rc_str line = rc_str_split(lines, '\n', &lines);

        if (entry->used + line.n + 2 > entry->size)
            return;
        rc_format(entry, "%pS\n", &line);
        rc_join(entry);
    }
}

/* Add the inventory, unless it is late: the node is then not compared. */
static void add_inventory(const struct rc_session *session, struct rc_arena *entry)
{
    char lines[RC_ROLL_SIZE];
    struct rc_program program = {
        .path = session->tools.exchange,
        .argument = RC_EXCHANGE_INVENTORY,
        .env = session->tools.env,
        .milliseconds = RC_SESSION_INVENTORY_MS,
    };
    int status;

    if (session->same != RC_CHECK_UNSET && session->same != RC_CHECK_OFF &&
        rc_program_run(&program, lines, sizeof(lines), &status) >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        add_lines(entry, rc_str(lines));
}

/* Add the address with which RANK 0's node reaches srun, if known. */
static void add_via(const struct rc_session *session, struct rc_arena *entry)
{
    struct rc_str rest = session->endpoint.hosts;
    struct rc_netaddr server, source;
    char text[RC_NETADDR_TEXT];
    char line[RC_NETADDR_TEXT + 8];
    struct rc_arena arena = { .base = line, .size = sizeof(line) };

    if (session->transport != RC_TRANSPORT_SRUN || session->result->facts.field[RC_NODE_RANK].value != 0)
        return;
    while (rest.p) {
        if (rc_netaddr_read(rc_str_split(rest, ' ', &rest), &server) && !rc_netaddr_is_loopback(&server) &&
            rc_source_towards(&server, &source)) {
            add_lines(entry, rc_str(rc_format(&arena, "via=%s", rc_netaddr_text(&source, text))));
            return;
        }
    }
}

/* Keep the addresses for later look-ups, unless the list may be cut. */
static void keep_leads(struct rc_str leads, struct rc_outcome *outcome)
{
    if (leads.n + RC_NETADDR_TEXT <= RC_LEADS_MAX)
        copy_text(leads, outcome->leads, sizeof(outcome->leads));
}

/* Add the addresses of MASTER_ADDR, for the nodes to agree on one. */
static void add_leads(const struct rc_session *session, struct rc_outcome *outcome, struct rc_arena *entry)
{
    const struct rc_result *result = session->result;
    const struct rc_lookup_question question = {
        .addr = rc_str(result->master.addr),
        .nodes = result->identity.field[RC_NNODES],
        .node_rank = result->facts.field[RC_NODE_RANK].value,
        .once = true,
    };
    char answer[RC_LOOKUP_SIZE];
    char line[RC_LEADS_MAX + 16];
    struct rc_arena arena = { .base = line, .size = sizeof(line) };
    struct rc_lookup lookup;

    if (!rc_session_compares_leads(session->options, result))
        return;
    rc_lookup_ask(session->tools.exchange, &question, RC_SESSION_LEADS_MS, answer);
    /* a helper killed at its deadline was waiting for name servers */
    if (!rc_lookup_read(rc_str(answer), &lookup) || lookup.unstarted)
        return;
    keep_leads(lookup.leads, outcome);
    if (!lookup.leads.n)
        lookup.leads = RC_STR(RC_LEADS_UNANSWERED);
    add_lines(entry, rc_str(rc_format(&arena, "leads=%pS", &lookup.leads)));
    add_via(session, entry);
}

/* Let scancel end the step: slurmstepd's child blocks these signals, and proctrack/linuxproc skips slurmstepd (22.05 to
 * 26.05 kill_tree.c, is_usercmd). */
static const int endings[] = { SIGTERM, SIGINT };

enum { ENDINGS = sizeof(endings) / sizeof(*endings), NAME_SIZE = 16 };

struct signals {
    sigset_t mask;
    struct sigaction action[ENDINGS];
    char name[NAME_SIZE];
};

static void let_signals_end(struct signals *before)
{
    const struct sigaction usual = { .sa_handler = SIG_DFL };
    sigset_t set;

    sigemptyset(&set);
    for (unsigned i = 0; i < ENDINGS; i++) {
        sigaddset(&set, endings[i]);
        sigaction(endings[i], NULL, &before->action[i]);
        if (before->action[i].sa_handler != SIG_IGN)
            sigaction(endings[i], &usual, NULL);
    }
    prctl(PR_GET_NAME, before->name);
    prctl(PR_SET_NAME, "rollcall");
    sigprocmask(SIG_UNBLOCK, &set, &before->mask);
}

static void restore_signals(const struct signals *before)
{
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
    prctl(PR_SET_NAME, before->name);
    for (unsigned i = 0; i < ENDINGS; i++)
        sigaction(endings[i], &before->action[i], NULL);
}

/* Find the server of RANK 0's node. Return 0, or -1 after rc_outcome_miss. `text` backs *endpoint. */
static int find_server(const struct rc_session *session, struct rc_endpoint *endpoint, char text[RC_DISCOVERY_TEXT],
                       struct rc_outcome *outcome)
{
    struct rc_tools tools = session->tools;
    struct rc_discovery discovery;
    int rc;

    *endpoint = session->endpoint;
    if (session->transport == RC_TRANSPORT_SRUN)
        return 0;
    rc_discovery_of_nodes(session->result, &discovery);
    tools.settings = (struct rc_server_settings){
        .seconds = session->seconds,
        .check = session->check,
        .same = session->same,
    };
    rc = rc_discovery_open(&discovery, &tools, rc_milliseconds() + session->seconds * INT64_C(1000), text);
    if (rc == 0 && rc_endpoint_read(rc_str(text), endpoint))
        return 0;
    rc_outcome_miss(outcome, rc == -EIO ? text : "the server of rank 0's node is not there by the deadline");
    return -1;
}

void rc_session_meet(const struct rc_session *session, struct rc_answer *answer, struct rc_outcome *outcome,
                     struct rc_arena *arena)
{
    static char text[RC_ROLL_SIZE];
    const struct rc_result *result = session->result;
    struct rc_arena entry = { .base = text, .size = sizeof(text) };
    struct rc_client_part part = { .reach = (session->seconds * 1000 + BEYOND_MS) / 2 };
    char where[RC_DISCOVERY_TEXT];
    struct rc_endpoint endpoint;
    struct signals before;
    struct rc_reply reply;
    int rc;

    *answer = (struct rc_answer){ .port = 0 };
    if (!rc_entry_write(result, session->tasks, session->port, session->failed,
                        rc_session_asks_order(session->options, result), &entry)) {
        rc_outcome_miss(outcome, "the entry is too large");
        return;
    }
    rc_join(&entry);
    let_signals_end(&before);
    add_leads(session, outcome, &entry);
    add_inventory(session, &entry);
    if (find_server(session, &endpoint, where, outcome) < 0) {
        restore_signals(&before);
        return;
    }
    rc = rc_client_gather(&endpoint,
                          &(struct rc_gather_request){ .name = RC_STR(RC_GATHER_ROLL),
                                                       .member = result->facts.field[RC_NODE_RANK].value,
                                                       .of = result->identity.field[RC_NNODES],
                                                       .each = session->seconds * 1000,
                                                       .most = RC_MEETING_MOST * session->seconds * 1000,
                                                       .value = { text, entry.used } },
                          call_milliseconds(session->seconds), &reply, &part);
    restore_signals(&before);
    if (rc < 0) {
        break_off(outcome, part.heard, rc == -EPROTO ? "the server has ended" : strerror(-rc));
        /* srun's server has printed the other release */
        if (rc == -EPROTONOSUPPORT && session->transport == RC_TRANSPORT_SRUN)
            outcome->how = RC_STOPPED;
        return;
    }
    rc_outcome_read((struct rc_str){ reply.text, reply.size }, result->facts.field[RC_NODE_RANK].value, answer, outcome,
                    arena);
    free(reply.text);
}

/* RC405 of a node that could not hold the port counts only on RANK 0's node. */
static void forget_port_error(const struct rc_outcome *outcome, const struct rc_context *context,
                              struct rc_result *result)
{
    uint32_t place = outcome->ordered ? outcome->place : result->facts.field[RC_NODE_RANK].value;

    if (rc_session_asks_order(&context->options, result) && place != 0) {
        result->messages.count = 0;
        result->messages.has_error = false;
    }
}

bool rc_session_settle(const struct rc_outcome *outcome, const struct rc_rank0 *hooks, struct rc_context *context,
                       struct rc_result *result, int *held)
{
    const struct rc_str node = hooks->node.n ? hooks->node : RC_STR("this node");

    if (outcome->how == RC_STOPPED) {
        forget_port_error(outcome, context, result);
        return rc_say(
            &result->messages, RC612,
            "not starting tasks on this node: another line of rollcall names the error; correct that; to start anyway, "
            "use --ddp=check=warn (contradictions) or --ddp=same=warn (a node that differs)");
    }
    if (outcome->how == RC_LOST)
        return rc_say(&result->messages, RC613,
                      "%pS received no answer from the other nodes, which may start without it: %s; not starting tasks "
                      "on %pS; start the step again; if it happens again, use --ddp=exchange=off",
                      &node, outcome->why, &node);
    context->told.port = outcome->how == RC_MET ? outcome->port : 0;
    context->told.own = outcome->own[0] ? outcome->own : NULL;
    if (outcome->addr[0]) {
        context->told.addr = outcome->addr;
        context->told.addr_source = "an address of rank 0's node, to which its name does not lead everywhere";
    }
    context->told.unordered = outcome->unordered[0] ? outcome->unordered : NULL;
    context->told.order = (struct rc_ordered){
        .place = outcome->place,
        .before = outcome->before,
        .host = outcome->ordered ? rc_str(outcome->first) : RC_ABSENT,
    };
    if (rc_resolve_again(context, result) != RC_RESOLVED)
        return false;
    if (!context->told.port || !(result->master.todo & RC_MASTER_HOLD)) {
        rc_port_release(*held);
        *held = -1;
    }
    return true;
}
