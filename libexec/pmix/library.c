/* SPDX-License-Identifier: BSD-3-Clause */
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libpmix.so.2"

struct pmix_library pmix_library;

int pmix_fail(const char *kind, const char *what, const char *why)
{
    printf("failed=%s %s%s%s\n", kind, what, *why ? ": " : "", why);
    return -1;
}

/* POSIX's way from an object's address to a function's. */
static int find_symbol(void *handle, const char *name, void *function)
{
    void *address = dlsym(handle, name);

    if (!address)
        return pmix_fail("library", name, LIBRARY " has no such function");
    memcpy(function, &address, sizeof(address));
    return 0;
}

/* "/a/folder/libpmix.so.2: file too short"; another library's name stays. */
static const char *behind_name(const char *error)
{
    const char *name = strstr(error, LIBRARY ": ");

    return name ? name + strlen(LIBRARY ": ") : error;
}

int pmix_open_library(void)
{
    /* global: its plugins look for the library's names */
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);

    if (!handle)
        return pmix_fail("library", behind_name(dlerror()), "");
    if (find_symbol(handle, "PMIx_Init", &pmix_library.init) < 0 ||
        find_symbol(handle, "PMIx_Get", &pmix_library.get) < 0 ||
        find_symbol(handle, "PMIx_Put", &pmix_library.put) < 0 ||
        find_symbol(handle, "PMIx_Commit", &pmix_library.commit) < 0 ||
        find_symbol(handle, "PMIx_Finalize", &pmix_library.finalize) < 0 ||
        find_symbol(handle, "PMIx_Error_string", &pmix_library.error_string) < 0)
        return -1;
    return 0;
}

const pmix_value_t *pmix_find_value(const pmix_proc_t *self, pmix_rank_t rank, const char *key, pmix_status_t *status)
{
    pmix_proc_t proc = *self;
    pmix_value_t *value = NULL;

    proc.rank = rank;
    *status = pmix_library.get(&proc, key, NULL, 0, &value);
    return *status == PMIX_SUCCESS ? value : NULL;
}

int pmix_fail_key(const char *key, pmix_rank_t rank, const char *why)
{
    char what[128];

    if (rank == PMIX_RANK_WILDCARD)
        snprintf(what, sizeof(what), "%s of the job", key);
    else
        snprintf(what, sizeof(what), "%s of rank %u", key, rank);
    return pmix_fail("answer", what, why);
}
