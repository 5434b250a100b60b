/* SPDX-License-Identifier: BSD-3-Clause */
/* flux.c - a task that Flux's job shell started (flux run, flux submit).
 *
 * FLUX_TASK_RANK, FLUX_TASK_LOCAL_ID, FLUX_JOB_SIZE, FLUX_JOB_NNODES and
 * FLUX_JOB_ID are in every task. PMI_RANK, PMI_SIZE and PMI_FD are beside them
 * nearly always, PMIX_* with -o pmi=pmix, PALS_* with -o pmi=cray-pals: the
 * families of these then give way to this one. No variable says how many tasks
 * each node has, or on which host they are. A broker removes all these variables
 * before it starts the script of flux batch and flux alloc, so the tasks of a
 * nested instance have their own alone.
 *
 * The rule:
 * - rank, local rank, size and number of nodes are the variables';
 * - with -o pmi=cray-pals everything else is in a file (apinfo.h);
 * - else a node has size / nodes tasks, dealt out block by block, which is
 *   Flux's default: node rank = rank / local size. Where there is a rest, or
 *   rank % local size is not the local rank (--taskmap=cyclic, nodes with
 *   different numbers), the task is refused (RC110); in such a job at least one
 *   task is;
 * - the host of rank 0 is not known then: MASTER_ADDR has to be passed.
 * Source: flux-core 0.88 src/shell/{task,shell}.c, src/shell/pmi/pmi.c,
 * src/broker/runat.c.
 */
#include "launcher/apinfo.h"
#include "launcher/layout.h"
#include "launcher/registry.h"

/* An id may begin with a florin sign. What rollcall makes of it is ASCII: it writes
 * "f" instead, as Flux does under FLUX_F58_FORCE_ASCII. */
static struct rc_str ascii_id(struct rc_reader *reader, struct rc_str id)
{
    struct rc_str rest;

    if (!rc_str_starts(id, "\xc6\x92"))
        return id;
    rest = (struct rc_str){ id.p + 2, id.n - 2 };
    return rc_str(rc_format(reader->arena, "f%S", &rest));
}

enum rc_claim rc_flux_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_number rank;

    if (!rc_env_get(reader->env, "FLUX_TASK_RANK").n)
        return RC_CLAIM_ABSENT;
    if (!rc_read_number(reader, RC_STR("FLUX_TASK_RANK"), RC_MAX_TASKS, &rank))
        return RC_CLAIM_BROKEN;
    facts->field[RC_RANK] = rank;
    rc_facts_name(reader, facts, "flux", ascii_id(reader, rc_env_get(reader->env, "FLUX_JOB_ID")));
    return RC_CLAIM_TASK;
}

static bool by_blocks(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_number *field = facts->field;
    uint32_t size = field[RC_WORLD_SIZE].value;
    uint32_t nnodes = field[RC_NNODES].value;

    if (nnodes == 0 || nnodes > size) {
        rc_message_add(
            reader->messages, RC103,
            rc_format(reader->arena,
                      "FLUX_JOB_NNODES is %u and FLUX_JOB_SIZE is %u; nothing is set; start the command with "
                      "flux run again",
                      nnodes, size));
        return false;
    }
    field[RC_LOCAL_WORLD_SIZE] = (struct rc_number){ (size + nnodes - 1) / nnodes, "FLUX_JOB_SIZE / FLUX_JOB_NNODES" };
    if (size % nnodes != 0)
        return rc_layout_refuse(reader, facts, rc_launcher_flux.each);
    field[RC_NODE_RANK].value = rc_layout_node_rank(facts, size / nnodes);
    field[RC_NODE_RANK].source = "FLUX_TASK_RANK, dealt out in blocks";
    if (field[RC_NODE_RANK].value == RC_UNKNOWN)
        return rc_layout_refuse(reader, facts, rc_launcher_flux.each);
    rc_layout_spread(facts);
    return true;
}

bool rc_flux_read(struct rc_reader *reader, struct rc_facts *facts)
{
    const char *const rank = "FLUX_TASK_RANK";
    enum rc_apinfo_answer file;

    if (!rc_read_fields(reader, &rc_launcher_flux, facts) ||
        !rc_need_field(reader, facts, RC_WORLD_SIZE, rank, "FLUX_JOB_SIZE") ||
        !rc_need_field(reader, facts, RC_LOCAL_RANK, rank, "FLUX_TASK_LOCAL_ID") ||
        !rc_need_field(reader, facts, RC_NNODES, rank, "FLUX_JOB_NNODES"))
        return false;
    file = rc_str_eq(rc_env_get(reader->env, "PALS_RANKID"), rc_env_get(reader->env, "FLUX_TASK_RANK"))
               ? rc_apinfo_fill(reader, facts)
               : RC_APINFO_NONE;
    if (file == RC_APINFO_WRONG || (file == RC_APINFO_NONE && !by_blocks(reader, facts)))
        return false;
    rc_read_gpus(reader, facts);
    return true;
}

const struct rc_launcher rc_launcher_flux = {
    .id = "flux",
    .title = "Flux (flux run)",
    .processes = "flux-shell",
    .pass = "flux run --env=MASTER_ADDR=HOST",
    .each = "flux run --tasks-per-node=N",
    .variables = {
        RC_VARIABLE("FLUX_TASK_RANK", RC_RANK),
        RC_VARIABLE("FLUX_JOB_SIZE", RC_WORLD_SIZE),
        RC_VARIABLE("FLUX_TASK_LOCAL_ID", RC_LOCAL_RANK),
        RC_VARIABLE("FLUX_JOB_NNODES", RC_NNODES),
    },
};
