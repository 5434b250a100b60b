/* SPDX-License-Identifier: BSD-3-Clause */
/* Hydra's tasks: what the numbers and the proxy's command line make of them, and what is refused. */
#include "resolve/resolve.h"
#include "unit.h"

#define TASK(rank, size, local_rank, local_size) \
    "PMI_RANK=" rank " PMI_SIZE=" size " MPI_LOCALRANKID=" local_rank " MPI_LOCALNRANKS=" local_size
#define INTEL  " I_MPI_MPIRUN=mpirun"
#define OF_TWO TASK("3", "4", "1", "2")
#define STEP   " SLURM_STEP_NUM_NODES=2 SLURM_STEP_NODELIST=n[1-2]"
/* of a step whose task 3 of 4 has the same numbers */
#define IN_TASK                                                                                             \
    " SLURM_JOB_ID=42 SLURM_STEP_ID=0 SLURM_PROCID=3 SLURM_LOCALID=1 SLURM_NODEID=1 SLURM_STEP_NUM_TASKS=4" \
    " SLURM_STEP_TASKS_PER_NODE=2(x2)" STEP

#define PROXY(number) "hydra_pmi_proxy --control-port n1:35397 --rmk user --launcher ssh --pgid 0 --proxy-id " number
#define RMK(name)     "hydra_pmi_proxy --control-port n9:35397 --rmk " name " --launcher ssh --pgid 0 --proxy-id 1"
#define BY_SRUN       "hydra_pmi_proxy --control-port n1:35397 --rmk slurm --launcher slurm --pgid 0 --proxy-id -1"
#define BSTRAP(level)                                                                                      \
    "hydra_bstrap_proxy --upstream-host n1 --upstream-port 34921 --pgid 0 --launcher ssh --tree-width 16 " \
    "--tree-level " level " --proxy-id 1 --node-id 1"

struct row {
    struct rc_str input; /* the task's variables, blanks between */
    const char *proxy;   /* its command line; NULL: not in sight */
    const char *answer;  /* "launcher rank local node size local-size nodes master", or a message's id */
    const char *why;
};

static const struct row good[] = {
    { TEXT(OF_TWO), PROXY("1"), "mpich 3 1 1 4 2 ? n1", "by slot" },
    { TEXT(TASK("2", "4", "1", "2")), PROXY("0"), "mpich 2 1 0 4 2 ? n1", "by node" },
    { TEXT(TASK("0", "4", "0", "2")), PROXY("0"), "mpich 0 0 0 4 2 ? n1", "rank 0" },
    { TEXT(OF_TWO), "/usr/bin/" PROXY("1"), "mpich 3 1 1 4 2 ? n1", "a proxy with its path" },
    { TEXT("PMI_ID=3 PMI_SIZE=4 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2"), PROXY("1"), "mpich 3 1 1 4 2 ? n1",
      "the rank of -pmi-port" },
    { TEXT(TASK("1", "2", "1", "2")), PROXY("0"), "mpich 1 1 0 2 2 1 127.0.0.1", "one node" },
    { TEXT(TASK("0", "1", "0", "1")), NULL, "mpich 0 0 0 1 1 1 127.0.0.1", "one task" },
    { TEXT(OF_TWO " MASTER_ADDR=n7"), NULL, "mpich 3 1 1 4 2 ? n7", "no proxy in sight: by slot" },
    { TEXT(OF_TWO IN_TASK " PMI_FD=6 MASTER_ADDR=n7"), NULL, "mpich 3 1 1 4 2 ? n7",
      "no proxy in sight, inside of a task of srun with the same numbers" },
    { TEXT(OF_TWO IN_TASK " MASTER_ADDR=n7"), NULL, "slurm 3 1 1 4 2 2 n7", "all exported by hand in a task of srun" },
    { TEXT(OF_TWO), "hydra_pmi_proxy --control-port fd00::1:35397 --proxy-id 1", "mpich 3 1 1 4 2 ? fd00::1",
      "an IPv6 address has colons of its own" },
    { TEXT(OF_TWO), "hydra_pmi_proxy --control-port n1:35397", "mpich 3 1 1 4 2 ? n1", "a proxy without a number" },
    { TEXT(OF_TWO), PROXY("4294967297"), "mpich 3 1 1 4 2 ? n1", "a proxy's number that wraps to 1 is none" },
    { TEXT(TASK("199999", "200000", "1", "2")), PROXY("99999"), "mpich 199999 1 99999 200000 2 ? n1", "100,000 nodes" },
    { TEXT(OF_TWO " SLURM_JOB_NODELIST=h[1-2]"), RMK("slurm"), "mpich 3 1 1 4 2 ? h1", "hosts from Slurm" },
    { TEXT(OF_TWO " SLURM_JOB_NODELIST=h[1-3]"), RMK("slurm"), "mpich 3 1 1 4 2 ? n9", "more hosts than nodes" },
    { TEXT(OF_TWO " SLURM_JOB_NODELIST=h[1-"), RMK("slurm"), "mpich 3 1 1 4 2 ? n9", "a list that was cut" },
    { TEXT(OF_TWO " SLURM_JOB_NODELIST=h[1-2]"), PROXY("1"), "mpich 3 1 1 4 2 ? n1", "hosts that are not Slurm's" },
    { TEXT(OF_TWO " PBS_NODEFILE=f"), RMK("pbs"), "mpich 3 1 1 4 2 ? n9", "hosts from PBS: mpiexec is on the first" },
    { TEXT(OF_TWO " HYDRA_HOST_FILE=f"), PROXY("1"), "mpich 3 1 1 4 2 ? p1", "the user's own list of hosts" },
    { TEXT(OF_TWO " SLURM_NODEID=1 SLURM_STEP_ID=1" STEP), BY_SRUN, "mpich 3 1 1 4 2 2 n1", "started by srun" },
    { TEXT(TASK("2", "3", "0", "1") " SLURM_NODEID=1" STEP), BY_SRUN, "mpich 2 0 1 3 1 2 n1",
      "started by srun, uneven" },
    { TEXT(OF_TWO " SLURM_NODEID=1 SLURM_STEP_NUM_TASKS=2" STEP), BY_SRUN, "mpich 3 1 1 4 2 2 n1",
      "started by srun, one proxy a node" },
    { TEXT(OF_TWO INTEL), BSTRAP("1"), "mpich 3 1 1 4 2 ? n1", "Intel MPI" },
    { TEXT("MPI_LOCALRANKID=1"), PROXY("1"), "none", "exported by hand for another library" },
    { TEXT("PMI_RANK=1 PMI_SIZE=2"), PROXY("1"), "none", "not Hydra's: no local rank" },
};

static const struct row bad[] = {
    { TEXT(OF_TWO), NULL, "RC404", "no proxy in sight: no host" },
    { TEXT(OF_TWO), "hydra_pmi_proxy", "RC404", "a proxy without arguments" },
    { TEXT(OF_TWO), "hydra_pmi_proxy --control-port", "RC404", "an option without its value" },
    { TEXT(OF_TWO), "hydra_pmi_proxy --control-port n1 --proxy-id 1", "RC404", "a host without a port" },
    { TEXT(OF_TWO), "hydra_pmi_proxy --control-port :35397 --proxy-id 1", "RC404", "a port without a host" },
    { TEXT(OF_TWO), "", "RC404", "a parent without a command line" },
    { TEXT(OF_TWO), PROXY("0"), "RC110", "another proxy's number" },
    { TEXT(OF_TWO), PROXY("2"), "RC110", "a proxy beyond the nodes" },
    { TEXT(OF_TWO), PROXY("16777216"), "RC110", "a proxy far beyond the nodes" },
    { TEXT(TASK("3", "5", "0", "2")), PROXY("1"), "RC110", "uneven: a rest" },
    { TEXT(TASK("2", "6", "1", "3")), PROXY("1"), "RC110", "uneven: 1, 3, 1 and 1 in blocks" },
    { TEXT(TASK("4", "4", "1", "2")), PROXY("1"), "RC103", "a rank that is the size" },
    { TEXT(TASK("3", "4", "2", "2")), PROXY("1"), "RC103", "a local rank that is the local size" },
    { TEXT(TASK("0", "4", "0", "0")), PROXY("0"), "RC103", "no tasks here" },
    { TEXT(TASK("0", "4", "0", "5")), PROXY("0"), "RC103", "more tasks here than there are" },
    { TEXT(TASK("0", "0", "0", "1")), PROXY("0"), "RC103", "no tasks at all" },
    { TEXT(TASK("x", "4", "1", "2")), PROXY("1"), "RC101", "a rank that is no number" },
    { TEXT(TASK("+3", "4", "1", "2")), PROXY("1"), "RC101", "a sign" },
    { TEXT(TASK("3", "-4", "1", "2")), PROXY("1"), "RC101", "a negative size" },
    { TEXT(TASK("3", "4294967300", "1", "2")), PROXY("1"), "RC101", "a size that wraps to 4" },
    { TEXT(TASK("3", "18446744073709551620", "1", "2")), PROXY("1"), "RC101", "a size that wraps to 4 in 64 bits" },
    { TEXT(TASK("3", "16777217", "1", "2")), PROXY("1"), "RC101", "a size that is not believed" },
    { TEXT(TASK("", "4", "1", "2")), PROXY("1"), "RC102", "an empty rank" },
    { TEXT(TASK("3", "", "1", "2")), PROXY("1"), "RC102", "an empty size" },
    { TEXT("PMI_RANK=3 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2"), PROXY("1"), "RC102", "no size" },
    { TEXT("PMI_RANK=3 PMI_SIZE=4 MPI_LOCALRANKID=1"), PROXY("1"), "RC102", "no local size" },
    { TEXT("PMI_SIZE=4 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2"), PROXY("1"), "RC102", "no rank" },
    { TEXT(OF_TWO STEP), BY_SRUN, "RC102", "started by srun, but no SLURM_NODEID" },
    { TEXT(TASK("0", "3", "0", "1") " SLURM_NODEID=1" STEP), BY_SRUN, "RC110", "a map with rank 0 on the second node" },
    { TEXT(TASK("1", "3", "0", "1") " SLURM_NODEID=0" STEP), BY_SRUN, "RC110", "a map with another rank on the first" },
    { TEXT(OF_TWO " SLURM_NODEID=1 SLURM_STEP_NODELIST=n[1-2]"), BY_SRUN, "RC102", "no number of nodes" },
    { TEXT(OF_TWO " SLURM_NODEID=2" STEP), BY_SRUN, "RC103", "a node that there is not" },
    { TEXT(OF_TWO " SLURM_NODEID=1 SLURM_STEP_ID=0" STEP), BY_SRUN, "RC103", "the step in which mpiexec was started" },
    { TEXT(OF_TWO " SLURM_NODEID=1 SLURM_STEP_NUM_TASKS=4" STEP), BY_SRUN, "RC103", "two proxies a node" },
    { TEXT(OF_TWO " SLURM_NODEID=4294967297" STEP), BY_SRUN, "RC101", "a node that wraps to 1" },
    { TEXT(OF_TWO " SLURM_NODEID=1 SLURM_STEP_NUM_NODES=2"), BY_SRUN, "RC105", "no list of hosts" },
    { TEXT(OF_TWO " SLURM_NODEID=1 SLURM_STEP_NUM_NODES=2 SLURM_STEP_NODELIST=n[1-"), BY_SRUN, "RC105",
      "a list of hosts that was cut" },
    { TEXT(OF_TWO " SLURM_NODEID=1 SLURM_STEP_NUM_NODES=2 SLURM_STEP_NODELIST=n[1-3]"), BY_SRUN, "RC105",
      "a list of other hosts" },
    { TEXT(OF_TWO INTEL), BSTRAP("2"), "RC404", "Intel MPI, further down its tree: mpiexec's host is not known" },
    { TEXT(TASK("3", "40", "1", "2") INTEL), BSTRAP("1"), "RC404", "Intel MPI, where others are further down" },
};

static struct rc_str command_line(const char *words)
{
    size_t size = strlen(words) + 1;
    char *copy = unit_guard_memory(size);

    for (size_t i = 0; i < size; i++)
        copy[i] = words[i] == ' ' ? '\0' : words[i];
    return (struct rc_str){ copy, size };
}

static void answer(const struct rc_result *result, char *text, size_t size)
{
    const uint32_t *field = result->identity.field;
    char nodes[16] = "?"; /* only one task's own sizes speak of them */

    if (field[RC_NNODES] != RC_UNKNOWN)
        snprintf(nodes, sizeof(nodes), "%u", field[RC_NNODES]);
    if (result->status == RC_CONTRADICTION)
        snprintf(text, size, "%s", rc_message_entry(result->messages.list[0].id)->id);
    else if (!result->launcher)
        snprintf(text, size, "none");
    else
        snprintf(text, size, "%s %u %u %u %u %u %s %s", result->launcher->id, field[RC_RANK], field[RC_LOCAL_RANK],
                 field[RC_NODE_RANK], field[RC_WORLD_SIZE], field[RC_LOCAL_WORLD_SIZE], nodes,
                 result->master.addr ? result->master.addr : "-");
}

UNIT_ROWS(answers_so, "hydra answers", good)
{
    static struct rc_result result;
    const char *block[16];
    char text[128];
    struct rc_here here = { .learned = ~0u, .host_file = RC_STR("p1\np2\n"), .gpus = RC_UNKNOWN };
    struct rc_context context = { .env = block, .here = &here };

    unit_words(row->input.p, block, UNIT_COUNT(block));
    here.ancestor[here.ancestor_count++] = command_line("bash ./train.sh");
    if (row->proxy) {
        here.ancestor[here.ancestor_count++] = command_line(row->proxy);
        here.ancestor[here.ancestor_count++] = command_line("slurmstepd: [42.1]");
    }
    rc_resolve(&context, &result);
    answer(&result, text, sizeof(text));
    assert_string_equal(text, row->answer);
}
UNIT_TABLE(answers_so, "hydra refuses", bad);
