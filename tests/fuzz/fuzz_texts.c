/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_texts - every reader of what rollcall's programs and nodes tell each other. What was read and written again
 * reads the same. An input is as in fuzz_parsers.c.
 */
#include "fuzz.h"

#include <string.h>

#include "base/cpuset.h"
#include "base/text.h"
#include "rendezvous/gather.h"
#include "rendezvous/session.h"
#include "rendezvous/wire.h"
#include "resolve/pins.h"
#include "roll/netorder.h"
#include "roll/roll.h"

enum { FEW = 64 };

static void try_pins(struct rc_str text)
{
    struct rc_cpuset set;
    struct rc_pins pins;
    struct rc_pin pin;

    if (!rc_pins_read(text, &pins))
        return;
    for (uint32_t i = 0; i < pins.count && i < FEW; i++)
        CHECK(rc_pins_at(&pins, i, &pin) && rc_cpuset_read(pin.cpus, &set) && pin.cores >= pins.least_cores);
    CHECK(!rc_pins_at(&pins, pins.count, &pin));
}

static void try_answer(struct rc_str text)
{
    struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
    struct rc_answer answer, again;
    const char *written;

    if (!rc_answer_read(text, &answer, &arena))
        return;
    fuzz_check_messages(&answer.findings);
    CHECK(answer.findings.count <= RC_FINDINGS_MAX);
    written = rc_answer_write(&answer, &arena);
    CHECK(written && rc_answer_read(rc_str(written), &again, &arena));
    CHECK(again.port == answer.port && again.stop == answer.stop && again.said == answer.said);
    CHECK(again.findings.count == answer.findings.count);
    CHECK(strcmp(rc_answer_write(&again, &arena), written) == 0);
}

static void try_roll(struct rc_str text)
{
    struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
    struct rc_roll roll, again;
    struct rc_str tasks;
    const char *written;
    uint32_t first, last;

    if (!rc_roll_read(text, &roll))
        return;
    CHECK(roll.node < roll.nodes && roll.nodes <= roll.world && roll.scope.n && roll.host.n);
    for (tasks = roll.tasks; rc_roll_next_range(&tasks, &first, &last);)
        CHECK(first <= last && last < roll.world);
    CHECK(!tasks.p && rc_netorder_tasks(&roll) <= roll.world);
    CHECK(fuzz_is_within(rc_netorder_host(&roll), text));
    /* a value may be longer than it is written */
    written = rc_roll_write(&roll, &arena);
    if (!written)
        return;
    CHECK(rc_roll_read(rc_str(written), &again) && again.user_count == roll.user_count);
    CHECK(again.gpu_count == roll.gpu_count && rc_str_eq(again.tasks, roll.tasks));
    CHECK(strcmp(rc_roll_write(&again, &arena), written) == 0);
}

static void try_netorder(struct rc_str text)
{
    uint32_t node = 0, place, before;

    fuzz_take_numbers(&text, &node, 1, RC_MAX_TASKS);
    (void)rc_netorder_find(text, node, &place, &before);
}

static void try_endpoint(struct rc_str text)
{
    struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
    struct rc_endpoint endpoint;

    /* what is written is a string */
    if (!memchr(text.p, '\0', text.n) && rc_endpoint_read(text, &endpoint))
        CHECK(rc_str_is(text, rc_endpoint_write(&endpoint, &arena)));
}

static void try_outcome(struct rc_str text)
{
    struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
    struct rc_answer answer;
    struct rc_outcome outcome = { .port = 0 };
    uint32_t node = 0;

    fuzz_take_numbers(&text, &node, 1, RC_MAX_TASKS);
    rc_outcome_read(text, node, &answer, &outcome, &arena);
    CHECK(memchr(outcome.why, '\0', sizeof(outcome.why)) && memchr(outcome.first, '\0', sizeof(outcome.first)));
    CHECK(memchr(outcome.unordered, '\0', sizeof(outcome.unordered)));
}

static void try_gathered(struct rc_str text)
{
    struct rc_gathered gathered;
    struct rc_str value;
    uint32_t member;

    if (rc_gathered_read(text, &gathered) < 0)
        return;
    CHECK(gathered.count <= RC_MAX_TASKS && fuzz_is_within(gathered.missing, text));
    while (rc_gathered_next(&gathered.list, &member, &value))
        CHECK(member < RC_MAX_TASKS && value.n <= RC_GATHER_VALUE_MAX && fuzz_is_within(value, text));
}

/* What has arrived is in the reply, and all that is kept is counted. */
static void end_gather(struct rc_gathers *gathers, struct rc_gather *gather)
{
    uint32_t left = gather->count;
    struct rc_gathered gathered;
    struct rc_str value;
    uint32_t member;

    rc_gather_end(gathers, gather, RC_ABSENT, "some", false);
    CHECK(gather->reply && gathers->size >= gather->reply->size);
    CHECK(rc_gathered_read((struct rc_str){ gather->reply->bytes, gather->reply->size }, &gathered) == 0);
    while (rc_gathered_next(&gathered.list, &member, &value))
        left--;
    CHECK(left == 0 && gathered.list.n == 0 && rc_str_is(gathered.missing, "some"));
}

/* Requests with a NUL between, a millisecond each. One that is only waiting hangs up. */
static void try_gathers(struct rc_str text)
{
    struct rc_gathers gathers = { .tree = NULL };
    int64_t now = 0;

    for (struct rc_str rest = text; rest.p; now++) {
        struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
        struct rc_gather_request request, again;
        struct rc_gather *gather;
        struct rc_str line = rc_str_split(rest, '\0', &rest);

        if (!rc_gather_request_read(line, &request) || request.of > FEW ||
            request.member % FEW != request.member % RC_MAX_TASKS)
            continue;
        CHECK(rc_gather_request_read(rc_str(rc_gather_request_write(&request, &arena)), &again) &&
              again.member == request.member && again.each == (request.member == RC_UNKNOWN ? 0 : request.each));
        gather = request.verb == RC_LOOKS ? NULL : rc_gathers_find(&gathers, request.name, request.of);
        if (!gather)
            continue;
        if (request.verb == RC_ATTENDS)
            rc_gather_attend(gather, request.member, now);
        else if (request.member == RC_UNKNOWN)
            rc_gather_depart(&gathers, gather, 0);
        else
            rc_gather_arrive(&gathers, gather, &request, now);
        if (!gather->over && (rc_gather_is_whole(gather) || now >= rc_gather_due(gather)))
            end_gather(&gathers, gather);
    }
    rc_gathers_free(&gathers);
    CHECK(gathers.size == 0 && !gathers.open.count);
}

static void try_settings(struct rc_str text)
{
    struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
    struct rc_server_settings settings, again;
    const char *written;

    if (!rc_server_settings_read(text, &settings))
        return;
    written = rc_server_settings_write(&settings, &arena);
    CHECK(written && rc_server_settings_read(rc_str(written), &again));
    CHECK(again.seconds == settings.seconds && again.check == settings.check && again.same == settings.same &&
          again.nodes == settings.nodes && again.hosts.n == settings.hosts.n);
}

static const struct fuzz_reader readers[] = {
    { 'p', try_pins },     { 'A', try_answer },  { 'R', try_roll },    { 'N', try_netorder }, { 'G', try_gathered },
    { 'e', try_endpoint }, { 'u', try_outcome }, { 'k', try_gathers }, { 's', try_settings },
};

void fuzz_one(struct rc_str input)
{
    fuzz_try(readers, sizeof(readers) / sizeof(*readers), input);
}
