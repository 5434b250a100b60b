/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/stamp.h"

static const char mode_names[][9] = {
    [RC_STAMP_WORKER] = "worker",
    [RC_STAMP_BY_NODE] = "by-node",
    [RC_STAMP_LAUNCHER] = "launcher",
};

static enum rc_stamp_mode read_mode(struct rc_str word)
{
    for (unsigned i = RC_STAMP_WORKER; i <= RC_STAMP_LAUNCHER; i++)
        if (rc_str_is(word, mode_names[i]))
            return (enum rc_stamp_mode)i;
    return RC_STAMP_NONE;
}

/* A partial TOLD, or a rank above its size, is no task's identity. */
static bool is_told(struct rc_str told)
{
    uint32_t number[RC_STAMP_TOLD];

    for (unsigned i = 0; i < RC_STAMP_TOLD; i++)
        if (!rc_parse_u32(rc_str_split(told, '/', &told), UINT32_MAX, &number[i]))
            return false;
    return !told.p && number[0] < number[1];
}

struct rc_stamp rc_stamp_read(struct rc_str text)
{
    struct rc_stamp stamp = { .text = text };
    struct rc_str rest = rc_str_split(text, ' ', &stamp.outer);
    enum rc_stamp_mode mode;
    uint32_t port;
    struct rc_str told;

    stamp.scope = rc_str_split(rest, '/', &rest);
    if (!stamp.scope.n || rc_str_starts(stamp.scope, "=") ||
        !rc_parse_u32(rc_str_split(rest, '/', &rest), UINT32_MAX - 1, &stamp.rank))
        return (struct rc_stamp){ .text = text };
    mode = read_mode(rc_str_split(rest, '/', &rest));
    if (mode == RC_STAMP_NONE || !rc_parse_u32(rest, UINT16_MAX, &port) || port == 0)
        return (struct rc_stamp){ .text = text };
    stamp.mode = mode;
    stamp.port = (uint16_t)port;
    if (rc_str_starts(stamp.outer, "=")) {
        told = rc_str_split(stamp.outer, ' ', &stamp.outer);
        told = (struct rc_str){ told.p + 1, told.n - 1 };
        stamp.told = is_told(told) ? told : RC_ABSENT;
    }
    return stamp;
}

bool rc_stamp_is_of(const struct rc_stamp *stamp, const char *scope, uint32_t rank)
{
    return scope && stamp->scope.p && stamp->rank == rank && rc_str_is(stamp->scope, scope);
}

bool rc_stamp_has_outer(const struct rc_stamp *stamp, const char *scope)
{
    struct rc_str outer = stamp->outer;

    while (scope && outer.p)
        if (rc_str_is(rc_str_split(outer, ' ', &outer), scope))
            return true;
    return false;
}

static bool is_step_of(struct rc_str scope, const char *job)
{
    struct rc_str step;

    return job && rc_str_is(rc_str_split(scope, '.', &step), job);
}

bool rc_stamp_has_outer_job(const struct rc_stamp *stamp, const char *job)
{
    struct rc_str outer = stamp->outer;

    while (outer.p)
        if (is_step_of(rc_str_split(outer, ' ', &outer), job))
            return true;
    return false;
}

bool rc_stamp_is_in_job(const struct rc_stamp *stamp, const char *job)
{
    return is_step_of(stamp->scope, job) || rc_stamp_has_outer_job(stamp, job);
}

const char *rc_stamp_write(struct rc_arena *arena, const char *scope, uint32_t rank, enum rc_stamp_mode mode,
                           uint16_t port, const uint32_t *told, const char *const *outer, unsigned outer_count)
{
    const char *text = rc_format(arena, "%s/%u/%s/%u", scope, rank, mode_names[mode], (uint32_t)port);

    if (told) {
        rc_join(arena);
        rc_format(arena, " =%u/%u/%u/%u/%u", told[0], told[1], told[2], told[3], told[4]);
    }
    for (unsigned i = 0; i < outer_count; i++) {
        rc_join(arena);
        rc_format(arena, " %s", outer[i]);
    }
    return text;
}

static bool read_number(struct rc_str *rest, uint32_t *number)
{
    return rest->p && rc_parse_u32(rc_str_split(*rest, '/', rest), RC_MAX_TASKS, number);
}

bool rc_ordered_read(const struct rc_env *env, const char *scope, struct rc_ordered *ordered)
{
    struct rc_str rest = rc_env_get(env, RC_ORDERED);
    struct rc_ordered found;

    if (!scope || !rest.n || !rc_str_is(rc_str_split(rest, '/', &rest), scope) || !read_number(&rest, &found.rank) ||
        !read_number(&rest, &found.node) || !read_number(&rest, &found.place) || !read_number(&rest, &found.before) ||
        !rest.n)
        return false;
    found.host = rest;
    *ordered = found;
    return true;
}

const char *rc_ordered_write(const struct rc_ordered *ordered, const char *scope, struct rc_arena *arena)
{
    return rc_format(arena, "%s/%u/%u/%u/%u/%pS", scope, ordered->rank, ordered->node, ordered->place, ordered->before,
                     &ordered->host);
}

bool rc_step_server_read(const struct rc_env *env, struct rc_step_server *server)
{
    struct rc_step_server read;

    read.token = rc_str_split(rc_env_get(env, RC_SERVER), ' ', &read.step);
    read.port = rc_str_split(read.step, ' ', &read.step);
    if (read.step.n == 0)
        return false;
    *server = read;
    return true;
}

const char *rc_step_server_write(struct rc_arena *arena, const char *token, uint16_t port, uint32_t job, uint32_t step)
{
    return rc_format(arena, "%s %u %u.%u", token, (uint32_t)port, job, step);
}
