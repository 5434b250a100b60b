/* SPDX-License-Identifier: BSD-3-Clause */
#include "endpoint.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "library.h"

enum { LINE_SIZE = 4096, PAUSE_FIRST_MS = 1, PAUSE_LAST_MS = 50 };

/* No fence: on Slurm one without data is no barrier, and one that a single task does
 * not reach holds up all others. A key that is written once needs none. */
int pmix_put_endpoint(const char *key)
{
    char line[LINE_SIZE];
    pmix_value_t value = { .type = PMIX_STRING, .data.string = line };
    pmix_status_t status;

    if (!fgets(line, sizeof(line), stdin))
        return pmix_fail("program", "nothing to put", "");
    line[strcspn(line, "\n")] = '\0';
    status = pmix_library.put(PMIX_GLOBAL, key, &value);
    if (status == PMIX_SUCCESS)
        status = pmix_library.commit();
    return status == PMIX_SUCCESS ? 0 : pmix_fail("server", "PMIx_Put", pmix_library.error_string(status));
}

static void pause_for(int milliseconds)
{
    const struct timespec t = { .tv_nsec = milliseconds * 1000000L };

    nanosleep(&t, NULL);
}

int pmix_print_endpoint(const pmix_proc_t *self, const char *key)
{
    for (int pause = PAUSE_FIRST_MS;; pause = 2 * pause < PAUSE_LAST_MS ? 2 * pause : PAUSE_LAST_MS) {
        pmix_status_t status;
        const pmix_value_t *value = pmix_find_value(self, 0, key, &status);

        if (value && value->type == PMIX_STRING && value->data.string) {
            printf("endpoint=%s\n", value->data.string);
            return 0;
        }
        /* not there yet, by two names */
        if (status != PMIX_ERR_NOT_FOUND && status != PMIX_ERR_TIMEOUT)
            return pmix_fail_key(key, 0, value ? "is no text" : pmix_library.error_string(status));
        pause_for(pause);
    }
}
