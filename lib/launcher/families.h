/* SPDX-License-Identifier: BSD-3-Clause */
/* families.h - helpers of launcher families, and parsers that tests call. */
#pragma once

#include "launcher/hosts.h"
#include "launcher/launcher.h"

struct rc_slurmnode {
    uint32_t index; /* in the host list and tasks per node */
    uint32_t first; /* lowest rank; RC_UNKNOWN without SLURM_GTIDS */
    bool in_a_row;  /* its ranks are consecutive */
    bool holds_rank_0;
    bool het; /* the step or job has components (srun A : B) */
};

/* Set facts->master_*, RC_NODE_RANK (initially SLURM_NODEID) and node_order_rank. Return false with RC106 if
 * unknown. */
bool rc_slurmorder_read(struct rc_reader *reader, struct rc_facts *facts, const struct rc_slurmnode *node);

enum { RC_SLURMCOMPONENTS_MAX = 128 }; /* MAX_HET_JOB_COMPS of slurmctld */

struct rc_slurmcomponents {
    struct rc_str hosts[RC_SLURMCOMPONENTS_MAX]; /* host lists (hosts.h) */
    uint32_t count;
};

struct rc_slurmposition {
    uint32_t component;
    uint32_t index; /* in its list */
};

bool rc_slurmcomponents_are_there(const struct rc_env *env);

/* Read each component's list, as slices. Return false if one is missing, invalid or another job's. */
bool rc_slurmcomponents_read(const struct rc_env *env, struct rc_slurmcomponents *components);

/* Return the nodes of the component with this host, else SLURM_JOB_NODELIST. */
struct rc_str rc_slurmcomponents_nodes_with(const struct rc_env *env, struct rc_str host);

/* Return false unless exactly one component has the name. */
bool rc_slurmcomponents_find(const struct rc_slurmcomponents *components, struct rc_str name,
                             struct rc_slurmposition *position);

/* Return the CPUs of SLURM_CPUS_PER_TASK; 0 if unset, another job's (the node has fewer), or redefined by an option. */
uint32_t rc_slurm_promise(const struct rc_env *env);

#define RC_SLURMPMIX_PREFIX "slurm.pmix."

/* Return "JOB.STEP" from PMIX_NAMESPACE, unless it is another server's. */
static inline struct rc_str rc_slurmpmix_step(const struct rc_env *env)
{
    enum { LENGTH = sizeof(RC_SLURMPMIX_PREFIX) - 1 };
    struct rc_str name = rc_env_get(env, "PMIX_NAMESPACE");

    return rc_str_starts(name, RC_SLURMPMIX_PREFIX) ? (struct rc_str){ name.p + LENGTH, name.n - LENGTH } : RC_ABSENT;
}

/* Return the number of this task's mpirun daemon, or RC_UNKNOWN. */
uint32_t rc_openmpi_daemon(const struct rc_env *env);

/* Find a daemon's host in ORTE's list: "login,n[1:1-3]@0(4)", "n[3:1,3]-ib@0(2)" (ompi v4.1
 * orte/mca/regx/fwd/regx_fwd.c). Return false if it is missing. */
bool rc_orte_host(const struct rc_env *env, uint32_t daemon, char name[RC_HOST_MAX + 1]);

/* Return the index of a task's node, or RC_UNKNOWN. */
uint32_t rc_orte_place(const struct rc_env *env, const struct rc_facts *facts, uint32_t daemon, uint32_t daemons);

/* Return mpirun's first address in "1740701696.0;tcp://192.0.2.2,10.0.0.2:57779;tcp6://[fd00::2]:43749", preferably
 * IPv4. */
struct rc_str rc_orte_mpirun(const struct rc_env *env);

/* Return true if PALS_APID is a Slurm JOB.STEP (srun --mpi=cray_shasta). */
bool rc_pals_is_slurms(struct rc_str launch);

/* Fill in *facts for its rank from the server. RC_PMIXJOB_WRONG, on failure or a bad answer, has a message that ends
 * with `cure`. */
enum rc_pmixjob_answer { RC_PMIXJOB_NONE, RC_PMIXJOB_WRONG, RC_PMIXJOB_READ };
enum rc_pmixjob_answer rc_pmixjob_fill(struct rc_reader *reader, struct rc_facts *facts, const char *cure);

/* Return the value of a line, or RC_ABSENT. */
struct rc_str rc_pmixjob_line(struct rc_str answer, const char *name);

/* A table in Cray PMI's file: records from `offset`. */
struct __attribute__((packed, may_alias)) rc_apinfo_table {
    uint64_t size;
    uint64_t offset;
    uint32_t count;
};

struct __attribute__((packed, may_alias)) rc_apinfo_task {
    uint32_t local_rank;
    uint32_t unused;
    uint32_t node; /* index in the table of nodes */
};

struct rc_apinfo {
    const char *bytes;
    struct rc_apinfo_table tasks; /* in order of rank */
    struct rc_apinfo_table nodes;
};

/* Parse a complete file, with a node for each task. Return false, with *out unchanged, for other text. */
bool rc_apinfo_read(struct rc_str bytes, struct rc_apinfo *out);

/* rank < info->tasks.count */
const struct rc_apinfo_task *rc_apinfo_task(const struct rc_apinfo *info, uint32_t rank);

/* Return the name of node < info->nodes.count, or RC_ABSENT. */
struct rc_str rc_apinfo_host(const struct rc_apinfo *info, uint32_t node);
