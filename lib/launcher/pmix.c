/* pmix.c - a task of a PMIx launcher that says no more than PMIx's own variables.
 *
 * prterun, prun and `srun --mpi=pmix` put PMIX_NAMESPACE and PMIX_RANK into the
 * environment; sizes and hosts are only to be had from the PMIx server. So:
 * - a namespace slurm.pmix.JOB.STEP is Slurm's own, and the Slurm family says
 *   all that it means (rank equal, sizes besides);
 * - any other namespace is a launcher further inside. Its rank without a size
 *   is half an identity, and saying so beats guessing.
 */
#include "registry.h"

/* Of launchers that say more by other names. */
static bool is_second_voice(const struct rc_env *env)
{
    static const struct rc_name ranks[] = { RC_NAME("OMPI_COMM_WORLD_RANK"), RC_NAME("JSM_NAMESPACE_RANK"),
                                            RC_NAME("PALS_RANKID"), RC_NAME("FLUX_TASK_RANK") };
    struct rc_str rank = rc_env_get(env, "PMIX_RANK");

    for (size_t i = 0; i < sizeof(ranks) / sizeof(*ranks); i++)
        if (rc_str_eq(rank, rc_env_find(env, rc_name(&ranks[i]))))
            return true;
    return false;
}

enum rc_claim rc_pmix_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str name = rc_env_get(reader->env, "PMIX_NAMESPACE");
    struct rc_number rank;

    (void)facts;
    if (!name.p || name.n == 0 || rc_str_starts(name, "slurm.pmix."))
        return RC_CLAIM_ABSENT;
    if (!rc_read_number(reader, RC_STR("PMIX_RANK"), RC_MAX_TASKS, &rank))
        return RC_CLAIM_BROKEN;
    if (rank.value == RC_UNKNOWN || is_second_voice(reader->env))
        return RC_CLAIM_ABSENT;
    rc_message_add(reader->messages, RC109,
                   rc_format(reader->arena,
                             "PMIX_RANK is %u in namespace %q, but the environment does not say of how many; nothing "
                             "is set; start the command with mpirun (which says it) or with srun --ddp",
                             rank.value, &name));
    return RC_CLAIM_BROKEN;
}

bool rc_pmix_read(struct rc_reader *reader, struct rc_facts *facts)
{
    (void)reader, (void)facts;
    return false;
}

const struct rc_launcher rc_launcher_pmix = {
    .id = "pmix",
    .title = "PMIx (prterun, prun)",
    .processes = "prted prterun prte",
    .variables = {
        RC_VARIABLE("PMIX_RANK", RC_RANK),
    },
};
