/* SPDX-License-Identifier: BSD-3-Clause */
/* preload.c - librollcall-preload.so: an identity for tasks whose command line can't change.
 *
 *   LD_PRELOAD=/usr/lib/librollcall-preload.so python train.py
 *
 * Its constructor runs before main of every program that is started, sh, env
 * and ls included. So it is built to be no trouble to any of them:
 *
 * - It imports `environ` and nothing else: no libc, no malloc, no setenv. A
 *   shim that calls libc's setenv does not work in bash, crashes programs that
 *   walk the environment after clearenv(), and one that was built with
 *   _FORTIFY_SOURCE kills every musl program (all measured). It exports
 *   nothing, and needs no other library.
 * - Outside of a task (no launcher's variable is there) it looks through the
 *   environment once and returns; it has nothing to say there at any time.
 * - A worker that torchrun or Lightning has started in a task whose cores rollcall
 *   has dealt out goes to its own (pin.h).
 * - On any doubt it changes nothing. It never fails, prints once or nothing
 *   (report.h), allocates nothing, starts nothing.
 * - What it exports is stamped (ROLLCALL_SCOPE), and a process that finds the
 *   stamp of its own launch is left alone. So bash, the Python that it starts
 *   and that one's children all have the identity of the task; a launcher
 *   further inside (mpirun in a task of srun) gets its own.
 * - A fork has nothing to do; an exec runs the constructor again, in the new
 *   program, with the environment that its parent gave it.
 *
 * Where no identity comes about by design: static programs (they have no loader),
 * setuid ones (see shim_is_privileged), programs started with an emptied environment
 * (`env -i`), 32-bit programs (the loader says "wrong ELF class" and goes on;
 * a 32-bit build of this library serves them).
 *
 * System calls are raw ones (lib/system/sys.h), of x86_64, aarch64, ppc64le and
 * riscv64. On other architectures what needs one is left out: the master port
 * is computed but not held, the range of local ports is taken to be Linux's
 * default, and there is no output.
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

/* Static, because a constructor has no right to a large piece of the first
 * thread's stack. Pages that are not touched cost nothing. */
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

/* Says an error and leaves a mark of it in the environment, so that the
 * programs that this one starts do not say it again. Nothing else is changed. */
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

/* The range of local ports costs three system calls: a process that carries
 * its own task's stamp, which is nearly every one, is recognised without. */
static void resolve_task(struct rc_context *context)
{
    if (rc_env_get(&result.env, RC_STAMP).p) {
        rc_here_resolve(context, &here, &result);
        if (result.stamped || result.plan.count == 0)
            return;
    }
    rc_node_port_range(&context->local_port_first, &context->local_port_last);
    rc_here_resolve(context, &here, &result);
}

static void apply_result(uint32_t debug)
{
    int fd;

    /* the descriptor goes through exec and fork to whichever process listens in the end */
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
    debug = shim_debug_level(rc_env_get(&result.env, RC_DEBUG));
    if (!rc_options_from_env(&result.env, &context.options, &own.messages, &own.arena)) {
        report_error(&own.messages);
        return;
    }
    context.options.by_user = context.options.given;
    if (context.options.watch == RC_WATCH_ON)
        here.watch_relative = ROLLCALL_WATCH_FROM_PRELOAD;
    if (context.options.guard == RC_GUARD_NCCL)
        here.guard_relative = ROLLCALL_PRELOAD_FROM_PRELOAD;
    context.pid = rc_sys_getpid();
    resolve_task(&context);

    if (result.status != RC_RESOLVED)
        report_error(&result.messages);
    else if (result.plan.count > 0)
        apply_result(debug);
    else if (debug > 1)
        shim_report_result(&result, debug);
    /* one that has a launch of its own gets no cores from one further outside */
    if (result.status == RC_RESOLVED && result.plan.count == 0 && context.options.mode != RC_MODE_OFF)
        shim_pin(&pin, &result.env, argv, &table);
}

__attribute__((constructor)) static void start(int argc, char **argv, char **envp)
{
    if (rc_launcher_marked((const char *const *)environ))
        handle_task(shim_command_line(argc, argv, envp));
}
