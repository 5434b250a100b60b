/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/roster.h"
#include "doctor.h"
#include "rendezvous/wire.h"
#include "resolve/resolve.h"
#include "system/node.h"

static void check_roll(struct findings *findings)
{
    static struct stepserver server;
    struct roster roster = { .count = 0 };

    if (cli_stepserver_find(&server) < 0 || cli_roster_ask(&roster, &server) < 0) {
        doctor_findings_add(findings, FINDING_D208, NULL, 0, NULL,
                            "rollcall cannot read what the nodes of this step reported");
    } else {
        /* only rank 0 reads the roll: without the fact its report equals those of the others */
        if (roster.count < roster.nodes)
            doctor_findings_add_fact(findings, "roll", "%zu of %u nodes have answered", roster.count, roster.nodes);
        for (unsigned i = 0; i < roster.findings.count; i++)
            doctor_findings_add_message(findings, roster.findings.list[i].id, roster.findings.list[i].text);
    }
    cli_roster_free(&roster);
}

void doctor_step(struct findings *findings, const struct rc_result *result)
{
    const uint32_t *field = result->identity.field;
    const struct rc_master *master = &result->master;

    if (!result->launcher)
        doctor_findings_add_fact(findings, "step", "none: this process is not a task of srun or mpirun");
    else
        doctor_findings_add_fact(findings, "step", "%s%s%s, %s", result->launcher->title,
                                 result->facts.run_id ? " " : "", result->facts.run_id ? result->facts.run_id : "",
                                 result->mode_reason);
    if (result->launcher && result->launcher->batch_inherits && result->mode == RC_MODE_NONE &&
        field[RC_RANK] == RC_UNKNOWN)
        doctor_findings_add_fact(findings, "nodes",
                                 "only this machine was checked; for each node of the job type "
                                 "srun --ntasks-per-node=1 rollcall doctor");
    if (field[RC_WORLD_SIZE] != RC_UNKNOWN && field[RC_RANK] != RC_UNKNOWN)
        doctor_findings_add_fact(findings, DOCTOR_TASK, "rank %u of %u", field[RC_RANK], field[RC_WORLD_SIZE]);
    if (master->addr)
        doctor_findings_add_fact(findings, "master", "%s port %u", master->addr, (unsigned)master->port);
    for (unsigned i = 0; i < result->messages.count; i++)
        doctor_findings_add_message(findings, result->messages.list[i].id, result->messages.list[i].text);
    /* a step on one node has no roll */
    if (getenv(RC_SERVER) && field[RC_NNODES] != 1 &&
        (field[RC_RANK] == 0 || (field[RC_RANK] == RC_UNKNOWN && field[RC_NODE_RANK] == 0)))
        check_roll(findings);
}

enum { LEAST_FILES = 4096, MANY_NODES = 4, LEAST_SHM_MIB = 256 };

/* Skip a task that rollcall set up: it extended the list, or printed RC901 or RC902. */
static void check_hidden_gpus(struct findings *findings, const struct rc_result *result, uint32_t given, uint32_t seen)
{
    uint32_t tasks = result->identity.field[RC_LOCAL_WORLD_SIZE];

    if (result->mode == RC_MODE_WORKER && !getenv(RC_STAMP) && tasks != RC_UNKNOWN && tasks > 1 && seen == 1 &&
        given != RC_UNKNOWN && given >= tasks)
        doctor_findings_add(findings, FINDING_D302, NULL, 0, NULL,
                            "this task sees one of its node's %u GPUs (%u tasks a node)", given, tasks);
}

/* Check only if the driver's files exist: containers and other vendors have none. Several MIG devices may share a
 * GPU. */
static void check_missing_gpus(struct findings *findings, const char *list, uint32_t given, uint32_t seen)
{
    uint32_t there = access("/dev/nvidiactl", F_OK) == 0 ? rc_node_gpus() : RC_UNKNOWN;

    if (given != RC_UNKNOWN && given > 0 && seen == 0)
        doctor_findings_add(findings, FINDING_D303, NULL, 0, NULL,
                            "the job has %u GPUs on this node, but CUDA_VISIBLE_DEVICES is '%s'", given, list);
    else if (there != RC_UNKNOWN && seen != RC_UNKNOWN && seen > there && !strstr(list, "MIG-"))
        doctor_findings_add(findings, FINDING_D303, NULL, 0, NULL,
                            "CUDA_VISIBLE_DEVICES names %u GPUs, but /dev has %u", seen, there);
}

/* Find a task with GPUs that has one core, or fewer cores than its workers, on a node with twice as many per task. */
static void check_cores(struct findings *findings, const struct rc_result *result, uint32_t seen)
{
    uint32_t workers = result->mode == RC_MODE_LAUNCHER ? seen : 1;
    uint32_t tasks = result->identity.field[RC_LOCAL_WORLD_SIZE];
    uint32_t here;
    cpu_set_t set;

    if (!result->launcher || result->mode == RC_MODE_NONE || seen == RC_UNKNOWN || seen == 0 ||
        sched_getaffinity(0, sizeof(set), &set) < 0)
        return;
    for (unsigned i = 0; i < result->messages.count; i++)
        if (result->messages.list[i].id == RC916) /* the same cores, with the option to use */
            return;
    here = (uint32_t)CPU_COUNT(&set);
    if ((here > 1 && here >= workers) ||
        sysconf(_SC_NPROCESSORS_ONLN) < 2 * (long)(tasks == RC_UNKNOWN ? 1 : tasks) * (long)here)
        return;
    doctor_findings_add(findings, FINDING_D304, NULL, 0, NULL,
                        "this task may use %u core%s, for %u worker%s with data loaders", here, here == 1 ? "" : "s",
                        workers, workers == 1 ? "" : "s");
}

static void check_open_files(struct findings *findings, const struct rc_result *result)
{
    uint32_t nodes = result->facts.field[RC_NNODES].value;
    struct rlimit limit;

    if (nodes != RC_UNKNOWN && nodes >= MANY_NODES && getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
        limit.rlim_cur < LEAST_FILES && limit.rlim_cur < limit.rlim_max)
        doctor_findings_add(findings, FINDING_D307, NULL, 0, NULL, "ulimit -n is %llu, on %u nodes",
                            (unsigned long long)limit.rlim_cur, nodes);
}

static void check_shared_memory(struct findings *findings)
{
    struct statvfs there = { .f_blocks = 0 };
    unsigned long long mib = statvfs("/dev/shm", &there) == 0 ? (uint64_t)there.f_blocks * there.f_frsize >> 20 : 0;

    if (mib < LEAST_SHM_MIB)
        doctor_findings_add(findings, FINDING_D306, "/dev/shm", 0, NULL, "/dev/shm has %llu MiB in all", mib);
}

void doctor_node(struct findings *findings, const struct rc_result *result)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    uint32_t seen = list ? rc_count_devices(rc_str(list)) : RC_UNKNOWN; /* GPUs in the list */
    uint32_t given;                                                     /* GPUs allocated by Slurm */

    if (!rc_parse_u32(rc_env_get(&result->env, "SLURM_GPUS_ON_NODE"), UINT16_MAX, &given))
        given = RC_UNKNOWN;
    if (result->launcher) {
        check_hidden_gpus(findings, result, given, seen);
        check_missing_gpus(findings, list, given, seen);
    }
    check_cores(findings, result, seen);
    check_open_files(findings, result);
    check_shared_memory(findings);
}
