/* SPDX-License-Identifier: BSD-3-Clause */
#include "roster.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "console/input.h"
#include "rendezvous/client.h"
#include "rendezvous/wire.h"
#include "roll/check.h"
#include "roll/names.h"
#include "roll/netorder.h"
#include "system/program.h"

enum { PATIENCE_MS = 5000 };

/* Find the step's server in the environment of a task. */
static bool find_in(const struct input *input, const char *job, struct stepserver *server)
{
    static struct rc_env env;
    struct rc_arena arena = { .base = server->text, .size = sizeof(server->text) };
    struct rc_str step;

    rc_env_index(&env, input->env);
    if (!rc_endpoint_of_srun(&env, &server->endpoint, &step, &arena) || step.n >= sizeof(server->step) ||
        (server->wanted && !rc_str_ends(step, server->wanted)) ||
        (job && !rc_str_is(rc_env_get(&env, "SLURM_JOB_ID"), job)))
        return false;
    memcpy(server->step, step.p, step.n);
    server->step[step.n] = '\0';
    server->is_own = rc_endpoint_is_own_step(&env, step);
    return true;
}

/* Find the step on this node: `srun --jobid=J --overlap` starts this process beside it. */
static bool find_on_node(const char *job, struct stepserver *server)
{
    DIR *folder = opendir("/proc");
    bool found = false;

    for (const struct dirent *entry; folder && !found && (entry = readdir(folder));) {
        struct input input;
        uint32_t pid;

        if (!rc_parse_u32(rc_str(entry->d_name), INT32_MAX, &pid))
            continue;
        found = input_quietly(&input, pid) == 0 && find_in(&input, job, server);
        input_free(&input);
    }
    if (folder)
        closedir(folder);
    return found;
}

int cli_stepserver_find(struct stepserver *server)
{
    const char *job = getenv("SLURM_JOB_ID");
    struct input input;

    input_own(&input);
    if (find_in(&input, NULL, server))
        return 0;
    if (job && find_on_node(job, server)) {
        server->is_own = false;
        return 0;
    }
    if (job)
        console_fail("job %.64s has no step on this node that was started with srun --ddp, whose server "
                     "rollcall check reads; with exchange=pmix or exchange=off there is none",
                     job);
    else
        console_fail("this process is not a task of a Slurm step; type rollcall check JOB");
    return -1;
}

bool cli_stepserver_is_first_to_ask(const struct stepserver *server)
{
    const char *task = getenv("SLURM_PROCID");
    char name[RC_GATHER_NAME_MAX];
    char who[RC_CLIENT_SELF];
    uint64_t round;

    if (!server->is_own || !task)
        return true;
    snprintf(name, sizeof(name), "check/%.32s", task);
    if (rc_client_self(who) < 0 || rc_client_number(&server->endpoint, name, rc_str(who), PATIENCE_MS, &round) < 0)
        return true;
    snprintf(name, sizeof(name), "check/round/%llu", (unsigned long long)round);
    return rc_client_claim(&server->endpoint, name, rc_str(who), PATIENCE_MS) != 0;
}

/* Up to this many names need no brackets, which are a pattern in some shells. */
enum { PLAIN_MAX = 8 };

static size_t keep_one_each(struct rc_str *name, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !rc_str_eq(name[kept - 1], name[i]))
            name[kept++] = name[i];
    return kept;
}

static void write_list(const struct rc_str *name, size_t count, struct rc_arena *arena)
{
    if (count > PLAIN_MAX) {
        rc_compact_hosts(name, count, arena->size, arena);
        return;
    }
    rc_copy(arena, RC_STR(""));
    for (size_t i = 0; i < count; i++) {
        rc_join(arena);
        rc_format(arena, "%s%pS", i ? "," : "", &name[i]);
    }
}

char *cli_exclude_list(const struct rc_blame *blame)
{
    struct rc_str *name = calloc(blame->count + 1, sizeof(*name));
    struct rc_arena arena = { .size = 1 };
    size_t count = 0;

    for (size_t i = 0; name && i < blame->count; i++) {
        name[count++] = rc_str(blame->list[i].name);
        arena.size += name[count - 1].n + sizeof("[],");
    }
    if (name && (arena.base = malloc(arena.size))) {
        qsort(name, count, sizeof(*name), rc_host_order);
        write_list(name, keep_one_each(name, count), &arena);
    }
    free(name);
    return arena.base;
}

enum { RANKS_SIZE = 24 };

/* Apply the order decided for the nodes, which changes node ranks, ranks and the master. Return false without
 * memory. */
static bool follow_order(struct roster *roster)
{
    struct rc_arena arena = { .size = RC_ROLL_ORDER_MAX + roster->count * RANKS_SIZE };
    struct rc_str first;
    const char *order;

    if (!roster->roll[0].place.p)
        return true;
    arena.base = roster->order_text = malloc(arena.size);
    if (!arena.base)
        return false;
    if (rc_netorder_sort(roster->roll, roster->count, roster->count == roster->roll[0].nodes, &order, &arena))
        return true;
    first = rc_netorder_host(&roster->roll[0]);
    for (size_t i = 0; i < roster->count; i++) {
        struct rc_roll *roll = &roster->roll[i];
        uint32_t tasks, before = 0;

        tasks = rc_netorder_find(rc_str(order), roll->node, &roll->node, &before) ? rc_netorder_tasks(roll) : 0;
        roll->tasks = rc_str(tasks == 1 ? rc_format(&arena, "%u", before)
                                        : rc_format(&arena, "%u-%u", before, before + tasks - 1));
        roll->addr = first;
        roll->port = i == 0 ? roll->port : 0;
    }
    return true;
}

static int fail_memory(const char *what)
{
    console_fail("cannot %s the roll: %s", what, strerror(ENOMEM));
    return -1;
}

/* Return the readable entries. */
static struct rc_roll *read_rolls(struct rc_str text, size_t *count)
{
    struct rc_gathered gathered;
    struct rc_roll *rolls;
    struct rc_str value;
    uint32_t node;

    *count = 0;
    if (rc_gathered_read(text, &gathered) < 0)
        gathered = (struct rc_gathered){ .count = 0 };
    if (!(rolls = calloc((size_t)gathered.count + 1, sizeof(*rolls))))
        return NULL;
    while (*count < gathered.count && rc_gathered_next(&gathered.list, &node, &value))
        *count += rc_roll_read(value, &rolls[*count]);
    return rolls;
}

static int read_text(struct roster *roster, size_t size)
{
    const struct rc_roll_known known = { .item_lines = RC_ITEMS };
    struct rc_arena arena = { .size = RC_CHECK_ARENA };

    arena.base = roster->findings_text = malloc(RC_CHECK_ARENA);
    roster->roll = read_rolls((struct rc_str){ roster->text, size }, &roster->count);
    if (!arena.base || !roster->roll)
        return fail_memory("read");
    if (roster->count == 0) {
        console_fail("no node of step %s has answered yet", roster->step);
        return -1;
    }
    qsort(roster->roll, roster->count, sizeof(*roster->roll), rc_roll_by_node);
    if (!rc_roll_check(roster->roll, roster->count, &known, &roster->findings, &roster->blame, &arena))
        return fail_memory("check");
    if (!follow_order(roster))
        return fail_memory("sort");
    roster->nodes = roster->roll[0].nodes;
    roster->world = roster->roll[0].world;
    return 0;
}

int cli_roster_ask(struct roster *roster, const struct stepserver *server)
{
    const struct rc_gather_request request = { .name = RC_STR(RC_GATHER_ROLL), .verb = RC_LOOKS };
    struct rc_reply reply;
    int rc = rc_client_gather(&server->endpoint, &request, PATIENCE_MS, &reply, NULL);

    *roster = (struct roster){ .text = rc == 0 ? reply.text : NULL };
    memcpy(roster->step, server->step, sizeof(roster->step));
    if (rc == 0)
        return read_text(roster, reply.size);
    console_fail("the rendezvous server of step %s does not answer: %s", server->step,
                 rc == -EPROTONOSUPPORT ? "it is of another release of rollcall" : strerror(-rc));
    return -1;
}

void cli_roster_free(struct roster *roster)
{
    free(roster->roll);
    free(roster->text);
    free(roster->findings_text);
    free(roster->order_text);
    rc_blame_free(&roster->blame);
    *roster = (struct roster){ .count = 0 };
}
