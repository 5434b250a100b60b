/* SPDX-License-Identifier: BSD-3-Clause */
#include "stepserver.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "console/input.h"
#include "rendezvous/client.h"
#include "rendezvous/storeclient.h"

enum { PATIENCE_MS = 5000 };

/* The step's server, as the environment of a task names it. */
static bool find_in(const struct input *input, const char *job, struct stepserver *server)
{
    static struct rc_env env;
    struct rc_arena arena = { .base = server->text, .size = sizeof(server->text) };
    struct rc_str step;

    rc_env_index(&env, input->env);
    if (!rc_endpoint_of_srun(&env, &server->endpoint, &step, &arena) || step.n >= sizeof(server->step) ||
        (job && !rc_str_is(rc_env_get(&env, "SLURM_JOB_ID"), job)))
        return false;
    memcpy(server->step, step.p, step.n);
    server->step[step.n] = '\0';
    return true;
}

/* Looks for the step on this node: `srun --jobid=J --overlap` starts this process beside it. */
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

static bool is_own_step(const char *step)
{
    static struct rc_env env;
    struct input input;

    input_own(&input);
    rc_env_index(&env, input.env);
    return rc_endpoint_is_own_step(&env, rc_str(step));
}

static int find_server(const char *pid, struct stepserver *server)
{
    const char *job = getenv("SLURM_JOB_ID");
    struct input input;
    bool found;

    if (pid) {
        if (input_process(&input, pid) < 0) {
            input_free(&input);
            return -1;
        }
        found = find_in(&input, NULL, server);
        input_free(&input);
        if (!found)
            console_fail("process %.64s is no task of a step whose roll was called beside srun", pid);
        return found ? 0 : -1;
    }
    input_own(&input);
    if (find_in(&input, NULL, server) || (job && find_on_node(job, server)))
        return 0;
    if (job)
        console_fail(
            "no task of job %.64s on this node whose roll was called beside srun (srun --ddp, exchange=auto or srun)",
            job);
    else
        console_fail("this is no task of a step; use srun --jobid=JOB --overlap rollcall check, or --pid");
    return -1;
}

int cli_stepserver_find(struct stepserver *server, const char *pid)
{
    if (find_server(pid, server) < 0)
        return -1;
    server->is_own = !pid && is_own_step(server->step);
    return 0;
}

char *cli_stepserver_ask(const struct stepserver *server, const char *question)
{
    struct rc_reply reply;
    int rc = rc_client_request(&server->endpoint, rc_str(question), PATIENCE_MS, &reply, NULL);

    if (rc == 0)
        return reply.text;
    console_fail("the rendezvous server of step %s does not answer: %s", server->step, strerror(-rc));
    return NULL;
}

bool cli_stepserver_is_first_to_ask(const struct stepserver *server)
{
    const char *task = getenv("SLURM_PROCID");
    char counter[RC_STORE_KEY_MAX];
    char key[RC_STORE_KEY_MAX];
    uint64_t round;

    if (!server->is_own || !task)
        return true;
    snprintf(counter, sizeof(counter), "check/%.32s", task);
    if (rc_store_client_count(&server->endpoint, counter, PATIENCE_MS, &round) < 0)
        return true;
    snprintf(key, sizeof(key), "check/round/%llu", (unsigned long long)round);
    return rc_store_client_put(&server->endpoint, key, rc_str(task), PATIENCE_MS, NULL, 0, NULL) != 0;
}
