/* SPDX-License-Identifier: BSD-3-Clause */
/* jsm.c - a task that IBM's Job Step Manager started (jsrun, under LSF).
 *
 * JSM_NAMESPACE_RANK, _SIZE, _LOCAL_RANK and _LOCAL_SIZE, with the same numbers
 * as OMPI_COMM_WORLD_* and PMIX_RANK beside them: second voices, whose families
 * are silent then. Nodes are not numbered. A PMIX_RANK that is another one is
 * of a launcher further inside: JSM's own values are stale then.
 *
 * The rule:
 * - rank, size, local rank and local size are JSM_NAMESPACE_*'s; where
 *   OMPI_COMM_WORLD_RANK or _SIZE says otherwise, RC103;
 * - nodes: size / local size, if there is no rest; node rank = rank / local
 *   size, if rank % local size is the local rank (jsrun packs node by node);
 *   else RC110;
 * - LSB_DJOB_RANKFILE, else LSB_DJOB_HOSTFILE, has a line for each core of the
 *   job. The first different host is the one that jsrun is called on and has no
 *   tasks. Of the others, in their order, rank 0 is on the one that stands `node
 *   rank` before this node's, because a jsrun need not begin on the first one.
 *   RANK 0 compares it with its own addresses. Where this node is not in the
 *   file or that host would be none, MASTER_ADDR has to be passed;
 * - more nodes than there are hosts from that one on: RC110. An uneven layout
 *   that looks even from each of its tasks looks so from its smallest node.
 * Source: IBM Spectrum MPI 10.4 (JSM_NAMESPACE_*); Lightning
 * fabric/plugins/environments/lsf.py (the file and its first line).
 */
#include "launcher/hostfile.h"
#include "launcher/layout.h"
#include "launcher/registry.h"
#include "launcher/slurmpmix.h"

/* A job may have several jsruns, each with a namespace of its own. */
static struct rc_str launch_name(const struct rc_env *env, struct rc_str rank)
{
    struct rc_str name = rc_env_get(env, "PMIX_NAMESPACE");

    return name.n && rc_str_eq(rc_env_get(env, "PMIX_RANK"), rank) ? name : rc_env_get(env, "LSB_JOBID");
}

/* A step of srun, or another PMIx launcher, inside of this one. */
static bool is_stale(struct rc_reader *reader, uint32_t own_rank)
{
    uint32_t rank;

    reader->why = "PMIX_NAMESPACE is a newer launcher's";
    return rc_slurmpmix_step(reader->env).p ||
           (rc_parse_u32(rc_env_get(reader->env, "PMIX_RANK"), RC_MAX_TASKS, &rank) && rank != own_rank);
}

enum rc_claim rc_jsm_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str text = rc_env_get(reader->env, "JSM_NAMESPACE_RANK");
    struct rc_number rank;

    if (!text.n)
        return RC_CLAIM_ABSENT;
    if (!rc_read_number(reader, RC_STR("JSM_NAMESPACE_RANK"), RC_MAX_TASKS, &rank))
        return RC_CLAIM_BROKEN;
    if (is_stale(reader, rank.value))
        return RC_CLAIM_STALE;
    facts->field[RC_RANK] = rank;
    rc_facts_name(reader, facts, "jsm", launch_name(reader->env, text));
    return RC_CLAIM_TASK;
}

/* False where there are fewer hosts than nodes. */
static bool find_master(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str rank_file = rc_env_get(reader->env, "LSB_DJOB_RANKFILE");
    struct rc_str path = rank_file.n ? rank_file : rc_env_get(reader->env, "LSB_DJOB_HOSTFILE");
    uint32_t node = facts->field[RC_NODE_RANK].value;
    uint32_t nnodes = facts->field[RC_NNODES].value;
    struct rc_hostfile file;
    uint32_t first;
    uint32_t here;
    bool learned;

    if (nnodes == 1 || !path.n)
        return true;
    learned = rc_learned_file(reader, path);
    learned = rc_learned(reader, RC_LEARN_HOST) && learned;
    if (!learned || !rc_hostfile_read(reader->here->host_file, RC_HOSTFILE_LINES, reader->node_set, &file))
        return true;
    here = rc_hostfile_find(&file, reader->here->host);
    if (here == RC_UNKNOWN)
        return true;
    /* index 0 is the host of jsrun itself */
    first = here > node ? here - node : 0;
    if (nnodes > file.hosts - first)
        return false;
    if (first > 0 && rc_hostfile_nth(&file, first, &facts->master_host, NULL))
        facts->master_source = rank_file.n ? "host of node 0 in LSB_DJOB_RANKFILE, checked by rank 0"
                                           : "host of node 0 in LSB_DJOB_HOSTFILE, checked by rank 0";
    return true;
}

bool rc_jsm_read(struct rc_reader *reader, struct rc_facts *facts)
{
    const char *const rank = "JSM_NAMESPACE_RANK";
    struct rc_number *field = facts->field;

    if (!rc_read_fields(reader, &rc_launcher_jsm, facts) ||
        !rc_need_field(reader, facts, RC_WORLD_SIZE, rank, "JSM_NAMESPACE_SIZE") ||
        !rc_need_field(reader, facts, RC_LOCAL_RANK, rank, "JSM_NAMESPACE_LOCAL_RANK") ||
        !rc_need_field(reader, facts, RC_LOCAL_WORLD_SIZE, rank, "JSM_NAMESPACE_LOCAL_SIZE") ||
        !rc_agrees(reader, RC_STR("OMPI_COMM_WORLD_RANK"), &field[RC_RANK], "jsrun") ||
        !rc_agrees(reader, RC_STR("OMPI_COMM_WORLD_SIZE"), &field[RC_WORLD_SIZE], "jsrun"))
        return false;
    if (!rc_layout_nnodes(reader, facts))
        return rc_layout_refuse(reader, facts, rc_launcher_jsm.each);
    field[RC_NODE_RANK].value = rc_layout_node_rank(facts, field[RC_LOCAL_WORLD_SIZE].value);
    field[RC_NODE_RANK].source = "JSM_NAMESPACE_RANK / JSM_NAMESPACE_LOCAL_SIZE";
    if (field[RC_NODE_RANK].value == RC_UNKNOWN)
        return rc_layout_refuse(reader, facts, rc_launcher_jsm.each);
    rc_layout_spread(facts);
    if (!find_master(reader, facts))
        return rc_layout_refuse(reader, facts, rc_launcher_jsm.each);
    rc_read_gpus(reader, facts);
    return true;
}

const struct rc_launcher rc_launcher_jsm = {
    .id = "jsm",
    .title = "IBM JSM (jsrun)",
    .processes = "jsmd jsrund",
    .pass = "jsrun -E MASTER_ADDR=HOST",
    .each = "jsrun -r N",
    .variables = {
        RC_VARIABLE("JSM_NAMESPACE_RANK", RC_RANK),
        RC_VARIABLE("JSM_NAMESPACE_SIZE", RC_WORLD_SIZE),
        RC_VARIABLE("JSM_NAMESPACE_LOCAL_RANK", RC_LOCAL_RANK),
        RC_VARIABLE("JSM_NAMESPACE_LOCAL_SIZE", RC_LOCAL_WORLD_SIZE),
    },
};
