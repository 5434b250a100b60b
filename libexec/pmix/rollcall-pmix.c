/* SPDX-License-Identifier: BSD-3-Clause */
/* rollcall-pmix - one short session with the PMIx server of the launcher that started this task.
 *
 *   rollcall-pmix job   says who the task is and what the job looks like (job.h)
 *   rollcall-pmix put   tells the job's other nodes where to meet (endpoint.h)
 *   rollcall-pmix get   asks where
 *   rollcall-pmix put-store, get-store   the same for the store server of its tasks
 *
 * A program of its own, because PMIx must not stay connected in an application
 * (Slurm ends a step in which a connected process ends without a word), keeps a
 * thread, and reads whatever plugins it finds: none of that belongs into the
 * process that becomes the user's. PMIx_Init, a question, PMIx_Finalize. The bare
 * connection is handed on to who asks (connection.h).
 *
 * Prints lines NAME=VALUE, all of them or one that says what failed, and ends
 * with 0 or 1. It may not take longer than DEADLINE seconds: a server that
 * hangs ends it by SIGALRM, a caller that does not want to wait so long by SIGKILL.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "connection.h"
#include "endpoint.h"
#include "job.h"
#include "library.h"

enum { DEADLINE = 10, DEADLINE_OF_ENDPOINT = 600 }; /* seconds; the caller waits a little longer, or less */

/* Whatever the launcher left ignored or blocked. */
static void set_deadline(unsigned seconds)
{
    sigset_t alarms;

    signal(SIGALRM, SIG_DFL);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    alarm(seconds);
}

static bool is_verb(const char *what)
{
    static const char *const verbs[] = { "job", "put", "get", "put-store", "get-store" };

    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
        if (strcmp(what, verbs[i]) == 0)
            return true;
    return false;
}

static int answer_to(const char *what, const pmix_proc_t *self)
{
    const char *key = strstr(what, "-store") ? KEY_OF_STORE : KEY_OF_SERVER;

    return *what == 'j' ? pmix_print_job(self) : *what == 'p' ? pmix_put_endpoint(key) : pmix_print_endpoint(self, key);
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";
    pmix_proc_t self;
    pmix_status_t status;
    int connection;
    int answer;

    if (!is_verb(what)) {
        fputs("usage: rollcall-pmix job|put|get|put-store|get-store (rollcall's own; see rollcall --help)\n", stderr);
        return 2;
    }
    /* the answer is of no use once the caller is gone */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_deadline(*what == 'j' ? DEADLINE : DEADLINE_OF_ENDPOINT);
    memset(&self, 0, sizeof(self));
    if (pmix_open_library() < 0)
        return 1;
    pmix_connection_expect();
    status = pmix_library.init(&self, NULL, 0);
    if (status != PMIX_SUCCESS) {
        pmix_fail("server", "PMIx_Init", pmix_library.error_string(status));
        return 1;
    }
    connection = pmix_connection_copy();
    answer = answer_to(what, &self);
    pmix_library.finalize(NULL, 0);
    pmix_connection_hand_over(connection);
    return answer < 0 || fflush(stdout) != 0;
}
