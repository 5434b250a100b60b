/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "rendezvous/discovery.h"
#include "system/node.h"
#include "system/program.h"

enum { ANSWER_SIZE = 1 << 20, ANSWER_MS = 10000 };

static char answer[ANSWER_SIZE];

static struct rc_str failure_line(const char *kind, const char *text)
{
    int n = snprintf(answer, sizeof(answer), "failed=%s %s\n", kind, text);

    return (struct rc_str){ answer, (size_t)n };
}

int cli_own_program(const char *name, char path[PATH_MAX])
{
    if (rc_beside_file(ROLLCALL_LIBEXEC_FROM_BIN, name, path, PATH_MAX).p)
        return access(path, X_OK);
    errno = ENOENT;
    return -1;
}

struct rc_str cli_pmix_ask(void)
{
    char path[PATH_MAX];
    int connection;
    const char **environment;
    char variable[RC_PMIX_VARIABLE];
    struct rc_program program = {
        .kind = RC_PROGRAM_PMIX, .path = path, .argument = "job", .kept = &connection, .milliseconds = ANSWER_MS
    };
    ssize_t size;
    int status;

    if (cli_own_program("rollcall-pmix", path) < 0)
        return failure_line("program", strerror(errno));
    environment = rc_pmix_environment(variable);
    if (!environment)
        return failure_line("program", strerror(ENOMEM));
    program.env = environment;
    size = rc_program_run(&program, answer, sizeof(answer), &status);
    free(environment);
    if (size == -ETIMEDOUT)
        return failure_line("server", "no answer within 10 s");
    if (size < 0 && size != -EMSGSIZE)
        return failure_line("program", strerror((int)-size));
    if (WIFSIGNALED(status) && size >= 0) {
        char text[64];

        snprintf(text, sizeof(text), "ended by signal %d", WTERMSIG(status));
        return failure_line("program", text);
    }
    /* with status 1 a line names the failure */
    if (size <= 0 || WEXITSTATUS(status) > 1 ||
        (WEXITSTATUS(status) == 1 && !rc_program_reason(rc_str(answer), "failed=").p))
        return failure_line("answer", size ? "it was cut off" : "there is none");
    return (struct rc_str){ answer, (size_t)size };
}
