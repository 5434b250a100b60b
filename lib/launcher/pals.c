/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/families.h"
#include "launcher/layout.h"

/* The file of PALS_APINFO, written on each node for Cray's PMI by PALS, Slurm's mpi/cray_shasta and Flux's cray-pals,
 * in its byte order and without alignment: a header with the place of each table; tasks in order of rank; nodes.
 * Versions 1 to 5 agree. Source: flux-framework/flux-coral2 src/common/libapinfo/apinfo{1,5}.h. */

struct __attribute__((packed, may_alias)) header {
    uint32_t version;
    char unused[60];
    struct rc_apinfo_table tasks;
    uint32_t padding;
    struct rc_apinfo_table nodes;
};

struct __attribute__((packed, may_alias)) node {
    uint32_t id;
    char name[64];
};

static bool table_fits(struct rc_str bytes, const struct rc_apinfo_table *table, uint64_t least)
{
    return table->size >= least && table->size <= bytes.n && table->offset <= bytes.n && table->count > 0 &&
           table->count <= RC_MAX_TASKS && table->count <= (bytes.n - table->offset) / table->size;
}

const struct rc_apinfo_task *rc_apinfo_task(const struct rc_apinfo *info, uint32_t rank)
{
    return (const struct rc_apinfo_task *)(info->bytes + info->tasks.offset + rank * info->tasks.size);
}

bool rc_apinfo_read(struct rc_str bytes, struct rc_apinfo *out)
{
    const struct header *header = (const struct header *)bytes.p;
    struct rc_apinfo info;

    if (!bytes.p || bytes.n < sizeof(*header) || header->version < 1 || header->version > 5 ||
        !table_fits(bytes, &header->tasks, sizeof(struct rc_apinfo_task)) ||
        !table_fits(bytes, &header->nodes, sizeof(struct node)))
        return false;
    info = (struct rc_apinfo){ bytes.p, header->tasks, header->nodes };
    for (uint32_t rank = 0; rank < info.tasks.count; rank++)
        if (rc_apinfo_task(&info, rank)->node >= info.nodes.count ||
            rc_apinfo_task(&info, rank)->local_rank >= info.tasks.count)
            return false;
    *out = info;
    return true;
}

struct rc_str rc_apinfo_host(const struct rc_apinfo *info, uint32_t node)
{
    const struct node *record = (const struct node *)(info->bytes + info->nodes.offset + node * info->nodes.size);
    struct rc_str name = { record->name, 0 };

    while (name.n < sizeof(record->name) && name.p[name.n])
        name.n++;
    return name.n ? name : RC_ABSENT;
}

/* Return false with RC103 if a variable differs. */
static bool agrees_with_file(struct rc_reader *reader, struct rc_number *field, uint32_t value)
{
    if (field->value != RC_UNKNOWN && field->value != value)
        return rc_say(reader->messages, RC103,
                      "%s is %u, but %u in the file PALS_APINFO; nothing is set; start the command with its "
                      "launcher again",
                      field->source, field->value, value);
    *field = (struct rc_number){ value, "PALS_APINFO" };
    return true;
}

/* Number nodes by lowest rank. Return the maximum of tasks per node. */
static uint32_t find_place(const struct rc_apinfo *info, uint32_t node, uint64_t *seen, struct rc_taskmap_node *place)
{
    uint32_t largest = 0;

    *place = (struct rc_taskmap_node){ .master_node = rc_apinfo_task(info, 0)->node };
    for (uint32_t i = 0; i < RC_NODE_SET_BITS / 64; i++)
        seen[i] = 0;
    for (uint32_t rank = 0; rank < info->tasks.count; rank++) {
        const struct rc_apinfo_task *task = rc_apinfo_task(info, rank);
        uint64_t bit = (uint64_t)1 << task->node % 64;

        if (task->local_rank >= largest)
            largest = task->local_rank + 1;
        if (task->node == node) {
            place->tasks++;
        } else if (place->tasks == 0) {
            place->node_rank += !(seen[task->node / 64] & bit);
            seen[task->node / 64] |= bit;
        }
    }
    for (uint32_t rank = 0; rank < info->tasks.count; rank++) {
        uint32_t other = rc_apinfo_task(info, rank)->node;

        place->tasks_before += (uint32_t)(seen[other / 64] >> other % 64 & 1);
    }
    return largest;
}

/* Fill in *facts for its rank from the file. */
enum apinfo_answer { APINFO_NONE, APINFO_WRONG, APINFO_READ };
static enum apinfo_answer apinfo_fill(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str path = rc_env_get(reader->env, "PALS_APINFO");
    struct rc_number *field = facts->field;
    const struct rc_apinfo_task *own;
    struct rc_taskmap_node place;
    struct rc_apinfo info;
    uint32_t largest;

    if (!path.n || !rc_seen(reader->here, RC_LEARN_HOST_FILE, path) ||
        !rc_apinfo_read(reader->here->host_file, &info) || info.nodes.count > RC_NODE_SET_BITS)
        return APINFO_NONE;
    if (field[RC_RANK].value >= info.tasks.count) {
        agrees_with_file(reader, &field[RC_WORLD_SIZE], info.tasks.count);
        rc_say(reader->messages, RC103,
               "%s is %u, but the file PALS_APINFO has %u tasks; nothing is set; start the command "
               "with its launcher again",
               field[RC_RANK].source, field[RC_RANK].value, info.tasks.count);
        return APINFO_WRONG;
    }
    own = rc_apinfo_task(&info, field[RC_RANK].value);
    largest = find_place(&info, own->node, reader->scratch, &place);
    if (!agrees_with_file(reader, &field[RC_WORLD_SIZE], info.tasks.count) ||
        !agrees_with_file(reader, &field[RC_NODE_RANK], own->node) ||
        !agrees_with_file(reader, &field[RC_LOCAL_RANK], own->local_rank) ||
        !agrees_with_file(reader, &field[RC_LOCAL_WORLD_SIZE], place.tasks) ||
        !agrees_with_file(reader, &field[RC_NNODES], info.nodes.count))
        return APINFO_WRONG;
    field[RC_NODE_RANK].value = place.node_rank;
    facts->node_order_rank = (struct rc_number){ place.tasks_before + own->local_rank, "PALS_APINFO" };
    facts->max_local_size = largest;
    /* unless all nodes have `largest`, some have less than the mean */
    facts->min_local_size = (uint64_t)largest * info.nodes.count == info.tasks.count
                                ? largest
                                : info.tasks.count / info.nodes.count;
    facts->master_host = rc_apinfo_host(&info, place.master_node);
    facts->master_source = "host of rank 0 in the file PALS_APINFO";
    facts->master_certain = true;
    return APINFO_READ;
}

/* A task of Cray PALS (HPE's mpiexec and aprun, with or without PBS).
 *
 * PALS_RANKID is also set by Slurm's mpi/cray_shasta, with JOB.STEP in PALS_APID, and Flux's cray-pals, with a number
 * there; PALS's is a UUID.
 * Variables that repeat a number must agree (RC103). Without the file, the number of nodes is size / local size, and
 * the node rank PALS_NODEID, if ranks in rounds allow it (else RC110); rank 0's host is unknown: PBS_NODEFILE is only
 * on one node, and mpiexec --hosts chooses others.
 * Source: HPE's pals.h (2018-2023, in cray-cti and dragon); slurm src/plugins/mpi/cray_shasta; flux-coral2
 * src/shell/plugins/cray_pals.c. */

static bool is_number(struct rc_str text)
{
    uint64_t number;

    return rc_parse_u64(text, UINT64_MAX, &number);
}

bool rc_pals_is_slurms(struct rc_str launch)
{
    struct rc_str step;
    struct rc_str job = rc_str_split(launch, '.', &step);

    return is_number(job) && is_number(step);
}

enum rc_claim rc_pals_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str text = rc_env_get(reader->env, "PALS_RANKID");
    struct rc_str launch = rc_env_get(reader->env, "PALS_APID");

    if (!text.n || rc_pals_is_slurms(launch) ||
        (is_number(launch) && rc_str_eq(text, rc_env_get(reader->env, "FLUX_TASK_RANK"))))
        return RC_CLAIM_ABSENT;
    if (!rc_read_number(reader, "PALS_RANKID", &facts->field[RC_RANK]))
        return RC_CLAIM_BROKEN;
    rc_facts_name(reader, facts, "pals", launch);
    return RC_CLAIM_TASK;
}

static bool without_file(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_number *field = facts->field;

    if (!rc_read_fields(reader, &rc_launcher_pals, facts, "PALS_RANKID",
                        1u << RC_WORLD_SIZE | 1u << RC_LOCAL_RANK | 1u << RC_LOCAL_WORLD_SIZE | 1u << RC_NODE_RANK))
        return false;
    if (!rc_layout_nnodes(reader, facts))
        return rc_layout_refuse(reader, facts, rc_launcher_pals.each);
    /* PALS may number a single node arbitrarily */
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
    enum apinfo_answer file;

    if (!rc_read_fields(reader, &rc_launcher_pals, facts, "PALS_RANKID", 0) ||
        !rc_agrees(reader, "PMI_RANK", &field[RC_RANK], "mpiexec") ||
        !rc_agrees(reader, "PMI_LOCAL_RANK", &field[RC_LOCAL_RANK], "mpiexec") ||
        !rc_agrees(reader, "PMI_LOCAL_SIZE", &field[RC_LOCAL_WORLD_SIZE], "mpiexec"))
        return false;
    file = apinfo_fill(reader, facts);
    if (file == APINFO_WRONG || (file == APINFO_NONE && !without_file(reader, facts)))
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

/* A task of Flux's job shell (flux run, flux submit).
 *
 * PMI_* are nearly always set too, PMIX_* with -o pmi=pmix, PALS_* with -o pmi=cray-pals: those families yield to this
 * one. A broker unsets all of them for the script of flux batch and flux alloc.
 * Without the file of -o pmi=cray-pals, assume blocks, Flux's default: node rank = rank / local size. In other jobs
 * (--taskmap=cyclic, uneven nodes) at least one task is refused (RC110). Rank 0's host is then unknown.
 * Source: flux-core 0.88 src/shell/{task,shell}.c, src/shell/pmi/pmi.c, src/broker/runat.c. */

/* A florin sign becomes "f", as under FLUX_F58_FORCE_ASCII. */
static struct rc_str ascii_id(struct rc_reader *reader, struct rc_str id)
{
    struct rc_str rest;

    if (!rc_str_starts(id, "\xc6\x92"))
        return id;
    rest = (struct rc_str){ id.p + 2, id.n - 2 };
    return rc_str(rc_format(reader->arena, "f%pS", &rest));
}

enum rc_claim rc_flux_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    if (!rc_env_get(reader->env, "FLUX_TASK_RANK").n)
        return RC_CLAIM_ABSENT;
    if (!rc_read_number(reader, "FLUX_TASK_RANK", &facts->field[RC_RANK]))
        return RC_CLAIM_BROKEN;
    rc_facts_name(reader, facts, "flux", ascii_id(reader, rc_env_get(reader->env, "FLUX_JOB_ID")));
    return RC_CLAIM_TASK;
}

static bool by_blocks(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_number *field = facts->field;
    uint32_t size = field[RC_WORLD_SIZE].value;
    uint32_t nnodes = field[RC_NNODES].value;

    if (nnodes == 0 || nnodes > size)
        return rc_say(reader->messages, RC103,
                      "FLUX_JOB_NNODES is %u and FLUX_JOB_SIZE is %u; nothing is set; start the command with "
                      "flux run again",
                      nnodes, size);
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
    enum apinfo_answer file;

    if (!rc_read_fields(reader, &rc_launcher_flux, facts, "FLUX_TASK_RANK",
                        1u << RC_WORLD_SIZE | 1u << RC_LOCAL_RANK | 1u << RC_NNODES))
        return false;
    file = rc_str_eq(rc_env_get(reader->env, "PALS_RANKID"), rc_env_get(reader->env, "FLUX_TASK_RANK"))
               ? apinfo_fill(reader, facts)
               : APINFO_NONE;
    if (file == APINFO_WRONG || (file == APINFO_NONE && !by_blocks(reader, facts)))
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
