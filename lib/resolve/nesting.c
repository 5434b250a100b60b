/* SPDX-License-Identifier: BSD-3-Clause */
/* nesting.c - whose task is this? Several launchers' variables may stand in one environment.
 *
 * In this order:
 * 1. a family that proves that none can be further inside (Slurm wrote this very process's id into SLURM_TASK_PID, and
 *    this node's name beside it);
 * 2. the stamp: of two launchers the one that an outer rollcall did not know of when it wrote its stamp was started
 *    later (of several such ones rule 3 decides);
 * 3. the nearest process that this one descends from and that starts tasks (orted, hydra_pmi_proxy, slurmstepd, ...),
 *    where the caller has looked;
 * 4. values that a launch wrote over those of another one (facts.around);
 * 5. the order of the registry, and RC126 reports that it decided.
 * Where it is none of Slurm's but is in a job of Slurm's, and the stamp does not know that job, it has to descend from
 * a process of its launcher before a batch script's slurmstepd: a script that a task gave to sbatch has all that the
 * task had, and is no task (RC_CLAIM_OUTSIDE). Values that contradict a newer launcher's on their face are stale before
 * all that (RC_CLAIM_STALE), and a launcher that starts no processes, like a cloud's names or a user's own, is never
 * inside one that does. Beside another family's stamp it is not even asked.
 */
#include "resolve/steps.h"

/* A family that has something to say, and what. */
struct candidate {
    unsigned index;
    enum rc_claim claim;
    const char *scope;  /* a task's launch; NULL where the values contradict each other */
    const char *around; /* a launch that this one proves to be inside of, else NULL */
    uint32_t rank;
    const char *why; /* how it shows that a claim is stale */
};

struct candidates {
    struct candidate list[RC_LAUNCHER_COUNT];
    unsigned count;
    bool guessed; /* several may be innermost, and nothing tells which is */
};

static bool is_task(const struct candidate *candidate)
{
    return candidate->claim == RC_CLAIM_TASK || candidate->claim == RC_CLAIM_INNERMOST ||
           candidate->claim == RC_CLAIM_BROKEN;
}

/* A launcher that starts processes may be inside another one. A cloud's names
 * and those that a user exported stand around everything else. */
static bool may_be_inside(const struct candidate *candidate)
{
    return is_task(candidate) && rc_launcher_at(candidate->index)->processes[0];
}

/* Returns what a family claims, with its facts. What it has to say is left unsaid. */
static enum rc_claim ask_family(struct rc_reader *reader, unsigned index, struct rc_facts *facts)
{
    unsigned messages = reader->messages->count;
    bool has_error = reader->messages->has_error;
    enum rc_claim claim;

    rc_facts_init(facts);
    reader->why = NULL;
    claim = rc_launcher_recognise(index, reader, facts);
    reader->messages->count = messages;
    reader->messages->has_error = has_error;
    return claim;
}

/* Asks the families with a marker. Those that have something to say become candidates. */
static void ask_families(struct rc_reader *reader, uint32_t marks, struct rc_facts *facts,
                         struct candidates *candidates)
{
    struct rc_here quiet = { .look = NULL };
    struct rc_reader asked = *reader;

    /* what is certain by itself is no reason to look at the node for the others */
    for (uint32_t left = reader->alone ? 0 : marks; left; left &= left - 1) {
        unsigned index = (unsigned)__builtin_ctz(left);

        if (rc_launcher_at(index)->proves && ask_family(reader, index, facts) == RC_CLAIM_INNERMOST)
            asked.here = &quiet;
    }
    candidates->count = 0;
    candidates->guessed = false;
    for (; marks; marks &= marks - 1) {
        struct candidate *candidate = &candidates->list[candidates->count];

        candidate->index = (unsigned)__builtin_ctz(marks);
        candidate->claim = ask_family(&asked, candidate->index, facts);
        if (candidate->claim == RC_CLAIM_ABSENT)
            continue;
        candidate->scope = facts->scope;
        candidate->around = facts->around;
        candidate->rank = facts->field[RC_RANK].value;
        candidate->why = asked.why;
        candidates->count++;
        if (candidate->claim == RC_CLAIM_INNERMOST)
            return;
    }
}

/* The stamp has the scopes of the launchers that were known to be further outside when it was made. So a launcher that
 * it does not know was started later, inside. Of several such ones (*newer_count) it does not tell which. */
static const struct candidate *by_stamp(struct rc_reader *reader, const struct candidates *candidates,
                                        unsigned *newer_count)
{
    const struct rc_stamp *stamp = &reader->stamp;
    const struct candidate *owner = NULL;
    const struct candidate *newer = NULL;

    *newer_count = 0;
    for (unsigned i = 0; i < candidates->count; i++) {
        const struct candidate *c = &candidates->list[i];

        if (is_task(c) && rc_stamp_is_of(stamp, c->scope, c->rank))
            owner = c;
    }
    for (unsigned i = 0; owner && i < candidates->count; i++) {
        const struct candidate *c = &candidates->list[i];
        bool known = c == owner || !may_be_inside(c) || rc_stamp_has_outer(stamp, c->scope);

        if (!known && (*newer_count)++ == 0)
            newer = c;
    }
    return newer ? newer : owner;
}

/* The nearest process that starts tasks tells whose task this is. */
static const struct candidate *by_ancestors(struct rc_reader *reader, const struct candidates *candidates)
{
    const struct rc_here *here = reader->here;

    if (!rc_seen(reader->here, RC_LEARN_ANCESTORS, RC_ABSENT))
        return NULL;
    for (unsigned i = 0; i < here->ancestor_count; i++) {
        struct rc_str name = rc_ancestor_name(here->ancestor[i]);

        for (unsigned k = 0; k < candidates->count; k++)
            if (is_task(&candidates->list[k]) &&
                rc_str_which(name, rc_launcher_at(candidates->list[k].index)->processes))
                return &candidates->list[k];
    }
    return NULL;
}

static bool is_around_another(const struct candidates *candidates, const struct candidate *candidate)
{
    for (unsigned i = 0; i < candidates->count; i++)
        if (candidates->list[i].around && candidate->scope &&
            rc_str_is(rc_str(candidates->list[i].around), candidate->scope))
            return true;
    return false;
}

/* The only task that no other one proves to be inside of; NULL if there are several. */
static const struct candidate *by_proof(const struct candidates *candidates)
{
    const struct candidate *inner = NULL;

    for (unsigned i = 0; i < candidates->count; i++) {
        const struct candidate *c = &candidates->list[i];

        if (!may_be_inside(c) || is_around_another(candidates, c))
            continue;
        if (inner)
            return NULL;
        inner = c;
    }
    return inner;
}

/* Returns Slurm's candidate where this is a batch script that a task gave to sbatch, else
 * NULL. Such a script has all variables of the task and its stamp, but is nobody's task:
 * no process of the task's launcher runs between it and its slurmstepd. */
static const struct candidate *batch_script(struct rc_reader *reader, const struct candidates *candidates,
                                            const struct candidate *task)
{
    const struct candidate *slurm = NULL;

    for (unsigned i = 0; i < candidates->count; i++)
        if (rc_launcher_at(candidates->list[i].index)->batch_inherits && candidates->list[i].claim == RC_CLAIM_OUTSIDE)
            slurm = &candidates->list[i];
    if (!slurm || !may_be_inside(task) || rc_launcher_at(task->index)->has_library)
        return NULL;
    /* the stamp of this very task was made in this job of Slurm's */
    if ((rc_stamp_is_of(&reader->stamp, task->scope, task->rank) &&
         rc_stamp_has_outer_job(&reader->stamp, slurm->scope)) ||
        !rc_seen(reader->here, RC_LEARN_ANCESTORS, RC_ABSENT))
        return NULL;
    for (unsigned i = 0; i < reader->here->ancestor_count; i++) {
        struct rc_str name = rc_ancestor_name(reader->here->ancestor[i]);

        if (rc_str_which(name, rc_launcher_at(task->index)->processes))
            return NULL;
        if (rc_ancestor_is_batch(reader->here->ancestor[i]))
            return slurm;
    }
    return NULL;
}

/* How good a candidate is before anything is known of nesting. */
static unsigned weight_of(const struct candidate *candidate)
{
    if (candidate->claim == RC_CLAIM_STALE)
        return 0;
    return 1u + is_task(candidate) + may_be_inside(candidate);
}

/* Chooses a task before everything else. Of several tasks it takes the one that is proven
 * to be innermost, else the first of the registry. */
static const struct candidate *choose_candidate(struct rc_reader *reader, struct candidates *candidates)
{
    const struct candidate *best = NULL;
    const struct candidate *proven = NULL;
    const struct candidate *nearest;
    unsigned rivals = 0;
    unsigned newer;

    for (unsigned i = 0; i < candidates->count; i++) {
        const struct candidate *c = &candidates->list[i];

        if (c->claim == RC_CLAIM_INNERMOST)
            return c;
        /* slurmstepd starts this task: all other launchers are further outside, whatever they claim */
        if (reader->slurm_certain && !rc_launcher_at(c->index)->proves)
            continue;
        if (weight_of(c) > (best ? weight_of(best) : 0))
            best = c;
        rivals += may_be_inside(c);
    }
    if (rivals > 1) {
        proven = by_stamp(reader, candidates, &newer);
        if (!proven || newer > 1) {
            nearest = by_ancestors(reader, candidates);
            if (!nearest)
                nearest = by_proof(candidates);
            candidates->guessed = !nearest;
            if (nearest)
                proven = nearest;
        }
    }
    if (proven)
        best = proven;
    nearest = best ? batch_script(reader, candidates, best) : NULL;
    return nearest ? nearest : best;
}

static void note_others(struct rc_reader *reader, const struct candidates *candidates, const struct candidate *chosen,
                        struct rc_result *result)
{
    bool guessed = candidates->guessed;

    for (unsigned i = 0; i < candidates->count; i++) {
        const struct candidate *c = &candidates->list[i];
        const char *title = rc_launcher_at(c->index)->title;

        /* a container that has process numbers of its own hides what would tell */
        if (guessed && c != chosen && may_be_inside(c)) {
            rc_say(reader->messages, RC126,
                   "this is a task of %s and of %s, and no visible process shows which one is inside the other; "
                   "rollcall uses %s; let the container see the node's processes (--pid=host)",
                   result->launcher->title, title, result->launcher->title);
            guessed = false;
        }
        if (c->claim == RC_CLAIM_STALE)
            rc_say(reader->messages, RC108, "the values of %s are stale: %s", title, c->why);
        else if (c != chosen && (c->claim == RC_CLAIM_TASK || c->claim == RC_CLAIM_OUTSIDE) && c->scope &&
                 result->outer_count < RC_OUTER_MAX)
            result->outer[result->outer_count++] = c->scope;
    }
}

/* Leaves out families that start no processes, where the stamp is another family's. What stands in their names then is
 * rollcall's own work (RANK and its like), or further outside. */
static uint32_t without_own_exports(const struct rc_stamp *stamp, uint32_t marks)
{
    if (!stamp->text.n)
        return marks;
    for (uint32_t left = marks; left; left &= left - 1) {
        const struct rc_launcher *launcher = rc_launcher_at((unsigned)__builtin_ctz(left));

        if (!launcher->processes[0] && !rc_launcher_has_scope(launcher, stamp->scope))
            marks &= ~(left & -left);
    }
    return marks;
}

/* MASTER_ADDR and MASTER_PORT may be those of a launch further outside, which told them to its own tasks. Platforms are
 * not among the candidates of a task that Slurm is certain of. */
static const struct rc_launcher *find_outer_master(struct rc_reader *reader, uint32_t marks, unsigned chosen)
{
    struct rc_reader asked = *reader;
    struct rc_facts facts;

    for (; marks && rc_env_get(reader->env, "MASTER_ADDR").n; marks &= marks - 1) {
        unsigned index = (unsigned)__builtin_ctz(marks);

        if (index != chosen && rc_launcher_at(index)->tells_master &&
            ask_family(&asked, index, &facts) == RC_CLAIM_TASK)
            return rc_launcher_at(index);
    }
    return NULL;
}

static unsigned find_alone(void)
{
    unsigned index = 0;

    while (!rc_launcher_at(index)->alone)
        index++;
    return index;
}

/* --ddp=alone, now or by an earlier rollcall in this process tree. A task that was started since, of a launch that the
 * stamp does not know, is a new one. */
static bool is_alone(struct rc_reader *reader, const struct candidates *candidates, unsigned index)
{
    bool is_again = rc_launcher_has_scope(rc_launcher_at(index), reader->stamp.scope);

    for (unsigned i = 0; i < candidates->count; i++) {
        const struct candidate *c = &candidates->list[i];

        if (may_be_inside(c) && c->claim != RC_CLAIM_BROKEN && !rc_stamp_has_outer(&reader->stamp, c->scope))
            is_again = false;
    }
    reader->starts_alone = reader->starts_alone && !is_again;
    return is_again || reader->starts_alone;
}

enum rc_claim rc_nesting_recognise(const struct rc_context *context, struct rc_result *result)
{
    struct rc_reader reading = rc_reader_of(context, result);
    struct rc_reader *reader = &reading;
    const struct candidate alone = { .index = find_alone() };
    struct candidates candidates;
    const struct candidate *chosen;
    enum rc_claim claim;
    uint32_t marks = without_own_exports(&reader->stamp, rc_launcher_marks(reader->env));

    result->is_alone = reader->alone = rc_launcher_is_alone(reader->env, marks);
    ask_families(reader, marks, &result->facts, &candidates);
    chosen = is_alone(reader, &candidates, alone.index) ? &alone : choose_candidate(reader, &candidates);
    result->outer_count = 0;
    if (!chosen) {
        rc_facts_init(&result->facts);
        note_others(reader, &candidates, chosen, result);
        return RC_CLAIM_ABSENT;
    }
    claim = chosen->claim;
    /* reading the variables stopped at an innermost launcher: result->facts has its facts */
    if (claim != RC_CLAIM_INNERMOST) {
        rc_facts_init(&result->facts);
        claim = rc_launcher_recognise(chosen->index, reader, &result->facts);
    }
    result->launcher = rc_launcher_at(chosen->index);
    result->launcher_index = chosen->index;
    if (!reader->stamp.text.n && (marks & (marks - 1)) && chosen != &alone)
        result->outer_master = find_outer_master(reader, marks, chosen->index);
    note_others(reader, &candidates, chosen, result);
    return claim;
}
