/* SPDX-License-Identifier: BSD-3-Clause */
/* platforms.c - platforms that start a command once per node and number the nodes: rows of platforms.def, SageMaker and
 * Azure ML.
 *
 * The rule of a row:
 * One task per node, in launcher mode, or a worker if the node has one GPU.
 * ABSENT if a needed variable is unset, or both index and count (RC102 if one of them).
 * ABSENT with a LOCAL_RANK, as workers were numbered further inside, unless by rollcall (the stamp).
 * Rank 0 is on the master variable's node, which may be a service's name, so rank 0 cannot check it.
 * A narrower CUDA_VISIBLE_DEVICES precedes the platform's number of GPUs. */
#include "base/netaddr.h"
#include "launcher/hosts.h"
#include "launcher/launcher.h"

enum { NAME_SIZE = 28 };

/* Variables of a platform; empty if it has none. */
struct platform {
    char needs[2][NAME_SIZE]; /* both must have a value */
    char elastic[NAME_SIZE];  /* if set, torchrun's agents number themselves */

    char index[NAME_SIZE];
    char count[NAME_SIZE];
    bool index_optional_alone; /* a single node may lack an index */

    char run_id[2][NAME_SIZE]; /* name of the launch: the first with a value */
    char master[NAME_SIZE];    /* the first node */
    char port[NAME_SIZE];      /* the platform's choice of a port there */
    bool by_dns;               /* the name is in DNS once that node is up */

    char gpus[NAME_SIZE];
    bool gpus_are_workers; /* of workers; precedes CUDA_VISIBLE_DEVICES */
};

static struct rc_str value_of(const struct rc_env *env, const char *name)
{
    return name[0] ? rc_env_find(env, rc_str(name)) : RC_ABSENT;
}

static bool is_set(const struct rc_env *env, const char *name)
{
    return value_of(env, name).n > 0;
}

/* Set launch and rank, unless workers were numbered further inside. Those of rollcall have its stamp. */
static enum rc_claim claim(struct rc_reader *reader, struct rc_facts *facts, const char *family, struct rc_str run_id,
                           struct rc_number rank, bool may_be_inside)
{
    rc_facts_name(reader, facts, family, run_id);
    if (may_be_inside &&
        (!rc_stamp_is_of(&reader->stamp, facts->scope, rank.value) || reader->stamp.mode == RC_STAMP_LAUNCHER))
        return RC_CLAIM_ABSENT;
    facts->field[RC_RANK] = rank;
    return RC_CLAIM_TASK;
}

static enum rc_claim recognise(struct rc_reader *reader, struct rc_facts *facts, const char *family,
                               const struct platform *platform)
{
    const struct rc_env *env = reader->env;
    bool has_index = is_set(env, platform->index);
    bool has_count = is_set(env, platform->count);
    struct rc_number index;

    for (unsigned i = 0; i < 2; i++)
        if (platform->needs[i][0] && !is_set(env, platform->needs[i]))
            return RC_CLAIM_ABSENT;
    if (is_set(env, platform->elastic)) {
        rc_say(reader->messages, RC118,
               "this PyTorchJob is elastic (%s is set): torchrun's agents number themselves; the "
               "environment is left as it is; leave elasticPolicy out of the job for fixed numbers",
               platform->elastic);
        return RC_CLAIM_HALF;
    }
    if (!has_index && platform->index_optional_alone && rc_str_is(value_of(env, platform->count), "1")) {
        index = (struct rc_number){ 0, rc_format(reader->arena, "%s is 1", platform->count) };
    } else {
        if (!has_index && (!has_count || is_set(env, "LOCAL_RANK")))
            return RC_CLAIM_ABSENT;
        if (!has_index || !has_count) {
            rc_missing(reader, has_index ? platform->index : platform->count,
                       has_index ? platform->count : platform->index);
            return RC_CLAIM_BROKEN;
        }
        if (!rc_read_number(reader, platform->index, &index))
            return RC_CLAIM_BROKEN;
    }
    return claim(reader, facts, family,
                 is_set(env, platform->run_id[0]) ? value_of(env, platform->run_id[0])
                                                  : value_of(env, platform->run_id[1]),
                 index, is_set(env, "LOCAL_RANK"));
}

/* The variable may be "auto". */
static void fill_gpus(struct rc_reader *reader, struct rc_facts *facts, const char *name, bool are_workers)
{
    if ((are_workers || !rc_env_get(reader->env, "CUDA_VISIBLE_DEVICES").p) &&
        rc_parse_u32(value_of(reader->env, name), RC_MAX_TASKS, &facts->gpus.value))
        facts->gpus.source = name;
    else
        rc_read_gpus(reader, facts);
}

static bool read_platform(struct rc_reader *reader, struct rc_facts *facts, const struct platform *platform)
{
    struct rc_number count;

    if (!rc_read_number(reader, platform->count, &count))
        return false;
    rc_facts_one_a_node(facts, count);
    facts->master_certain = true;
    facts->master_host = value_of(reader->env, platform->master);
    facts->master_source = platform->master;
    facts->master_comes_later = platform->by_dns;
    facts->reserved_ports = value_of(reader->env, platform->port);
    facts->port_source = platform->port;
    fill_gpus(reader, facts, platform->gpus, platform->gpus_are_workers);
    return true;
}

/* registry.c requires these of each family. */
#define MEMBERS(...) __VA_ARGS__
#define ROLLCALL_MARKER(name, variable)
#define ROLLCALL_PLATFORM(name, like, ...)                                                \
    const struct rc_launcher rc_launcher_##name = { .id = #name, MEMBERS like };          \
    static const struct platform name##_platform = { __VA_ARGS__ };                       \
    enum rc_claim rc_##name##_recognise(struct rc_reader *reader, struct rc_facts *facts) \
    {                                                                                     \
        return recognise(reader, facts, rc_launcher_##name.id, &name##_platform);         \
    }                                                                                     \
    bool rc_##name##_read(struct rc_reader *reader, struct rc_facts *facts)               \
    {                                                                                     \
        return read_platform(reader, facts, &name##_platform);                            \
    }
#include "launcher/platforms.def"
#undef ROLLCALL_PLATFORM
#undef ROLLCALL_MARKER

/* A host of an Amazon SageMaker training job.
 *
 * SM_HOSTS is a JSON list of all hosts (["algo-1","algo-2"], sorted as text), SM_CURRENT_HOST one of them, the first
 * the master, as in the toolkit. With torch_distributed the toolkit starts torchrun, and with MPI mpirun, whose
 * families are further inside.
 * Source: aws/sagemaker-training-toolkit src/sagemaker_training/environment.py (to_env_vars, get_master_hostname),
 * mapping.py, torch_distributed.py. */
struct hosts {
    uint32_t count;
    uint32_t place; /* of SM_CURRENT_HOST */
    struct rc_str first;
};

static struct rc_str without_blanks(struct rc_str text)
{
    while (text.n && text.p[0] == ' ')
        text = (struct rc_str){ text.p + 1, text.n - 1 };
    while (text.n && text.p[text.n - 1] == ' ')
        text.n--;
    return text;
}

static bool read_hosts(struct rc_reader *reader, struct hosts *hosts)
{
    struct rc_str current = rc_env_get(reader->env, "SM_CURRENT_HOST");
    struct rc_str text = rc_env_get(reader->env, "SM_HOSTS");
    struct rc_str rest = text;
    unsigned found = 0;
    bool is_list = false;

    *hosts = (struct hosts){ .count = 0 };
    for (;;) {
        struct rc_str before = without_blanks(rc_str_split(rest, '"', &rest));
        struct rc_str host = rc_str_split(rest, '"', &rest);

        if (!host.p) {
            is_list = hosts->count > 0 && rc_str_is(before, "]");
            break;
        }
        if (!rc_str_is(before, hosts->count == 0 ? "[" : ",") || !rc_host_is_name(host) || !rest.p ||
            hosts->count == RC_MAX_TASKS)
            break;
        if (hosts->count == 0)
            hosts->first = host;
        if (rc_str_eq(host, current)) {
            found++;
            hosts->place = hosts->count;
        }
        hosts->count++;
    }
    if (!is_list)
        return rc_say(reader->messages, RC105,
                      "SM_HOSTS is %pQ, not a list of host names; nothing is set; it should look like "
                      "[\"algo-1\",\"algo-2\"]",
                      &text);
    if (found != 1)
        return rc_say(reader->messages, RC103,
                      "SM_CURRENT_HOST is %pQ, which is %s SM_HOSTS %pQ; nothing is set; pass the platform's "
                      "own values",
                      &current, found ? "twice in" : "not in", &text);
    return true;
}

enum rc_claim rc_sagemaker_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct hosts hosts;

    if (!is_set(reader->env, "SM_HOSTS"))
        return RC_CLAIM_ABSENT;
    if (!is_set(reader->env, "SM_CURRENT_HOST"))
        rc_missing(reader, "SM_HOSTS", "SM_CURRENT_HOST");
    else if (read_hosts(reader, &hosts))
        return claim(reader, facts, "sagemaker", rc_env_get(reader->env, "TRAINING_JOB_NAME"),
                     (struct rc_number){ hosts.place, "place of SM_CURRENT_HOST in SM_HOSTS" },
                     is_set(reader->env, "LOCAL_RANK"));
    return RC_CLAIM_BROKEN;
}

bool rc_sagemaker_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct hosts hosts;

    if (!read_hosts(reader, &hosts))
        return false;
    rc_facts_one_a_node(facts, (struct rc_number){ hosts.count, "length of SM_HOSTS" });
    facts->master_certain = true;
    facts->master_host = hosts.first;
    facts->master_source = "first of SM_HOSTS";
    fill_gpus(reader, facts, "SM_NUM_GPUS", false);
    return true;
}

const struct rc_launcher rc_launcher_sagemaker = {
    .id = "sagemaker",
    .title = "SageMaker",
};

/* A process of a distributed Azure Machine Learning job.
 *
 * With the PyTorch distribution Azure sets RANK, WORLD_SIZE, LOCAL_RANK, NODE_RANK, MASTER_ADDR and MASTER_PORT, but
 * not LOCAL_WORLD_SIZE. With MPI it starts mpirun. One process per node with several GPUs is its "per-node launch":
 * launcher mode.
 * Not Azure's numbering: without LOCAL_RANK, with OMPI_COMM_WORLD_RANK, or with a ROLLCALL_SCOPE other than worker mode
 * for this RANK (launcher mode removes RANK).
 * Each node has WORLD_SIZE / nodes processes, numbered node by node; else RC103.
 * Source: learn.microsoft.com/azure/machine-learning/how-to-train-distributed-gpu;
 * learn.microsoft.com/azure/batch/batch-compute-node-environment-variables; DeepSpeed deepspeed/comm/comm.py (in_aml,
 * patch_aml_env_for_torch_nccl_backend). */

/* From Azure or the user; RC_UNKNOWN if unset. Return false with a message. */
static bool read_nnodes(struct rc_reader *reader, struct rc_number *nnodes)
{
    struct rc_str hosts = rc_env_get(reader->env, "AZ_BATCH_HOST_LIST");
    struct rc_str local_size = rc_env_get(reader->env, "LOCAL_WORLD_SIZE");

    if (!rc_read_number(reader, "AZUREML_NODE_COUNT", nnodes))
        return false;
    if (nnodes->value != RC_UNKNOWN)
        return true;
    if (hosts.n) {
        nnodes->source = "length of AZ_BATCH_HOST_LIST";
        nnodes->value = rc_str_pieces(hosts, ',');
    } else if (local_size.n && rc_str_eq(local_size, rc_env_get(reader->env, "WORLD_SIZE"))) {
        nnodes->source = "LOCAL_WORLD_SIZE is the whole size";
        nnodes->value = 1;
    }
    return true;
}

enum rc_claim rc_azureml_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    bool has_rank = is_set(reader->env, "RANK");
    bool has_size = is_set(reader->env, "WORLD_SIZE");
    struct rc_number nnodes;
    struct rc_number rank;

    if ((!has_rank && !has_size) || !is_set(reader->env, "LOCAL_RANK") || is_set(reader->env, "OMPI_COMM_WORLD_RANK"))
        return RC_CLAIM_ABSENT;
    if (!has_rank || !has_size) {
        rc_missing(reader, has_rank ? "RANK" : "WORLD_SIZE", has_rank ? "WORLD_SIZE" : "RANK");
        return RC_CLAIM_BROKEN;
    }
    if (!read_nnodes(reader, &nnodes) || !rc_read_number(reader, "RANK", &rank))
        return RC_CLAIM_BROKEN;
    if (nnodes.value == RC_UNKNOWN)
        return RC_CLAIM_ABSENT;
    return claim(reader, facts, "azureml", rc_env_get(reader->env, "AZUREML_RUN_ID"), rank, reader->stamp.text.n > 0);
}

/* Compare node and rank. */
static bool number_nodes(struct rc_reader *reader, struct rc_number *field)
{
    uint32_t rank = field[RC_RANK].value;
    uint32_t size = field[RC_WORLD_SIZE].value;
    uint32_t nnodes = field[RC_NNODES].value;
    uint32_t each = nnodes ? size / nnodes : 0;
    struct rc_number node = field[RC_NODE_RANK];

    if (each == 0 || size % nnodes)
        return rc_say(reader->messages, RC103,
                      "WORLD_SIZE %u cannot be spread evenly over %u nodes (%s); nothing is set; pass the "
                      "platform's own values",
                      size, nnodes, field[RC_NNODES].source);
    if (rank % each != field[RC_LOCAL_RANK].value || (node.value != RC_UNKNOWN && node.value != rank / each))
        return rc_say(reader->messages, RC103,
                      "RANK %u, with %u processes a node, is local rank %u of node %u, but LOCAL_RANK or "
                      "NODE_RANK differs; nothing is set; pass the platform's own values",
                      rank, each, rank % each, rank / each);
    field[RC_NODE_RANK] = (struct rc_number){ rank / each, node.source ? node.source : "RANK and processes a node" };
    field[RC_LOCAL_WORLD_SIZE] = (struct rc_number){ each, "WORLD_SIZE / nodes" };
    return true;
}

/* "10.0.0.4:6000" */
static struct rc_str master_host(const struct rc_env *env)
{
    struct rc_str port;
    struct rc_str host = rc_str_split(rc_env_get(env, "AZ_BATCH_MASTER_NODE"), ':', &port);

    /* one node: the core decides */
    return host.n && !rc_host_is_loopback(host) ? host : RC_ABSENT;
}

bool rc_azureml_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_number *field = facts->field;

    if (!rc_read_number(reader, "WORLD_SIZE", &field[RC_WORLD_SIZE]) ||
        !rc_read_number(reader, "LOCAL_RANK", &field[RC_LOCAL_RANK]) ||
        !rc_read_number(reader, "NODE_RANK", &field[RC_NODE_RANK]) || !read_nnodes(reader, &field[RC_NNODES]) ||
        !number_nodes(reader, field))
        return false;
    facts->min_local_size = facts->max_local_size = field[RC_LOCAL_WORLD_SIZE].value;
    facts->node_order_rank = field[RC_RANK];
    facts->master_host = master_host(reader->env);
    facts->master_source = "master node of Azure";
    facts->master_certain = true;
    rc_read_gpus(reader, facts);
    return true;
}

/* RANK and the others are in torchrun's table. */
const struct rc_launcher rc_launcher_azureml = {
    .id = "azureml",
    .title = "Azure ML",
    .variables = {
        RC_VARIABLE("AZUREML_NODE_COUNT", RC_NNODES),
    },
};
