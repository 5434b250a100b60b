/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "server.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <slurm/slurm.h>

#include "base/stepserver.h"
#include "options.h"
#include "programs.h"
#include "rendezvous/listen.h"
#include "rendezvous/protocol.h"
#include "rendezvous/wire.h"
#include "resolve/precedence.h"
#include "system/program.h"

/* Higher than both descriptor numbers that the server expects (protocol.h), so that one
 * dup2 does not close the source of the other. */
enum { ABOVE = 16, ARGUMENTS_SIZE = 96, VARIABLE_SIZE = 128 };

/* A function of srun's own libslurmfull. Weak, because the plugin binds at start and is
 * loaded by other programs as well. */
extern slurm_conf_t slurm_conf __attribute__((weak));

/* SrunPortRange: firewalls let the nodes through to these ports of srun. */
static void port_range(uint16_t *first, uint16_t *last)
{
    const uint16_t *range = &slurm_conf ? slurm_conf.srun_port_range : NULL;

    *first = *last = 0;
    if (range && range[0] && range[0] <= range[1]) {
        *first = range[0];
        *last = range[1];
    }
}

static int raise_descriptor(int fd)
{
    int raised = fcntl(fd, F_DUPFD_CLOEXEC, ABOVE);

    close(fd);
    return raised;
}

/* Starts the server in a session of its own, because keys typed at the terminal are for
 * srun. It prints findings of the roll call to the standard error of srun. */
static bool start_program(int listener, int life, const char *token, const struct rc_server_settings *settings)
{
    char text[ARGUMENTS_SIZE];
    char variable[VARIABLE_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const char *argv[RC_SERVER_ARGUMENTS + 1];
    char *env[] = { variable, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    bool good;

    snprintf(variable, sizeof(variable), RC_SERVER_TOKEN "=%s", token);
    if (!rc_server_settings_write(settings, &arena, argv) || posix_spawn_file_actions_init(&actions) != 0)
        return false;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return false;
    }
    good = rc_program_signals(&attributes, POSIX_SPAWN_SETSID) == 0 &&
           posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
           posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
           posix_spawn_file_actions_adddup2(&actions, listener, RC_SERVER_LISTENER) == 0 &&
           posix_spawn_file_actions_adddup2(&actions, life, RC_SERVER_LIFE) == 0 &&
           posix_spawn(NULL, rc_spank_program(RC_EXCHANGE), &actions, &attributes, (char *const *)(uintptr_t)argv,
                       env) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return good;
}

static bool may_have_server(const struct rc_options *options)
{
    return (options->exchange == RC_EXCHANGE_UNSET || options->exchange == RC_EXCHANGE_AUTO ||
            options->exchange == RC_EXCHANGE_SRUN) &&
           !getenv("SLURM_HET_SIZE");
}

/* The write end of the pipe stays open in srun, and nowhere else: its end is the
 * server's sign to leave. */
static bool open_server(const struct rc_server_settings *settings, char token[RC_WIRE_TOKEN + 1], uint16_t *port)
{
    uint16_t first, last;
    int life[2] = { -1, -1 };
    int listener = -1;
    bool good = false;

    port_range(&first, &last);
    if (rc_wire_new_token(token) < 0 || (listener = rc_listen(first, last, port)) < 0)
        return false;
    listener = raise_descriptor(listener);
    if (pipe2(life, O_CLOEXEC) == 0) {
        life[0] = raise_descriptor(life[0]);
        life[1] = raise_descriptor(life[1]);
        good = listener >= 0 && life[0] >= 0 && life[1] >= 0 && start_program(listener, life[0], token, settings);
    }
    if (listener >= 0)
        close(listener);
    if (life[0] >= 0)
        close(life[0]);
    if (!good && life[1] >= 0)
        close(life[1]);
    return good;
}

static bool read_settings(spank_t spank, const struct rc_options *options, struct rc_server_settings *settings,
                          uint32_t *step)
{
    *settings = (struct rc_server_settings){ .seconds = rc_options_deadline(options),
                                             .check = rc_options_check(options),
                                             .same = rc_options_same(options),
                                             .watch_seconds = options->watch_seconds };
    if (spank_get_item(spank, S_JOB_NNODES, &settings->nodes) != ESPANK_SUCCESS)
        settings->nodes = 0;
    return spank_get_item(spank, S_JOB_ID, &settings->job) == ESPANK_SUCCESS &&
           spank_get_item(spank, S_JOB_STEPID, step) == ESPANK_SUCCESS;
}

/* Starts it. Returns what names it to the tasks, "" without one. */
static const char *start_server(spank_t spank, const struct rc_options *options, struct rc_arena *arena)
{
    char token[RC_WIRE_TOKEN + 1];
    struct rc_server_settings settings;
    uint32_t step;
    uint16_t port;

    if (!may_have_server(options) || !read_settings(spank, options, &settings, &step) ||
        !open_server(&settings, token, &port))
        return "";
    return rc_step_server_write(arena, token, port, settings.job, step);
}

void rc_spank_server_start(spank_t spank)
{
    char text[VARIABLE_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const char *value = "";
    struct rc_options options;

    if (rc_spank_asked_here(&options))
        value = start_server(spank, &options, &arena);
    /* a value from an outer step can only be emptied, not unset: srun has copied its
     * environment already and only adds what is set now
     * (srun_job.c:pre_launch_srun_job) */
    if (*value || getenv(RC_SERVER))
        setenv(RC_SERVER, value, 1);
}
