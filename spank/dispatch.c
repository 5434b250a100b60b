/* SPDX-License-Identifier: BSD-3-Clause */
/* dispatch.c - the plugin's name and callbacks.
 *
 * No callback drains the node or loses the job: tasks report errors in task_init (measured on 22.05 and 24.11). Slurm
 * up to 24.11 treats negative results as failures, later releases all but 0. */
#include "config.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* symbols are hidden by default; Slurm finds these with dlsym */
#pragma GCC visibility push(default)
#include <slurm/spank.h>

SPANK_PLUGIN(rollcall, 1)

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
/* on failure keep the node in service */
int slurm_spank_init_failure_mode = ESPANK_JOB_FAILURE;
#endif
#pragma GCC visibility pop

#include "base/message.h"
#include "spank.h"

__attribute__((
    used)) static const char of_file[] = RC_PLUGIN_FOR_SLURM SLURM_SERIES RC_PLUGIN_OF_ROLLCALL PACKAGE_VERSION;

/* plugstack.conf may name this file twice, and Slurm calls it twice (plugin_in_list compares pointers). One file has
 * one set of variables, a copy elsewhere another. Ignore all lines but the first. */

static Dl_info own;
static Dl_info first; /* loaded first */

/* Plugins are loaded in order. glibc compares a name without a slash with each DT_SONAME in load order. */
static void find_first(void)
{
    void *file = dlopen("rollcall.so", RTLD_LAZY | RTLD_NOLOAD);

    dladdr(of_file, &own);
    if (!file || !dladdr(dlsym(file, "plugin_name"), &first))
        first = own;
    if (file)
        dlclose(file);
}

static bool is_copy;
static bool is_twice; /* until printed */

enum callback { INIT = 1, INIT_POST_OPT = 2, LOCAL_USER_INIT = 4, USER_INIT = 8, TASK_INIT = 16 };

/* Return whether this call belongs to an ignored line. */
static bool is_another(enum callback callback)
{
    static unsigned called;
    bool another = is_copy || (called & callback);

    called |= callback;
    return another;
}

static bool is_ddp(const char *word)
{
    return !strncmp(word, "--ddp", strlen("--ddp"));
}

/* For slurmd's log, and users of rollcall in srun. A copy has not registered --ddp. Slurm repeats init_post_opt for
 * each het component. */
static void say_twice(void)
{
    if (!is_twice)
        return;
    is_twice = false;
    if (spank_context() != S_CTX_REMOTE && !rc_spank_may_be_asked((const char *const *)environ) &&
        !rc_spank_is_on_command_line(is_ddp, INT_MAX))
        return;
    slurm_error("rollcall: warning %s: plugstack.conf, or what it includes, names rollcall.so twice: %s and %s; the "
                "second line does nothing; remove one of them",
                rc_message_entry(RC209)->id, first.dli_fname, own.dli_fname);
}

/* srun, sbatch or salloc. */
static bool is_command(void)
{
    return spank_context() == S_CTX_LOCAL || spank_context() == S_CTX_ALLOCATOR;
}

/* Runs as root in slurmd and slurmstepd: there, only register the option. */
int slurm_spank_init(spank_t spank, int argc, char *argv[])
{
    (void)argc, (void)argv;
    if (!is_command() && spank_context() != S_CTX_REMOTE)
        return 0;
    if (is_command())
        rc_spank_submit_begin(spank_context() == S_CTX_ALLOCATOR);
    find_first();
    is_copy = first.dli_fbase != own.dli_fbase;
    is_twice = is_another(INIT);
    if (!is_twice)
        rc_spank_register(spank);
    return 0;
}

/* Refuse invalid requests before a job or step exists. */
int slurm_spank_init_post_opt(spank_t spank, int argc, char *argv[])
{
    (void)spank;
    if (is_another(INIT_POST_OPT)) {
        say_twice();
        return 0;
    }
    rc_spank_read_arguments(argc, argv);
    /* Slurm ignores the result of an `optional` plugin (_do_call_stack) */
    if (is_command() && !(spank_context() == S_CTX_LOCAL ? rc_spank_srun_check() : rc_spank_check_environment()))
        _exit(1);
    return 0;
}

int slurm_spank_local_user_init(spank_t spank, int argc, char *argv[])
{
    if (is_another(LOCAL_USER_INIT))
        return 0;
    rc_spank_read_arguments(argc, argv);
    rc_spank_srun_begin(spank);
    return 0;
}

int slurm_spank_user_init(spank_t spank, int argc, char *argv[])
{
    if (is_another(USER_INIT))
        return 0;
    rc_spank_read_arguments(argc, argv);
    rc_spank_step_prepare(spank);
    return 0;
}

int slurm_spank_task_init(spank_t spank, int argc, char *argv[])
{
    if (is_another(TASK_INIT))
        return 0;
    rc_spank_read_arguments(argc, argv);
    rc_spank_batch_begin(spank);
    rc_spank_task_begin(spank);
    return 0;
}

/* In slurmstepd, once per task, as root. */
int slurm_spank_task_exit(spank_t spank, int argc, char *argv[])
{
    (void)argc, (void)argv;
    if (!is_copy)
        rc_spank_step_task_ended(spank);
    return 0;
}
