/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "member.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "base/env.h"
#include "base/lines.h"
#include "rendezvous/random.h"
#include "resolve/guard.h"
#include "resolve/precedence.h"
#include "say.h"

extern char **environ;

/* Processes of two containers may have the same host name and process id. */
static uint64_t new_nonce(void)
{
    static uint64_t drawn;
    uint64_t none = 0;
    uint64_t new;

    if (!__atomic_load_n(&drawn, __ATOMIC_ACQUIRE)) {
        if (!rc_random(&new, sizeof(new), RC_RANDOM_NOW) || !new)
            new = 1;
        __atomic_compare_exchange_n(&drawn, &none, new, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
    return __atomic_load_n(&drawn, __ATOMIC_ACQUIRE);
}

/* "rank=3 size=4 node=1 nodes=2 deadline=10" */
static void read_told(struct rc_str text, struct guard_member *member)
{
    struct rc_str name;
    struct rc_str value;

    while (rc_pair_next(&text, ' ', &name, &value)) {
        uint32_t *to = rc_str_is(name, "rank")       ? &member->rank
                       : rc_str_is(name, "size")     ? &member->size
                       : rc_str_is(name, "other")    ? &member->other
                       : rc_str_is(name, "node")     ? &member->node
                       : rc_str_is(name, "deadline") ? &member->deadline
                                                     : NULL;

        if (to)
            (void)rc_parse_u32(value, RC_MAX_TASKS, to);
    }
}

/* A guarded process may start another one with ROLLCALL=off. */
static bool is_off(struct rc_str options)
{
    while (options.p) {
        struct rc_str item = rc_str_split(options, ',', &options);

        if (rc_str_is(item, "off") || rc_str_is(item, "guard=off"))
            return true;
    }
    return false;
}

static void write_record(struct guard_member *member)
{
    bool task = member->rank != RC_UNKNOWN;
    struct utsname uts;

    member->record = rc_format(&member->arena, "%s %u %U %s %u", uname(&uts) < 0 ? "?" : uts.nodename,
                               (uint32_t)getpid(), new_nonce(), task ? "task" : "node",
                               task ? member->rank : member->node);
}

const char *guard_member_read(struct guard_member *member)
{
    struct rc_env env;
    struct rc_str told, step;

    member->rank = member->size = member->other = member->node = member->world = RC_UNKNOWN;
    member->deadline = RC_DEADLINE_DEFAULT;
    member->arena = (struct rc_arena){ .base = member->text, .size = sizeof(member->text) };
    rc_env_index(&env, (const char *const *)environ);
    told = rc_env_get(&env, RC_GUARD);
    if (!told.p)
        return "this process was not told who it is: guard=nccl was not asked for in its task";
    if (is_off(rc_env_get(&env, "ROLLCALL")))
        return "it is switched off by ROLLCALL";
    read_told(told, member);
    if (member->node == RC_UNKNOWN || member->deadline < 1 || member->deadline > RC_DEADLINE_MAX)
        return "ROLLCALL_GUARD is not as rollcall writes it";
    (void)rc_parse_u32(rc_env_get(&env, "WORLD_SIZE"), RC_MAX_TASKS, &member->world);
    if (!rc_endpoint_of_srun(&env, &member->server, &step, &member->arena))
        return "there is no rendezvous server beside srun; start the job with srun --ddp=guard=nccl";
    write_record(member);
    return member->arena.full ? "what is to be known of this process is too long" : NULL;
}

bool guard_member_is(const struct guard_member *member, struct rc_str record)
{
    return rc_str_is(record, member->record);
}

const char *guard_member_name(struct rc_str record, struct rc_arena *arena)
{
    struct rc_str rest;
    struct rc_str host = rc_str_split(record, ' ', &rest);
    struct rc_str pid = rc_str_split(rest, ' ', &rest);
    struct rc_str number;

    rc_str_split(rest, ' ', &rest);
    if (rc_str_is(rc_str_split(rest, ' ', &number), "task"))
        return rc_format(arena, "process %S on %S, whose task is rank %S,", &pid, &host, &number);
    return rc_format(arena, "process %S on %S", &pid, &host);
}
