/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/mpidaemon.h"

#include "launcher/ancestry.h"
#include "launcher/hostlist.h"
#include "launcher/layout.h"
#include "launcher/orteregex.h"
#include "launcher/pmixjob.h"

/* "1740701696.2;tcp://..." and "prterun-n1-651@0.2;tcp4://...": what stands
 * behind the last dot of the name is the daemon's number. */
static uint32_t number_in(struct rc_str uri)
{
    struct rc_str rest;
    struct rc_str name = rc_str_split(uri, ';', &rest);
    uint32_t daemon;

    while (name.p) {
        struct rc_str number = rc_str_split(name, '.', &rest);

        if (!rest.p)
            return rc_parse_u32(number, RC_MAX_TASKS, &daemon) ? daemon : RC_UNKNOWN;
        name = rest;
    }
    return RC_UNKNOWN;
}

/* The PMIx server of PRRTE's daemon, "prterun-n1-651@0.2;...", where the namespace
 * is that launch's: one of another launch has another name before the @. */
static struct rc_str prrte_uri(const struct rc_env *env)
{
    static const struct rc_name uris[] = { RC_NAME("PMIX_SERVER_URI41"), RC_NAME("PMIX_SERVER_URI4"),
                                           RC_NAME("PMIX_SERVER_URI2") };
    struct rc_str rest;
    struct rc_str name = rc_str_split(rc_env_get(env, "PMIX_NAMESPACE"), '@', &rest);

    for (size_t i = 0; rest.p && i < sizeof(uris) / sizeof(*uris); i++) {
        struct rc_str uri = rc_env_find_name(env, &uris[i]);

        if (rc_str_eq(rc_str_split(uri, '@', &rest), name))
            return uri;
    }
    return RC_ABSENT;
}

/* What ORTE says beside PRRTE's server is an outer mpirun's. One of two of its
 * variables is enough, if the other got lost. */
static bool is_orte(const struct rc_env *env)
{
    return !prrte_uri(env).p &&
           (rc_env_get(env, "OMPI_MCA_orte_hnp_uri").n || rc_env_get(env, "OMPI_MCA_orte_num_nodes").n);
}

/* ORTE names its daemon to the task, PRRTE the PMIx server, which is the same. */
struct rc_mpidaemon rc_mpidaemon_of(const struct rc_env *env)
{
    bool orte = is_orte(env);

    return (struct rc_mpidaemon){
        .orte = orte,
        .number = number_in(orte ? rc_env_get(env, "OMPI_MCA_orte_local_daemon_uri") : prrte_uri(env)),
    };
}

/* mpirun's own daemon, which counts, does not tell its tasks. */
static uint32_t orte_daemons(const struct rc_env *env)
{
    uint32_t daemons;

    return rc_parse_u32(rc_env_get(env, "OMPI_MCA_ess_base_num_procs"), RC_MAX_TASKS, &daemons) ? daemons : RC_UNKNOWN;
}

struct prrte {
    uint32_t daemons;
    uint32_t allocated; /* nodes of the Slurm job, where srun started the daemons */
};

/* "3", in quotes where srun started it */
static struct rc_str prted_option(struct rc_str cmdline, const char *option)
{
    struct rc_str text = rc_ancestor_option(cmdline, option);

    return text.n > 2 && text.p[0] == '"' ? (struct rc_str){ text.p + 1, text.n - 2 } : text;
}

/* A daemon's command line tells; below mpirun's own, a prted is another launch's. */
static struct prrte read_prted(struct rc_reader *reader, uint32_t daemon)
{
    struct prrte prrte = { RC_UNKNOWN, RC_UNKNOWN };

    if (daemon == 0 || daemon == RC_UNKNOWN || !rc_learned(reader, RC_LEARN_ANCESTORS))
        return prrte;
    for (unsigned i = 0; i < reader->here->ancestor_count; i++) {
        struct rc_str cmdline = reader->here->ancestor[i];

        if (!rc_str_is(rc_ancestor_name(cmdline), "prted"))
            continue;
        if (!rc_parse_u32(prted_option(cmdline, "ess_base_num_procs"), RC_MAX_TASKS, &prrte.daemons))
            prrte.daemons = RC_UNKNOWN;
        if (!rc_str_is(prted_option(cmdline, "ess"), "slurm") ||
            !rc_parse_u32(rc_env_get(reader->env, "SLURM_JOB_NUM_NODES"), RC_MAX_TASKS, &prrte.allocated))
            prrte.allocated = RC_UNKNOWN;
        break;
    }
    return prrte;
}

/* mpirun exports its --map-by, --rank-by and (deprecated) --bynode as it
 * exports any parameter. */
static bool dealt_by_node(const struct rc_env *env)
{
    return rc_str_starts(rc_env_get(env, "OMPI_MCA_rmaps_base_mapping_policy"), "node") ||
           rc_str_starts(rc_env_get(env, "OMPI_MCA_rmaps_base_ranking_policy"), "node") ||
           rc_str_is(rc_env_get(env, "OMPI_MCA_rmaps_base_bynode"), "1");
}

/* A rank file or the sequential mapper puts any rank on any node, and then
 * orte_num_nodes is not the number of nodes either: measured with 4.1.4, four
 * lines over two nodes, 2 on mpirun's node and 4 on the other one. */
static bool dealt_at_will(const struct rc_env *env)
{
    struct rc_str mapper = rc_env_get(env, "OMPI_MCA_rmaps");

    return rc_env_get(env, "OMPI_MCA_orte_rankfile").n || rc_env_get(env, "OMPI_MCA_rmaps_rank_file_path").n ||
           rc_str_is(mapper, "seq") || rc_str_is(mapper, "rank_file");
}

/* Slurm's nodes are in the order of the daemons: this one's is there by name. */
static uint32_t place_in_list(const struct rc_env *env, uint32_t daemon)
{
    char name[RC_HOST_MAX + 1];
    uint32_t place;

    if (!rc_orteregex_nth(rc_env_get(env, "OMPI_MCA_orte_node_regex"), daemon, name))
        return RC_UNKNOWN;
    place = rc_hostlist_find(rc_env_get(env, "SLURM_JOB_NODELIST"), rc_str(name));
    return place == daemon || place + 1 == daemon ? place : RC_UNKNOWN;
}

/* The node of a rank on the second of two nodes by slot, or of one of the first's by
 * node: daemon 1 is either, with a third daemon. */
static uint32_t second_of_two(const struct rc_facts *facts, uint32_t daemon, uint32_t daemons)
{
    if (daemon == 1 && daemons != RC_UNKNOWN && daemons > 2)
        return rc_layout_node_rank(facts, 1) == 0 ? 0 : RC_UNKNOWN;
    return 1;
}

/* ORTE says how many nodes there are and how the ranks were dealt out. */
static uint32_t orte_node_rank(const struct rc_env *env, const struct rc_facts *facts, uint32_t daemon,
                               uint32_t daemons)
{
    const struct rc_number *field = facts->field;
    uint32_t rank = field[RC_RANK].value;
    uint32_t local_rank = field[RC_LOCAL_RANK].value;
    uint32_t nnodes = field[RC_NNODES].value;
    bool by_node = dealt_by_node(env);
    uint32_t even = rc_layout_node_rank(facts, by_node ? 1 : field[RC_LOCAL_WORLD_SIZE].value);
    uint32_t place = RC_UNKNOWN;

    /* an uneven job may look even from one of its ranks: sizes 4,2,1,1 do from
     * the second node, so the daemon's number goes first, where it tells */
    if (daemon == 0 || (daemon != RC_UNKNOWN && daemons == nnodes))
        place = daemon;
    else if (daemon != RC_UNKNOWN && daemon >= nnodes)
        place = daemon - 1;
    else
        place = place_in_list(env, daemon);
    if (place == RC_UNKNOWN && by_node && local_rank == 0 && rank < nnodes)
        return rank;
    if (place == RC_UNKNOWN && (daemon == RC_UNKNOWN || even == daemon || even + 1 == daemon))
        place = even;
    if (place == RC_UNKNOWN && !by_node && nnodes == 2)
        place = second_of_two(facts, daemon, daemons);
    /* a file of parameters may say by node, which no task is told: mpirun's own node,
     * or what shows to be the first one, has the lowest ranks by slot (seen with 4.1.4) */
    by_node = by_node || place == 0;
    /* each node before this one has a lower rank than its own */
    if (place >= nnodes || place > rank - local_rank)
        return RC_UNKNOWN;
    /* by node, the first round has a rank on each, and no round has more */
    if (by_node && (local_rank == 0 ? rank != place : rank > (uint64_t)local_rank * nnodes + place))
        return RC_UNKNOWN;
    return place;
}

/* PRRTE says neither: the nodes have to be even, and their daemons' order fit. */
static uint32_t prrte_node_rank(const struct rc_facts *facts, uint32_t daemon, const struct prrte *prrte)
{
    const struct rc_number *field = facts->field;
    uint32_t nnodes = field[RC_NNODES].value;
    uint32_t by_slot = rc_layout_node_rank(facts, field[RC_LOCAL_WORLD_SIZE].value);
    uint32_t by_node = rc_layout_node_rank(facts, 1);
    bool is_one_more = prrte->daemons == nnodes + 1 || prrte->daemons == RC_UNKNOWN; /* or may be */
    uint32_t place = RC_UNKNOWN;

    if (daemon == RC_UNKNOWN)
        return by_slot;
    /* nodes that there are not: 2 and 1 ranks look like 3 nodes from the second */
    if (nnodes > prrte->daemons || nnodes > prrte->allocated)
        return RC_UNKNOWN;
    if (daemon == 0)
        place = 0;
    else if (prrte->allocated != RC_UNKNOWN &&
             (prrte->daemons == prrte->allocated || prrte->daemons == prrte->allocated + 1))
        place = daemon - (prrte->daemons - prrte->allocated);
    else if (field[RC_RANK].value == field[RC_LOCAL_RANK].value)
        place = daemon == 1 && is_one_more ? 0 : RC_UNKNOWN; /* mpirun's node has no ranks */
    else if (!is_one_more)
        place = daemon;
    else if (by_slot + 1 == daemon || (by_slot == daemon && by_node + 1 != daemon))
        place = by_slot;
    else if (by_slot != daemon && (by_node == daemon || by_node + 1 == daemon))
        place = by_node;
    return rc_layout_agrees(facts, place) ? place : RC_UNKNOWN;
}

/* prrte_node_rank gives d or d - 1, or nothing: where rc_layout_agrees, and not of
 * more nodes than a prted says. */
static bool is_right(const struct rc_pmixjob_rank *rank, const struct rc_facts *truth, uint32_t most_nodes)
{
    struct rc_facts own = { .scope = NULL };
    uint32_t size = truth->field[RC_WORLD_SIZE].value;
    uint32_t nnodes = size / rank->local_size;

    if (rank->id && nnodes > most_nodes)
        return true;
    own.field[RC_RANK].value = rank->rank;
    own.field[RC_LOCAL_RANK].value = rank->local_rank;
    own.field[RC_WORLD_SIZE].value = size;
    own.field[RC_LOCAL_WORLD_SIZE].value = rank->local_size;
    own.field[RC_NNODES].value = nnodes;
    for (uint32_t place = rank->id ? rank->id - 1 : 0; place <= rank->id; place++)
        if (rc_layout_agrees(&own, place) && (nnodes != truth->field[RC_NNODES].value || place != rank->node))
            return false;
    return true;
}

bool rc_mpidaemon_all_right(struct rc_reader *reader, const struct rc_facts *facts, const struct rc_mpidaemon *daemon)
{
    struct prrte prrte = read_prted(reader, daemon->number);

    return rc_pmixjob_all(reader, facts, prrte.allocated < prrte.daemons ? prrte.allocated : prrte.daemons, is_right);
}

uint32_t rc_mpidaemon_node_rank(struct rc_reader *reader, const struct rc_facts *facts,
                                const struct rc_mpidaemon *daemon)
{
    uint32_t rank = facts->field[RC_RANK].value;
    uint32_t local_rank = facts->field[RC_LOCAL_RANK].value;
    struct prrte prrte;

    if (facts->field[RC_NNODES].value == 1)
        return 0;
    if (dealt_at_will(reader->env))
        return RC_UNKNOWN;
    if (daemon->orte) {
        /* all lower ranks are on this node, so rank 0 is */
        if (rank <= local_rank)
            return rank == local_rank ? 0 : RC_UNKNOWN;
        return orte_node_rank(reader->env, facts, daemon->number, orte_daemons(reader->env));
    }
    prrte = read_prted(reader, daemon->number);
    return prrte_node_rank(facts, daemon->number, &prrte);
}
