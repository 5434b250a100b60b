/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix.c - a task of a PMIx launcher that says no more than PMIx's own variables.
 *
 * prterun, prun and `srun --mpi=pmix` put PMIX_NAMESPACE and PMIX_RANK into the
 * environment; sizes and hosts are only to be had from the PMIx server, which
 * rollcall exec and show ask (pmixjob.h). So:
 * - a namespace slurm.pmix.JOB.STEP is Slurm's own, and the Slurm family says
 *   all that it means (rank equal, sizes besides);
 * - any other namespace is a launcher further inside. Where the server cannot be
 *   asked (the preload, a recorded environment) its rank without a size is half an
 *   identity, and saying so beats guessing.
 */
#include "launcher/registry.h"

#include "launcher/pmixjob.h"
#include "launcher/slurmpmix.h"

/* True where another launcher has set PMIx's variables, and says more by its own.
 * In one of PRRTE's namespaces, "prterun-n1-306@1", that can be Open MPI alone. */
static bool is_second_voice(const struct rc_env *env)
{
    static const struct rc_name ranks[] = { RC_NAME("PALS_RANKID"), RC_NAME("FLUX_TASK_RANK") };
    struct rc_str rank = rc_env_get(env, "PMIX_RANK");

    if (rc_str_eq(rank, rc_env_get(env, "OMPI_COMM_WORLD_RANK")))
        return true;
    if (rc_str_starts(rc_env_get(env, "PMIX_NAMESPACE"), "prte"))
        return false;
    for (size_t i = 0; i < sizeof(ranks) / sizeof(*ranks); i++)
        if (rc_str_eq(rank, rc_env_find_name(env, &ranks[i])))
            return true;
    return false;
}

/* "prte-n1-306@2": the jobs of one server differ in their number, and so may the
 * steps of one job in their ports alone. */
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
    if (!rc_read_number(reader, RC_STR("PMIX_RANK"), RC_MAX_TASKS, &rank))
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
        rc_message_add(reader->messages, RC109,
                       rc_format(reader->arena,
                                 "PMIX_RANK is %u in namespace %q, but the environment has no world size; "
                                 "nothing is set; start the command with rollcall exec, which asks the PMIx server, "
                                 "or with mpirun or srun --ddp",
                                 facts->field[RC_RANK].value, &name));
        break;
    case RC_PMIXJOB_WRONG:
        break;
    }
    return false;
}

const struct rc_launcher rc_launcher_pmix = {
    .id = "pmix",
    .title = "PMIx (prterun, prun)",
    .processes = "prted prterun prte",
    .pass = "prterun -x MASTER_ADDR=HOST",
    .pmix_server = RC_PMIX_SERVER_OWN,
    .variables = {
        RC_VARIABLE("PMIX_RANK", RC_RANK),
    },
};
