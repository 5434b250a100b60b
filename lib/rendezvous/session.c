/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/session.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "rendezvous/protocol.h"
#include "system/port.h"
#include "system/program.h"

enum {
    SLACK_MS = 3000,     /* for the program's own end */
    OUTPUT_SIZE = 65536, /* an answer, with its findings */
};

static void explain_outcome(struct rc_outcome *outcome, const char *why)
{
    struct rc_arena arena = { .base = outcome->why, .size = sizeof(outcome->why) };
    struct rc_str text = rc_str(why);

    if (text.n >= sizeof(outcome->why))
        text.n = sizeof(outcome->why) - 1;
    rc_format(&arena, "%S", &text);
}

void rc_outcome_fail(struct rc_outcome *outcome, const char *why)
{
    outcome->failed = true;
    explain_outcome(outcome, why);
}

static void lose_nodes(struct rc_outcome *outcome, const char *why)
{
    outcome->lost = true;
    explain_outcome(outcome, why);
}

bool rc_session_hold(const struct rc_options *options, struct rc_result *result, const struct rc_rank0 *hooks,
                     int *held)
{
    struct rc_master *master = &result->master;

    *held = -1;
    if (!(master->todo & RC_MASTER_HOLD))
        return true;
    if (master->port_given != RC_GIVEN_BY_LAUNCH || (!options->port_first && result->facts.reserved_ports.n))
        return rc_rank0_hold(result, hooks, held);
    if (!options->port_first) {
        master->port = 0;
        return rc_rank0_hold(result, hooks, held);
    }
    /* from the launch's own one on, round: two launches seldom try the same first */
    for (uint32_t i = options->port_first; i < options->port_last; i++) {
        *held = rc_port_hold(master->port);
        if (*held >= 0)
            return true;
        master->port = master->port == options->port_last ? options->port_first : (uint16_t)(master->port + 1);
    }
    return rc_rank0_hold(result, hooks, held);
}

static uint32_t longest_wait(uint32_t seconds)
{
    return seconds * 1000 + SLACK_MS;
}

uint32_t rc_session_patience(uint32_t seconds)
{
    return longest_wait(seconds) + SLACK_MS;
}

const char *rc_outcome_write(const struct rc_outcome *outcome, struct rc_arena *arena)
{
    struct rc_answer answer = { .port = outcome->port, .stop = outcome->stop };

    if (outcome->failed || outcome->lost)
        return rc_format(arena, "%s=%s\n", outcome->lost ? "lost" : "failed", outcome->why);
    return rc_answer_write(&answer, arena);
}

void rc_outcome_read(struct rc_str text, struct rc_answer *answer, struct rc_outcome *outcome, struct rc_arena *arena)
{
    struct rc_str failed = rc_program_reason(text, "failed=");
    struct rc_str lost = rc_program_reason(text, "lost=");

    *answer = (struct rc_answer){ .port = 0 };
    if (failed.p) {
        rc_outcome_fail(outcome, rc_format(arena, "%S", &failed));
    } else if (lost.p) {
        lose_nodes(outcome, rc_format(arena, "%S", &lost));
    } else if (!rc_answer_read(text, answer, arena)) {
        lose_nodes(outcome, "the answer cannot be read");
    } else {
        outcome->port = answer->port;
        outcome->stop = answer->stop;
    }
}

void rc_session_run(const char *path, const char *const *env, const struct rc_request *request,
                    struct rc_answer *answer, struct rc_outcome *outcome, struct rc_arena *arena)
{
    static char output[OUTPUT_SIZE];
    struct rc_program program = {
        .path = path,
        .argument = RC_EXCHANGE_NODE,
        .env = env,
        .input = rc_str(rc_request_write(request, arena)),
        .milliseconds = longest_wait(request->seconds),
    };
    int status;
    ssize_t n;

    *answer = (struct rc_answer){ .port = 0 };
    if (!program.input.p) {
        rc_outcome_fail(outcome, "the entry is too large");
        return;
    }
    n = rc_program_run(&program, output, sizeof(output), &status);
    /* the request has been read: its room is for the answer */
    arena->used = 0;
    if (n == -ETIMEDOUT)
        lose_nodes(outcome, "rollcall-exchange did not end");
    else if (n == -EMSGSIZE)
        lose_nodes(outcome, "rollcall-exchange said too much");
    else if (n < 0)
        rc_outcome_fail(outcome, rc_format(arena, "rollcall-exchange cannot be run: %s", strerror((int)-n)));
    else if (WIFSIGNALED(status))
        lose_nodes(outcome, rc_format(arena, "rollcall-exchange was ended by signal %u", (uint32_t)WTERMSIG(status)));
    else
        rc_outcome_read((struct rc_str){ output, (size_t)n }, answer, outcome, arena);
}

bool rc_session_settle(const struct rc_outcome *outcome, const struct rc_rank0 *hooks, struct rc_context *context,
                       struct rc_result *result, int *held)
{
    const struct rc_str node = hooks->node.n ? hooks->node : RC_STR("this node");

    if (outcome->stop) {
        rc_message_add(&result->messages, RC612,
                       "nothing is started here, for what another line says of the launch; change that, or say "
                       "check=warn");
        return false;
    }
    if (outcome->lost) {
        rc_message_add(&result->messages, RC613,
                       rc_format(&result->arena,
                                 "%S has lost the other nodes, which may be about to start without it: %s; nothing is "
                                 "started here; start again, or say exchange=off",
                                 &node, outcome->why));
        return false;
    }
    context->told_port = outcome->failed ? 0 : outcome->port;
    if (!context->told_port) {
        rc_port_release(*held);
        *held = -1;
    }
    return rc_resolve(context, result) == RC_RESOLVED;
}
