/* SPDX-License-Identifier: BSD-3-Clause */
/* slurmorder.c - the node of rank 0 in a step, and the order of nodes by rank. */
#include "launcher/families.h"
#include "launcher/layout.h"

/* The components of a heterogeneous job (srun A : B). */

static struct rc_str component_variable(const struct rc_env *env, const char *name, const char *kind,
                                        uint32_t component)
{
    char text[sizeof("SLURM_JOB_NODELIST_PACK_GROUP_") + 10];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };

    return rc_env_find(env, rc_str(rc_format(&arena, "%s_%s_GROUP_%u", name, kind, component)));
}

/* salloc and sbatch set HET_GROUP; srun sets PACK_GROUP if it creates the job. Another job's first component means an
 * outer launch's; return false if all are. */
static bool find_kind(const struct rc_env *env, const char **kind)
{
    static const char kinds[][5] = { "HET", "PACK" };
    bool of_others = false;

    *kind = NULL;
    for (unsigned i = 0; i < 2 && !*kind; i++) {
        struct rc_str leader = component_variable(env, "SLURM_JOB_ID", kinds[i], 0);

        if (leader.p && rc_str_eq(leader, rc_env_get(env, "SLURM_JOB_ID")))
            *kind = kinds[i];
        else if (leader.p)
            of_others = true;
    }
    return *kind || !of_others;
}

bool rc_slurmcomponents_are_there(const struct rc_env *env)
{
    const char *kind;

    /* a batch script inherits those of the job that submitted it */
    return rc_env_get(env, "SLURM_HET_SIZE").n && find_kind(env, &kind);
}

bool rc_slurmcomponents_read(const struct rc_env *env, struct rc_slurmcomponents *components)
{
    const char *kind;
    uint32_t hosts;

    if (!find_kind(env, &kind) || !kind ||
        !rc_parse_u32(rc_env_get(env, "SLURM_HET_SIZE"), RC_SLURMCOMPONENTS_MAX, &components->count))
        return false;
    for (uint32_t i = 0; i < components->count; i++) {
        components->hosts[i] = component_variable(env, "SLURM_JOB_NODELIST", kind, i);
        if (!rc_hostlist_count(components->hosts[i], &hosts))
            return false;
    }
    return true;
}

struct rc_str rc_slurmcomponents_nodes_with(const struct rc_env *env, struct rc_str host)
{
    static const char kinds[][5] = { "HET", "PACK" };
    struct rc_str hosts = RC_ABSENT;

    /* another job's components count: their hosts are not this step's */
    for (unsigned i = 0; host.n && i < 2; i++)
        for (uint32_t k = 0; k < RC_SLURMCOMPONENTS_MAX; k++) {
            hosts = component_variable(env, "SLURM_JOB_NODELIST", kinds[i], k);
            if (!hosts.p)
                break;
            if (rc_hostlist_find(hosts, host) != RC_UNKNOWN)
                return hosts;
        }
    return rc_env_get(env, "SLURM_JOB_NODELIST");
}

bool rc_slurmcomponents_find(const struct rc_slurmcomponents *components, struct rc_str name,
                             struct rc_slurmposition *position)
{
    position->component = RC_UNKNOWN;
    for (uint32_t i = 0; i < components->count; i++) {
        uint32_t index = rc_hostlist_find(components->hosts[i], name);

        if (index == RC_UNKNOWN)
            continue;
        if (position->component != RC_UNKNOWN)
            return false;
        *position = (struct rc_slurmposition){ i, index };
    }
    return position->component != RC_UNKNOWN;
}

enum { LOOKUP_BUDGET = 1 << 24, LOOKUP_OVERHEAD = 256 };

struct search {
    struct rc_reader *reader;
    struct rc_facts *facts;
    const struct rc_slurmnode *node;
    bool het;            /* the step's nodes are of several components */
    bool has_components; /* by_component is valid: ranks go component by component */
    struct rc_taskmap_node by_component;
};

static uint32_t number_of(const struct search *s, enum rc_field field)
{
    return s->facts->field[field].value;
}

static uint32_t rank_by_list(const struct search *s)
{
    return s->facts->node_order_rank.value - number_of(s, RC_LOCAL_RANK);
}

static bool fits(const struct search *s, const struct rc_taskmap_node *place)
{
    return place->tasks == number_of(s, RC_LOCAL_WORLD_SIZE) &&
           (place->master_node == s->node->index) == s->node->holds_rank_0;
}

static bool read_map(const struct search *s, struct rc_str map, struct rc_taskmap_node *place)
{
    return map.p && number_of(s, RC_NNODES) <= RC_NODE_SET_BITS &&
           rc_taskmap_read(map, number_of(s, RC_WORLD_SIZE), number_of(s, RC_NNODES), s->node->index,
                           s->reader->scratch, place) &&
           fits(s, place);
}

/* Return the map of the plugin in srun, unless it is an outer step's. */
static struct rc_str find_told(const struct search *s)
{
    struct rc_str map;
    struct rc_str step = rc_str_split(rc_env_get(s->reader->env, RC_TASK_HOSTS), ' ', &map);

    return rc_str_is(step, s->facts->run_id) ? map : RC_ABSENT;
}

static bool read_told(struct search *s, struct rc_taskmap_node *place)
{
    /* the plugin in srun has one component */
    if (s->het || !read_map(s, find_told(s), place))
        return false;
    s->facts->master_source = "node of task 0 in " RC_TASK_HOSTS;
    return true;
}

/* A step without PMIx inherits an outer step's map, namespace and rank. */
static bool read_pmix(struct search *s, struct rc_taskmap_node *place)
{
    const struct rc_env *env = s->reader->env;
    uint32_t rank;

    if (!rc_str_is(rc_slurmpmix_step(env), s->facts->run_id) ||
        !rc_parse_u32(rc_env_get(env, "PMIX_RANK"), RC_MAX_TASKS, &rank) || rank != number_of(s, RC_RANK) ||
        !read_map(s, rc_env_get(env, "SLURM_PMIX_MAPPING_SERV"), place))
        return false;
    s->facts->master_source = "node of task 0 in SLURM_PMIX_MAPPING_SERV";
    return true;
}

/* Since 26.05 (which added SLURM_JOB_SLUID) ranks follow the network, except "node". The environment does not show
 * topology/flat's sorting by name (alpha_step_rank). */
static bool follows_network(const struct rc_env *env)
{
    struct rc_str rest;

    if (!rc_env_get(env, "SLURM_JOB_SLUID").p)
        return false;
    rc_str_split(rc_env_get(env, "SLURM_TOPOLOGY_ADDR_PATTERN"), '.', &rest);
    return rest.p != NULL;
}

static bool is_distributed(const struct search *s, const char *how)
{
    return rc_str_starts(rc_env_get(s->reader->env, "SLURM_DISTRIBUTION"), how);
}

/* Each name is looked up in the step's list and the components': limit the bytes read. */
static bool is_affordable(const struct search *s, const struct rc_slurmcomponents *components)
{
    uint64_t lookup = LOOKUP_OVERHEAD + 2 * s->facts->hosts.n + s->facts->layout.n;

    for (uint32_t i = 0; i < components->count; i++)
        lookup += components->hosts[i].n;
    return number_of(s, RC_NNODES) <= LOOKUP_BUDGET / lookup;
}

/* Return false for a node in no component or two, or twice in the step. */
static bool find_position(const struct search *s, const struct rc_slurmcomponents *components, uint32_t node,
                          struct rc_slurmposition *position)
{
    char name[RC_HOST_MAX + 1];

    return rc_hostlist_nth(s->facts->hosts, node, name) && rc_hostlist_find(s->facts->hosts, rc_str(name)) == node &&
           rc_slurmcomponents_find(components, rc_str(name), position);
}

static bool is_before(const struct rc_slurmposition *a, const struct rc_slurmposition *b)
{
    return a->component != b->component ? a->component < b->component : a->index < b->index;
}

/* Find this node's place if nodes go component by component, each in its list's order, and the most nodes of one. */
static bool walk_components(struct search *s, const struct rc_slurmcomponents *components, uint32_t *largest)
{
    struct rc_taskmap_node *place = &s->by_component;
    struct rc_slurmposition first = { RC_UNKNOWN, RC_UNKNOWN };
    struct rc_slurmposition own, other;
    struct rc_tasklist tasks;
    uint32_t nodes[RC_SLURMCOMPONENTS_MAX] = { 0 };
    uint32_t unused;

    if (!is_affordable(s, components) || !rc_tasklist_parse(s->facts->layout, &tasks) ||
        !find_position(s, components, s->node->index, &own))
        return false;
    *place = (struct rc_taskmap_node){ .tasks = rc_tasklist_at(&tasks, s->node->index, &unused) };
    for (uint32_t node = 0; node < number_of(s, RC_NNODES); node++) {
        if (!find_position(s, components, node, &other))
            return false;
        if (is_before(&other, &own)) {
            place->node_rank++;
            place->tasks_before += rc_tasklist_at(&tasks, node, &unused);
        }
        if (is_before(&other, &first)) {
            first = other;
            place->master_node = node;
        }
        if (++nodes[other.component] > *largest)
            *largest = nodes[other.component];
    }
    return true;
}

static void find_components(struct search *s)
{
    struct rc_slurmcomponents components;
    const struct rc_taskmap_node *place = &s->by_component;
    uint32_t largest = 0;

    if (!rc_slurmcomponents_read(s->reader->env, &components) || !walk_components(s, &components, &largest))
        return;
    s->het = largest < number_of(s, RC_NNODES) || s->node->index != number_of(s, RC_NODE_RANK);
    /* nodes of a component may differ from its list */
    s->has_components = place->node_rank == number_of(s, RC_NODE_RANK) && fits(s, place) &&
                        (largest == 1 || !(is_distributed(s, "arbitrary") || follows_network(s->reader->env)));
}

static bool read_components(struct search *s, struct rc_taskmap_node *place)
{
    if (!s->het || !s->has_components)
        return false;
    *place = s->by_component;
    s->facts->master_source = "first node of the step's first component";
    return true;
}

/* Return true if this task's numbers fit ranks in the list's order. */
static bool looks_as_listed(const struct search *s)
{
    const struct rc_slurmnode *node = s->node;

    if (node->first == RC_UNKNOWN)
        return !node->holds_rank_0 || node->index == 0;
    if (node->holds_rank_0 != (node->index == 0))
        return false;
    return !node->in_a_row || node->first == rank_by_list(s) || is_distributed(s, "cyclic") ||
           is_distributed(s, "plane");
}

static bool is_as_listed(const struct search *s)
{
    if (number_of(s, RC_NNODES) == 1)
        return true;
    return !s->het && !is_distributed(s, "arbitrary") && looks_as_listed(s) &&
           (!follows_network(s->reader->env) || is_distributed(s, "cyclic") || is_distributed(s, "plane"));
}

static bool refuse(const struct search *s)
{
    struct rc_arena *arena = s->reader->arena;
    struct rc_str here = rc_env_get(s->reader->env, "SLURMD_NODENAME");
    struct rc_str place = rc_env_get(s->reader->env, "SLURM_TOPOLOGY_ADDR");
    const char *cure = "use srun --mpi=pmix, or name the hosts in a file with SLURM_HOSTFILE";
    const char *cause = "the distribution is arbitrary";

    if (s->het) {
        cause = rc_format(arena, "in this step of several components (srun A : B) node %u is %pQ",
                          number_of(s, RC_NODE_RANK), &here);
        cure = "use srun --mpi=pmix, or name the components in the order of their nodes' names";
    } else if (!is_distributed(s, "arbitrary")) {
        cause = follows_network(s->reader->env)
                    ? rc_format(arena, "from Slurm 26.05 on ranks follow the network (here %pQ)", &place)
                    : rc_format(arena, "node %u of SLURM_STEP_NODELIST has rank %u, not rank %u", s->node->index,
                                s->node->first, rank_by_list(s));
        cure = rc_format(arena, "use srun --ddp or --mpi=pmix, or srun -m plane=%u", s->facts->max_local_size);
    } else if (rc_str_is(find_told(s), RC_TASK_HOSTS_LONG)) {
        cause = "the distribution is arbitrary, and too irregular for a variable to hold the node of each task";
        cure = "name each node once in SLURM_HOSTFILE, all of its tasks together";
    }
    return rc_say(s->reader->messages, RC106, "%s, and no variable has the node of rank 0; nothing is set; %s", cause,
                  cure);
}

bool rc_slurmorder_read(struct rc_reader *reader, struct rc_facts *facts, const struct rc_slurmnode *node)
{
    struct search s = { .reader = reader, .facts = facts, .node = node, .het = node->het };
    struct rc_number *node_rank = &facts->field[RC_NODE_RANK];
    struct rc_taskmap_node place;

    facts->master_node = 0;
    facts->master_source = "first host of SLURM_STEP_NODELIST";
    facts->master_certain = true;
    if (node->het && number_of(&s, RC_NNODES) > 1)
        find_components(&s);
    /* srun's map precedes a task's view: see follows_network() */
    if (number_of(&s, RC_NNODES) > 1 && read_told(&s, &place))
        ;
    else if (is_as_listed(&s))
        return true;
    else if (!read_pmix(&s, &place) && !read_components(&s, &place))
        return refuse(&s);
    facts->master_node = place.master_node;
    node_rank->value = place.node_rank;
    node_rank->source = "order of the nodes' lowest ranks";
    facts->node_order_rank.value = place.tasks_before + number_of(&s, RC_LOCAL_RANK);
    return true;
}
