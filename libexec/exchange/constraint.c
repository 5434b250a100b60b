/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "constraint.h"

#include <stdio.h>
#include <sys/wait.h>

#include "system/program.h"

enum { ANSWER_SIZE = 65536, PATIENCE_MS = 3000, NUMBER_SIZE = 16 };

extern char **environ;

bool exchange_is_of_several_kinds(struct rc_str constraint)
{
    unsigned depth = 0;

    for (size_t i = 0; i < constraint.n; i++) {
        char c = constraint.p[i];

        if (c == '*' || (c == '|' && depth == 0))
            return true;
        depth += c == '[';
        depth -= c == ']' && depth > 0;
    }
    return false;
}

/* The token of the server is not for others. */
static void choose_environment(const char *env[RC_PROGRAM_SLURM_VARIABLES + 1])
{
    unsigned count = 0;

    for (char **variable = environ; *variable && count < RC_PROGRAM_SLURM_VARIABLES; variable++)
        if (rc_program_is_slurm_variable(*variable))
            env[count++] = *variable;
    env[count] = NULL;
}

bool exchange_asked_for_several_kinds(uint32_t job)
{
    static char answer[ANSWER_SIZE];
    char number[NUMBER_SIZE];
    const char *env[RC_PROGRAM_SLURM_VARIABLES + 1];
    const char *const words[] = { "--oneliner", "show", "job", number, NULL };
    const struct rc_program program = {
        .kind = RC_PROGRAM_USER,
        .path = "/usr/bin/env",
        .argument = "scontrol",
        .more = words,
        .env = env,
        .milliseconds = PATIENCE_MS,
    };
    struct rc_str rest;
    int status;
    ssize_t n;

    choose_environment(env);
    snprintf(number, sizeof(number), "%u", (unsigned)job);
    n = rc_program_run(&program, answer, sizeof(answer), &status);
    rest = n > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? (struct rc_str){ answer, (size_t)n } : RC_ABSENT;
    while (rest.p) {
        struct rc_str value;
        struct rc_str name = rc_str_split(rc_str_split(rest, ' ', &rest), '=', &value);

        if (rc_str_is(name, "Features"))
            return exchange_is_of_several_kinds(value);
    }
    return false;
}
