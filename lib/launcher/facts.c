/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/launcher.h"

enum { RUN_ID_MAX = 255 };

void rc_facts_init(struct rc_facts *facts)
{
    *facts = (struct rc_facts){ .scope = NULL };
    for (unsigned i = 0; i < RC_FIELD_COUNT; i++)
        facts->field[i].value = RC_UNKNOWN;
    facts->node_order_rank.value = RC_UNKNOWN;
    facts->gpus.value = RC_UNKNOWN;
    facts->min_local_size = RC_UNKNOWN;
    facts->max_local_size = RC_UNKNOWN;
    facts->master_node = RC_UNKNOWN;
}

bool rc_seen(struct rc_here *here, enum rc_learn what, struct rc_str path)
{
    if (here && !(here->learned & what) && here->look && here->look(here, what, path))
        here->learned |= what;
    return here && (here->learned & what);
}

/* Blanks and slashes separate fields, but a run id may have them (torchrun --rdzv-id). */
static const char *make_scope(struct rc_arena *arena, const char *family, struct rc_str run_id)
{
    char word[RUN_ID_MAX];

    for (size_t i = 0; i < run_id.n; i++) {
        char c = run_id.p[i];

        word[i] = c == '/' || (unsigned char)c <= ' ' ? '_' : c;
    }
    return rc_format(arena, "%s:%pS", family, &(struct rc_str){ word, run_id.n });
}

void rc_facts_name(struct rc_reader *reader, struct rc_facts *facts, const char *family, struct rc_str run_id)
{
    if (!run_id.p || run_id.n == 0 || run_id.n > RUN_ID_MAX)
        run_id = rc_str(family);
    facts->port_seed[0] = rc_hash(run_id.p, run_id.n) >> 16;
    facts->run_id = rc_copy(reader->arena, run_id);
    facts->scope = make_scope(reader->arena, family, run_id);
}

bool rc_read_number(struct rc_reader *reader, const char *name, struct rc_number *out)
{
    struct rc_str text = rc_env_find(reader->env, rc_str(name));
    struct rc_number number = { RC_UNKNOWN, NULL };

    if (text.n) {
        number.source = name;
        if (!rc_parse_u32(text, RC_MAX_TASKS, &number.value))
            return rc_say(reader->messages, RC101,
                          "%s is %pQ, not a number from 0 to %u; nothing is set; start the command with "
                          "its launcher again, or unset %s",
                          name, &text, RC_MAX_TASKS, name);
    }
    *out = number;
    return true;
}

const char *rc_either(const struct rc_env *env, const char *first, const char *second)
{
    return rc_env_find(env, rc_str(first)).n || !rc_env_find(env, rc_str(second)).n ? first : second;
}

bool rc_read_needed(struct rc_reader *reader, const char *what, const char *name, struct rc_number *out)
{
    return rc_read_number(reader, name, out) && (out->value != RC_UNKNOWN || rc_missing(reader, what, name));
}

bool rc_read_fields(struct rc_reader *reader, const struct rc_launcher *launcher, struct rc_facts *facts,
                    const char *marker, unsigned needed)
{
    for (const struct rc_variable *v = launcher->variables; v->length; v++) {
        struct rc_number *field = &facts->field[v->field];

        if (field->value == RC_UNKNOWN && !rc_read_number(reader, v->text, field))
            return false;
    }
    for (const struct rc_variable *v = launcher->variables; v->length; v++)
        if (needed >> v->field & 1 && facts->field[v->field].value == RC_UNKNOWN)
            return rc_missing(reader, marker, v->text);
    return true;
}

bool rc_missing(struct rc_reader *reader, const char *what, const char *name)
{
    return rc_say(reader->messages, RC102,
                  "%s is set but %s is not; nothing is set; pass the launcher's whole environment to the "
                  "command",
                  what, name);
}

bool rc_agrees(struct rc_reader *reader, const char *name, const struct rc_number *number, const char *command)
{
    uint32_t value;

    if (!rc_parse_u32(rc_env_find(reader->env, rc_str(name)), RC_MAX_TASKS, &value) || number->value == RC_UNKNOWN ||
        value == number->value)
        return true;
    return rc_say(reader->messages, RC103, "%s is %u, but %s is %u; nothing is set; start the command with %s again",
                  number->source, number->value, name, value, command);
}

void rc_facts_one_a_node(struct rc_facts *facts, struct rc_number count)
{
    static const char alone[] = "one task a node";
    struct rc_number *field = facts->field;

    field[RC_NODE_RANK] = field[RC_RANK];
    field[RC_WORLD_SIZE] = field[RC_NNODES] = count;
    field[RC_LOCAL_RANK] = (struct rc_number){ 0, alone };
    field[RC_LOCAL_WORLD_SIZE] = (struct rc_number){ 1, alone };
    facts->min_local_size = facts->max_local_size = 1;
    facts->node_order_rank = field[RC_RANK];
}

uint32_t rc_count_devices(struct rc_str list)
{
    uint32_t count = 0;

    if (rc_str_which(list, "-1|NoDevFiles|none|void"))
        return 0;
    while (list.p) {
        struct rc_str device = rc_str_split(list, ',', &list);

        /* CUDA stops at the first invalid entry */
        if (device.n == 0 || rc_str_is(device, "-1"))
            break;
        count++;
    }
    return count;
}

void rc_read_gpus(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str visible = rc_env_get(reader->env, "CUDA_VISIBLE_DEVICES");

    if (visible.p) {
        facts->gpus.value = rc_count_devices(visible);
        facts->gpus.source = "CUDA_VISIBLE_DEVICES";
    } else if (rc_seen(reader->here, RC_LEARN_GPUS, RC_ABSENT) && reader->here->gpus != RC_UNKNOWN) {
        facts->gpus.value = reader->here->gpus;
        facts->gpus.source = "the GPUs of this node";
    }
}

/* Return Python's script or module; RC_ABSENT if it runs neither. */
static struct rc_str python_program(struct rc_str words)
{
    while (words.p) {
        struct rc_str word = rc_str_split(words, '\0', &words);

        if (rc_str_is(word, "-m"))
            return rc_str_split(words, '\0', &words);
        if (rc_str_starts(word, "-m"))
            return (struct rc_str){ word.p + 2, word.n - 2 };
        if (rc_str_is(word, "-c"))
            break;
        if (rc_str_is(word, "-X") || rc_str_is(word, "-W"))
            rc_str_split(words, '\0', &words);
        else if (!rc_str_starts(word, "-"))
            return rc_str_base_name(word);
    }
    return RC_ABSENT;
}

struct rc_str rc_ancestor_name(struct rc_str cmdline)
{
    struct rc_str rest;
    struct rc_str words;
    struct rc_str first = rc_str_split(cmdline, '\0', &words);
    struct rc_str title = rc_str_split(first, ':', &rest);
    struct rc_str name;

    /* a recorded command line has a NUL for each blank: the colon ends the word */
    if (rest.p && (rest.n == 0 || rc_str_starts(rest, " ")))
        return title;
    /* a title may contain its arguments */
    name = rc_str_base_name(rc_str_split(first, ' ', &rest));
    if (rc_str_starts(name, "python") && words.n) {
        struct rc_str program = python_program(words);

        if (program.n)
            return program;
    }
    return name;
}

struct rc_str rc_ancestor_step(struct rc_str cmdline)
{
    struct rc_str step = RC_ABSENT;
    struct rc_str rest;

    if (rc_str_is(rc_ancestor_name(cmdline), "slurmstepd")) {
        rc_str_split(cmdline, '[', &rest);
        rc_str_split(rc_str_split(rest, ']', &rest), '.', &step);
    }
    return step;
}

bool rc_ancestor_is_batch(struct rc_str cmdline)
{
    return rc_str_which(rc_ancestor_step(cmdline), "batch|extern|interactive") > 0;
}

struct rc_str rc_ancestor_nearest(struct rc_reader *reader, const char *name)
{
    if (!rc_seen(reader->here, RC_LEARN_ANCESTORS, RC_ABSENT))
        return RC_ABSENT;
    for (unsigned i = 0; i < reader->here->ancestor_count; i++)
        if (rc_str_is(rc_ancestor_name(reader->here->ancestor[i]), name))
            return reader->here->ancestor[i];
    return RC_ABSENT;
}

struct rc_str rc_ancestor_option(struct rc_str cmdline, const char *option)
{
    while (cmdline.p)
        if (rc_str_is(rc_str_split(cmdline, '\0', &cmdline), option))
            return rc_str_split(cmdline, '\0', &cmdline);
    return RC_ABSENT;
}
