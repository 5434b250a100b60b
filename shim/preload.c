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

/* What the shim says, which is nothing unless it must.
 *
 * Outside of a task: nothing at any time (a program's standard error must be the same with and without the shim).
 * Inside: an error, once for the program that the launcher started and not again by the programs that this one starts;
 * a warning that no other task knows of; and with ROLLCALL_DEBUG what was done. */

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

/* The warnings that each task says for itself. */
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

/* ROLLCALL_DEBUG for a task whose plan has been carried out. */
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

/* What RANK 0's process does for all processes (lib/effects/rank0.h), without a libc. */

/* Names cannot be looked up without a libc, but this node's own name may be another one of the list than RANK 0's. */
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

/* Does what result->master asks of this process. *fd is the descriptor that holds the port, or -1 where none is held.
 * False, with an error in result->messages, where MASTER_ADDR is another node, or where another program has the port.
 * It is no error if that cannot be found out here (a name that only a resolver knows, a sandbox without sockets). */
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
 * Its constructor runs before main of every program that is started, sh, env
 * and ls included. So it must not disturb any of them:
 *
 * - It imports `environ` and nothing else: no libc, no malloc, no setenv. A shim that calls libc's setenv does not work
 *   in bash, crashes programs that walk the environment after clearenv(), and one that was built with _FORTIFY_SOURCE
 *   kills every musl program (all measured). It exports nothing, and needs no other library.
 * - Outside of a task (no launcher's variable is there), and in the processes that a task starts, it looks through the
 *   environment once and returns (shim.h). It never prints anything there.
 * - It binds a worker that torchrun or Lightning has started to its own cores, where
 *   rollcall has divided the task's cores among the workers (shim.h).
 * - In any doubt it changes nothing. It never fails, prints once or nothing, allocates nothing, starts nothing.
 * - It stamps the environment (ROLLCALL_SCOPE), and leaves a process alone that finds the stamp of its own launch. So
 *   bash, the Python that bash starts, and Python's children all have the identity of the task. A launcher further
 *   inside (mpirun in a task of srun) gets its own.
 * - After a fork nothing has to be done. An exec runs the constructor again, in the new
 *   program, with the environment that its parent gave it.
 *
 * By design it does nothing in static programs (they have no loader), setuid ones (see shim_is_privileged), programs
 * started with an emptied environment (`env -i`), 32-bit programs (the loader says "wrong ELF class" and goes on; a
 * 32-bit build of this library serves them).
 *
 * System calls are raw ones (lib/system/sys.h), of x86_64, aarch64, ppc64le and
 * riscv64. Other architectures go without: there the master port is computed but not
 * held, the range of local ports is taken to be Linux's default, and there is no output. */

/* Static, because a constructor must not use much of the first thread's stack. Pages
 * that are not touched cost nothing. */
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

/* Prints the first error, unless it is marked in the environment, and marks it there: the programs that this one starts
 * do not print it again, but try where it could not be said. Changes nothing else. */
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

/* Whether nothing but launchers' variables can give this task's processes something to do: not if processes of the node
 * tell which launch this is, nor beside another launcher, nor if each prints something or may be bound. */
static bool is_by_variables_only(uint32_t debug)
{
    return result.launcher->processes[0] && result.is_alone &&
           !(here.here.learned & (RC_LEARN_ANCESTORS | RC_LEARN_HOST)) && debug == 0 &&
           !rc_env_get(&result.env, RC_PINS).p && result.plan.count < RC_PLAN_MAX;
}

/* New entries count beside those that were there; if some are others now, all are looked at again. */
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
    /* a process that belongs to an inner launch gets no cores from an outer one */
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
