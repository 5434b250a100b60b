/* SPDX-License-Identifier: BSD-3-Clause */
/* discovery.h - where a launch's server is; the PMIx server. */
#pragma once

#include "rendezvous/local.h"
#include "rendezvous/wire.h"
#include "resolve/resolve.h"

/* How the processes of a launch find its server.
 *
 *   SRUN   srun's, as long as srun is there: the environment names it
 *   NODE   one node: rank 0's process, the root, starts one (rollcall-exchange server), which listens at a local name
 *          (local.h)
 *   PMIX   several nodes: the same, and the other nodes learn from their PMIx server where it is
 *
 * A server that the root starts is nobody's child, and ends ten seconds after its owner: the root, or with PMIX the
 * process that has started it.
 * Nothing is opened, queried or started before rc_discovery_open. */

enum rc_discovery_kind { RC_DISCOVERY_NONE, RC_DISCOVERY_SRUN, RC_DISCOVERY_NODE, RC_DISCOVERY_PMIX };

enum { RC_DISCOVERY_TEXT = 4096, RC_DISCOVERY_SCOPE = 17 };

/* No pointers into anything that the caller of rc_discovery_find owns. */
struct rc_discovery {
    enum rc_discovery_kind kind;
    char scope[RC_DISCOVERY_SCOPE];   /* the launch, the same in all its tasks, and another in the next one */
    char name[RC_LOCAL_NAME];         /* of NODE and PMIX */
    bool is_root;                     /* of NODE and PMIX: this process is to start the server */
    bool is_near;                     /* it can find it at the name; of PMIX: it may */
    bool is_by_hand;                  /* this process's parent is not a launcher that started the others as well */
    char endpoint[RC_DISCOVERY_TEXT]; /* of SRUN: "TOKEN PORT HOST..." */
    const char *why;                  /* of NONE: static text */
    const char *cure;                 /* of NONE and PMIX: what to do if the tasks do not meet; static text */
};

/* What starts a server. */
struct rc_tools {
    const char *exchange;   /* path of rollcall-exchange, beside which rollcall-pmix is; NULL: as for the library */
    const char *const *env; /* of them; NULL: this process's */
    struct rc_server_settings settings; /* of the roll call; zero: none is held */
};

/* How this process finds the server of its own launch, from the environment and
 * node in the result. NONE if it cannot. */
void rc_discovery_find(const struct rc_result *result, struct rc_discovery *discovery);

/* The same for the task that calls for its node, over PMIx. */
void rc_discovery_of_nodes(const struct rc_result *result, struct rc_discovery *discovery);

/* Write where the server is, "TOKEN PORT HOST..."; wait for it until `deadline`
 * (rc_milliseconds). Return 0; -ETIMEDOUT if it is not known by then; or -EIO,
 * with the reason in `text`. */
int rc_discovery_open(const struct rc_discovery *discovery, const struct rc_tools *tools, int64_t deadline,
                      char text[RC_DISCOVERY_TEXT]);

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
