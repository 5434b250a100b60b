/* SPDX-License-Identifier: BSD-3-Clause */
/* env.c - processes numbered for torch by hand, by an unknown launcher, or by torchrun.
 *
 * Variables of torch's env:// are never changed; an identity is completed, or reported as incomplete (HALF). RANK and
 * WORLD_SIZE count processes for env://, but nodes for Vertex AI and parts of Kubeflow; a wrong guess starts too many
 * workers or too few. Only processes have LOCAL_RANK.
 * The rule, in this order (empty counts as unset):
 * 1. ABSENT: a child of torchrun; or ROLLCALL_SCOPE is not env's for this RANK.
 * 2. RC117: a number is missing, invalid or contradicts another.
 * 3. WORLD_SIZE 1 is one process on one node.
 * 4. RC118: no LOCAL_RANK; or no MASTER_PORT, as there is no launch id to compute one from.
 * 5. One node: LOCAL_WORLD_SIZE = WORLD_SIZE, or it is unset and MASTER_ADDR is a loopback address.
 * 6. Several nodes require LOCAL_WORLD_SIZE, NODE_RANK or GROUP_RANK, GROUP_WORLD_SIZE or NNODES, and MASTER_ADDR
 * (RC118).
 * 7. Else TASK. GPUs are not counted: the user chose the processes.
 * DeepSpeed's launcher sets LOCAL_SIZE, CROSS_RANK and CROSS_SIZE for the node (deepspeedai/DeepSpeed
 * deepspeed/launcher/launch.py, main). */
#include "base/netaddr.h"
#include "launcher/gpulist.h"
#include "launcher/hosts.h"
#include "launcher/layout.h"

static bool refuse_half(struct rc_reader *reader, const char *what)
{
    return rc_say(reader->messages, RC117,
                  "%s; rollcall leaves the environment unchanged; correct RANK, WORLD_SIZE and LOCAL_RANK, "
                  "or unset them",
                  what);
}

/* Return false if the number is invalid or below `least`. */
static bool read_number(struct rc_reader *reader, const char *name, uint32_t least, struct rc_number *out)
{
    struct rc_str text = rc_env_find(reader->env, rc_str(name));
    uint32_t value = RC_UNKNOWN;

    if (text.n && (!rc_parse_u32(text, RC_MAX_TASKS, &value) || value < least))
        return refuse_half(reader, rc_format(reader->arena, "%s is %pQ, not a number from %u to %u", name, &text, least,
                                             RC_MAX_TASKS));
    *out = (struct rc_number){ value, value == RC_UNKNOWN ? NULL : name };
    return true;
}

static bool refuse_ambiguous(struct rc_reader *reader, const char *what)
{
    return rc_say(reader->messages, RC118,
                  "RANK, WORLD_SIZE and LOCAL_RANK are set, but not %s; rollcall leaves them unchanged; set it too, "
                  "or unset all of them",
                  what);
}

static bool fits(struct rc_reader *reader, const struct rc_number *small, const struct rc_number *large, bool below)
{
    if (small->value == RC_UNKNOWN || large->value == RC_UNKNOWN || small->value + below <= large->value)
        return true;
    return refuse_half(reader, rc_format(reader->arena, "%s is %u, but %s is %u", small->source, small->value,
                                         large->source, large->value));
}

static bool read_numbers(struct rc_reader *reader, struct rc_number *field)
{
    static const char names[][11] = { "RANK", "WORLD_SIZE" };

    for (size_t i = 0; i < 2; i++) {
        struct rc_str value = rc_env_find(reader->env, rc_str(names[i]));

        if (!value.n)
            return refuse_half(reader, rc_format(reader->arena, "%s is %s, but %s is set", names[i],
                                                 value.p ? "empty" : "not set", names[1 - i]));
    }
    return read_number(reader, "RANK", 0, &field[RC_RANK]) &&
           read_number(reader, "WORLD_SIZE", 1, &field[RC_WORLD_SIZE]) &&
           read_number(reader, "LOCAL_RANK", 0, &field[RC_LOCAL_RANK]) &&
           read_number(reader, rc_either(reader->env, "LOCAL_WORLD_SIZE", "LOCAL_SIZE"), 1,
                       &field[RC_LOCAL_WORLD_SIZE]) &&
           fits(reader, &field[RC_RANK], &field[RC_WORLD_SIZE], true) &&
           fits(reader, &field[RC_LOCAL_RANK], &field[RC_LOCAL_WORLD_SIZE], true) &&
           fits(reader, &field[RC_LOCAL_RANK], &field[RC_RANK], false) &&
           fits(reader, &field[RC_LOCAL_WORLD_SIZE], &field[RC_WORLD_SIZE], false);
}

static bool read_one_node(struct rc_reader *reader, struct rc_number *field, const char *source)
{
    if (field[RC_LOCAL_RANK].value == RC_UNKNOWN)
        field[RC_LOCAL_RANK] = (struct rc_number){ 0, source };
    if (field[RC_LOCAL_WORLD_SIZE].value == RC_UNKNOWN)
        field[RC_LOCAL_WORLD_SIZE] = (struct rc_number){ field[RC_WORLD_SIZE].value, source };
    field[RC_NODE_RANK] = (struct rc_number){ 0, source };
    field[RC_NNODES] = (struct rc_number){ 1, source };
    if (field[RC_LOCAL_RANK].value == field[RC_RANK].value)
        return true;
    return refuse_half(reader, rc_format(reader->arena, "LOCAL_RANK is %u and RANK %u, but all are on one node (%s)",
                                         field[RC_LOCAL_RANK].value, field[RC_RANK].value, source));
}

static bool read_nodes(struct rc_reader *reader, struct rc_number *field, struct rc_str master)
{
    const struct rc_env *env = reader->env;
    const char *node_name = rc_either(env, "NODE_RANK", rc_either(env, "GROUP_RANK", "CROSS_RANK"));
    const char *nodes_name = rc_either(env, "GROUP_WORLD_SIZE", rc_either(env, "NNODES", "CROSS_SIZE"));
    struct rc_number *node = &field[RC_NODE_RANK];
    struct rc_number *nnodes = &field[RC_NNODES];

    if (field[RC_LOCAL_WORLD_SIZE].value == RC_UNKNOWN)
        return refuse_ambiguous(reader, "LOCAL_WORLD_SIZE");
    if (!read_number(reader, node_name, 0, node) || !read_number(reader, nodes_name, 1, nnodes))
        return false;
    if (node->value == RC_UNKNOWN || nnodes->value == RC_UNKNOWN || !master.n)
        return refuse_ambiguous(reader, node->value == RC_UNKNOWN     ? "NODE_RANK"
                                        : nnodes->value == RC_UNKNOWN ? "GROUP_WORLD_SIZE"
                                                                      : "MASTER_ADDR");
    if (rc_host_is_loopback(master))
        return refuse_half(reader, rc_format(reader->arena, "MASTER_ADDR is %pQ, but %s is %u", &master, nnodes->source,
                                             nnodes->value));
    if (nnodes->value - 1 > field[RC_WORLD_SIZE].value - field[RC_LOCAL_WORLD_SIZE].value || nnodes->value == 1)
        return refuse_half(reader,
                           rc_format(reader->arena, "%s is %u, but %u of %u processes are on this node", nnodes->source,
                                     nnodes->value, field[RC_LOCAL_WORLD_SIZE].value, field[RC_WORLD_SIZE].value));
    return fits(reader, node, nnodes, true) && fits(reader, node, &field[RC_RANK], false);
}

static bool read_master(struct rc_reader *reader, struct rc_str addr)
{
    struct rc_str port = rc_env_get(reader->env, "MASTER_PORT");
    uint32_t number;

    if (addr.n && !rc_host_is_word(addr))
        return refuse_half(reader, rc_format(reader->arena, "MASTER_ADDR is %pQ, not a name or an address", &addr));
    if (!port.n)
        return refuse_ambiguous(reader, "MASTER_PORT");
    if (rc_parse_u32(port, UINT16_MAX, &number) && number > 0)
        return true;
    return refuse_half(reader, rc_format(reader->arena, "MASTER_PORT is %pQ, which is no port", &port));
}

static bool read_all(struct rc_reader *reader, struct rc_number *field)
{
    struct rc_str master = rc_env_get(reader->env, "MASTER_ADDR");

    if (!read_numbers(reader, field))
        return false;
    if (field[RC_WORLD_SIZE].value == 1)
        return read_one_node(reader, field, "WORLD_SIZE is 1");
    if (field[RC_LOCAL_RANK].value == RC_UNKNOWN)
        return rc_say(reader->messages, RC118,
                      "RANK and WORLD_SIZE are set, but not LOCAL_RANK, so they may count processes or nodes; "
                      "rollcall leaves them unchanged; set LOCAL_RANK too, or unset both");
    if (!read_master(reader, master))
        return false;
    if (field[RC_LOCAL_WORLD_SIZE].value == field[RC_WORLD_SIZE].value)
        return read_one_node(reader, field, "LOCAL_WORLD_SIZE is the whole size");
    if (field[RC_LOCAL_WORLD_SIZE].value == RC_UNKNOWN && rc_host_is_loopback(master))
        return read_one_node(reader, field, "MASTER_ADDR is a loopback address");
    return read_nodes(reader, field, master);
}

static bool is_not_ours(const struct rc_reader *reader)
{
    const struct rc_env *env = reader->env;
    uint32_t rank;

    if (rc_env_get(env, "TORCHELASTIC_RUN_ID").p && rc_env_get(env, "RANK").p && rc_env_get(env, "LOCAL_RANK").p)
        return true;
    if (!reader->stamp.text.n)
        return false;
    return !rc_parse_u32(rc_env_get(env, "RANK"), UINT32_MAX, &rank) ||
           !rc_stamp_is_of(&reader->stamp, "env:env", rank);
}

enum rc_claim rc_env_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_number field[RC_FIELD_COUNT];

    if (is_not_ours(reader))
        return RC_CLAIM_ABSENT;
    /* a task shows only after a full read */
    if (!read_all(reader, field))
        return RC_CLAIM_HALF;
    facts->field[RC_RANK] = field[RC_RANK];
    rc_facts_name(reader, facts, "env", RC_ABSENT);
    return RC_CLAIM_TASK;
}

bool rc_env_read(struct rc_reader *reader, struct rc_facts *facts)
{
    if (!read_all(reader, facts->field))
        return false;
    rc_layout_spread(facts);
    /* for other nodes, only the average is known */
    if (facts->field[RC_NNODES].value > 1)
        facts->node_order_rank.value = RC_UNKNOWN;
    facts->master_certain = true;
    return true;
}

/* RANK and the others are in torchrun's table. */
const struct rc_launcher rc_launcher_env = {
    .id = "env",
    .by_hand = true,
    .apart = "MASTER_PORT",
    .title = "env:// (set by hand)",
};

/* A worker of torchrun (or torch.distributed.launch), whose agents have agreed on the ranks: its variables are only
 * shown (torch/distributed/elastic/agent/server/local_elastic_agent.py, _start_workers). TORCHELASTIC_RUN_ID proves
 * nothing: users export it for Lightning's (2.1 and later) TorchElasticEnvironment. */

enum rc_claim rc_torchrun_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str run_id = rc_env_get(reader->env, "TORCHELASTIC_RUN_ID");
    struct rc_str rank = rc_env_get(reader->env, "RANK");
    struct rc_str local_rank = rc_env_get(reader->env, "LOCAL_RANK");

    if (!run_id.p || !rank.p || !local_rank.p)
        return RC_CLAIM_ABSENT;
    if (!rank.n || !local_rank.n) {
        rc_say(reader->messages, RC102,
               "TORCHELASTIC_RUN_ID is set but %s is empty; nothing is set; unset what another "
               "torchrun left, or start the command with torchrun again",
               rank.n ? "LOCAL_RANK" : "RANK");
        return RC_CLAIM_BROKEN;
    }
    if (!rc_read_number(reader, "RANK", &facts->field[RC_RANK]))
        return RC_CLAIM_BROKEN;
    rc_facts_name(reader, facts, "torchrun", run_id);
    return RC_CLAIM_TASK;
}

bool rc_torchrun_read(struct rc_reader *reader, struct rc_facts *facts)
{
    if (!rc_read_fields(reader, &rc_launcher_torchrun, facts, "TORCHELASTIC_RUN_ID", 0))
        return false;
    facts->master_host = rc_env_get(reader->env, "MASTER_ADDR");
    facts->master_source = "MASTER_ADDR (torchrun)";
    return true;
}

const struct rc_launcher rc_launcher_torchrun = {
    .id = "torchrun",
    .title = "torchrun",
    /* DeepSpeed's elastic agent is torchrun's */
    .processes = "torchrun|torch.distributed.run|torch.distributed.launch|deepspeed.launcher.launch",
    .has_library = true, /* torch.distributed.launcher.api.elastic_launch */
    .tells_master = true,
    .authoritative = true,
    /* the run id is "none" without --rdzv-id; a restart keeps it */
    .apart = "MASTER_ADDR MASTER_PORT TORCHELASTIC_RESTART_COUNT",
    .srun_server = RC_SRUN_SERVER_OUTER,
    .variables = {
        RC_VARIABLE("RANK", RC_RANK),
        RC_VARIABLE("WORLD_SIZE", RC_WORLD_SIZE),
        RC_VARIABLE("LOCAL_RANK", RC_LOCAL_RANK),
        RC_VARIABLE("LOCAL_WORLD_SIZE", RC_LOCAL_WORLD_SIZE),
        RC_VARIABLE("GROUP_RANK", RC_NODE_RANK),
        RC_VARIABLE("GROUP_WORLD_SIZE", RC_NNODES),
    },
};

/* A process made a job by --ddp=alone, in any launch, whose variables are hidden (lib/resolve/alone.c). A later
 * rollcall recognises the stamp. */

static const char by_option[] = "--ddp=alone";

enum rc_claim rc_alone_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str id;

    if (reader->starts_alone)
        id = rc_str(rc_format(reader->arena, "%u", reader->pid));
    else if (rc_launcher_has_scope(&rc_launcher_alone, reader->stamp.scope))
        rc_str_split(reader->stamp.scope, ':', &id);
    else
        return RC_CLAIM_ABSENT;
    rc_facts_name(reader, facts, rc_launcher_alone.id, id);
    facts->field[RC_RANK] = (struct rc_number){ 0, by_option };
    return RC_CLAIM_TASK;
}

/* A Slurm job without a list of GPUs has none. */
static bool read_one(struct rc_reader *reader, struct rc_facts *facts, const char *source)
{
    unsigned first = rc_gpu_list_first(reader->env);

    rc_facts_one_a_node(facts, (struct rc_number){ 1, source });
    facts->master_certain = true;
    if (first < RC_GPU_LISTS)
        facts->gpus = (struct rc_number){ rc_count_devices(rc_gpu_list_value(reader->env, first)),
                                          rc_gpu_list_name(first).p };
    else if (!rc_env_get(reader->env, "SLURM_JOB_ID").n)
        rc_read_gpus(reader, facts);
    return true;
}

bool rc_alone_read(struct rc_reader *reader, struct rc_facts *facts)
{
    return read_one(reader, facts, by_option);
}

const struct rc_launcher rc_launcher_alone = {
    .id = "alone",
    .title = "one process alone",
    .alone = true,
};

/* A process without a launcher: `rollcall exec -- python train.py`. Two on a machine have different ports. */

enum rc_claim rc_single_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str id = rc_str(rc_format(reader->arena, "pid%u", reader->pid));

    if (!reader->starts_alone)
        rc_str_split(reader->stamp.scope, ':', &id);
    facts->field[RC_RANK] = (struct rc_number){ 0, "no launcher" };
    rc_facts_name(reader, facts, "single", id);
    return RC_CLAIM_TASK;
}

bool rc_single_read(struct rc_reader *reader, struct rc_facts *facts)
{
    return read_one(reader, facts, "no launcher");
}

const struct rc_launcher rc_launcher_single = {
    .id = "single",
    .title = "none",
    .single = true,
};
