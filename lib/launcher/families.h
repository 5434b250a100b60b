/* SPDX-License-Identifier: BSD-3-Clause */
/* families.h - what launcher families share, and the parsers of theirs that a test calls. */
#pragma once

#include "launcher/hosts.h"
#include "launcher/launcher.h"

/* What a task of a step sees of its own node. */
struct rc_slurmnode {
    uint32_t index; /* in the step's list of hosts, which is also the order of its tasks per node */
    uint32_t first; /* its lowest rank; RC_UNKNOWN where SLURM_GTIDS is not there */
    bool in_a_row;  /* its ranks are first, first + 1 and so on */
    bool holds_rank_0;
    bool het; /* the step has several components (srun A : B), or the job it is in has */
};

/* Finds the node of RANK 0 and this node's NODE_RANK: facts->master_*, the field RC_NODE_RANK
 * (SLURM_NODEID before) and node_order_rank. All else of the step is in the facts already, the
 * list of tasks per node in facts->layout. False, with RC106, where nothing says it. */
bool rc_slurmorder_read(struct rc_reader *reader, struct rc_facts *facts, const struct rc_slurmnode *node);

enum { RC_SLURMCOMPONENTS_MAX = 128 }; /* MAX_HET_JOB_COMPS of slurmctld */

struct rc_slurmcomponents {
    struct rc_str hosts[RC_SLURMCOMPONENTS_MAX]; /* lists that hosts.h reads */
    uint32_t count;
};

/* Where a node is among those of all components. */
struct rc_slurmposition {
    uint32_t component;
    uint32_t index; /* in that one's list */
};

/* Whether the environment is of a job of several components. */
bool rc_slurmcomponents_are_there(const struct rc_env *env);

/* Reads the list of each component of this job; the texts stay the environment's. False where they are another
 * job's, or where one is missing or cannot be read. */
bool rc_slurmcomponents_read(const struct rc_env *env, struct rc_slurmcomponents *components);

/* The nodes of the job's component that has this host; SLURM_JOB_NODELIST if none has it. */
struct rc_str rc_slurmcomponents_nodes_with(const struct rc_env *env, struct rc_str host);

/* False for a name that is in no component or in several; *position then has no meaning. */
bool rc_slurmcomponents_find(const struct rc_slurmcomponents *components, struct rc_str name,
                             struct rc_slurmposition *position);

/* The CPUs that SLURM_CPUS_PER_TASK promises each task of a Slurm step. 0 where it promises none; where the job has
 * fewer for a node's tasks, so that it is another job's; and where an option gives it another meaning. */
uint32_t rc_slurm_promise(const struct rc_env *env);

#define RC_SLURMPMIX_PREFIX "slurm.pmix."

/* "JOB.STEP", which is the run id of Slurm's family; absent where PMIX_NAMESPACE
 * is not set, or is another server's. A slice of the environment. */
static inline struct rc_str rc_slurmpmix_step(const struct rc_env *env)
{
    enum { LENGTH = sizeof(RC_SLURMPMIX_PREFIX) - 1 };
    struct rc_str name = rc_env_get(env, "PMIX_NAMESPACE");

    return rc_str_starts(name, RC_SLURMPMIX_PREFIX) ? (struct rc_str){ name.p + LENGTH, name.n - LENGTH } : RC_ABSENT;
}

/* The number of mpirun's daemon that started this task; RC_UNKNOWN where it is not told. */
uint32_t rc_openmpi_daemon(const struct rc_env *env);

/* "login,n[1:1-3]@0(4)", "n[3:1,3]-ib@0(2)": a daemon's host in ORTE's list, which has them in the order of their
 * numbers; the rest is of other things (ompi v4.1 orte/mca/regx/fwd/regx_fwd.c). False where it is not there. */
bool rc_orte_host(const struct rc_env *env, uint32_t daemon, char name[RC_HOST_MAX + 1]);

/* The number of a task's node, by that of its daemon and how many daemons there are; RC_UNKNOWN where they and the
 * task's numbers do not tell. */
uint32_t rc_orte_place(const struct rc_env *env, const struct rc_facts *facts, uint32_t daemon, uint32_t daemons);

/* "1740701696.0;tcp://192.0.2.2,10.0.0.2:57779;tcp6://[fd00::2]:43749": the
 * first address of mpirun's node; IPv6 only where there is nothing else. */
struct rc_str rc_orte_mpirun(const struct rc_env *env);

/* Whether PALS_APID is Slurm's JOB.STEP, of this step or of one further outside (srun --mpi=cray_shasta). */
bool rc_pals_is_slurms(struct rc_str launch);

/* Fills in what the server's answer says of the task with the rank in *facts. RC_PMIXJOB_NONE where the server cannot
 * be asked. RC_PMIXJOB_WRONG, with a message that ends with `cure`, where asking failed, where the answer is incomplete
 * or where it contradicts what the facts hold already. */
enum rc_pmixjob_answer { RC_PMIXJOB_NONE, RC_PMIXJOB_WRONG, RC_PMIXJOB_READ };
enum rc_pmixjob_answer rc_pmixjob_fill(struct rc_reader *reader, struct rc_facts *facts, const char *cure);

/* The value of a line of the answer; absent where there is none. */
struct rc_str rc_pmixjob_line(struct rc_str answer, const char *name);

/* A table of the file of Cray's PMI (pals.c): its records, and the first one's place in the file. */
struct __attribute__((packed, may_alias)) rc_apinfo_table {
    uint64_t size;
    uint64_t offset;
    uint32_t count;
};

struct __attribute__((packed, may_alias)) rc_apinfo_task {
    uint32_t local_rank;
    uint32_t unused;
    uint32_t node; /* its place in the table of nodes */
};

struct rc_apinfo {
    const char *bytes;
    struct rc_apinfo_table tasks; /* in order of rank */
    struct rc_apinfo_table nodes;
};

/* False, with *out untouched, for anything else than such a file, all of it: every task is on a node that is there. */
bool rc_apinfo_read(struct rc_str bytes, struct rc_apinfo *out);

/* rank < info->tasks.count */
const struct rc_apinfo_task *rc_apinfo_task(const struct rc_apinfo *info, uint32_t rank);

/* The name of a node, node < info->nodes.count; absent for an empty one. */
struct rc_str rc_apinfo_host(const struct rc_apinfo *info, uint32_t node);
