/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/pins.h"

#include "base/cpuset.h"
#include "resolve/options.h"
#include "resolve/steps.h"

static const struct rc_row question_rows[] = {
    RC_ROW_NUMBER(struct rc_pins_question, tasks, 1, RC_PINS_TASKS_MAX),
    RC_ROW_CHOICE(struct rc_pins_question, bind, "cores|numa"),
    { .name = "cards", .kind = RC_ROW_IS_FLAG, .at = offsetof(struct rc_pins_question, no_cards), .words = "no|yes" },
    RC_ROW_TEXT(struct rc_pins_question, cpus, UINT32_MAX),
    { .name = "gpus", .kind = RC_ROW_IS_TEXT, .at = offsetof(struct rc_pins_question, gpus), .most = UINT32_MAX },
};

const struct rc_form rc_pins_question_form = { RC_FORM_ROWS(question_rows) };

static const struct rc_row pin_rows[] = {
    RC_ROW_TEXT(struct rc_pin, cpus, UINT32_MAX),       RC_ROW_NUMBER(struct rc_pin, cores, 1, RC_CPUS_MAX),
    RC_ROW_NUMBER(struct rc_pin, gpu, 0, RC_MAX_TASKS), RC_ROW_TEXT(struct rc_pin, fabric, UINT32_MAX),
    RC_ROW_TEXT(struct rc_pin, network, UINT32_MAX),    RC_ROW_FLAG(struct rc_pin, shared, "yes|no"),
};

static const struct rc_row node_rows[] = {
    RC_ROW_TEXT(struct rc_pins, fabric, UINT32_MAX),
    RC_ROW_TEXT(struct rc_pins, network, UINT32_MAX),
};

static const struct rc_form pin_form = { RC_FORM_ROWS(pin_rows) };
static const struct rc_form node_form = { RC_FORM_ROWS(node_rows) };

/* A pin has at most as many cores as hardware threads. */
static bool read_pin(struct rc_str words, struct rc_pin *pin)
{
    struct rc_cpuset cpus;

    *pin = (struct rc_pin){ .gpu = RC_UNKNOWN };
    return rc_pairs_read(words, ' ', &pin_form, pin) && rc_cpuset_read(pin->cpus, &cpus) && pin->cores > 0 &&
           pin->cores <= rc_cpuset_count(&cpus);
}

static bool read_node(struct rc_str line, struct rc_pins *pins)
{
    struct rc_str words;

    return rc_str_is(rc_str_split(line, ' ', &words), "node") &&
           (!words.p || rc_pairs_read(words, ' ', &node_form, pins));
}

/* Take a line's words and advance *rest. Return false, with *rest unchanged, at the end or another kind of line. */
static bool next_pin(struct rc_str *rest, struct rc_str *words)
{
    struct rc_str after;
    struct rc_str line = rc_str_split(*rest, '\n', &after);

    if (!line.p || !rc_str_is(rc_str_split(line, ' ', words), "pin"))
        return false;
    *rest = after;
    return true;
}

bool rc_pins_read(struct rc_str answer, struct rc_pins *pins)
{
    struct rc_pins read = { .least_cores = UINT32_MAX };
    struct rc_str rest;
    struct rc_str words;
    struct rc_pin pin;

    if (!answer.p || !read_node(rc_str_split(answer, '\n', &read.text), &read))
        return false;
    for (rest = read.text; next_pin(&rest, &words); read.count++) {
        if (!read_pin(words, &pin))
            return false;
        if (pin.cores < read.least_cores)
            read.least_cores = pin.cores;
    }
    if (read.count == 0 || (rest.p && rest.n > 0))
        return false;
    *pins = read;
    return true;
}

bool rc_pins_at(const struct rc_pins *pins, uint32_t local_rank, struct rc_pin *pin)
{
    struct rc_str rest = pins->text;
    struct rc_str words;

    if (local_rank >= pins->count)
        return false;
    for (uint32_t i = 0; next_pin(&rest, &words); i++)
        if (i == local_rank)
            return read_pin(words, pin);
    return false;
}

/* torchrun's argument overrides the variables. Lightning's number is in the script. */
uint32_t rc_pinning_workers(const struct rc_context *context, const struct rc_result *result)
{
    uint32_t gpus = result->facts.gpus.value;
    uint32_t workers;

    if (result->command.given.nproc.p && rc_parse_u32(result->command.given.nproc, RC_MAX_TASKS, &workers))
        return workers;
    if (context->options.nproc)
        return context->options.nproc;
    if (rc_parse_u32(rc_env_get(&result->env, "PET_NPROC_PER_NODE"), RC_MAX_TASKS, &workers))
        return workers;
    return gpus != RC_UNKNOWN ? gpus : 0;
}

static const char placement[] = "the placement of the node's tasks"; /* source in explain */

/* Without OMP_NUM_THREADS libraries start a thread for each core of the machine; torchrun sets 1. */
static void set_threads(struct rc_result *result, uint32_t cores)
{
    if (!rc_env_get(&result->env, "OMP_NUM_THREADS").p && rc_plan_has_room(result, 0))
        rc_plan_set(result, RC_STR("OMP_NUM_THREADS"), rc_format(&result->arena, "%u", cores), placement,
                    "a thread for each core");
}

/* Return the cores of all workers, "0-7,64-71 8-15,72-79", or NULL if too long. */
static const char *list_cpus(const struct rc_pins *pins, struct rc_result *result)
{
    enum { LIST_LENGTH_MAX = 4096 };
    const char *list = rc_copy(&result->arena, RC_STR(""));
    struct rc_pin pin;
    size_t length = 0;

    for (uint32_t i = 0; rc_pins_at(pins, i, &pin); i++) {
        length += pin.cpus.n + 1;
        if (length > LIST_LENGTH_MAX || !rc_plan_has_room(result, length))
            return NULL;
        rc_join(&result->arena);
        rc_format(&result->arena, i ? " %pS" : "%pS", &pin.cpus);
    }
    return list;
}

void rc_pins_excuse(const struct rc_options *options, const char *broken, bool are_workers, const char *why,
                    struct rc_messages *messages)
{
    struct rc_str name = rc_options_word(rc_words_bind, options->bind);

    if (broken)
        rc_say(messages, RC917, "the tasks of %s are not bound to cores: %s", broken, why);
    else if (rc_bind_is_auto(options->bind))
        rc_say(messages, RC911, "%snot bound to cores: %s", are_workers ? "workers are " : "", why);
    else
        rc_say(messages, RC912, "bind=%pS was asked for, but %s; the %s run unbound%s", &name, why,
               are_workers ? "workers" : "tasks", rc_options_origin(options, RC_KEY_bind));
}

/* Plan the workers' cores. Return false, with a message, if they stay unbound. */
static bool plan_workers(const struct rc_context *context, struct rc_result *result)
{
    const struct rc_pins *pins = context->told.pins;
    struct rc_str wish = rc_options_word(rc_words_bind, context->options.bind);
    const char *list = list_cpus(pins, result);
    const char *why = "the list of their cores is too long";

    if (list)
        why = rc_preloading_add(context, result, context->told.pins_library, RC_PINS_LIBRARY, placement,
                                "binds the workers that are started here, behind all other libraries");
    if (why) {
        rc_pins_excuse(&context->options, NULL, true, why, &result->messages);
        return false;
    }
    rc_plan_set(result, RC_STR(RC_PINS), list, placement, "the cores of each worker that is started here");
    set_threads(result, pins->least_cores);
    rc_say(&result->messages, RC913, "%u workers are to be bound, to %u core%s or more each (bind=%pS)", pins->count,
           pins->least_cores, pins->least_cores == 1 ? "" : "s", &wish);
    return true;
}

void rc_pinning_plan(const struct rc_context *context, struct rc_result *result)
{
    bool bound = !context->told.cards_only && context->options.bind != RC_BIND_OFF;
    const struct rc_pins *pins = bound ? context->told.pins : NULL;
    static const char outer[] = "left over from a launch further outside";
    struct rc_str wish = rc_options_word(rc_words_bind, context->options.bind);
    struct rc_pin pin;

    if (pins && result->mode != RC_MODE_LAUNCHER && rc_pins_at(pins, context->told.pin, &pin)) {
        set_threads(result, pin.cores);
        rc_say(&result->messages, RC913, "bound to %u core%s, hardware threads %pS (bind=%pS)", pin.cores,
               pin.cores == 1 ? "" : "s", &pin.cpus, &wish);
    }
    if (!pins || result->mode != RC_MODE_LAUNCHER || !plan_workers(context, result))
        rc_plan_unset(result, RC_STR(RC_PINS), outer);
    rc_plan_unset(result, RC_STR(RC_PINNED), outer);
}
