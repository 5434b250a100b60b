/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/option.h"

#include "base/numbers.h"
#include "resolve/optionhint.h"
#include "resolve/optionwords.h"

enum { NPROC_MAX = 4096, PORT_MIN = 1024 };

/* In the order of mode_names. */
static const uint8_t modes[] = {
#define ROLLCALL_MODE(mode, word, help) RC_MODE_##mode,
#include "resolve/option.def"
};

/* "|auto|worker" and "|order=|nproc=", as rc_option_join takes them behind the first bar. */
#define NAME_CHOICE "="
#define NAME_VALUE  "="
#define NAME_SWITCH ""

static const char mode_names[] = ""
#define ROLLCALL_MODE(mode, word, help) "|" word
#include "resolve/option.def"
    ;

static const char key_names[] = ""
#define ROLLCALL_KEY(key, shape, values, help, section, reader) "|" #key NAME_##shape
#include "resolve/option.def"
    ;

const char *rc_mode_name(enum rc_mode mode)
{
    static const char names[][9] = {
        [RC_MODE_AUTO] = "auto",     [RC_MODE_OFF] = "off",           [RC_MODE_NONE] = "none",
        [RC_MODE_WORKER] = "worker", [RC_MODE_LAUNCHER] = "launcher", [RC_MODE_TORCHRUN] = "torchrun",
    };

    return mode < sizeof(names) / sizeof(*names) ? names[mode] : names[RC_MODE_NONE];
}

static bool read_mode(struct rc_str item, enum rc_mode *mode)
{
    unsigned found = rc_option_find(mode_names + 1, item);

    if (found)
        *mode = (enum rc_mode)modes[found - 1];
    return found;
}

/* What people write to switch a variable off or on, in small or capital letters. */
static bool read_switch(struct rc_str item, enum rc_mode *mode)
{
    enum { OFF_WORDS = 4 };
    char small[sizeof("false") - 1];
    unsigned found;

    if (item.n > sizeof(small))
        return false;
    for (size_t i = 0; i < item.n; i++)
        small[i] = (char)(item.p[i] >= 'A' ? item.p[i] | 0x20 : item.p[i]);
    found = rc_option_find("off|0|no|false|on|1|yes|true", (struct rc_str){ small, item.n });
    *mode = found > OFF_WORDS ? RC_MODE_AUTO : RC_MODE_OFF;
    return found;
}

enum shape { CHOICE, VALUE, SWITCH };

enum key {
#define ROLLCALL_KEY(key, shape, values, help, section, reader) KEY_##key,
#include "resolve/option.def"
    KEY_COUNT
};

/* Arrays, not pointers: each pointer of a table is a relocation in every process with the preload. */
static const struct {
    char name[9];
    char values[24];
    enum shape shape;
} keys[KEY_COUNT] = {
#define ROLLCALL_KEY(key, shape, values, help, section, reader) [KEY_##key] = { #key, values, shape },
#include "resolve/option.def"
};

const char *rc_check_name(enum rc_check check)
{
    switch (check) {
    case RC_CHECK_OFF:
        return "off";
    case RC_CHECK_WARN:
        return "warn";
    case RC_CHECK_STRICT:
        return "strict";
    case RC_CHECK_STOP:
    case RC_CHECK_UNSET:
        break;
    }
    return "stop";
}

bool rc_check_read(struct rc_str text, enum rc_check *check)
{
    unsigned found = rc_option_find(keys[KEY_check].values, text);

    if (found)
        *check = (enum rc_check)found;
    return found != 0;
}

struct reading {
    struct rc_options options;
    unsigned chosen[KEY_COUNT]; /* the word that was given for a CHOICE */
    bool given[KEY_COUNT];
    bool is_variable; /* of ROLLCALL, where words such as 0 and yes are modes, too */
    const char *where;
    struct rc_messages *messages;
    struct rc_arena *arena;
};

/* "order=launcher or order=node", "check=off, warn, stop or strict" */
static const char *list_values(struct reading *r, enum key key)
{
    const char *name = keys[key].name;
    struct rc_str second, others;
    struct rc_str first = rc_str_split(rc_str(keys[key].values), '|', &second);

    second = rc_str_split(second, '|', &others);
    if (!others.p)
        return rc_format(r->arena, "%s=%S or %s=%S", name, &first, name, &second);
    return rc_format(r->arena, "%s=%s", name, rc_option_join(r->arena, keys[key].values, " or "));
}

static bool read_choice(struct reading *r, enum key key, struct rc_str value)
{
    r->chosen[key] = rc_option_find(keys[key].values, value);
    if (r->chosen[key])
        return true;
    rc_message_add(
        r->messages, RC202,
        rc_format(r->arena, "%s: %s=%q is not known; use %s", r->where, keys[key].name, &value, list_values(r, key)));
    return false;
}

static bool read_nproc(struct reading *r, struct rc_str value)
{
    if (rc_parse_u32(value, NPROC_MAX, &r->options.nproc) && r->options.nproc > 0)
        return true;
    rc_message_add(r->messages, RC202,
                   rc_format(r->arena, "%s: nproc=%q is not a number of processes; use nproc=1 to nproc=%u", r->where,
                             &value, (uint32_t)NPROC_MAX));
    return false;
}

static bool read_addr(struct reading *r, struct rc_str value)
{
    const char *wrong;

    wrong = rc_address_read(value, &r->options.addr_kind);
    if (!wrong) {
        r->options.addr = rc_copy(r->arena, value);
        if (!r->arena->full)
            return true;
        wrong = "too long";
    }
    rc_message_add(
        r->messages, RC202,
        rc_format(r->arena,
                  "%s: addr=%q is %s; use an interface (addr=ib0), a network (addr=10.1.0.0/16), a suffix of "
                  "node names (addr=-ib, addr=.hsn) or addr=given",
                  r->where, &value, wrong));
    return false;
}

static bool read_deadline(struct reading *r, struct rc_str value)
{
    if (rc_parse_u32(value, RC_DEADLINE_MAX, &r->options.deadline) && r->options.deadline > 0)
        return true;
    rc_message_add(r->messages, RC202,
                   rc_format(r->arena, "%s: deadline=%q is not a number of seconds; use deadline=1 to deadline=%u",
                             r->where, &value, (uint32_t)RC_DEADLINE_MAX));
    return false;
}

static bool read_port(struct reading *r, struct rc_str value)
{
    struct rc_str rest;
    struct rc_str text = rc_str_split(value, '-', &rest);
    uint32_t first, last;

    if (rc_parse_u32(text, UINT16_MAX, &first) && rc_parse_u32(rest.p ? rest : text, UINT16_MAX, &last) &&
        first >= PORT_MIN && first <= last) {
        r->options.port_first = (uint16_t)first;
        r->options.port_last = (uint16_t)last;
        return true;
    }
    rc_message_add(r->messages, RC202,
                   rc_format(r->arena,
                             "%s: port=%q is no port; use a number from %u to %u (port=23456) or a range "
                             "(port=23000-23999)",
                             r->where, &value, (uint32_t)PORT_MIN, (uint32_t)UINT16_MAX));
    return false;
}

static bool read_watch(struct reading *r, struct rc_str value)
{
    if (!value.p || rc_str_is(value, "on"))
        r->options.watch = RC_WATCH_ON;
    else if (rc_str_is(value, "off"))
        r->options.watch = RC_WATCH_OFF;
    else if (rc_parse_u32(value, RC_WATCH_SECONDS_MAX, &r->options.watch_seconds) && r->options.watch_seconds > 0)
        r->options.watch = RC_WATCH_ON;
    if (r->options.watch != RC_WATCH_UNSET)
        return true;
    rc_message_add(r->messages, RC202,
                   rc_format(r->arena,
                             "%s: watch=%q is not known; use watch, watch=on, watch=off or, in seconds, "
                             "watch=1 to watch=%u",
                             r->where, &value, (uint32_t)RC_WATCH_SECONDS_MAX));
    return false;
}

static bool read_value(struct reading *r, enum key key, struct rc_str value)
{
    if (r->given[key]) {
        rc_message_add(r->messages, RC203,
                       rc_format(r->arena, "%s: %s%s is given twice; keep one of them", r->where, keys[key].name,
                                 keys[key].shape == SWITCH ? "" : "="));
        return false;
    }
    r->given[key] = true;
    switch (key) {
    case KEY_nproc:
        return read_nproc(r, value);
    case KEY_addr:
        return read_addr(r, value);
    case KEY_deadline:
        return read_deadline(r, value);
    case KEY_port:
        return read_port(r, value);
    case KEY_watch:
        return read_watch(r, value);
    default:
        return read_choice(r, key, value);
    }
}

static void refuse_item(struct reading *r, struct rc_str item, bool first)
{
    const char *hint = rc_option_hint(item, first, mode_names + 1, key_names + 1, r->arena);

    if (!hint)
        hint = rc_format(r->arena, "use [MODE][,KEY=VALUE]... with MODE %s, and keys %s",
                         rc_option_join(r->arena, mode_names + 1, " or "),
                         rc_option_join(r->arena, key_names + 1, " and "));
    rc_message_add(r->messages, RC201, rc_format(r->arena, "%s: %q is not known; %s", r->where, &item, hint));
}

static bool read_item(struct reading *r, struct rc_str item, bool first)
{
    struct rc_str value;
    struct rc_str name = rc_str_split(item, '=', &value);

    for (unsigned i = 0; i < KEY_COUNT; i++)
        if ((value.p || keys[i].shape == SWITCH) && rc_str_is(name, keys[i].name))
            return read_value(r, (enum key)i, value);
    if (first && (read_mode(item, &r->options.mode) || (r->is_variable && read_switch(item, &r->options.mode)))) {
        r->options.mode_given = true;
        return true;
    }
    refuse_item(r, item, first);
    return false;
}

static void set_choices(struct rc_options *options, const unsigned *chosen)
{
#define SET_CHOICE(key) options->key = chosen[KEY_##key];
#define SET_VALUE(key)
#define SET_SWITCH(key)
#define ROLLCALL_KEY(key, shape, values, help, section, reader) SET_##shape(key)
#include "resolve/option.def"
}

/* Returns why two options do not go together, or NULL where they do. */
static const char *find_contradiction(const struct rc_options *options)
{
    if (options->nproc && options->mode == RC_MODE_WORKER)
        return "nproc= belongs to launcher mode, not to worker mode; leave it out";
    if (options->order == RC_ORDER_NODE && options->mode == RC_MODE_LAUNCHER)
        return "order=node belongs to worker mode, not to launcher mode; leave it out";
    return NULL;
}

bool rc_options_read(struct rc_str text, bool is_variable, const char *where, struct rc_options *options,
                     struct rc_messages *messages, struct rc_arena *arena)
{
    struct reading r = {
        .options = { .given = true }, .is_variable = is_variable, .where = where, .messages = messages, .arena = arena
    };
    struct rc_str rest = text.n == 0 || rc_str_is(text, "(null)") ? RC_ABSENT : text;
    const char *wrong;

    for (bool first = true; rest.p; first = false)
        if (!read_item(&r, rc_str_split(rest, ',', &rest), first))
            return false;
    set_choices(&r.options, r.chosen);
    wrong = find_contradiction(&r.options);
    if (wrong) {
        rc_message_add(messages, RC204, rc_format(arena, "%s: %s", where, wrong));
        return false;
    }
    *options = r.options;
    return true;
}
