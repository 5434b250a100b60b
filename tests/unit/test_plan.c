/* SPDX-License-Identifier: BSD-3-Clause */
/* What a task's variables become, and what is said of it: one row for each thing that a user may have set. */
#include "resolve/command.h"
#include "resolve/options.h"
#include "resolve/resolve.h"
#include "resolve/steps.h"
#include "unit.h"

/* One of two tasks of srun's, each alone on its node. */
#define TASK(rank)                                                                                   \
    "SLURM_JOB_ID=42 SLURM_STEP_ID=0 SLURM_LOCALID=0 SLURM_PROCID=" rank " SLURM_NODEID=" rank       \
    " SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NUM_NODES=2 SLURM_NTASKS=2 SLURM_STEP_TASKS_PER_NODE=1(x2) " \
    "SLURM_STEP_NODELIST=n[1-2] SLURM_NTASKS_PER_NODE=1 "
#define STEP   TASK("0")
#define SECOND TASK("1")
/* A stamp that another launch has left. */
#define OUTER "ROLLCALL_SCOPE=slurm:41.0/0/launcher/23456 "

struct row {
    struct rc_str input; /* the command */
    const char *env;
    const char *options;
    const char *expected; /* NAME=VALUE is set, -NAME is unset, +NAME is kept, !NAME is none of these, RC501 is said */
    const char *why;
};

static bool is_said(const struct rc_messages *messages, const char *id)
{
    for (unsigned i = 0; i < messages->count; i++)
        if (strcmp(rc_message_entry(messages->list[i].id)->id, id) == 0)
            return true;
    return false;
}

static void expect_entry(struct rc_result *result, const char *word)
{
    const bool is_set = !strchr("-+!", word[0]);
    struct rc_str value;
    struct rc_str name = rc_str_split(rc_str(is_set ? word : word + 1), '=', &value);
    const struct rc_plan_entry *entry = rc_plan_find(&result->plan, name);

    if (word[0] == '!') {
        if (entry)
            fail_msg("%s is planned", word + 1);
        return;
    }
    if (!entry)
        fail_msg("%s is not planned", word);
    assert_int_equal(entry->action, is_set ? RC_SET : word[0] == '-' ? RC_UNSET : RC_KEEP);
    if (is_set)
        assert_string_equal(entry->value, value.p);
}

/* Each entry that is named, and all messages but notes. */
static void expect(struct rc_result *result, const char *expected)
{
    const char *words[24];

    unit_words(expected, words, UNIT_COUNT(words));
    for (size_t i = 0; words[i]; i++) {
        if (strncmp(words[i], "RC", 2) != 0)
            expect_entry(result, words[i]);
        else if (!is_said(&result->messages, words[i]))
            fail_msg("%s is not said", words[i]);
    }
    for (unsigned i = 0; i < result->messages.count; i++) {
        const struct rc_message_entry *entry = rc_message_entry(result->messages.list[i].id);

        if (entry->level != RC_LEVEL_NOTE && !strstr(expected, entry->id))
            fail_msg("%s is said: %s", entry->id, result->messages.list[i].text);
    }
}

static struct rc_here installed = { .learned = RC_LEARN_WATCH | RC_LEARN_REVERSE,
                                    .watch = RC_STR("/r/watch"),
                                    .reverse = RC_STR("/r/lookup.so") };
static struct rc_here not_installed = { .learned = RC_LEARN_WATCH | RC_LEARN_REVERSE };

static void be_planned(const struct row *row, struct rc_context context)
{
    static struct rc_result result;
    const char *env[40];
    const char *argv[24];
    UNIT_ARENA(arena, 64);
    struct rc_messages messages = { .arena = &arena };
    struct rc_options options;

    context.env = env;
    context.argv = argv;
    unit_words(row->env, env, UNIT_COUNT(env));
    unit_words(row->input.p, argv, UNIT_COUNT(argv));
    assert_true(rc_options_parse(rc_str(row->options), "--ddp", &options, &messages));
    context.options = options;
    rc_resolve(&context, &result);
    expect(&result, row->expected);
}

/* What goes into a task's LD_PRELOAD and PYTHONPATH. */

#define SERVED "SLURM_ROLLCALL_SERVER='token 1234 42.0' "

static const struct row added[] = {
    { TEXT("x"), STEP, "lookup=numeric", "LD_PRELOAD=/r/lookup.so", "the look-ups' library" },
    { TEXT("x"), STEP "'LD_PRELOAD=/b.so /r/lookup.so'", "lookup=numeric", "'LD_PRELOAD=/b.so /r/lookup.so'",
      "it is there after a blank" },
    { TEXT("x"), STEP "LD_PRELOAD=/r/lookup.so.1", "lookup=numeric", "LD_PRELOAD=/r/lookup.so.1:/r/lookup.so",
      "another one begins like it" },
    { TEXT("x"), STEP, "lookup=off", "!LD_PRELOAD", "look-ups as torch does them" },
    { TEXT("apptainer exec i x"), STEP, "lookup=numeric", "!LD_PRELOAD RC505", "no library that its container lacks" },
    { TEXT("x"), STEP "MASTER_PORT=5000", "watch",
      "PYTHONPATH=/r/watch 'ROLLCALL_IDENTITY=rank=0 size=2 node=0 nodes=2 master=n1:5000'",
      "what the watch compares with" },
    { TEXT("x"), STEP, "launcher,watch", "'ROLLCALL_IDENTITY=node=0 nodes=2'", "an agent has no rank" },
    { TEXT("x"), STEP SERVED "MASTER_PORT=5000", "watch=60",
      "'ROLLCALL_IDENTITY=rank=0 size=2 node=0 nodes=2 master=n1:5000 task=0 tasks=2 arrivals=1'",
      "the server knows tasks by Slurm's number" },
    { TEXT("x"), STEP SERVED "MASTER_PORT=5000", "watch",
      "'ROLLCALL_IDENTITY=rank=0 size=2 node=0 nodes=2 master=n1:5000 task=0 tasks=2'",
      "without a time the server hears of failures, and not of arrivals" },
    { TEXT("x"), STEP "SLURM_ROLLCALL_SERVER='token 1234 42.7' ", "watch=60", "PYTHONPATH=/r/watch RC709",
      "the server is another step's" },
    { TEXT("x"), STEP "TORCH_DEVICE_BACKEND_AUTOLOAD=0 ROLLCALL_IDENTITY=rank=7", "watch",
      "-ROLLCALL_IDENTITY !PYTHONPATH RC705", "torch is told not to load it" },
    { TEXT("x"),
      "SLURM_JOB_ID=42 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_LOCALID=0 SLURM_NODEID=1 SLURM_STEP_NUM_TASKS=4 "
      "SLURM_STEP_NUM_NODES=2 SLURM_NTASKS=4 SLURM_STEP_TASKS_PER_NODE=2(x2) SLURM_STEP_NODELIST=n[1-2] "
      "SLURM_GTIDS=1,3 MASTER_PORT=5000",
      "watch,order=node", "RANK=2 'ROLLCALL_IDENTITY=rank=2 size=4 node=1 nodes=2 master=n1:5000 other=1'",
      "Slurm has another number for it" },
};

UNIT_ROWS(adds, "a task gets", added)
{
    be_planned(row, (struct rc_context){ .here = &installed, .slurm_certain = true });
}

/* The first task of a step of Slurm's: on each of so many nodes it has so many. */
#define LARGE(tasks, nodes, each, gpus)                                                                             \
    "SLURM_JOB_ID=42 SLURM_STEP_ID=0 SLURM_LOCALID=0 SLURM_PROCID=0 SLURM_NODEID=0 SLURM_STEP_NUM_TASKS=" tasks     \
    " SLURM_STEP_NUM_NODES=" nodes " SLURM_STEP_TASKS_PER_NODE=" each "(x" nodes ") SLURM_STEP_NODELIST=n[1-" nodes \
    "] SLURM_GPUS_ON_NODE=" gpus " "
#define ROOTS "TORCH_NCCL_RANKS_PER_ROOT"

static const struct row many[] = {
    { TEXT("x"), LARGE("4096", "512", "8", "8"), "", "!" ROOTS, "4,096 ranks: as torch does it" },
    { TEXT("x"), LARGE("4104", "513", "8", "8"), "", ROOTS "=316", "13 roots, of which the last has fewer ranks" },
    { TEXT("x"), LARGE("100000", "12500", "8", "8"), "", ROOTS "=7693", "the same of 100,000" },
    { TEXT("x"), LARGE("100000", "12500", "8", "8") ROOTS "=64", "", "+" ROOTS, "a user's own" },
    { TEXT("x"), LARGE("100000", "12500", "8", "8") ROOTS "=7693", "", ROOTS "=7693", "the same value" },
    { TEXT("x"), LARGE("100000", "12500", "8", "8") ROOTS "=64 " OUTER, "", ROOTS "=7693", "an outer launch's" },
    { TEXT("x"), STEP ROOTS "=64 " OUTER, "", "-" ROOTS, "an outer launch's, of few ranks" },
    { TEXT("x"), LARGE("513", "513", "1", "8"), "launcher", ROOTS "=316", "a rank for each GPU of torchrun's node" },
    { TEXT("x"), LARGE("512", "512", "1", "8"), "launcher", "!" ROOTS, "4,096 of torchrun's" },
    { TEXT("x"), LARGE("4104", "4104", "1", "1"), "launcher", ROOTS "=316", "one GPU a node" },
    { TEXT("x"), LARGE("513", "513", "1", "8"), "", ROOTS "=316", "a process that may start a rank for each GPU" },
};

UNIT_ROWS(roots, "NCCL's roots", many)
{
    be_planned(row, (struct rc_context){ .here = &not_installed, .slurm_certain = true });
}

static const struct row missing[] = {
    { TEXT("x"), STEP, "lookup=numeric", "!LD_PRELOAD RC505", "the library" },
    { TEXT("x"), STEP, "watch", "!PYTHONPATH RC505", "the watch's folder" },
};

/* On its node, or in a container that does not see the node's files. */
UNIT_ROWS(lacks, "a task does without", missing)
{
    be_planned(row, (struct rc_context){ .here = &not_installed, .slurm_certain = true });
    be_planned(row, (struct rc_context){ .here = &not_installed, .slurm_certain = true, .contained = true });
}

/* A variable of 5000 characters leaves no room for one more folder. */
UNIT_TEST(refuses_long_path, "PYTHONPATH is too long for one more folder")
{
    static char path[5000] = "PYTHONPATH=/";
    static const char *block[] = { "RANK=0", "WORLD_SIZE=1", "LOCAL_RANK=0", "LOCAL_WORLD_SIZE=1", path, NULL };
    static struct rc_result result;
    struct rc_context context = { .env = block,
                                  .here = &installed,
                                  .options = { .given = true, .mode = RC_MODE_WORKER, .watch = RC_WATCH_ON } };

    memset(path + strlen(path), 'x', sizeof(path) - 1 - strlen(path));
    rc_resolve(&context, &result);
    expect(&result, "!PYTHONPATH RC505");
    path[sizeof("PYTHONPATH=") - 1 + 4096 - 8] = '\0';
    rc_resolve(&context, &result);
    expect(&result, "!PYTHONPATH RC505");
    path[sizeof("PYTHONPATH=") - 1 + 4096 - 9] = '\0';
    rc_resolve(&context, &result);
    expect(&result, "");
}

/* The arguments of torchrun and accelerate, beside what is set for them. */
static const struct row agents[] = {
    { TEXT("torchrun t.py"), STEP, "launcher",
      "PET_NNODES=2 PET_NODE_RANK=0 PET_MASTER_ADDR=n1 PET_RDZV_ID=42.0 PET_RDZV_CONF=is_host=1 !PET_RDZV_ENDPOINT",
      "none" },
    { TEXT("torchrun t.py"), SECOND, "launcher", "PET_NODE_RANK=1 !PET_RDZV_CONF", "none, on the second node" },
    { TEXT("torchrun t.py"), STEP "LOCAL_RANK=0 WORLD_SIZE=2 NODE_RANK=0", "launcher",
      "-LOCAL_RANK -WORLD_SIZE NODE_RANK=0", "a worker's numbers, which an agent must not have" },
    { TEXT("torchrun t.py"), STEP, "launcher,nproc=4", "PET_NPROC_PER_NODE=4", "nproc=" },
    { TEXT("torchrun t.py"), STEP "PET_NPROC_PER_NODE=2", "launcher", "+PET_NPROC_PER_NODE", "the user's number" },
    { TEXT("torchrun t.py"), STEP "PET_RDZV_CONF=timeout=9", "launcher", "+PET_RDZV_CONF", "the user's settings" },
    { TEXT("torchrun --standalone t.py"), STEP "PET_NNODES=2", "launcher", "-PET_NNODES !PET_NODE_RANK RC305",
      "--standalone" },
    { TEXT("deepspeed --num_gpus 2 t.py"), STEP, "launcher", "RC305", "deepspeed without hosts" },
    { TEXT("deepspeed --hostfile hosts --no_ssh t.py"), STEP, "launcher", "PET_NNODES=2", "deepspeed with hosts" },
    { TEXT("torchrun --nnodes=2 t.py"), STEP, "launcher", "PET_NNODES=2", "the right --nnodes" },
    { TEXT("torchrun --nnodes=3 t.py"), STEP, "launcher", "!PET_NNODES RC312", "too many --nnodes" },
    { TEXT("torchrun --nnodes=3 t.py"), STEP, "launcher,check=warn", "PET_NNODES=2 RC304", "the same, and check=warn" },
    { TEXT("torchrun --nnodes=3 t.py"), STEP "MASTER_ADDR=n9.ib", "launcher", "PET_NNODES=2 RC304",
      "too many --nnodes, and a host of the user's, where other steps may meet" },
    { TEXT("torchrun --nnodes=1:3 t.py"), STEP, "launcher", "PET_NNODES=2", "--nnodes that the step is within" },
    { TEXT("torchrun --nnodes=1 t.py"), STEP "PET_NNODES=2", "launcher", "-PET_NNODES !PET_NODE_RANK RC304",
      "--nnodes=1: each node by itself" },
    { TEXT("torchrun --nnodes=1 --node_rank=0 t.py"), SECOND, "launcher", "!PET_NODE_RANK",
      "--nnodes=1: each node is node 0 of its job" },
    { TEXT("torchrun --nnodes=1:1 --node-rank 0 --master_addr=localhost t.py"), STEP, "launcher", "RC304",
      "the same as a range, with each node's address" },
    { TEXT("torchrun --nnodes=1 --node_rank=1 t.py"), SECOND, "launcher", "RC312",
      "--nnodes=1, and node 1 waits for a node 0" },
    { TEXT("torchrun --standalone --nnodes=1 --node_rank=0 t.py"), SECOND, "launcher", "RC305",
      "--standalone with numbers" },
    { TEXT("torchrun --node_rank=0 t.py"), SECOND, "launcher", "!PET_NODE_RANK RC312", "one --node_rank on all nodes" },
    { TEXT("torchrun --node-rank 0 t.py"), STEP, "launcher", "!PET_NODE_RANK RC312",
      "the same, on the node that it fits" },
    { TEXT("torchrun --rdzv_conf 'a b' --node_rank=0 t.py"), STEP, "launcher", "!PET_NODE_RANK RC312",
      "one --node_rank on all nodes, behind a word in quotes" },
    { TEXT("torchrun --node_rank=2 --nnodes=2 --master_addr=n1 t.py"), STEP, "launcher", "RC312",
      "a --node_rank beyond the nodes" },
    { TEXT("sh -c 'torchrun --node_rank=0 t.py'"), STEP, "launcher", "PET_NODE_RANK=0",
      "a --node_rank in a shell's text, which may have another one for other nodes" },
    { TEXT("sh -c 'torchrun --node_rank=0 t.py'"), SECOND, "launcher", "RC312",
      "the same, on a node that has not the master" },
    { TEXT("torchrun --master_addr=localhost t.py"), STEP, "launcher", "RC312", "each node's own localhost" },
    { TEXT("torchrun --rdzv_backend=c10d --rdzv_endpoint=127.0.0.1:29400 t.py"), SECOND, "launcher", "RC312",
      "each node's own address as endpoint" },
    { TEXT("torchrun --nnodes=1 --master_addr=localhost t.py"), STEP, "launcher", "RC304",
      "the same, where each node trains separately" },
    { TEXT("torchrun --master_addr=n2 t.py"), STEP, "launcher", "RC312", "the second node's name for the first" },
    { TEXT("torchrun --rdzv_backend=c10d t.py"), STEP "MASTER_PORT=5000", "launcher", "PET_RDZV_ENDPOINT=n1:5000",
      "c10d without an endpoint" },
    { TEXT("torchrun t.py"), SECOND "PET_RDZV_BACKEND=c10d MASTER_PORT=5000", "launcher", "PET_RDZV_ENDPOINT=n1:5000",
      "the same by a variable" },
    { TEXT("torchrun --nproc_per_node=a100:2 t.py"), STEP, "launcher", "RC313",
      "SLURM_GPUS_PER_NODE with a kind of GPU" },
    { TEXT("torchrun --nproc-per-node= t.py"), STEP, "launcher", "RC313", "SLURM_GPUS_PER_NODE that is not set" },
    { TEXT("torchrun --nproc_per_node t.py"), STEP, "launcher", "RC313", "the same without a sign" },
    { TEXT("torchrun '--nproc_per_node= 2 ' t.py"), STEP, "launcher", "PET_NNODES=2", "a number with blanks" },
    { TEXT("torchrun --nproc_per_node=gpu t.py"), STEP, "launcher", "PET_NNODES=2", "a worker for each GPU" },
    { TEXT("./run.sh"), STEP, "worker",
      "RANK=0 PET_NNODES=2 PET_NODE_RANK=0 PET_MASTER_ADDR=n1 PET_RDZV_ID=42.0 "
      "PET_RDZV_CONF=is_host=1 !PET_RDZV_ENDPOINT",
      "a script, which may start torchrun" },
    { TEXT("./run.sh"), SECOND "PET_NPROC_PER_NODE=2", "worker",
      "RANK=1 PET_NODE_RANK=1 +PET_NPROC_PER_NODE !PET_RDZV_CONF", "the same on the second node" },
    { TEXT("torchrun --rdzv_backend=c10d --node_rank=1 t.py"), STEP "PET_NODE_RANK=0", "launcher",
      "-PET_NODE_RANK PET_RDZV_CONF=is_host=1", "c10d numbers the nodes itself" },
    { TEXT("torchrun --rdzv_backend=$BACKEND t.py"), STEP, "launcher", "PET_NODE_RANK=0 PET_RDZV_CONF=is_host=1",
      "a backend that a shell has yet to name" },
    { TEXT("torchrun t.py"), STEP "PET_RDZV_BACKEND=etcd-v2 PET_NODE_RANK=3", "launcher",
      "-PET_NODE_RANK !PET_RDZV_CONF", "a backend of the user's" },
    { TEXT("torchrun --rdzv_endpoint=n1:29400 t.py"), STEP, "launcher", "PET_RDZV_CONF=is_host=1",
      "the first node as endpoint" },
    { TEXT("torchrun --rdzv_endpoint=n2:29400 t.py"), STEP, "launcher", "RC312", "another node as endpoint" },
    { TEXT("torchrun --rdzv_backend=c10d --rdzv_endpoint=n2:29400 t.py"), STEP, "launcher", "!PET_RDZV_CONF",
      "another node as c10d's endpoint" },
    { TEXT("torchrun --rdzv_endpoint=[fd00::1]:29400 t.py"), STEP "MASTER_ADDR=fd00::1", "launcher",
      "PET_RDZV_CONF=is_host=1", "an address in brackets" },
    { TEXT("torchrun t.py"), STEP OUTER "PET_RDZV_CONF=is_host=1 PET_RDZV_ID=41.0 PET_RDZV_ENDPOINT=n9:23456",
      "launcher", "PET_RDZV_CONF=is_host=1 PET_RDZV_ID=42.0 -PET_RDZV_ENDPOINT", "an outer launch's are replaced" },
    { TEXT("torchrun t.py"), SECOND OUTER "PET_RDZV_CONF=is_host=1 PET_RDZV_ENDPOINT=n9:1", "launcher",
      "-PET_RDZV_CONF !PET_RDZV_ENDPOINT", "the endpoint of another port stays" },
    { TEXT("torchrun --nnodes=4 --rdzv_endpoint=n7:1 t.py"), STEP OUTER "PET_RDZV_ID=41.0", "launcher", "-PET_RDZV_ID",
      "a part of several steps has no run id of its own" },
    { TEXT("torchrun --nnodes=$N --master_addr=n7 t.py"), STEP, "launcher", "PET_RDZV_ID=42.0",
      "as many nodes as a variable says" },
    { TEXT("accelerate launch t.py"), STEP "MASTER_PORT=5000", "launcher", "PET_RDZV_ENDPOINT=n1:5000", "accelerate" },
    { TEXT("accelerate launch t.py"), STEP "PET_RDZV_ENDPOINT=n5:77", "launcher", "!PET_RDZV_ENDPOINT",
      "accelerate, with the user's endpoint" },
    { TEXT("accelerate launch --num_machines 1 t.py"), STEP, "launcher", "!PET_RDZV_ENDPOINT PET_NNODES=2",
      "one machine leaves the number to PET_NNODES" },
    { TEXT("accelerate launch --num_machines 3 t.py"), STEP, "launcher", "RC312", "too many machines" },
    { TEXT("accelerate launch --num_machines 2 --machine_rank 1 --main_process_ip n1 t.py"), STEP, "launcher", "RC312",
      "one machine rank on all nodes" },
    { TEXT("accelerate launch --num_machines 2 --main_process_ip 127.0.0.1 t.py"), STEP, "launcher", "RC312",
      "each machine's own address" },
};

UNIT_ROWS(plans_agents, "launcher mode and", agents)
{
    be_planned(row, (struct rc_context){ .here = &not_installed, .slurm_certain = true });
}

/* The words are this node's own. srun's would be the same on all nodes. */
static const struct row own_words[] = {
    { TEXT("torchrun --nnodes=4 --node_rank=2 t.py"), STEP, "launcher", "!PET_RDZV_ID", "the third of four nodes" },
    { TEXT("torchrun --node_rank=0 t.py"), STEP, "launcher", "PET_NODE_RANK=0", "the right --node_rank" },
    { TEXT("accelerate launch --num_machines 2 --machine_rank 0 --main_process_ip n1 --num_processes 4 t.py"), STEP,
      "launcher", "", "the right machine rank" },
};

UNIT_ROWS(plans_agent_of_node, "launcher mode and the node's own", own_words)
{
    be_planned(row, (struct rc_context){ .slurm_certain = false });
}

#define UUID "GPU-52a3a85d-3c55-ca3a-a955-82c69ed360fc"

static const struct {
    struct rc_str input; /* the list */
    const char *command;
    bool said;
    const char *why;
} listed[] = {
    { TEXT(UUID "," UUID), "vllm serve M", true, "vLLM, which may accept only indices" },
    { TEXT("MIG-52a3a85d-3c55-ca3a-a955-82c69ed360fc"), "vllm serve M", true, "one of a part of a GPU" },
    { TEXT("GPU-52a3"), "python -m sglang.launch_server", true, "SGLang, and shortened" },
    { TEXT("0,1"), "vllm serve M", false, "numbers for vLLM" },
    { TEXT(UUID), "python train.py", false, "torch, which reads them" },
};

UNIT_ROWS(names_uuids, "UUIDs of GPUs have a note for", listed)
{
    static struct rc_result result;
    char words[512];
    const char *env[40];
    const char *argv[24];

    snprintf(words, sizeof(words), "%s CUDA_VISIBLE_DEVICES=%s", STEP, row->input.p);
    unit_words(words, env, UNIT_COUNT(env));
    unit_words(row->command, argv, UNIT_COUNT(argv));
    rc_resolve(&(struct rc_context){ .env = env, .argv = argv }, &result);
    assert_int_equal(is_said(&result.messages, "RC905"), row->said);
}

/* The last of four tasks on one node, of whose GPUs only the variable that lists them is known. */
#define FOURTH                                                                                  \
    "SLURM_JOB_ID=42 SLURM_STEP_ID=0 SLURM_PROCID=3 SLURM_LOCALID=3 SLURM_NODEID=0 "            \
    "SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=1 SLURM_NTASKS=4 SLURM_STEP_TASKS_PER_NODE=4 " \
    "SLURM_STEP_NODELIST=n1 SLURM_GTIDS=0,1,2,3 CUDA_VISIBLE_DEVICES=0,1 "

static const struct row shared[] = {
    { TEXT("x"), FOURTH, "", "CUDA_VISIBLE_DEVICES=1 LOCAL_RANK=0", "two for four tasks: it sees its own" },
    { TEXT("x"), FOURTH "SLURMD_TRES_BIND=gpu:per_task:2", "", "!CUDA_VISIBLE_DEVICES LOCAL_RANK=3", "two of its own" },
    { TEXT("vllm serve M"), FOURTH, "", "RANK=3", "four servers, each by itself" },
    { TEXT("vllm serve M --nnodes 2"), FOURTH, "", "RC302", "four servers that each want a node" },
};

UNIT_ROWS(shares_gpus, "GPUs of a task are", shared)
{
    be_planned(row, (struct rc_context){ .here = &not_installed, .slurm_certain = true });
}

/* A process that is no task, and that its user called rollcall for. */

#define SHELL "SLURM_JOB_ID=42 SLURM_NTASKS=1 SLURM_NNODES=1 SLURM_JOB_NUM_NODES=1 "

static const struct row single[] = {
    { TEXT("python t.py"), "A=b", "", "RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 MASTER_ADDR=127.0.0.1 !PET_NNODES RC311",
      "without a launcher" },
    { TEXT("python t.py"), "CUDA_VISIBLE_DEVICES=0", "", "RANK=0 RC311", "with one GPU" },
    { TEXT("python t.py"), "CUDA_VISIBLE_DEVICES=0,1", "", "!RANK MASTER_ADDR=127.0.0.1 NODE_RANK=0 RC311",
      "with two GPUs, which Lightning or mp.spawn may start its workers for" },
    { TEXT("python t.py"), "CUDA_VISIBLE_DEVICES=0,1", "worker", "RANK=0 WORLD_SIZE=1 RC311",
      "the same, as one worker" },
    { TEXT("torchrun t.py"), "A=b", "", "!RANK !PET_NNODES", "torchrun, which needs nothing" },
    { TEXT("torchrun t.py"), "A=b", "nproc=2", "!RANK PET_NNODES=1 PET_NPROC_PER_NODE=2", "torchrun with a number" },
    { TEXT("torchrun --standalone t.py"), "A=b", "nproc=2", "!PET_NNODES PET_NPROC_PER_NODE=2", "the same, alone" },
    { TEXT("torchrun --nnodes=2 --node_rank=1 --master_addr=n1 t.py"), "A=b", "nproc=2",
      "!RANK !PET_NPROC_PER_NODE !PET_MASTER_PORT RC307", "torchrun on the second of two machines" },
    { TEXT("python t.py"), "PMI_RANK=0 PMI_SIZE=1 PMIX_RANK=0 " SHELL, "", "RANK=0",
      "in the shell of a job of one task, by srun --mpi=pmix" },
    { TEXT("ray start"), "A=b", "worker", "!RANK RC307", "a worker of Ray without a launcher" },
    { TEXT("torchrun t.py"), SHELL, "nproc=2", "PET_NPROC_PER_NODE=2", "torchrun in the shell of a job of one task" },
    { TEXT("torchrun t.py"), "SLURM_JOB_ID=42 SLURM_NTASKS=4 SLURM_NNODES=1", "nproc=2", "!PET_NNODES RC307",
      "torchrun with a number in a job of four tasks" },
    { TEXT("python t.py"), "A=b", "nproc=2", "!RANK PET_NPROC_PER_NODE=2 RC311", "a script with a number" },
    { TEXT("python t.py"), "MASTER_ADDR=localhost MASTER_PORT=29500", "", "RANK=0 +MASTER_ADDR +MASTER_PORT RC311",
      "with the user's master" },
    { TEXT("python t.py"), "NODE_RANK=1 MASTER_ADDR=n1", "", "!RANK !NODE_RANK RC128",
      "on a machine that a script numbers" },
    { TEXT("python t.py"), "PMI_RANK=1", "", "!RANK RC128", "with half of a launcher's variables" },
    { TEXT("python t.py"), "RANK=3 WORLD_SIZE=4 LOCAL_RANK=1 ROLLCALL_SCOPE=slurm:42.7/3/worker/3999", "", "!RANK",
      "in a task whose launcher's variables were removed: the ranks stay" },
    { TEXT("python t.py"), "LORA_RANK=16 STAGE_PROCID=2 DATA_WORLD_SIZE=4 NNODES=1", "", "RANK=0 RC311",
      "with names of the script's own" },
    { TEXT("python t.py"), "OMPI_COMM_WORLD_SIZE=4", "", "!RANK RC128", "with the size of a launch" },
    { TEXT("torchrun t.py"), "NODE_RANK=1", "", "!RANK", "torchrun on a machine that a script numbers" },
    { TEXT("python t.py"), SHELL "SLURM_PROCID=0 PMI_RANK=1", "", "!RANK RC128", "in a job, with another's number" },
    { TEXT("python t.py"), "RANK=0 WORLD_SIZE=1 ROLLCALL_SCOPE=single:pid9/0/worker/3999", "",
      "RANK=0 WORLD_SIZE=1 RC311", "in another job of one" },
    { TEXT("python t.py"), SHELL "RANK=3 WORLD_SIZE=4 ROLLCALL_SCOPE=slurm:41.7/3/worker/3999", "",
      "RANK=0 WORLD_SIZE=1", "in a job of one task that a task submitted" },
    { TEXT("python t.py"), SHELL, "", "RANK=0 WORLD_SIZE=1 SLURM_NTASKS_PER_NODE=1",
      "in the shell of a job of one task" },
    { TEXT("python t.py"), "SLURM_JOB_ID=42 SLURM_NTASKS=4 SLURM_NNODES=1", "", "!RANK", "in a job of four tasks" },
    { TEXT("python t.py"), "SLURM_JOB_ID=42 SLURM_NNODES=2", "", "!RANK", "in a job of two nodes" },
    { TEXT("srun python t.py"), SHELL, "", "!RANK RC310", "in front of srun" },
    { TEXT("env A=b /usr/bin/mpirun python t.py"), "A=b", "", "!RANK RC310", "in front of mpirun, in no job" },
    { TEXT("ssh n2 python t.py"), "A=b", "worker", "!RANK RC310", "in front of ssh, and asked for" },
    { TEXT("mpirun python t.py"), "RANK=0 WORLD_SIZE=2 LOCAL_RANK=0", "worker", "!RANK RC118 RC310",
      "in front of mpirun, with half an identity" },
    { TEXT("sh -c 'srun ./t'"), SHELL, "", "!RANK RC310", "in front of a shell that starts srun" },
    { TEXT("sh -c 'srun ./t'"), SHELL, "worker", "RANK=0", "the same, asked for" },
    { TEXT("srun -n4 rollcall exec python t.py"), SHELL, "", "!RANK", "whose tasks have an exec of their own" },
    { TEXT("srun --ddp=worker -n4 python t.py"), SHELL, "", "!RANK", "whose tasks have the plugin" },
    { TEXT("python t.py"), "LSB_JOBID=7", "", "RANK=0", "in a job of LSF's with one slot" },
    { TEXT("python t.py"), "LSB_JOBID=7 LSB_DJOB_NUMPROC=4", "", "!RANK", "in a job of LSF's with four" },
    { TEXT("python t.py"), "PBS_JOBID=7", "", "!RANK", "in a job of PBS, which counts no slots" },
};

UNIT_ROWS(takes_single, "exec for a process that is no task,", single)
{
    be_planned(row, (struct rc_context){ .here = &not_installed, .called = true, .pid = 7 });
}

/* No library knows that it was called for the process. */
UNIT_ROWS(leaves_single, "a library, for a process that is no task,", single)
{
    struct row other = *row;

    other.expected = "!RANK !MASTER_ADDR !NODE_RANK";
    if (!*row->options)
        be_planned(&other, (struct rc_context){ .here = &not_installed, .pid = 7 });
}

/* A batch script's own processes: a command that waits for tasks which nobody starts. */

#define SCRIPT "SLURM_JOB_ID=42 SLURM_NTASKS=4 SLURM_JOB_NUM_NODES=2"

static const struct row forgotten[] = {
    { TEXT("python train.py"), SCRIPT, "", "RC309", "a script" },
    { TEXT("python train.py"), SCRIPT, "worker", "RC309", "a script that is asked to be a worker" },
    { TEXT("torchrun t.py"), SCRIPT, "nproc=2", "RC309", "torchrun with a number" },
    { TEXT("torchrun t.py"), "SLURM_JOB_ID=42 SLURM_NTASKS=4 SLURM_JOB_NUM_NODES=1", "nproc=2", "RC307",
      "the same on one node" },
    { TEXT("python -c x"), SCRIPT, "", "", "no script" },
    { TEXT("ls"), SCRIPT, "", "", "another command" },
    { TEXT("torchrun t.py"), SCRIPT, "", "RC309", "torchrun on one of two nodes" },
    { TEXT("accelerate launch t.py"), SCRIPT, "", "RC309", "accelerate on one of two nodes" },
    { TEXT("torchrun t.py"), "SLURM_JOB_ID=42 SLURM_NTASKS=4 SLURM_JOB_NUM_NODES=1", "", "", "all workers are there" },
    { TEXT("torchrun t.py"), "SLURM_JOB_ID=42 SLURM_NTASKS=4", "", "", "a job that counts no nodes" },
    { TEXT("vllm serve M"), SCRIPT, "", "RC309", "a server on one of two nodes" },
    { TEXT("vllm serve M"), "SLURM_JOB_ID=42 SLURM_NTASKS=4 SLURM_JOB_NUM_NODES=1", "", "", "a server on one node" },
    { TEXT("vllm serve M --nnodes 1"), SCRIPT, "", "", "a server that wants one" },
    { TEXT("vllm serve M --distributed-executor-backend ray"), SCRIPT, "", "", "Ray reaches the others" },
    { TEXT("python -m sglang.launch_server --use-ray"), SCRIPT, "", "", "so it does for SGLang" },
    { TEXT("vllm serve M --nnodes 2 --node-rank 0"), SCRIPT, "", "", "the script numbers its servers" },
    { TEXT("vllm bench serve"), SCRIPT, "", "", "the client of a server" },
    { TEXT("trtllm-llmapi-launch trtllm-serve M"), SCRIPT, "", "RC309", "one MPI process of many" },
    { TEXT("python train.py"), "SLURM_JOB_ID=42 SLURM_JOB_NUM_NODES=2", "", "RC309", "a job that counts no tasks" },
    { TEXT("python train.py"), "SLURM_NTASKS=4", "", "", "no job" },
    { TEXT("python train.py"), STEP, "", "", "a task of srun's" },
    { TEXT("ray start"), SCRIPT, "", "", "no program that starts ranks" },
};

static void forget_srun(const struct row *row, struct rc_result *result, bool is_read)
{
    const char *env[24];
    const char *argv[24];
    struct rc_context context = { .env = env, .argv = argv, .here = &installed };
    UNIT_ARENA(arena, 64);
    struct rc_messages messages = { .arena = &arena };

    unit_words(row->env, env, UNIT_COUNT(env));
    unit_words(row->input.p, argv, UNIT_COUNT(argv));
    assert_true(rc_options_parse(rc_str(row->options), "--ddp", &context.options, &messages));
    context.slurm_certain = row->env[0] && strstr(row->env, "SLURM_PROCID");
    rc_resolve(&context, result);
    if (is_read) {
        rc_command_read(argv, &result->command);
        context.command_read = true;
    }
    rc_forgotten_say(&context, result);
    rc_forgotten_plan(&context, result);
}

UNIT_ROWS(misses_srun, "a forgotten srun is seen at", forgotten)
{
    static struct rc_result result;

    forget_srun(row, &result, false);
    expect(&result, row->expected);
    forget_srun(row, &result, true);
    expect(&result, row->expected);
}

UNIT_TEST(tells_torch, "torch in a batch script is told that srun was forgotten")
{
    static const struct row of_job = { TEXT("bash x"), SCRIPT " PYTHONPATH=/a", "", "", "" };
    static const struct row of_task = { TEXT("bash x"), STEP, "", "", "" };
    static struct rc_result result;

    forget_srun(&of_job, &result, false);
    expect(&result, "PYTHONPATH=/a:/r/watch 'ROLLCALL_IDENTITY=script=42 tasks=4'");
    forget_srun(&of_task, &result, false);
    expect(&result, "!PYTHONPATH !ROLLCALL_IDENTITY");
}

static const struct row asked_for[] = {
    { TEXT("worker"), "PATH=/bin", "worker", "RC307", "no launcher" },
    { TEXT("launcher"), "PATH=/bin", "launcher", "RC307", "no launcher" },
    { TEXT("nothing"), "PATH=/bin", "", "", "no launcher" },
    { TEXT("worker"), "RANK=0 WORLD_SIZE=2 LOCAL_RANK=0", "worker", "RC118 RC119", "half an identity" },
    { TEXT("torchrun t.py"), "RANK=0 WORLD_SIZE=2", "nproc=2", "RC118", "the number of a half identity" },
    { TEXT("worker"), "PMI_RANK=1", "worker", "RC128", "what is left of a launcher" },
    { TEXT("nothing"), "OMPI_COMM_WORLD_RANK=0 PMIX_NAMESPACE=slurm.pmix.42.7 PMIX_RANK=3", "", "RC108",
      "values of an mpirun further outside alone" },
};

UNIT_ROWS(answers_wish, "who asks for it hears that there is no task for", asked_for)
{
    be_planned(row, (struct rc_context){ .here = &not_installed });
}

static const struct {
    struct rc_str input;
    const char *line;
    const char *why;
} lines[] = {
    { TEXT("python train.py --lr 1"), "srun -K rollcall exec -- python train.py --lr 1", "plain words" },
    { TEXT("python train.py 'a b' c"), "srun -K rollcall exec -- python train.py \"a b\" c", "a word with a blank" },
    { TEXT("python train.py '$A' c"), "srun -K rollcall exec -- python train.py ...", "a word that a shell expands" },
    { TEXT("python train.py \x7f"), "srun -K rollcall exec -- python train.py ...", "a control character" },
    { TEXT("torchrun --nnodes=2 --max-restarts=3 t.py"),
      "srun --ntasks-per-node=1 rollcall exec -- torchrun --nnodes=2 --max-restarts=3 t.py",
      "torchrun that goes on after a failure" },
    { TEXT("vllm serve M"),
      "srun -K --ntasks-per-node=1 rollcall exec -- sh -c 'vllm serve M --nnodes $PET_NNODES --node-rank $NODE_RANK "
      "--master-addr $MASTER_ADDR --master-port $MASTER_PORT $(test $NODE_RANK = 0 || echo --headless)'",
      "a server, which reads options alone" },
    { TEXT("sglang serve --tp 8"),
      "srun -K --ntasks-per-node=1 rollcall exec -- sh -c 'sglang serve --tp 8 --nnodes $PET_NNODES "
      "--node-rank $NODE_RANK --dist-init-addr $MASTER_ADDR:$MASTER_PORT'",
      "SGLang" },
};

static void ends_with(struct rc_str command, const char *line)
{
    static struct rc_result result;
    const struct row row = { command, SCRIPT, "", "", "" };
    const char *said;

    forget_srun(&row, &result, false);
    assert_true(is_said(&result.messages, "RC309"));
    said = result.messages.list[result.messages.count - 1].text;
    assert_non_null(strstr(said, line));
    assert_string_equal(strstr(said, line), line);
}

UNIT_ROWS(shows_line, "the line to start it with is shown of", lines)
{
    ends_with(row->input, row->line);
}

UNIT_TEST(cuts_line, "a line to start it with has 200 characters at most")
{
    char command[400];
    char line[400];

    snprintf(command, sizeof(command), "python t.py %0189d", 0);
    ends_with(rc_str(command), "srun -K rollcall exec -- python t.py ...");
    snprintf(command, sizeof(command), "python t.py %0188d 1", 0);
    snprintf(line, sizeof(line), "srun -K rollcall exec -- python t.py %0188d ...", 0);
    ends_with(rc_str(command), line);
}
