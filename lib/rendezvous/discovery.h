/* SPDX-License-Identifier: BSD-3-Clause */
/* discovery.h - find the server of a launch; query the PMIx server. */
#pragma once

#include "rendezvous/local.h"
#include "rendezvous/wire.h"
#include "resolve/resolve.h"

/* Sources of the endpoint:
 *
 *   SRUN   the environment, while srun lives
 *   NODE   one node: rank 0's process, the root, starts rollcall-exchange at a local name (local.h)
 *   PMIX   several nodes: as NODE, and the others query their PMIx server
 *
 * The root's server is a daemon, and ends ten seconds after its owner: the root, or with PMIX its parent. Only
 * rc_discovery_open has effects. */

enum rc_discovery_kind { RC_DISCOVERY_NONE, RC_DISCOVERY_SRUN, RC_DISCOVERY_NODE, RC_DISCOVERY_PMIX };

enum { RC_DISCOVERY_TEXT = 4096, RC_DISCOVERY_SCOPE = 17 };

/* Independent of the caller's data. */
struct rc_discovery {
    enum rc_discovery_kind kind;
    char scope[RC_DISCOVERY_SCOPE];   /* of the launch, equal in all its tasks */
    char name[RC_LOCAL_NAME];         /* local; of NODE and PMIX */
    bool is_root;                     /* this process starts the server; of NODE and PMIX */
    bool is_near;                     /* the local name works, with PMIX perhaps */
    bool is_by_hand;                  /* the parent process did not start the other tasks */
    char endpoint[RC_DISCOVERY_TEXT]; /* of SRUN: "TOKEN PORT HOST..." */
    const char *why;                  /* of NONE: static text */
    const char *cure;                 /* of NONE and PMIX: advice if the tasks do not meet; static text */
};

/* How to start a server. */
struct rc_tools {
    const char *exchange;               /* path, beside rollcall-pmix; NULL: the library's */
    const char *const *env;             /* of these programs; NULL: this process's */
    struct rc_server_settings settings; /* zero: no roll call */
};

/* Find the server of this process's launch, or NONE. */
void rc_discovery_find(const struct rc_result *result, struct rc_discovery *discovery);

/* The same for a node's calling task, over PMIx. */
void rc_discovery_of_nodes(const struct rc_result *result, struct rc_discovery *discovery);

/* Write "TOKEN PORT HOST...", waiting until `deadline` (rc_milliseconds). Return 0; -ETIMEDOUT; or -EIO, with the
 * reason in `text`. */
int rc_discovery_open(const struct rc_discovery *discovery, const struct rc_tools *tools, int64_t deadline,
                      char text[RC_DISCOVERY_TEXT]);

/* Return whether the PMIx server belongs to this launch, not an outer one. */
bool rc_pmix_server_is_own(const struct rc_result *result);

/* Return NULL if Slurm's PMIx server can reach rank 0's node; else a static reason. */
const char *rc_pmix_server_unreached(const struct rc_facts *facts);

#define RC_PMIX_GDS "PMIX_MCA_gds"

/* Return the PMIX_MCA_gds that rollcall-pmix and all tasks of the node need with this PMIX_VERSION, if unset; NULL:
 * none. */
const char *rc_pmix_server_gds(struct rc_str version);

enum { RC_PMIX_VARIABLE = 64 };

/* Return a copy of environ with that variable, which `variable` backs. Free it; NULL without memory. */
const char **rc_pmix_environment(char variable[RC_PMIX_VARIABLE]);
