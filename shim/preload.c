/* SPDX-License-Identifier: BSD-3-Clause */
/* preload.c - librollcall-preload.so: sets RANK and the like in tasks whose command line can't change.
 *
 *   LD_PRELOAD=/usr/lib/librollcall-preload.so python train.py
 *
 * Its constructor runs before main of every program that is started, sh, env
 * and ls included. So it must not disturb any of them:
 *
 * - It imports `environ` and nothing else: no libc, no malloc, no setenv. A
 *   shim that calls libc's setenv does not work in bash, crashes programs that
 *   walk the environment after clearenv(), and one that was built with
 *   _FORTIFY_SOURCE kills every musl program (all measured). It exports
 *   nothing, and needs no other library.
 * - Outside of a task (no launcher's variable is there) it looks through the
 *   environment once and returns. It never prints anything there.
 * - It binds a worker that torchrun or Lightning has started to its own cores, where
 *   rollcall has divided the task's cores among the workers (pin.h).
 * - In any doubt it changes nothing. It never fails, prints once or nothing
 *   (report.h), allocates nothing, starts nothing.
 * - It stamps the environment (ROLLCALL_SCOPE), and leaves a process alone that finds
 *   the stamp of its own launch. So bash, the Python that bash starts, and Python's
 *   children all have the identity of the task. A launcher further inside (mpirun in
 *   a task of srun) gets its own.
 * - After a fork nothing has to be done. An exec runs the constructor again, in the new
 *   program, with the environment that its parent gave it.
 *
 * By design it does nothing in static programs (they have no loader),
 * setuid ones (see shim_is_privileged), programs started with an emptied environment
 * (`env -i`), 32-bit programs (the loader says "wrong ELF class" and goes on;
 * a 32-bit build of this library serves them).
 *
 * System calls are raw ones (lib/system/sys.h), of x86_64, aarch64, ppc64le and
 * riscv64. Other architectures go without: there the master port is computed but not
 * held, the range of local ports is taken to be Linux's default, and there is no output.
 */
#include "config.h"

#include "effects/here.h"
#include "launcher/registry.h"
#include "pin.h"
#include "process.h"
#include "rank0.h"
#include "report.h"
#include "resolve/resolve.h"
#include "system/node.h"
#include "system/port.h"
#include "system/sys.h"
#include "table.h"

/* Static, because a constructor must not use much of the first thread's stack. Pages
 * that are not touched cost nothing. */
static struct rc_result result;
static struct rc_here_storage here;
static struct shim_table table;
static struct shim_pin pin;

static struct {
    struct rc_messages messages;
    struct rc_arena arena;
    char text[1024];
} own;

static bool publish_plan(const struct rc_plan *plan)
{
    char **changed = shim_table_apply(&table, environ, &result.env, plan);

    if (changed)
        environ = changed;
    return changed != NULL;
}

/* Prints an error and marks it in the environment, so that the programs that this
 * one starts do not print it again. Changes nothing else. */
static void report_error(const struct rc_messages *messages)
{
    struct rc_str reported = rc_env_get(&result.env, RC_REPORTED);
    const char *mark = shim_report_error(messages, reported, &own.arena);

    if (!mark)
        return;
    result.plan.count = 1;
    result.plan.entry[0] = (struct rc_plan_entry){ .action = RC_SET, .name = RC_STR(RC_REPORTED), .value = mark };
    publish_plan(&result.plan);
}

/* Reading the range of local ports takes three system calls. A process with its own
 * task's stamp, as nearly all have, is recognised without it. */
static void resolve_task(struct rc_context *context)
{
    if (rc_env_get(&result.env, RC_STAMP).p) {
        rc_here_resolve(context, &here, &result);
        if (result.stamped || result.plan.count == 0 || result.mode == RC_MODE_NONE)
            return;
        rc_node_port_range(&context->local_port_first, &context->local_port_last);
        rc_resolve_again(context, &result);
        return;
    }
    rc_node_port_range(&context->local_port_first, &context->local_port_last);
    rc_here_resolve(context, &here, &result);
}

static void apply_result(uint32_t debug)
{
    int fd;

    /* the descriptor stays open through exec and fork, for the process that listens in the end */
    if (!shim_rank0(&result, &fd)) {
        report_error(&result.messages);
        return;
    }
    if (!publish_plan(&result.plan)) {
        rc_port_release(fd);
        if (debug > 0)
            shim_report_nothing("the environment has more variables than the shim's table");
        return;
    }
    if (debug > 0)
        shim_report_result(&result, debug);
}

static void handle_task(const char *const *argv)
{
    struct rc_context context = { .env = (const char *const *)environ, .indexed = true, .argv = argv };
    uint32_t debug;

    own.arena = (struct rc_arena){ .base = own.text, .size = sizeof(own.text) };
    rc_env_index(&result.env, context.env);
    if (shim_is_privileged(argv, result.env.count))
        return;
    debug = rc_debug_level(rc_env_get(&result.env, RC_DEBUG));
    if (!rc_options_from_env(&result.env, &context.options, &own.messages, &own.arena)) {
        report_error(&own.messages);
        return;
    }
    context.options.by_user = context.options.given;
    if (context.options.watch == RC_WATCH_ON)
        here.watch_relative = ROLLCALL_WATCH_FROM_PRELOAD;
    here.libraries_relative = ROLLCALL_PRELOAD_FROM_PRELOAD;
    context.pid = rc_sys_getpid();
    resolve_task(&context);

    if (result.status != RC_RESOLVED)
        report_error(&result.messages);
    else if (result.plan.count > 0)
        apply_result(debug);
    else if (debug > 1)
        shim_report_result(&result, debug);
    /* a process that belongs to an inner launch gets no cores from an outer one */
    if (result.status == RC_RESOLVED && result.plan.count == 0 && context.options.mode != RC_MODE_OFF)
        shim_pin(&pin, &result.env, argv, &table);
}

__attribute__((constructor)) static void start(int argc, char **argv, char **envp)
{
    if (rc_launcher_marked((const char *const *)environ))
        handle_task(shim_command_line(argc, argv, envp));
}
