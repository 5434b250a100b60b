#include "pinning.h"

#include "nicnames.h"
#include "pins.h"

/* What does not fit would be a reason to set nothing at all, and a binding is none. */
enum { LIST_LENGTH_MAX = 4096, ARENA_LEFT = 2048, ENTRIES_LEFT = 4 };

static void set(struct rc_result *result, struct rc_str name, const char *value, const char *reason)
{
    struct rc_str now = rc_env_find(&result->env, name);

    if (result->plan.count < RC_PLAN_MAX)
        result->plan.entry[result->plan.count++] = (struct rc_plan_entry){
            .action = RC_SET,
            .name = name,
            .value = value,
            .source = "the placement of the node's tasks",
            .reason = reason,
            .changes = !rc_str_is(now, value),
            .is_new = !now.p,
        };
}

static void unset(struct rc_result *result, struct rc_str name)
{
    if (rc_env_find(&result->env, name).p && result->plan.count < RC_PLAN_MAX)
        result->plan.entry[result->plan.count++] = (struct rc_plan_entry){
            .action = RC_UNSET,
            .name = name,
            .reason = "left over from a launch further outside",
            .changes = true,
        };
}

/* Libraries take one thread for each core of the machine, torchrun one a worker. */
static void set_threads(struct rc_result *result, uint32_t cores)
{
    if (!rc_env_get(&result->env, "OMP_NUM_THREADS").p)
        set(result, RC_STR("OMP_NUM_THREADS"), rc_format_number(&result->arena, cores), "a thread for each core");
}

static bool has_room(const struct rc_result *result, size_t bytes)
{
    return result->plan.count + ENTRIES_LEFT <= RC_PLAN_MAX &&
           result->arena.used + bytes + ARENA_LEFT <= result->arena.size;
}

/* "0-7,64-71 8-15,72-79", or NULL where that is too long. */
static const char *list_cpus(const struct rc_pins *pins, struct rc_result *result)
{
    const char *list = rc_format(&result->arena, "");
    struct rc_pin pin;
    size_t length = 0;

    for (uint32_t i = 0; rc_pins_at(pins, i, &pin); i++)
        length += pin.cpus.n + 1;
    if (length > LIST_LENGTH_MAX || !has_room(result, length))
        return NULL;
    for (uint32_t i = 0; rc_pins_at(pins, i, &pin); i++) {
        rc_join(&result->arena);
        rc_format(&result->arena, i ? " %S" : "%S", &pin.cpus);
    }
    return list;
}

static bool plan_workers(const struct rc_pins *pins, struct rc_result *result)
{
    const char *list = list_cpus(pins, result);

    if (!list)
        return false;
    set(result, RC_STR(RC_PINS), list, "the cores of each worker that is started here");
    set_threads(result, pins->least_cores);
    return true;
}

bool rc_pins_wanted(const struct rc_options *options)
{
    return options->bind != RC_BIND_NONE || options->nic == RC_NICS_AUTO;
}

void rc_pinning_plan(const struct rc_context *context, struct rc_result *result)
{
    bool bound = !context->nics_only && context->options.bind != RC_BIND_NONE;
    const struct rc_pins *pins = bound ? context->pins : NULL;
    bool carried = false;
    struct rc_pin pin;

    if (pins && result->mode == RC_MODE_LAUNCHER)
        carried = plan_workers(pins, result);
    else if (pins && rc_pins_at(pins, context->pin, &pin) && has_room(result, 0))
        set_threads(result, pin.cores);
    if (!carried)
        unset(result, RC_STR(RC_PINS));
    unset(result, RC_STR(RC_PINNED));
    rc_nicnames_plan(context, result);
}
