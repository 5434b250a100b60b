/* SPDX-License-Identifier: BSD-3-Clause */
/* pals.c - a task that Cray PALS started (HPE's mpiexec and aprun, under PBS or alone).
 *
 * PALS_RANKID, PALS_LOCAL_RANKID, PALS_LOCAL_SIZE, PALS_NODEID, PALS_APID and
 * PALS_APINFO, with PMI_RANK, PMI_SIZE, PMI_LOCAL_RANK and PMI_LOCAL_SIZE for
 * Cray's MPI beside them. Two others set PALS_RANKID for the same library, and
 * have families of their own: Slurm's mpi/cray_shasta, whose PALS_APID is JOB.STEP,
 * and Flux's cray-pals, whose PALS_APID is a number and PALS_RANKID is
 * FLUX_TASK_RANK. PALS's own is a UUID.
 *
 * The rule:
 * - rank, local rank, local size and node are PALS_*'s, or PMI_*'s where that
 *   one is missing; the size is PMI_SIZE. Two that speak of one number have to
 *   agree (RC103);
 * - the file PALS_APINFO (apinfo.h), which is on every node, has all of them
 *   once more, and the number of nodes and the host of rank 0 as well. Nodes
 *   are numbered by their lowest ranks;
 * - where it cannot be read, the number of nodes is size / local size, if there
 *   is no rest, and the node rank is PALS_NODEID, if ranks that are dealt out
 *   to all nodes in turn, some at a time, can give it these numbers
 *   (rc_layout_agrees); else RC110. MASTER_ADDR has to be passed: PBS_NODEFILE
 *   is on one node only, and mpiexec --hosts chooses others.
 * Source: HPE's pals.h (2018-2023, in cray-cti and dragon); slurm
 * src/plugins/mpi/cray_shasta; flux-coral2 src/shell/plugins/cray_pals.c.
 */
#include "launcher/apinfo.h"
#include "launcher/layout.h"
#include "launcher/registry.h"

static bool is_number(struct rc_str text)
{
    uint64_t number;

    return rc_parse_u64(text, UINT64_MAX, &number);
}

/* Slurm's JOB.STEP, of this step or of one further outside. */
static bool is_slurms(struct rc_str launch)
{
    struct rc_str step;
    struct rc_str job = rc_str_split(launch, '.', &step);

    return is_number(job) && is_number(step);
}

enum rc_claim rc_pals_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str text = rc_env_get(reader->env, "PALS_RANKID");
    struct rc_str launch = rc_env_get(reader->env, "PALS_APID");
    struct rc_number rank;

    if (!text.n || is_slurms(launch) ||
        (is_number(launch) && rc_str_eq(text, rc_env_get(reader->env, "FLUX_TASK_RANK"))))
        return RC_CLAIM_ABSENT;
    if (!rc_read_number(reader, RC_STR("PALS_RANKID"), RC_MAX_TASKS, &rank))
        return RC_CLAIM_BROKEN;
    facts->field[RC_RANK] = rank;
    rc_facts_name(reader, facts, "pals", launch);
    return RC_CLAIM_TASK;
}

/* False, with a message, where PMI_* say another number. */
static bool agrees_with_pmi(struct rc_reader *reader, struct rc_str name, const struct rc_number *number)
{
    struct rc_number other;

    if (!rc_read_number(reader, name, RC_MAX_TASKS, &other))
        return false;
    if (other.value == RC_UNKNOWN || number->value == RC_UNKNOWN || other.value == number->value)
        return true;
    rc_message_add(reader->messages, RC103,
                   rc_format(reader->arena,
                             "%s is %u, but %s is %u; nothing is set; start the command with mpiexec again",
                             number->source, number->value, name.p, other.value));
    return false;
}

static bool without_file(struct rc_reader *reader, struct rc_facts *facts)
{
    const char *const rank = "PALS_RANKID";
    struct rc_number *field = facts->field;

    if (!rc_need_field(reader, facts, RC_WORLD_SIZE, rank, "PMI_SIZE") ||
        !rc_need_field(reader, facts, RC_LOCAL_RANK, rank, "PALS_LOCAL_RANKID") ||
        !rc_need_field(reader, facts, RC_LOCAL_WORLD_SIZE, rank, "PALS_LOCAL_SIZE") ||
        !rc_need_field(reader, facts, RC_NODE_RANK, rank, "PALS_NODEID"))
        return false;
    if (!rc_layout_nnodes(reader, facts))
        return rc_layout_refuse(reader, facts, rc_launcher_pals.each);
    /* of one node alone PALS may number it as it likes */
    if (field[RC_NNODES].value == 1)
        field[RC_NODE_RANK].value = 0;
    if (!rc_layout_agrees(facts, field[RC_NODE_RANK].value))
        return rc_layout_refuse(reader, facts, rc_launcher_pals.each);
    rc_layout_spread(facts);
    return true;
}

bool rc_pals_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_number *field = facts->field;
    enum rc_apinfo_answer file;

    if (!rc_read_fields(reader, &rc_launcher_pals, facts) ||
        !agrees_with_pmi(reader, RC_STR("PMI_RANK"), &field[RC_RANK]) ||
        !agrees_with_pmi(reader, RC_STR("PMI_LOCAL_RANK"), &field[RC_LOCAL_RANK]) ||
        !agrees_with_pmi(reader, RC_STR("PMI_LOCAL_SIZE"), &field[RC_LOCAL_WORLD_SIZE]))
        return false;
    file = rc_apinfo_fill(reader, facts);
    if (file == RC_APINFO_WRONG || (file == RC_APINFO_NONE && !without_file(reader, facts)))
        return false;
    rc_read_gpus(reader, facts);
    return true;
}

const struct rc_launcher rc_launcher_pals = {
    .id = "pals",
    .title = "Cray PALS (mpiexec)",
    .processes = "palsd",
    .pass = "mpiexec --env MASTER_ADDR=HOST",
    .each = "mpiexec --ppn N",
    .variables = {
        RC_VARIABLE("PALS_RANKID", RC_RANK),
        RC_VARIABLE("PMI_SIZE", RC_WORLD_SIZE),
        RC_VARIABLE("PALS_LOCAL_RANKID", RC_LOCAL_RANK),
        RC_VARIABLE("PMI_LOCAL_RANK", RC_LOCAL_RANK),
        RC_VARIABLE("PALS_LOCAL_SIZE", RC_LOCAL_WORLD_SIZE),
        RC_VARIABLE("PMI_LOCAL_SIZE", RC_LOCAL_WORLD_SIZE),
        RC_VARIABLE("PALS_NODEID", RC_NODE_RANK),
    },
};
