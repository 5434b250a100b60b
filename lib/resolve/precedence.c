/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/precedence.h"

/* 0 is UNSET in the enum of each choice. */
static void fill_in_choices(struct rc_options *over, const struct rc_options *under)
{
#define FILL_CHOICE(key) over->key = over->key ? over->key : under->key;
#define FILL_VALUE(key)
#define FILL_SWITCH(key)
#define ROLLCALL_KEY(key, shape, values, help, section, reader) FILL_##shape(key)
#include "resolve/option.def"
}

static void fill_in(struct rc_options *over, const struct rc_options *under)
{
    if (!under || !under->given)
        return;
    if (!over->mode_given && (under->mode != RC_MODE_OFF || !over->given)) {
        over->mode = under->mode;
        over->mode_given = under->mode_given;
    }
    fill_in_choices(over, under);
    if (!over->nproc)
        over->nproc = under->nproc;
    if (!over->addr) {
        over->addr = under->addr;
        over->addr_kind = under->addr_kind;
    }
    if (!over->deadline)
        over->deadline = under->deadline;
    if (!over->port_first) {
        over->port_first = under->port_first;
        over->port_last = under->port_last;
    }
    if (over->watch == RC_WATCH_UNSET) {
        over->watch = under->watch;
        over->watch_seconds = under->watch_seconds;
    }
    over->given = true;
}

struct rc_options rc_options_combine(const struct rc_options *command_line, const struct rc_options *environment,
                                     const struct rc_options *administrator)
{
    struct rc_options all = { .given = false };

    fill_in(&all, command_line);
    fill_in(&all, environment);
    all.by_user = all.given;
    all.addr_by_user = all.addr != NULL;
    all.port_by_user = all.port_first != 0;
    fill_in(&all, administrator);
    if (environment && environment->given && environment->mode == RC_MODE_OFF)
        all.mode = RC_MODE_OFF;
    if (all.given && !all.by_user && all.mode == RC_MODE_OFF)
        all.given = false;
    return all;
}

uint32_t rc_options_deadline(const struct rc_options *options)
{
    return options->deadline ? options->deadline : RC_DEADLINE_DEFAULT;
}

enum rc_check rc_options_check(const struct rc_options *options)
{
    if (options->check != RC_CHECK_UNSET)
        return options->check;
    return options->by_user ? RC_CHECK_STOP : RC_CHECK_WARN;
}

enum rc_check rc_options_same(const struct rc_options *options)
{
    if (options->same != RC_CHECK_UNSET)
        return options->same;
    return options->by_user ? RC_CHECK_WARN : RC_CHECK_OFF;
}
