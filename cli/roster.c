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
#include "rendezvous/endpoint.h"
#include "rendezvous/protocol.h"
#include "rendezvous/storeclient.h"
#include "roll/check.h"
#include "roll/netorder.h"

enum { PATIENCE_MS = 5000, RANKS_SIZE = 24, TEXT_SIZE = 4096, FINDINGS_SIZE = 65536 };

/* The server of a step, as a task's environment names it. */
static struct place {
    char text[TEXT_SIZE];
    struct rc_endpoint endpoint;
    char step[32];
} found_place;

static bool find_in(const struct input *input, const char *job, struct place *place)
{
    static struct rc_env env;
    struct rc_arena arena = { .base = place->text, .size = sizeof(place->text) };
    struct rc_str step;

    rc_env_index(&env, input->env);
    if (!rc_endpoint_of_srun(&env, &place->endpoint, &step, &arena) || step.n >= sizeof(place->step) ||
        (job && !rc_str_is(rc_env_get(&env, "SLURM_JOB_ID"), job)))
        return false;
    memcpy(place->step, step.p, step.n);
    place->step[step.n] = '\0';
    return true;
}

/* Looks for the step on this node: `srun --jobid=J --overlap` starts this process beside it. */
static bool find_on_node(const char *job, struct place *place)
{
    DIR *folder = opendir("/proc");
    bool found = false;

    for (const struct dirent *entry; folder && !found && (entry = readdir(folder));) {
        struct input input;
        uint32_t pid;

        if (!rc_parse_u32(rc_str(entry->d_name), INT32_MAX, &pid))
            continue;
        found = input_quietly(&input, pid) == 0 && find_in(&input, job, place);
        input_free(&input);
    }
    if (folder)
        closedir(folder);
    return found;
}

static int find_server(const char *pid, struct place *place)
{
    const char *job = getenv("SLURM_JOB_ID");
    struct input input;
    bool found;

    if (pid) {
        if (input_process(&input, pid) < 0) {
            input_free(&input);
            return -1;
        }
        found = find_in(&input, NULL, place);
        input_free(&input);
        if (!found)
            console_fail("process %.64s is no task of a step whose roll was called beside srun", pid);
        return found ? 0 : -1;
    }
    input_own(&input);
    if (find_in(&input, NULL, place) || (job && find_on_node(job, place)))
        return 0;
    if (job)
        console_fail(
            "no task of job %.64s on this node whose roll was called beside srun (srun --ddp, exchange=auto or srun)",
            job);
    else
        console_fail("this is no task of a step; use srun --jobid=JOB --overlap rollcall check, or --pid");
    return -1;
}

/* Splits the answer into entries, which end with a blank line. */
static int split_entries(struct roster *roster)
{
    size_t most = 0;
    char *next;

    for (const char *p = roster->text; (p = strstr(p, "\n\n")); p += 2)
        most++;
    roster->roll = calloc(most + 1, sizeof(*roster->roll));
    if (!roster->roll)
        return -1;
    for (char *p = roster->text; (next = strstr(p, "\n\n")); p = next + 2)
        if (rc_roll_read((struct rc_str){ p, (size_t)(next + 1 - p) }, &roster->roll[roster->count]))
            roster->count++;
    return 0;
}

static int by_node(const void *a, const void *b)
{
    uint32_t left = ((const struct rc_roll *)a)->node;
    uint32_t right = ((const struct rc_roll *)b)->node;

    return (left > right) - (left < right);
}

/* What the nodes were told of the order that they asked for: it changes node ranks, ranks and the master. False without
 * memory. */
static bool follow_order(struct roster *roster)
{
    struct rc_arena arena = { .size = RC_NETORDER_MAX + roster->count * RANKS_SIZE };
    struct rc_str first;
    const char *order;

    if (!roster->roll[0].place.p)
        return true;
    arena.base = roster->order_text = malloc(arena.size);
    if (!arena.base)
        return false;
    if (rc_netorder_sort(roster->roll, roster->count, roster->count == roster->roll[0].nodes, &order, &arena))
        return true;
    roster->ordered = true;
    first = rc_netorder_host(&roster->roll[0]);
    for (size_t i = 0; i < roster->count; i++) {
        struct rc_roll *roll = &roster->roll[i];
        uint32_t tasks, before = 0;

        tasks = rc_netorder_find(rc_str(order), roll->node, &roll->node, &before) ? rc_netorder_tasks(roll) : 0;
        roll->tasks = rc_str(tasks == 1 ? rc_format_number(&arena, before)
                                        : rc_format(&arena, "%u-%u", before, before + tasks - 1));
        roll->addr = first;
        roll->port = i == 0 ? roll->port : 0;
    }
    return true;
}

static bool is_own_step(const char *step)
{
    static struct rc_env env;
    struct input input;

    input_own(&input);
    rc_env_index(&env, input.env);
    return rc_endpoint_is_own_step(&env, rc_str(step));
}

int cli_roster_read(struct roster *roster, const char *pid)
{
    struct place *place = &found_place;
    struct rc_arena arena = { .size = FINDINGS_SIZE };
    struct rc_reply reply;
    int rc;

    *roster = (struct roster){ .count = 0 };
    if (find_server(pid, place) < 0)
        return -1;
    roster->is_own = !pid && is_own_step(place->step);
    memcpy(roster->step, place->step, sizeof(roster->step));
    rc = rc_client_request(&place->endpoint, rc_str(RC_SERVER_QUESTION), PATIENCE_MS, &reply, NULL);
    if (rc < 0) {
        console_fail("the rendezvous server of step %s does not answer: %s", place->step, strerror(-rc));
        return -1;
    }
    roster->text = reply.text;
    arena.base = roster->findings_text = malloc(FINDINGS_SIZE);
    if (!arena.base || split_entries(roster) < 0) {
        console_fail("cannot read the roll: %s", strerror(ENOMEM));
        return -1;
    }
    if (roster->count == 0) {
        console_fail("no node of step %s has answered yet", place->step);
        return -1;
    }
    qsort(roster->roll, roster->count, sizeof(*roster->roll), by_node);
    if (!rc_roll_check(roster->roll, roster->count, 0, 0, 0, &roster->findings, &roster->blame, &arena)) {
        console_fail("cannot check the roll: %s", strerror(ENOMEM));
        return -1;
    }
    if (follow_order(roster))
        return 0;
    console_fail("cannot sort the roll: %s", strerror(ENOMEM));
    return -1;
}

bool cli_roster_is_first_to_ask(const struct roster *roster)
{
    const char *task = getenv("SLURM_PROCID");
    char counter[RC_STORE_KEY_MAX];
    char key[RC_STORE_KEY_MAX];
    uint64_t round;

    if (!roster->is_own || !task)
        return true;
    snprintf(counter, sizeof(counter), "check/%.32s", task);
    if (rc_store_client_count(&found_place.endpoint, counter, PATIENCE_MS, &round) < 0)
        return true;
    snprintf(key, sizeof(key), "check/round/%llu", (unsigned long long)round);
    return rc_store_client_put(&found_place.endpoint, key, rc_str(task), PATIENCE_MS, NULL, 0, NULL) != 0;
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
