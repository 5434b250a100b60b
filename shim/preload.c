/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "effects/look.h"
#include "effects/rank0.h"
#include "launcher/hosts.h"
#include "resolve/options.h"
#include "shim.h"
#include "system/node.h"
#include "system/port.h"
#include "system/sys.h"

/* Outside of tasks the shim prints nothing. In a task it prints an error once for the launcher's program and its
 * children, warnings that concern only this task, and the plan with ROLLCALL_DEBUG. */

static void add_message(struct shim_page *page, enum rc_message_id id, const char *text)
{
    rc_message_line(&page->arena, rc_message_entry(id)->level, id, text);
    rc_join(&page->arena);
}

static void add_plan(struct shim_page *page, const struct rc_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++) {
        const struct rc_plan_entry *e = &plan->entry[i];
        struct rc_str value = rc_str(e->value);

        switch (e->action) {
        case RC_SET:
            rc_format(&page->arena, "rollcall: %pS=%pQ\n", &e->name, &value);
            break;
        case RC_UNSET:
            rc_format(&page->arena, "rollcall: %pS is unset\n", &e->name);
            break;
        case RC_KEEP:
            rc_format(&page->arena, "rollcall: %pS is kept\n", &e->name);
            break;
        }
        rc_join(&page->arena);
    }
}

static void shim_report_warnings(const struct rc_messages *messages)
{
    struct shim_page page;

    for (unsigned i = 0; i < messages->count; i++) {
        const struct rc_message_entry *entry = rc_message_entry(messages->list[i].id);

        if (entry->level != RC_LEVEL_WARNING || entry->said != RC_SAID_PER_TASK)
            continue;
        shim_page_open(&page);
        add_message(&page, messages->list[i].id, messages->list[i].text);
        shim_page_say(&page);
    }
}

/* ROLLCALL_DEBUG, once the plan is applied. */
static void shim_report_result(const struct rc_result *result, uint32_t level)
{
    unsigned count[RC_KEEP + 1] = { 0 };
    struct shim_page page;

    for (unsigned i = 0; i < result->plan.count; i++)
        count[result->plan.entry[i].action]++;
    shim_page_open(&page);
    rc_format(&page.arena, "rollcall: launcher %s, mode %s (%s), %u set, %u unset\n",
              result->launcher ? result->launcher->id : "none", rc_mode_name(result->mode),
              result->mode_reason ? result->mode_reason : "no reason", (uint32_t)count[RC_SET],
              (uint32_t)count[RC_UNSET]);
    rc_join(&page.arena);
    for (unsigned i = 0; i < result->messages.count; i++)
        add_message(&page, result->messages.list[i].id, result->messages.list[i].text);
    if (level > 1)
        add_plan(&page, &result->plan);
    shim_page_say(&page);
}

/* There is no resolver without a libc, but this node's name may be in the list at another place than RANK 0's. */
static bool is_other_host(const struct rc_result *result)
{
    const struct rc_facts *facts = &result->facts;
    char name[RC_NODE_NAME_SIZE];
    uint32_t index;

    if (!facts->hosts.p || facts->master_node == RC_UNKNOWN)
        return false;
    index = rc_hostlist_find_node(facts->hosts, rc_str(rc_node_name(name)));
    return index != RC_UNKNOWN && index != facts->master_node;
}

/* rc_rank0_verify() and rc_rank0_hold(). A name that only a resolver knows is no error. */
static bool shim_rank0(struct rc_result *result, int *fd)
{
    const struct rc_rank0 hooks = { .outcome = "nothing is set", .is_elsewhere = is_other_host };
    const struct rc_master *master = &result->master;

    *fd = -1;
    if (master->kind == RC_ADDRESS_INTERFACE || master->kind == RC_ADDRESS_NETWORK) {
        return rc_say(&result->messages, RC413,
                      "addr=%s needs a look at interfaces and names, which the preload library cannot take; "
                      "nothing is set; use rollcall exec, or a suffix of node names (addr=-ib)",
                      master->wish);
    }
    if (!rc_rank0_verify(result, &hooks) || !rc_rank0_hold(result, &hooks, fd))
        return false;
    rc_rank0_raise_limit(result);
    return true;
}

/* librollcall-preload.so: sets RANK and the like in tasks whose command line can't change.
 *
 *   LD_PRELOAD=/usr/lib/librollcall-preload.so python train.py
 *
 * The constructor runs before main of every program, sh, env and ls included, and must not disturb any:
 *
 * - It imports only `environ`. libc's setenv fails in bash and crashes programs that walk the environment after
 *   clearenv(); _FORTIFY_SOURCE kills every musl program (all measured). It exports nothing.
 * - Outside of tasks, and in a task's children, it reads the environment once and returns (shim.h).
 * - It binds workers of torchrun or Lightning if rollcall has divided the task's cores among them (shim.h).
 * - In doubt it changes nothing. It allocates nothing and starts nothing.
 * - It stamps the environment (ROLLCALL_SCOPE) and skips processes with the stamp of their launch, so all processes of
 *   a task share its identity. An inner launcher (mpirun in a task of srun) sets another one.
 *
 * It does nothing in static and setuid programs (shim_is_privileged), after `env -i`, and in 32-bit programs, which
 * need a 32-bit build.
 *
 * System calls are raw (lib/system/sys.h) on x86_64, aarch64, ppc64le and riscv64. Other architectures have none: the
 * master port is computed but not held, the local port range is Linux's default, and there is no output. */

/* Static, because a constructor must not use much of the first thread's stack. Untouched pages cost nothing. */
static struct rc_result result;
static char host_file[RC_HERE_FILE];
static struct rc_here_storage here;
static struct shim_table table;
static struct shim_pin pin;

static struct {
    struct rc_messages messages;
    struct rc_arena arena;
    char text[1024];
} own;

/* Print the first error unless the environment marks it as printed, and mark it there for child processes. */
static void report_error(const struct rc_messages *messages)
{
    struct shim_page page;
    const struct rc_message *error = rc_messages_error(messages);
    /* no message: it was too long for the arena */
    enum rc_message_id id = error ? error->id : RC502;
    const char *text = error ? error->text : "a value in the environment is too long; nothing is set";
    /* the hash only tells one error's text from another's */
    const char *mark = rc_format(&own.arena, "%s:%llu", rc_message_entry(id)->id,
                                 (unsigned long long)rc_hash(text, rc_str(text).n));

    if (rc_str_is(rc_env_get(&result.env, RC_REPORTED), mark))
        return;
    shim_page_open(&page);
    add_message(&page, id, text);
    if (!shim_page_say(&page))
        return;
    result.plan.count = 1;
    result.plan.entry[0] = (struct rc_plan_entry){ .action = RC_SET, .name = RC_STR(RC_REPORTED), .value = mark };
    shim_table_apply(&table, &result.env, &result.plan);
}

/* Return true if children can decide by launchers' variables alone: one launcher, which no process had to confirm, and
 * no child prints or is bound. */
static bool is_by_variables_only(uint32_t debug)
{
    return result.launcher->processes[0] && result.is_alone &&
           !(here.here.learned & (RC_LEARN_ANCESTORS | RC_LEARN_HOST)) && debug == 0 &&
           !rc_env_get(&result.env, RC_PINS).p && result.plan.count < RC_PLAN_MAX;
}

/* Add the new entries to the sum, or compute it again if entries were replaced. */
static void settle(struct shim_look *look)
{
    if (!table.added)
        look->sum = 0;
    shim_look_at(look, table.added ? table.added : environ);
    shim_settle(look);
}

static void apply_result(struct shim_look *look, uint32_t debug)
{
    static const char no_sum[SHIM_SUM + 1] = "----------------";
    bool settles;
    int fd;

    /* the descriptor stays open through exec and fork, for the process that listens in the end */
    if (!shim_rank0(&result, &fd)) {
        report_error(&result.messages);
        return;
    }
    rc_plan_own(&result);
    settles = is_by_variables_only(debug);
    if (settles)
        result.plan.entry[result.plan.count++] = (struct rc_plan_entry){ .action = RC_SET,
                                                                         .name = RC_STR(RC_SETTLED),
                                                                         .value = no_sum };
    if (!shim_table_apply(&table, &result.env, &result.plan)) {
        rc_port_release(fd);
        own.messages.count = 0;
        rc_say(&own.messages, RC503,
               "the environment of %u variables has no room for the job's; nothing is set; unset "
               "those that the job does not need",
               (uint32_t)result.env.count);
        report_error(&own.messages);
        return;
    }
    if (settles)
        settle(look);
    if (debug > 0)
        shim_report_result(&result, debug);
    else
        shim_report_warnings(&result.messages);
}

static void handle_task(struct shim_look *look, const char *const *argv)
{
    struct rc_context context = { .env = (const char *const *)environ, .indexed = true, .argv = argv };
    struct rc_options variable = { .given = false };
    uint32_t debug;

    own.arena = (struct rc_arena){ .base = own.text, .size = sizeof(own.text) };
    own.messages.arena = &own.arena;
    rc_env_index(&result.env, context.env);
    if (!rc_launcher_marks(&result.env) || shim_is_privileged(argv, result.env.count))
        return;
    if (!argv)
        context.argv = argv = shim_command_read();
    debug = rc_debug_level(rc_env_get(&result.env, RC_DEBUG));
    if (!rc_options_parse_variable(rc_env_get(&result.env, "ROLLCALL"), "ROLLCALL", &variable, &own.messages)) {
        report_error(&own.messages);
        return;
    }
    context.options = rc_options_combine(NULL, &variable, NULL);
    if (context.options.watch == RC_WATCH_ON)
        here.watch_relative = ROLLCALL_WATCH_FROM_PRELOAD;
    here.libraries_relative = ROLLCALL_PRELOAD_FROM_PRELOAD;
    here.file = host_file;
    context.pid = (uint32_t)rc_sys_getpid();
    rc_here_resolve(&context, &here, &result);

    if (result.status != RC_RESOLVED)
        report_error(&result.messages);
    else if (result.plan.count > 0)
        apply_result(look, debug);
    else if (debug > 1)
        shim_report_result(&result, debug);
    /* an outer launch binds no process of an inner one */
    if (result.status == RC_RESOLVED && result.plan.count == 0 && context.options.mode != RC_MODE_OFF)
        shim_pin(&pin, &result.env, argv, &table);
}

__attribute__((constructor)) static void start(int argc, char **argv, char **envp)
{
    struct shim_look look;

    shim_look_open(&look);
    shim_look_at(&look, environ);
    if (look.is_marked && !shim_is_settled(&look))
        handle_task(&look, shim_command_line(argc, argv, envp));
}
