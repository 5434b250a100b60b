/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/families.h"
#include "launcher/layout.h"

/* The file that tells Cray's PMI where each task of an application runs.
 *
 * PALS_APINFO names it, on each node. PALS writes it, and so do Slurm's mpi/cray_shasta and Flux's cray-pals for the
 * same library. A header with the offset, the size and the number of the records of each table, of which two matter:
 * the tasks in order of rank, with the index of their node, and the nodes with their names. Versions 1 and 5 are alike
 * in that. The node that reads the file has written it: it is in the node's byte order, but its records are not
 * aligned.
 * Source: flux-framework/flux-coral2 src/common/libapinfo/apinfo{1,5}.h. */

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

/* False, with a message, where a variable says another number. */
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

/* Nodes are numbered in the order of their lowest ranks, so that RANK 0 is on the first: nearly always the file's own
 * order. Returns the most tasks that a node has. */
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

/* Fills in what the file that PALS_APINFO names says of the task with the rank in *facts. APINFO_WRONG, with a message,
 * where it contradicts what the facts hold already; APINFO_NONE where there is no such file. */
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
    /* unless all have as many as the largest, some have fewer than the mean */
    facts->min_local_size = (uint64_t)largest * info.nodes.count == info.tasks.count
                                ? largest
                                : info.tasks.count / info.nodes.count;
    facts->master_host = rc_apinfo_host(&info, place.master_node);
    facts->master_source = "host of rank 0 in the file PALS_APINFO";
    facts->master_certain = true;
    return APINFO_READ;
}

/* A task that Cray PALS started (HPE's mpiexec and aprun, under PBS or alone).
 *
 * PALS_RANKID, PALS_LOCAL_RANKID, PALS_LOCAL_SIZE, PALS_NODEID, PALS_APID and PALS_APINFO, with PMI_RANK, PMI_SIZE,
 * PMI_LOCAL_RANK and PMI_LOCAL_SIZE for Cray's MPI. Two others set PALS_RANKID for the same library, and have families
 * of their own: Slurm's mpi/cray_shasta, whose PALS_APID is JOB.STEP, and Flux's cray-pals, whose PALS_APID is a number
 * and PALS_RANKID is FLUX_TASK_RANK. PALS's own is a UUID.
 *
 * The rule:
 * - rank, local rank, local size and node are PALS_*'s, or PMI_*'s where that one is missing; the size is PMI_SIZE. Two
 *   that speak of one number have to agree (RC103);
 * - the file PALS_APINFO (above), which is on every node, has all of them once more, and the number of nodes and the
 *   host of rank 0 as well. Nodes are numbered by their lowest ranks;
 * - where it cannot be read, the number of nodes is size / local size, if there is no rest, and the node rank is
 *   PALS_NODEID, if ranks that are dealt out to all nodes in turn, some at a time, can give it these numbers
 *   (rc_layout_agrees); else RC110. MASTER_ADDR has to be passed: PBS_NODEFILE is on one node only, and mpiexec --hosts
 *   chooses others.
 * Source: HPE's pals.h (2018-2023, in cray-cti and dragon); slurm
 * src/plugins/mpi/cray_shasta; flux-coral2 src/shell/plugins/cray_pals.c. */

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

/* A task that Flux's job shell started (flux run, flux submit).
 *
 * FLUX_TASK_RANK, FLUX_TASK_LOCAL_ID, FLUX_JOB_SIZE, FLUX_JOB_NNODES and FLUX_JOB_ID are in every task. PMI_RANK,
 * PMI_SIZE and PMI_FD are there nearly always, too, PMIX_* with -o pmi=pmix, PALS_* with -o pmi=cray-pals: the families
 * of these then give way to this one. No variable says how many tasks each node has, or on which host they are. A
 * broker removes all these variables before it starts the script of flux batch and flux alloc, so the tasks of a nested
 * instance have their own alone.
 *
 * The rule:
 * - rank, local rank, size and number of nodes are the variables';
 * - with -o pmi=cray-pals everything else is in a file (above);
 * - else a node has size / nodes tasks, dealt out block by block, which is Flux's default: node rank = rank / local
 *   size. Where there is a rest, or rank % local size is not the local rank (--taskmap=cyclic, nodes with different
 *   numbers), the task is refused (RC110); in such a job at least one task is;
 * - the host of rank 0 is not known then: MASTER_ADDR has to be passed.
 * Source: flux-core 0.88 src/shell/{task,shell}.c, src/shell/pmi/pmi.c, src/broker/runat.c. */

/* An id may begin with a florin sign. What rollcall makes of it is ASCII: it writes
 * "f" instead, as Flux does under FLUX_F58_FORCE_ASCII. */
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
