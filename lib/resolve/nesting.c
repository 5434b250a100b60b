/* SPDX-License-Identifier: BSD-3-Clause */
/* nesting.c - chooses between launchers if several have variables in one environment. In this order:
 * 1. a family that proves to be innermost (SLURM_TASK_PID is this process, and SLURMD_NODENAME this node);
 * 2. the stamp: a launcher that an outer rollcall did not know was started later (of several, see 3);
 * 3. the nearest ancestor that starts tasks (orted, hydra_pmi_proxy, slurmstepd, ...), if the caller has looked;
 * 4. values that a launch wrote over another's (facts.around);
 * 5. the order of the registry, with RC126.
 * In a Slurm job that the stamp does not know, a task must descend from its launcher before a batch script's
 * slurmstepd: a script that a task gave to sbatch has its variables (RC_CLAIM_OUTSIDE). Values that contradict a newer
 * launcher's are stale. A launcher without processes (a cloud's or user's names) is never inside one with, and is
 * skipped beside another family's stamp. */
#include "resolve/steps.h"

struct candidate {
    unsigned index;
    enum rc_claim claim;
    const char *scope;  /* launch; NULL if the values contradict each other */
    const char *around; /* a launch around this one, or NULL */
    uint32_t rank;
    const char *why; /* of a stale claim */
};

struct candidates {
    struct candidate list[RC_LAUNCHER_COUNT];
    unsigned count;
    bool guessed;
};

static bool is_task(const struct candidate *candidate)
{
    return candidate->claim == RC_CLAIM_TASK || candidate->claim == RC_CLAIM_INNERMOST ||
           candidate->claim == RC_CLAIM_BROKEN;
}

/* Only a launcher that starts processes may be inside another. */
static bool may_be_inside(const struct candidate *candidate)
{
    return is_task(candidate) && rc_launcher_at(candidate->index)->processes[0];
}

/* Return a family's claim and facts, without its messages. */
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

static void ask_families(struct rc_reader *reader, uint32_t marks, struct rc_facts *facts,
                         struct candidates *candidates)
{
    struct rc_here quiet = { .look = NULL };
    struct rc_reader asked = *reader;

    /* if one proves itself, do not read the node for the others */
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

/* A launcher unknown to the stamp was started later, inside. The stamp does not order several (*newer_count). */
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

/* Return the only task that no other proves to be inside of, or NULL. */
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

/* Return Slurm's candidate if this is a batch script of a task's sbatch: none of the task's launcher's processes is
 * before its slurmstepd. Else NULL. */
static const struct candidate *batch_script(struct rc_reader *reader, const struct candidates *candidates,
                                            const struct candidate *task)
{
    const struct candidate *slurm = NULL;

    for (unsigned i = 0; i < candidates->count; i++)
        if (rc_launcher_at(candidates->list[i].index)->batch_inherits && candidates->list[i].claim == RC_CLAIM_OUTSIDE)
            slurm = &candidates->list[i];
    if (!slurm || !may_be_inside(task) || rc_launcher_at(task->index)->has_library)
        return NULL;
    /* the task was stamped in this Slurm job */
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

static unsigned weight_of(const struct candidate *candidate)
{
    if (candidate->claim == RC_CLAIM_STALE)
        return 0;
    return 1u + is_task(candidate) + may_be_inside(candidate);
}

/* Prefer tasks: the innermost if proven, else the registry's first. */
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
        /* slurmstepd starts this task: other launchers are further outside */
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

        /* PID namespaces hide the proof */
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

/* With another family's stamp their names are rollcall's (RANK, ...) or further outside. */
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

/* MASTER_ADDR may be an outer launch's. Platforms are no candidates in a task that Slurm is certain of. */
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

/* --ddp=alone, now or by an earlier rollcall here. A task of a launch unknown to the stamp is new. */
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
    /* else result->facts has its facts */
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
