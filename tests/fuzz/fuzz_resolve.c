/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_resolve - the whole of rc_resolve over environment blocks.
 *
 * An input is a recording (tests/vectors/recordings.py): lines NAME=VALUE, and lines with @ that tell of the node
 * (lib/console/input.h). Lines with ! are of the call:
 *   !ddp=TEXT      --ddp; !site=TEXT the keys of plugstack.conf
 *   !argv=WORDS    the task's command, its words blanks between
 *   !pins=LINE     a line of rollcall-map's answer; several are possible
 *   !step=LIST     CUDA_VISIBLE_DEVICES of the whole step, and !gpus=LIST its SLURM_STEP_GPUS
 *   !order=P/B/H   place, tasks before it and the first host of a told order
 *   !port=N !pid=N !flags=LETTERS
 *
 * Each block is resolved twice, without and with explain, and both plans must be the same. What must hold of a
 * result is in check_result.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "console/input.h"
#include "launcher/launcher.h"
#include "resolve/options.h"
#include "resolve/pins.h"
#include "resolve/resolve.h"

enum { LINES_MAX = 2048 };

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

struct trial {
    struct rc_here here;
    struct rc_here recorded; /* all that the block says of the node */
    struct rc_context context;
    char *line[LINES_MAX + 1]; /* each in an allocation of its own */
    size_t lines;
    size_t size;
    const char *env[LINES_MAX + 1];
    const char *argv[LINES_MAX + 1];
    char *words;
    const char *ddp;
    const char *site; /* keys of plugstack.conf */
    const char *flags;
    struct rc_str pins_text;
    struct rc_pins pins;
    struct rc_step_gpus step_gpus;
    char *storage;
    struct rc_messages messages;
    struct rc_arena arena;
    char space[65536];
};

static void split_lines(struct rc_str input, struct trial *trial)
{
    while (input.p && trial->lines < LINES_MAX)
        trial->line[trial->lines++] = fuzz_copy_string(rc_str_split(input, '\n', &input));
}

static void split_words(struct trial *trial)
{
    unsigned count = 0;

    for (char *word = strtok(trial->words, " "); word; word = strtok(NULL, " "))
        trial->argv[count++] = word;
    trial->argv[count] = NULL;
    trial->context.argv = trial->argv;
}

static void take_order(struct trial *trial, const char *text)
{
    struct rc_str rest;
    struct rc_ordered *order = &trial->context.told.order;

    (void)rc_parse_u32(rc_str_split(rc_str(text), '/', &rest), RC_MAX_TASKS, &order->place);
    (void)rc_parse_u32(rc_str_split(rest, '/', &rest), RC_MAX_TASKS, &order->before);
    order->host = rest;
}

static void add_pins_line(struct trial *trial, const char *text)
{
    const char *added = rc_format(&trial->arena, "%s\n", text);

    if (!trial->pins_text.p)
        trial->pins_text.p = added;
    rc_join(&trial->arena);
    trial->pins_text.n += strlen(added);
}

static const char *text_after(const char *line, const char *name)
{
    size_t n = strlen(name);

    return strncmp(line, name, n) == 0 ? line + n : NULL;
}

static void take_call_line(struct trial *trial, const char *line)
{
    const char *text;
    uint32_t number;

    if ((text = text_after(line, "!ddp=")))
        trial->ddp = text;
    else if ((text = text_after(line, "!site=")))
        trial->site = text;
    else if ((text = text_after(line, "!argv=")) && !trial->words)
        trial->words = fuzz_copy_string(rc_str(text));
    else if ((text = text_after(line, "!pins=")))
        add_pins_line(trial, text);
    else if ((text = text_after(line, "!step=")))
        trial->step_gpus.list[0] = rc_str(text);
    else if ((text = text_after(line, "!gpus=")))
        trial->step_gpus.numbers = rc_str(text);
    else if ((text = text_after(line, "!order=")))
        take_order(trial, text);
    else if ((text = text_after(line, "!flags=")))
        trial->flags = text;
    else if ((text = text_after(line, "!port=")) && rc_parse_u32(rc_str(text), UINT16_MAX, &number))
        trial->context.told.port = (uint16_t)number;
    else if ((text = text_after(line, "!pid=")) && rc_parse_u32(rc_str(text), UINT32_MAX, &number))
        trial->context.pid = number;
}

static void take_flags(struct rc_context *context, const char *flags)
{
    context->slurm_certain = strchr(flags, 'c') != NULL;
    context->slurm_het = strchr(flags, 'h') != NULL;
    context->called = strchr(flags, 'e') != NULL;
    context->contained = strchr(flags, 'C') != NULL;
    context->told.cards_only = strchr(flags, 'n') != NULL;
    context->ignore_stamp = strchr(flags, 'i') != NULL;
    context->told.unordered = strchr(flags, 'u') ? "they did not meet" : NULL;
    context->decided_mode = strchr(flags, 'w')   ? RC_MODE_WORKER
                            : strchr(flags, 'l') ? RC_MODE_LAUNCHER
                            : strchr(flags, '0') ? RC_MODE_NONE
                                                 : RC_MODE_AUTO;
    context->told.pins_library = strchr(flags, 'p') ? RC_STR("/opt/rollcall/librollcall-pins.so") : RC_ABSENT;
}

static void read_trial(struct rc_str input, struct trial *trial)
{
    size_t count = 0;

    trial->arena = (struct rc_arena){ .base = trial->space, .size = sizeof(trial->space) };
    trial->messages.arena = &trial->arena;
    split_lines(input, trial);
    for (size_t i = 0; i < trial->lines; i++) {
        if (trial->line[i][0] == '!') {
            take_call_line(trial, trial->line[i]);
        } else if (trial->line[i][0] != '#') {
            trial->env[count++] = trial->line[i];
            trial->size += strlen(trial->line[i]) + 1;
        }
    }
    trial->context.env = trial->env;
    CHECK(recording_read(trial->env, trial->size, &trial->recorded, &trial->storage) == 0);
    if (trial->words)
        split_words(trial);
    if (trial->flags)
        take_flags(&trial->context, trial->flags);
    if (trial->pins_text.p && rc_pins_read(trial->pins_text, &trial->pins))
        trial->context.told.pins = &trial->pins;
    if (trial->step_gpus.list[0].p)
        trial->context.step_gpus = &trial->step_gpus;
}

static void free_trial(struct trial *trial)
{
    for (size_t i = 0; i < trial->lines; i++)
        free(trial->line[i]);
    free(trial->words);
    free(trial->storage);
}

/* Return false, with a message, if a text of the user's is no option. */
static bool combine_options(struct trial *trial)
{
    struct rc_options line = { .given = false };
    struct rc_options variable = { .given = false };
    struct rc_options site = rc_site_read(rc_str(trial->site), "plugstack.conf", &trial->messages).keys;
    static struct rc_env index;

    rc_env_index(&index, trial->env);
    bool fine = (!trial->ddp || rc_options_parse(rc_str(trial->ddp), "--ddp", &line, &trial->messages)) &&
                rc_options_parse_variable(rc_env_get(&index, "ROLLCALL"), "ROLLCALL", &variable, &trial->messages);

    fuzz_check_messages(&trial->messages);
    CHECK(fine || trial->messages.count > 0);
    trial->context.options = rc_options_combine(&line, &variable, &site);
    return fine;
}

/* As effects/look.c: nothing is known of the node before it is asked for. */
static bool look(struct rc_here *here, enum rc_learn what, struct rc_str path)
{
    const struct trial *trial = (const struct trial *)here; /* its first member */
    unsigned learned = here->learned;

    CHECK(what != RC_LEARN_HOST_FILE || (path.n && !path.p[path.n]));
    *here = trial->recorded;
    here->learned = learned;
    here->look = look;
    return true;
}

/* `explain` also says that all is known of the node from the start, which makes no difference. */
static void resolve(struct trial *trial, bool explain, struct rc_result *result)
{
    /* Whatever the last answer left there must not matter. */
    memset(result, 0xa5, sizeof(*result));
    trial->here = explain ? trial->recorded : (struct rc_here){ .look = look };
    trial->context.here = &trial->here;
    trial->context.explain = explain;
    rc_resolve(&trial->context, result);
}

static bool is_below(const struct rc_result *result, enum rc_field number, enum rc_field count)
{
    const uint32_t *field = result->identity.field;

    /* what torchrun has set is shown as it is */
    if (field[count] == RC_UNKNOWN)
        return field[number] == RC_UNKNOWN || result->mode != RC_MODE_WORKER;
    return field[number] == RC_UNKNOWN || field[number] < field[count];
}

static bool is_at_most(const struct rc_result *result, enum rc_field part, enum rc_field whole)
{
    const uint32_t *field = result->identity.field;

    return field[part] == RC_UNKNOWN || field[whole] == RC_UNKNOWN || (field[part] > 0 && field[part] <= field[whole]);
}

static void check_identity(const struct rc_result *result)
{
    CHECK(is_below(result, RC_RANK, RC_WORLD_SIZE));
    CHECK(is_below(result, RC_LOCAL_RANK, RC_LOCAL_WORLD_SIZE));
    /* a task may know its node's number, and not how many there are */
    CHECK(result->identity.field[RC_NNODES] == RC_UNKNOWN || is_below(result, RC_NODE_RANK, RC_NNODES));
    if (result->mode == RC_MODE_WORKER) {
        CHECK(is_at_most(result, RC_LOCAL_WORLD_SIZE, RC_WORLD_SIZE));
        CHECK(is_at_most(result, RC_NNODES, RC_WORLD_SIZE));
    }
}

static void check_entry(const struct rc_plan_entry *entry)
{
    CHECK(entry->name.p[entry->name.n] == '\0');
    CHECK(entry->name.n > 0 && fuzz_is_printable(entry->name) && !memchr(entry->name.p, '=', entry->name.n));
    CHECK((entry->action == RC_UNSET) == !entry->value);
    CHECK(entry->reason && fuzz_is_printable(rc_str(entry->reason)));
    if (entry->action == RC_SET)
        CHECK(entry->source && fuzz_is_printable(rc_str(entry->source)));
}

static bool is_number(const char *text, uint32_t number)
{
    uint32_t value;

    return rc_parse_u32(rc_str(text), UINT32_MAX - 1, &value) && value == number;
}

/* Rank or world size: a process that carries its task's stamp knows of it what the stamp tells. */
static uint32_t told_number(const struct rc_result *result, enum rc_field field)
{
    struct rc_str rest = result->stamp.told;
    struct rc_str rank = rc_str_split(rest, '/', &rest);
    uint32_t number;

    if (!result->stamped)
        return result->identity.field[field];
    CHECK(rc_parse_u32(field == RC_RANK ? rank : rc_str_split(rest, '/', &rest), RC_MAX_TASKS, &number));
    return number;
}

static void check_entry_value(const struct rc_result *result, const struct rc_plan_entry *entry)
{
    if (entry->action != RC_SET)
        return;
    if (rc_str_is(entry->name, "RANK") && result->mode == RC_MODE_WORKER)
        CHECK(is_number(entry->value, told_number(result, RC_RANK)));
    if (rc_str_is(entry->name, "WORLD_SIZE") && result->mode == RC_MODE_WORKER)
        CHECK(is_number(entry->value, told_number(result, RC_WORLD_SIZE)));
    if (rc_str_is(entry->name, "MASTER_ADDR"))
        CHECK(*entry->value && fuzz_is_printable(rc_str(entry->value)));
    if (rc_str_is(entry->name, "MASTER_PORT"))
        CHECK(is_number(entry->value, result->master.port) && result->master.port > 0);
}

static void check_plan(const struct rc_result *result)
{
    const struct rc_plan *plan = &result->plan;

    CHECK(plan->count <= RC_PLAN_MAX && plan->rejected_count <= RC_REJECTED_MAX);
    for (unsigned i = 0; i < plan->count; i++) {
        check_entry(&plan->entry[i]);
        check_entry_value(result, &plan->entry[i]);
        for (unsigned j = 0; j < i; j++)
            CHECK(!rc_str_eq(plan->entry[i].name, plan->entry[j].name));
    }
}

static void check_result(const struct rc_result *result)
{
    fuzz_check_messages(&result->messages);
    if (result->status == RC_CONTRADICTION) {
        CHECK(result->messages.has_error);
        CHECK(result->plan.count == 0);
        return;
    }
    CHECK(result->status == RC_RESOLVED && !result->messages.has_error);
    CHECK(!result->arena.full && !result->plan.full);
    if (!result->stamped)
        check_identity(result);
    check_plan(result);
}

/* Explain says more of the same answer. */
static void check_same(const struct rc_result *a, const struct rc_result *b)
{
    CHECK(a->status == b->status && a->mode == b->mode && a->launcher == b->launcher);
    CHECK(a->plan.count == b->plan.count);
    CHECK(a->messages.count <= b->messages.count);
    CHECK(memcmp(&a->identity, &b->identity, sizeof(a->identity)) == 0);
    for (unsigned i = 0; i < a->plan.count; i++) {
        const struct rc_plan_entry *one = &a->plan.entry[i];
        const struct rc_plan_entry *other = &b->plan.entry[i];

        CHECK(one->action == other->action && rc_str_eq(one->name, other->name));
        CHECK(!one->value || strcmp(one->value, other->value) == 0);
        CHECK(one->changes == other->changes);
    }
}

/* With nothing new to know it is the same once more. */
static void resolve_again(struct trial *trial, struct rc_result *result)
{
    if (result->stamped || (result->mode != RC_MODE_WORKER && result->mode != RC_MODE_LAUNCHER))
        return;
    trial->context.explain = false;
    rc_resolve_again(&trial->context, result);
    check_result(result);
}

void fuzz_one(struct rc_str input)
{
    static struct rc_result plain, explained;
    static struct trial trial; /* to allocate it anew takes longer than what is tested */

    memset(&trial, 0, sizeof(trial));
    read_trial(input, &trial);
    if (combine_options(&trial)) {
        resolve(&trial, false, &plain);
        check_result(&plain);
        resolve(&trial, true, &explained);
        check_result(&explained);
        check_same(&plain, &explained);
        resolve_again(&trial, &plain);
        check_same(&plain, &explained);
    }
    free_trial(&trial);
}

#ifdef FUZZ_MUTATOR
/* Random numbers of one mutation. */
static unsigned draw(unsigned *state, size_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return below ? (*state >> 8) % (unsigned)below : 0;
}

/* The line that holds the byte at `at`. */
static struct rc_str line_around(const uint8_t *data, size_t size, size_t at)
{
    size_t begin = at;
    size_t end = at;

    while (begin > 0 && data[begin - 1] != '\n')
        begin--;
    while (end < size && data[end] != '\n')
        end++;
    return (struct rc_str){ (const char *)data + begin, end - begin };
}

/* Puts `text` in the place of a piece of data; the size as before where it does not fit. */
static size_t replace(uint8_t *data, size_t size, size_t max_size, struct rc_str old, struct rc_str text)
{
    size_t at = (size_t)((const uint8_t *)old.p - data);

    if (size - old.n + text.n > max_size)
        return size;
    memmove(data + at + text.n, data + at + old.n, size - at - old.n);
    memcpy(data + at, text.p, text.n);
    return size - old.n + text.n;
}

/* A variable of a launcher's table, with the value of another line. */
static size_t add_variable(uint8_t *data, size_t size, size_t max_size, struct rc_str line, unsigned *state)
{
    const struct rc_launcher *launcher = rc_launcher_at(draw(state, RC_LAUNCHER_COUNT));
    const struct rc_variable *variable = &launcher->variables[draw(state, RC_VARIABLES_MAX)];
    char text[256];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str name = rc_variable_name(variable);
    struct rc_str value;

    rc_str_split(line, '=', &value);
    if (!variable->length || value.n > 128)
        return size;
    return replace(data, size, max_size, (struct rc_str){ line.p, 0 },
                   rc_str(rc_format(&arena, "%pS=%pS\n", &name, &value)));
}

/* Changes one value alone, so that most of the block stays as a launcher writes it. */
static size_t change_value(uint8_t *data, size_t size, size_t max_size, struct rc_str line)
{
    enum { ROOM = 1024 };
    uint8_t text[ROOM];
    struct rc_str value;

    rc_str_split(line, '=', &value);
    if (!value.p || value.n > ROOM)
        return size;
    memcpy(text, value.p, value.n);
    return replace(data, size, max_size, value, (struct rc_str){ (char *)text, LLVMFuzzerMutate(text, value.n, ROOM) });
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    static const char *const numbers[] = { "0", "1", "2", "3", "4", "7", "8", "64", "65536", "16777217", "x", "" };
    unsigned state = seed;
    struct rc_str line, value;

    if (size == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    line = line_around(data, size, draw(&state, size));
    rc_str_split(line, '=', &value);
    switch (draw(&state, 6)) {
    case 0: /* without the line */
        return replace(data, size, max_size, line, RC_STR(""));
    case 1:
        return add_variable(data, size, max_size, line, &state);
    case 2:
        if (value.p)
            return replace(data, size, max_size, value,
                           rc_str(numbers[draw(&state, sizeof(numbers) / sizeof(*numbers))]));
        break;
    case 3:
    case 4:
        return change_value(data, size, max_size, line);
    }
    return LLVMFuzzerMutate(data, size, max_size);
}
#endif
