/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/families.h"
#include "launcher/layout.h"

/* Job data from a launcher's PMIx server, if its variables are insufficient. The caller may run rollcall-pmix job
 * (libexec/pmix/rollcall-pmix.c), which prints these lines, or failed=REASON TEXT with REASON program, library, server
 * or answer:
 *
 * rank=2, size=5, local_rank=0, node=2 (in order of lowest ranks), map=0-1x2,2 (rc_taskmap_write), tasks=2(x2),1 (on
 * each node), host=n1 (of rank 0) */

enum {
    LAYOUT_MAX = 256, /* characters that fit into a message */
};

static const char source[] = "the PMIx server";

struct rc_str rc_pmixjob_line(struct rc_str text, const char *name)
{
    size_t n = rc_str(name).n;

    while (text.p) {
        struct rc_str line = rc_str_split(text, '\n', &text);

        if (rc_str_starts(line, name) && line.n > n && line.p[n] == '=')
            return (struct rc_str){ line.p + n + 1, line.n - n - 1 };
    }
    return RC_ABSENT;
}

static enum rc_pmixjob_answer tell_failure(struct rc_reader *reader, struct rc_str why, const char *cure)
{
    struct rc_str text;
    struct rc_str kind = rc_str_split(why, ' ', &text);
    bool no_library = rc_str_is(kind, "library");
    const char *what = rc_str_is(kind, "program")  ? "rollcall-pmix, which queries the PMIx server, cannot be run"
                       : no_library                ? "the PMIx server cannot be queried without libpmix.so.2"
                       : rc_str_is(kind, "server") ? "the PMIx server does not answer"
                                                   : "the PMIx server's answer is incomplete";

    rc_say(reader->messages, RC120, "%s: %pQ; nothing is set; %s%s", what, &text,
           no_library ? "put its folder into LD_LIBRARY_PATH, or " : "", cure);
    return RC_PMIXJOB_WRONG;
}

static enum rc_pmixjob_answer tell_missing_line(struct rc_reader *reader, const char *line, const char *cure)
{
    return tell_failure(reader, rc_str(rc_format(reader->arena, "answer %s=", line)), cure);
}

static bool agrees_with_server(struct rc_reader *reader, struct rc_number *number, uint32_t value, const char *what,
                               const char *cure)
{
    if (number->value == RC_UNKNOWN)
        *number = (struct rc_number){ value, source };
    return number->value == value ||
           rc_say(reader->messages, RC120, "%s is %u, but for the PMIx server the %s is %u; nothing is set; %s",
                  number->source, number->value, what, value, cure);
}

enum rc_pmixjob_answer rc_pmixjob_fill(struct rc_reader *reader, struct rc_facts *facts, const char *cure)
{
    static const struct {
        char line[12];
        enum rc_field field;
        char what[12];
    } numbers[] = { { "rank", RC_RANK, "rank" },
                    { "size", RC_WORLD_SIZE, "size" },
                    { "local_rank", RC_LOCAL_RANK, "local rank" },
                    { "node", RC_NODE_RANK, "node" } };
    enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };
    struct rc_number *field = facts->field;
    uint32_t told[RC_FIELD_COUNT];
    struct rc_taskmap_node place;
    struct rc_tasklist tasks;
    struct rc_str answer;
    struct rc_str text;
    uint32_t before;

    if (!rc_seen(reader->here, RC_LEARN_PMIX, RC_ABSENT) || !reader->here->pmix.p)
        return RC_PMIXJOB_NONE;
    answer = reader->here->pmix;
    text = rc_pmixjob_line(answer, "failed");
    if (text.p)
        return tell_failure(reader, text, cure);
    for (unsigned i = 0; i < NUMBERS; i++)
        if (!rc_parse_u32(rc_pmixjob_line(answer, numbers[i].line), RC_MAX_TASKS, &told[numbers[i].field]))
            return tell_missing_line(reader, numbers[i].line, cure);
    if (told[RC_RANK] >= told[RC_WORLD_SIZE])
        return tell_missing_line(reader, "size", cure);
    text = rc_pmixjob_line(answer, "tasks");
    if (!rc_tasklist_parse(text, &tasks) || tasks.tasks != told[RC_WORLD_SIZE] || tasks.nodes > RC_NODE_SET_BITS)
        return tell_missing_line(reader, "tasks", cure);
    if (!rc_taskmap_read(rc_pmixjob_line(answer, "map"), tasks.tasks, tasks.nodes, told[RC_NODE_RANK], reader->scratch,
                         &place) ||
        place.node_rank != told[RC_NODE_RANK] || place.tasks != rc_tasklist_at(&tasks, place.node_rank, &before))
        return tell_missing_line(reader, "map", cure);
    for (unsigned i = 0; i < NUMBERS; i++)
        if (!agrees_with_server(reader, &field[numbers[i].field], told[numbers[i].field], numbers[i].what, cure))
            return RC_PMIXJOB_WRONG;
    if (!agrees_with_server(reader, &field[RC_LOCAL_WORLD_SIZE], place.tasks, "local size", cure))
        return RC_PMIXJOB_WRONG;
    field[RC_NNODES] = (struct rc_number){ tasks.nodes, source };
    facts->nnodes_derived = false;
    facts->min_local_size = tasks.smallest;
    facts->max_local_size = tasks.largest;
    if (text.n <= LAYOUT_MAX)
        facts->layout = text;
    facts->node_order_rank = (struct rc_number){ place.tasks_before + told[RC_LOCAL_RANK], source };
    facts->master_host = rc_pmixjob_line(answer, "host");
    facts->master_source = "host of rank 0, by the PMIx server";
    facts->master_certain = tasks.nodes == 1;
    return RC_PMIXJOB_READ;
}

/* A task with only PMIx's variables: prterun, prun and `srun --mpi=pmix` set PMIX_NAMESPACE and PMIX_RANK; sizes and
 * hosts are on the server. The namespace slurm.pmix.JOB.STEP belongs to the Slurm family. Without the server (the
 * preload, a recorded environment), report the rank without a size. */

/* Return true if another launcher set PMIx's. In PRRTE's namespaces, "prterun-n1-306@1", only Open MPI can. */
static bool is_second_voice(const struct rc_env *env)
{
    struct rc_str rank = rc_env_get(env, "PMIX_RANK");

    if (rc_str_eq(rank, rc_env_get(env, "OMPI_COMM_WORLD_RANK")))
        return true;
    return !rc_str_starts(rc_env_get(env, "PMIX_NAMESPACE"), "prte") &&
           (rc_str_eq(rank, rc_env_get(env, "PALS_RANKID")) || rc_str_eq(rank, rc_env_get(env, "FLUX_TASK_RANK")));
}

/* "prte-n1-306@2": jobs of a server differ only in their number, which seeds the port as a step. */
static void name_launch(struct rc_reader *reader, struct rc_facts *facts, struct rc_str name)
{
    struct rc_str number;
    struct rc_str server = rc_str_split(name, '@', &number);
    uint64_t seed;
    uint32_t job;

    rc_facts_name(reader, facts, "pmix", server);
    seed = facts->port_seed[0];
    rc_facts_name(reader, facts, "pmix", name);
    if (rc_parse_u32(number, UINT32_MAX - 1, &job)) {
        facts->port_seed[0] = seed;
        facts->port_seed[1] = job;
    }
}

enum rc_claim rc_pmix_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str name = rc_env_get(reader->env, "PMIX_NAMESPACE");
    struct rc_number rank;

    if (!name.p || name.n == 0 || rc_slurmpmix_step(reader->env).p)
        return RC_CLAIM_ABSENT;
    if (!rc_read_number(reader, "PMIX_RANK", &rank))
        return RC_CLAIM_BROKEN;
    if (rank.value == RC_UNKNOWN || is_second_voice(reader->env))
        return RC_CLAIM_ABSENT;
    facts->field[RC_RANK] = rank;
    name_launch(reader, facts, name);
    return RC_CLAIM_TASK;
}

bool rc_pmix_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str name = rc_env_get(reader->env, "PMIX_NAMESPACE");

    switch (rc_pmixjob_fill(reader, facts, "start the command with mpirun or srun --ddp")) {
    case RC_PMIXJOB_READ:
        rc_read_gpus(reader, facts);
        return true;
    case RC_PMIXJOB_NONE:
        rc_say(reader->messages, RC109,
               "PMIX_RANK is %u in namespace %pQ, but the environment has no world size; "
               "nothing is set; start the command with rollcall exec, which queries the PMIx server, "
               "or with mpirun or srun --ddp",
               facts->field[RC_RANK].value, &name);
        break;
    case RC_PMIXJOB_WRONG:
        break;
    }
    return false;
}

const struct rc_launcher rc_launcher_pmix = {
    .id = "pmix",
    .title = "PMIx (prterun, prun)",
    .processes = "prted|prterun|prte",
    .pass = "prterun -x MASTER_ADDR=HOST",
    .pmix_server = RC_PMIX_SERVER_OWN,
    .variables = {
        RC_VARIABLE("PMIX_RANK", RC_RANK),
    },
};
