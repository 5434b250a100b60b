/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/pairs.h"
#include "rendezvous/client.h"
#include "rendezvous/server.h"
#include "roll/netorder.h"
#include "system/port.h"
#include "system/program.h"

enum {
    SECONDS_MAX = 600,   /* of a request */
    SLACK_MS = 3000,     /* for the program's own end */
    OUTPUT_SIZE = 65536, /* an answer, with its findings */
    WORD_MS = 1000,      /* for a message from a node that takes no part */
    ENDING_MS = 1000,
    RESERVE_MS = 2000, /* of a waiter, on a busy node */
};

static bool take_endpoint(struct rc_str value, void *to)
{
    return rc_endpoint_read(value, &((struct rc_request *)to)->endpoint);
}

static void put_endpoint(struct rc_arena *arena, const void *from)
{
    const struct rc_request *request = from;

    if (request->transport != RC_TRANSPORT_SRUN)
        return;
    rc_format(arena, "endpoint=");
    rc_join(arena);
    rc_endpoint_write(&request->endpoint, arena);
    rc_join(arena);
    rc_format(arena, "\n");
    rc_join(arena);
}

static const struct rc_row rows[] = {
    RC_ROW_CHOICE(struct rc_request, transport, "pmix|srun"),
    RC_ROW_OWN("endpoint", take_endpoint, put_endpoint),
    RC_ROW_NUMBER(struct rc_request, root, 0, 1),
    RC_ROW_NUMBER(struct rc_request, leads, 0, 1),
    RC_ROW_NUMBER(struct rc_request, seconds, 1, SECONDS_MAX),
    RC_ROW_CHOICE(struct rc_request, check, rc_words_check),
    RC_ROW_CHOICE(struct rc_request, same, rc_words_check),
};

static const struct rc_form form = { RC_FORM_ROWS(rows) };

const char *rc_request_write(const struct rc_request *request, struct rc_arena *arena)
{
    const char *text = rc_pairs_write(&form, request, arena);

    rc_join(arena);
    rc_format(arena, "\n%pS", &request->entry);
    return arena->full ? NULL : text;
}

/* The lines go up to the blank one, and the entry follows it. */
bool rc_request_read(struct rc_str text, struct rc_request *request)
{
    struct rc_request read = { .transport = RC_TRANSPORT_NONE };
    const char *end = text.p ? memmem(text.p, text.n, "\n\n", 2) : NULL;
    struct rc_str lines;

    if (!end)
        return false;
    lines = (struct rc_str){ text.p, (size_t)(end - text.p) + 1 };
    if (!rc_pairs_read(lines, '\n', &form, &read))
        return false;
    read.entry = (struct rc_str){ end + 2, text.n - lines.n - 1 };
    if (read.entry.n == 0 || read.seconds == 0 || read.transport == RC_TRANSPORT_NONE ||
        (read.transport == RC_TRANSPORT_SRUN && !read.endpoint.token.p))
        return false;
    *request = read;
    return true;
}

static void copy_text(struct rc_str text, char *to, size_t size)
{
    struct rc_arena arena = { .base = to, .size = size };

    if (text.n >= size)
        text.n = size - 1;
    rc_copy(&arena, text);
}

/* The others may count on this node where its entry was sent. */
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
    /* verify it now: the other nodes cannot. addr= has not been resolved yet */
    if (master->addr_given == RC_GIVEN_BY_USER && !rc_session_compares_leads(options, result) &&
        !rc_rank0_verify(result, hooks))
        return false;
    if (is_free && !options->port_first)
        master->port = 0;
    /* from the launch's own one on, round: two launches seldom try the same first */
    for (uint32_t i = options->port_first; is_free && i < options->port_last; i++) {
        *held = rc_port_hold(master->port);
        if (*held >= 0)
            return true;
        master->port = master->port == options->port_last ? options->port_first : (uint16_t)(master->port + 1);
    }
    return rc_rank0_hold(result, hooks, held);
}

/* The server decides RC_MEETING_MOST times the deadline after the first node has connected. */
static uint32_t program_patience(uint32_t seconds)
{
    return RC_SESSION_LEADS_MS + RC_SESSION_INVENTORY_MS + RC_MEETING_MOST * seconds * 1000 + SLACK_MS;
}

uint32_t rc_session_patience(uint32_t seconds)
{
    /* rollcall-exchange until it is killed, and two messages to the server */
    return program_patience(seconds) + RC_PROGRAM_END_MS + 2 * WORD_MS + ENDING_MS + RESERVE_MS;
}

/* False where the order does not have this node, or has no first one. */
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
    struct rc_str failed = rc_program_reason(text, "failed=");
    struct rc_str lost = rc_program_reason(text, "lost=");

    *answer = (struct rc_answer){ .port = 0 };
    if (failed.p) {
        rc_outcome_miss(outcome, rc_copy(arena, failed));
    } else if (lost.p) {
        break_off(outcome, true, rc_copy(arena, lost));
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
    taken.addr[sizeof(taken.addr) - 1] = '\0';
    *outcome = taken;
}

/* 0 if the reply is empty, which only confirms the text. */
static int send_word(const struct rc_endpoint *endpoint, struct rc_str text)
{
    struct rc_reply reply;
    int rc = rc_client_request(endpoint, text, WORD_MS, &reply, NULL);

    if (rc < 0)
        return rc;
    free(reply.text);
    return reply.size ? -EPROTO : 0;
}

int rc_session_greet(const struct rc_endpoint *endpoint, const struct rc_env *env)
{
    char text[64];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str node = rc_env_get(env, "SLURM_NODEID");

    return send_word(endpoint, rc_str(rc_format(&arena, RC_SERVER_GREETING "node=%pS\n", &node)));
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
    return report ? send_word(&server, rc_str(report)) : -EMSGSIZE;
}

/* Without a program that waits for the answer this node cannot take part. srun's server is told, so that it does not
 * wait until its deadline. */
static void tell_absence(const struct rc_request *request, const char *why)
{
    static char text[RC_ROLL_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const char *entry = rc_format(&arena, "%pSabsent=%s\n", &request->entry, why);

    if (request->transport == RC_TRANSPORT_SRUN && !arena.full)
        send_word(&request->endpoint, rc_str(entry));
}

static void fail_to_run(const struct rc_request *request, const char *why, struct rc_outcome *outcome)
{
    struct rc_arena text = { .base = outcome->why, .size = sizeof(outcome->why) };

    outcome->how = RC_MISSED;
    rc_format(&text, "rollcall-exchange cannot be run: %s", why);
    tell_absence(request, outcome->why);
}

/* Slurm ends a step by sending these to all of its processes, one after the other. A task that is still there after
 * ENDING_MS is not ended: only its rollcall-exchange was. */
static bool outlives_signal(int number)
{
    sigset_t set;

    if (number != SIGTERM && number != SIGINT && number != SIGKILL)
        return false;
    poll(NULL, 0, ENDING_MS);
    /* proctrack/linuxproc sends it only to commands, which this task is not yet; slurmstepd's child may block it */
    if (number != SIGKILL) {
        sigemptyset(&set);
        sigaddset(&set, number);
        signal(number, SIG_DFL);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        raise(number);
    }
    return true;
}

void rc_session_run(const char *path, const char *const *env, const struct rc_request *request, uint32_t node,
                    struct rc_answer *answer, struct rc_outcome *outcome, struct rc_arena *arena)
{
    static const char killed[] = ", which Slurm sends to end a step, and the kernel if memory runs out";
    static char output[OUTPUT_SIZE];
    struct rc_program program = {
        .path = path,
        .argument = RC_EXCHANGE_NODE,
        .env = env,
        .input = rc_str(rc_request_write(request, arena)),
        .milliseconds = program_patience(request->seconds),
    };
    struct rc_str said;
    bool sent;
    int status;
    ssize_t n;

    *answer = (struct rc_answer){ .port = 0 };
    if (!program.input.p) {
        rc_outcome_miss(outcome, "the entry is too large");
        return;
    }
    n = rc_program_run(&program, output, sizeof(output), &status);
    /* the request has been read: its room is for the answer */
    arena->used = 0;
    said = rc_str(output);
    sent = rc_str_starts(said, RC_EXCHANGE_SENT);
    if (sent)
        rc_str_split(said, '\n', &said);
    if (n == -ETIMEDOUT)
        break_off(outcome, sent, "rollcall-exchange did not end");
    else if (n == -EMSGSIZE)
        break_off(outcome, true, "rollcall-exchange printed too much");
    else if (n < 0)
        fail_to_run(request, strerror((int)-n), outcome);
    else if (WIFSIGNALED(status))
        break_off(outcome, outlives_signal(WTERMSIG(status)) || sent,
                  rc_format(arena, "rollcall-exchange was ended by signal %u%s", (uint32_t)WTERMSIG(status),
                            WTERMSIG(status) == SIGKILL ? killed : ""));
    else if (rc_program_not_loaded(n, status))
        fail_to_run(request, "a library that it needs cannot be loaded (see ldd)", outcome);
    else
        rc_outcome_read(said, node, answer, outcome, arena);
}

/* RC405 of a node that could not hold the port: it counts where RANK 0 is alone. */
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
