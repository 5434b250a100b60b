/* SPDX-License-Identifier: BSD-3-Clause */
/* discovery.h - where a launch's store is; the PMIx server. */
#pragma once

#include "rendezvous/local.h"
#include "resolve/resolve.h"

/* How the tasks of a launch find the server whose store they exchange values in (client.h).
 *
 *   SRUN   srun's rendezvous server, as long as srun is there: the environment names it
 *   NODE   one node: rank 0's process, the root, starts a store server (rollcall-exchange
 *          store); the node's other processes hear of it at a local name (local.h)
 *   PMIX   several nodes: the same, and the others hear of it from their PMIx server
 *
 * Nothing is opened, asked or started before rc_discovery_open. */

enum rc_discovery_kind { RC_DISCOVERY_NONE, RC_DISCOVERY_SRUN, RC_DISCOVERY_NODE, RC_DISCOVERY_PMIX };

enum { RC_DISCOVERY_TEXT = 4096, RC_DISCOVERY_SCOPE = 17 };

/* No pointers into anything that the caller of rc_discovery_find owns. */
struct rc_discovery {
    enum rc_discovery_kind kind;
    char scope[RC_DISCOVERY_SCOPE];   /* the launch, the same in all its tasks, and another in the next one */
    char name[RC_LOCAL_NAME];         /* of NODE and PMIX */
    bool is_root;                     /* of NODE and PMIX: this process is to start a store server */
    bool is_near;                     /* it can hear of it at the name; of PMIX: it may */
    bool is_by_hand;                  /* this process's parent is not a launcher that started the others as well */
    char endpoint[RC_DISCOVERY_TEXT]; /* of SRUN: "TOKEN PORT HOST..." */
    const char *why;                  /* of NONE: static text */
    const char *cure;                 /* of NONE and PMIX: what to do if the tasks do not meet; static text */
};

/* How this process finds the store of its own launch, from the environment and
 * node in the result. NONE where it cannot. */
void rc_discovery_find(const struct rc_result *result, struct rc_discovery *discovery);

/* Where the store server is, "TOKEN PORT HOST..."; waits for it until `deadline`
 * (rc_milliseconds). Returns 0; -ETIMEDOUT where it is not known by then; or -EIO,
 * with the reason in `text`. */
int rc_discovery_open(const struct rc_discovery *discovery, int64_t deadline, char text[RC_DISCOVERY_TEXT]);

/* Whether it is this very launch's, and not an outer one's whose variables are left. */
bool rc_pmix_server_is_own(const struct rc_result *result);

/* NULL if Slurm's server can carry a request to rank 0's node; else why not, as static text. */
const char *rc_pmix_server_unreached(const struct rc_facts *facts);

#define RC_PMIX_GDS "PMIX_MCA_gds"

/* What it has to be, by PMIX_VERSION, in the environment of rollcall-pmix and of
 * all tasks of the node, unless it says something there; NULL: nothing. */
const char *rc_pmix_server_gds(struct rc_str version);

enum { RC_PMIX_VARIABLE = 64 };

/* A copy of this process's environment with that, which is written to `variable`. To be freed; NULL without memory. */
const char **rc_pmix_environment(char variable[RC_PMIX_VARIABLE]);
