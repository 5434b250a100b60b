/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/pins.h"

#include "base/cpuset.h"
#include "base/lines.h"

/* A pin has at most as many cores as hardware threads. */
static bool is_sound(const struct rc_pin *pin)
{
    struct rc_cpuset cpus;

    return rc_cpuset_read(pin->cpus, &cpus) && pin->cores > 0 && pin->cores <= rc_cpuset_count(&cpus);
}

static bool read_pin(struct rc_str words, struct rc_pin *pin)
{
    struct rc_str key;
    struct rc_str value;

    *pin = (struct rc_pin){ .gpu = RC_UNKNOWN };
    while (rc_pair_next(&words, ' ', &key, &value)) {
        if (rc_str_is(key, "cpus"))
            pin->cpus = value;
        else if (rc_str_is(key, "cores") && !rc_parse_u32(value, RC_CPUS_MAX, &pin->cores))
            return false;
        else if (rc_str_is(key, "gpu") && !rc_parse_u32(value, RC_MAX_TASKS, &pin->gpu))
            return false;
        else if (rc_str_is(key, "fabric"))
            pin->fabric = value;
        else if (rc_str_is(key, "network"))
            pin->network = value;
        else if (rc_str_is(key, "shared"))
            pin->shared = rc_str_is(value, "yes");
    }
    return is_sound(pin);
}

static bool read_node(struct rc_str words, struct rc_pins *pins)
{
    struct rc_str key;
    struct rc_str value;

    if (!rc_str_is(rc_str_split(words, ' ', &words), "node"))
        return false;
    while (rc_pair_next(&words, ' ', &key, &value)) {
        if (rc_str_is(key, "fabric"))
            pins->fabric = value;
        else if (rc_str_is(key, "network"))
            pins->network = value;
    }
    return true;
}

/* Takes a line's words and moves *rest behind it. False, with *rest untouched, at the end
 * and before a line of another kind. */
static bool next_pin(struct rc_str *rest, struct rc_str *words)
{
    struct rc_str behind;
    struct rc_str line = rc_str_split(*rest, '\n', &behind);

    if (!line.p || !rc_str_is(rc_str_split(line, ' ', words), "pin"))
        return false;
    *rest = behind;
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
