/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "pmix.h"

/* A text that RANK 0's node tells all others: where they meet (lib/rendezvous).
 *
 * One key for the launch's roll call, one for the store server of its tasks: what is put
 * stays, and a second reader gets the same text. */

enum { LINE_SIZE = 4096, PAUSE_FIRST_MS = 1, PAUSE_LAST_MS = 50 };

/* Puts the line on standard input where the others find it. 0, or -1 after pmix_fail().
 * No fence: on Slurm one without data is no barrier, and one that a single task does
 * not reach holds up all others. A key that is written once needs none. */
static int put_endpoint(const pmix_proc_t *self, const char *key)
{
    char line[LINE_SIZE];
    pmix_value_t value = { .type = PMIX_STRING, .data.string = line };
    pmix_status_t status;

    (void)self;
    if (!fgets(line, sizeof(line), stdin))
        return pmix_fail("program", "nothing to put", "");
    line[strcspn(line, "\n")] = '\0';
    status = pmix_library.put(PMIX_GLOBAL, key, &value);
    if (status == PMIX_SUCCESS)
        status = pmix_library.commit();
    return status == PMIX_SUCCESS ? 0 : pmix_fail("server", "PMIx_Put", pmix_library.error_string(status));
}

/* Prints what rank 0 has put there, as "endpoint=TEXT", as soon as it has: until then it asks again and again, and
 * blocks where the server does (PMIx 4 without end, 5 not at all: measured). The process's own deadline ends it. */
static int print_endpoint(const pmix_proc_t *self, const char *key)
{
    for (int pause = PAUSE_FIRST_MS;; pause = 2 * pause < PAUSE_LAST_MS ? 2 * pause : PAUSE_LAST_MS) {
        const struct timespec time = { .tv_nsec = pause * 1000000L };
        pmix_status_t status;
        const pmix_value_t *value = pmix_find_value(self, 0, key, &status);

        if (value && value->type == PMIX_STRING && value->data.string) {
            printf("endpoint=%s\n", value->data.string);
            return 0;
        }
        /* not there yet, by two names */
        if (status != PMIX_ERR_NOT_FOUND && status != PMIX_ERR_TIMEOUT)
            return pmix_fail_key(key, 0, value ? "is no text" : pmix_library.error_string(status));
        nanosleep(&time, NULL);
    }
}

/* rollcall-pmix - one short session with the PMIx server of the launcher that started this task.
 *
 *   rollcall-pmix job   says who the task is and what the job looks like (job.c)
 *   rollcall-pmix put   tells the job's other nodes where to meet (above)
 *   rollcall-pmix get   asks where
 *   rollcall-pmix put-store, get-store   the same for the store server of its tasks
 *
 * A program of its own, because PMIx must not stay connected in an application (Slurm ends a step in which a connected
 * process ends without a word), keeps a thread, and reads whatever plugins it finds: none of that belongs into the
 * process that becomes the user's. PMIx_Init, a question, PMIx_Finalize. The bare connection is handed on to who asks
 * (pmix.h).
 *
 * Prints lines NAME=VALUE, all of them or one that says what failed, and ends with 0 or 1. It may not take longer than
 * DEADLINE seconds: a server that hangs ends it by SIGALRM, a caller that does not want to wait so long by SIGKILL.
 */

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

static const struct verb {
    const char *name;
    int (*answer)(const pmix_proc_t *self, const char *key);
    const char *key;
    unsigned seconds;
} verbs[] = {
    { "job", NULL, NULL, DEADLINE },
    { "put", put_endpoint, KEY_OF_SERVER, DEADLINE_OF_ENDPOINT },
    { "get", print_endpoint, KEY_OF_SERVER, DEADLINE_OF_ENDPOINT },
    { "put-store", put_endpoint, KEY_OF_STORE, DEADLINE_OF_ENDPOINT },
    { "get-store", print_endpoint, KEY_OF_STORE, DEADLINE_OF_ENDPOINT },
};

int main(int argc, char **argv)
{
    const struct verb *verb = verbs;
    const struct verb *end = verbs + sizeof(verbs) / sizeof(*verbs);
    pmix_proc_t self;
    pmix_status_t status;
    int connection;
    int answer;

    while (verb < end && (argc != 2 || strcmp(argv[1], verb->name) != 0))
        verb++;
    if (verb == end) {
        fputs("usage: rollcall-pmix job|put|get|put-store|get-store (rollcall's own; see rollcall --help)\n", stderr);
        return 2;
    }
    /* the answer is of no use once the caller is gone */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_deadline(verb->seconds);
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
    answer = verb->answer ? verb->answer(&self, verb->key) : pmix_print_job(&self);
    pmix_library.finalize(NULL, 0);
    pmix_connection_hand_over(connection);
    return answer < 0 || fflush(stdout) != 0;
}
