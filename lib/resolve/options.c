/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/options.h"

#include "base/text.h"
#include "resolve/address.h"

/* "a|b|c" as "a, b or c": `last` is " or ". */
static const char *option_join(struct rc_arena *arena, const char *words, const char *last)
{
    struct rc_str rest;
    struct rc_str word = rc_str_split(rc_str(words), '|', &rest);
    const char *list = rc_copy(arena, word);

    while (rest.p) {
        word = rc_str_split(rest, '|', &rest);
        rc_join(arena);
        rc_format(arena, "%s%pS", rest.p ? ", " : last, &word);
    }
    return list;
}

#ifdef ROLLCALL_NO_HINTS
/* The preload library has no room for guesses: it lists all modes and keys. */
static const char *option_hint(struct rc_str item, bool first, const char *modes, const char *keys,
                               struct rc_arena *arena)
{
    (void)item, (void)first, (void)modes, (void)keys, (void)arena;
    return NULL;
}
#else
/* Words of torchrun and others that are typed for a key, and differ too much from it to be near. */
static const struct {
    char word[16];
    char cure[64];
} mistaken[] = {
    { "mode", "name the mode alone" },
    { "nnodes", "leave it out: the launcher says how many nodes there are" },
    { "master_addr", "did you mean addr=?" },
    { "master_port", "did you mean port=?" },
    { "nproc_per_node", "did you mean nproc=?" },
};

/* The nearest of "a|b=|c", no farther than *distance, which becomes its distance; absent where none is. */
static struct rc_str find_near(struct rc_str name, const char *words, unsigned *distance)
{
    struct rc_str nearest = RC_ABSENT;

    for (struct rc_str rest = rc_str(words); rest.p;) {
        struct rc_str word = rc_str_split(rest, '|', &rest);
        struct rc_str value;
        unsigned d = rc_nearest_distance(name, rc_str_split(word, '=', &value));

        if (d < *distance || (d == *distance && !nearest.p)) {
            *distance = d;
            nearest = word;
        }
    }
    return nearest;
}

/* A mode that stands behind something else is no mistyped one. */
static bool is_mode(struct rc_str item, const char *modes)
{
    unsigned distance = 0;

    return find_near(item, modes, &distance).p;
}

static const char *option_hint(struct rc_str item, bool first, const char *modes, const char *keys,
                               struct rc_arena *arena)
{
    struct rc_str value;
    struct rc_str name = rc_str_split(item, '=', &value);
    unsigned distance = name.n > RC_NEAREST_LONGEST ? 0 : (unsigned)(name.n + 2) / 3;
    struct rc_str key, mode = RC_ABSENT;

    for (size_t i = 0; i < sizeof(mistaken) / sizeof(*mistaken); i++)
        if (rc_nearest_distance(name, rc_str(mistaken[i].word)) == 0)
            return mistaken[i].cure;
    if (!first && is_mode(item, modes))
        return "name one mode, before the keys";
    key = find_near(name, keys, &distance);
    if (first && !value.p)
        mode = find_near(name, modes, &distance);
    if (mode.p) {
        const char *all = option_join(arena, modes, " or ");

        return rc_format(arena, "did you mean %pS? modes are %s", &mode, all);
    }
    return key.p ? rc_format(arena, "did you mean %pS?", &key) : NULL;
}
#endif

enum { NPROC_MAX = 4096, PORT_MIN = 1024 };

/* In the order of mode_names. */
static const uint8_t modes[] = {
#define ROLLCALL_MODE(mode, word, help) RC_MODE_##mode,
#include "resolve/options.def"
};

/* "|auto|worker" and "|order=|nproc=", as option_join takes them behind the first bar. */
#define NAME_CHOICE "="
#define NAME_VALUE  "="
#define NAME_SWITCH ""

static const char mode_names[] = ""
#define ROLLCALL_MODE(mode, word, help) "|" word
#include "resolve/options.def"
    ;

static const char key_names[] = ""
#define ROLLCALL_KEY(key, shape, values, help, section, reader) "|" #key NAME_##shape
#include "resolve/options.def"
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
    unsigned found = rc_str_which(item, mode_names + 1);

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
    found = rc_str_which((struct rc_str){ small, item.n }, "off|0|no|false|on|1|yes|true");
    *mode = found > OFF_WORDS ? RC_MODE_AUTO : RC_MODE_OFF;
    return found;
}

enum shape { CHOICE, VALUE, SWITCH };

enum key {
#define ROLLCALL_KEY(key, shape, values, help, section, reader) KEY_##key,
#include "resolve/options.def"
    KEY_COUNT
};

/* The words of each key, "a|b|c". */
#define ROLLCALL_KEY(key, shape, values, help, section, reader) const char rc_words_##key[] = values;
#include "resolve/options.def"

static const struct {
    char name[9];
    enum shape shape;
    const char *values;
} keys[KEY_COUNT] = {
#define ROLLCALL_KEY(key, shape, values, help, section, reader) [KEY_##key] = { #key, shape, rc_words_##key },
#include "resolve/options.def"
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
    unsigned found = rc_str_which(text, rc_words_check);

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
};

/* "order=launcher or order=node", "check=off, warn, stop or strict" */
static const char *list_values(struct reading *r, enum key key)
{
    const char *name = keys[key].name;
    struct rc_str second, others;
    struct rc_str first = rc_str_split(rc_str(keys[key].values), '|', &second);

    second = rc_str_split(second, '|', &others);
    if (!others.p)
        return rc_format(r->messages->arena, "%s=%pS or %s=%pS", name, &first, name, &second);
    return rc_format(r->messages->arena, "%s=%s", name, option_join(r->messages->arena, keys[key].values, " or "));
}

static bool read_choice(struct reading *r, enum key key, struct rc_str value)
{
    r->chosen[key] = rc_str_which(value, keys[key].values);
    if (r->chosen[key])
        return true;
    return rc_say(r->messages, RC202, "%s: %s=%pQ is not known; use %s", r->where, keys[key].name, &value,
                  list_values(r, key));
}

static bool read_nproc(struct reading *r, struct rc_str value)
{
    if (rc_parse_u32(value, NPROC_MAX, &r->options.nproc) && r->options.nproc > 0)
        return true;
    return rc_say(r->messages, RC202, "%s: nproc=%pQ is not a number of processes; use nproc=1 to nproc=%u", r->where,
                  &value, (uint32_t)NPROC_MAX);
}

static bool read_addr(struct reading *r, struct rc_str value)
{
    const char *wrong;

    wrong = rc_address_read(value, &r->options.addr_kind);
    if (!wrong) {
        r->options.addr = rc_copy(r->messages->arena, value);
        if (!r->messages->arena->full)
            return true;
        wrong = "too long";
    }
    return rc_say(r->messages, RC202,
                  "%s: addr=%pQ is %s; use an interface (addr=ib0), a network (addr=10.1.0.0/16), a suffix of "
                  "node names (addr=-ib, addr=.hsn) or addr=given",
                  r->where, &value, wrong);
}

static bool read_deadline(struct reading *r, struct rc_str value)
{
    if (rc_parse_u32(value, RC_DEADLINE_MAX, &r->options.deadline) && r->options.deadline > 0)
        return true;
    return rc_say(r->messages, RC202, "%s: deadline=%pQ is not a number of seconds; use deadline=1 to deadline=%u",
                  r->where, &value, (uint32_t)RC_DEADLINE_MAX);
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
    return rc_say(r->messages, RC202,
                  "%s: port=%pQ is no port; use a number from %u to %u (port=23456) or a range "
                  "(port=23000-23999)",
                  r->where, &value, (uint32_t)PORT_MIN, (uint32_t)UINT16_MAX);
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
    return rc_say(r->messages, RC202,
                  "%s: watch=%pQ is not known; use watch, watch=on, watch=off or, in seconds, "
                  "watch=1 to watch=%u",
                  r->where, &value, (uint32_t)RC_WATCH_SECONDS_MAX);
}

static bool read_value(struct reading *r, enum key key, struct rc_str value)
{
    if (r->given[key])
        return rc_say(r->messages, RC203, "%s: %s%s is given twice; keep one of them", r->where, keys[key].name,
                      keys[key].shape == SWITCH ? "" : "=");
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
    const char *hint = option_hint(item, first, mode_names + 1, key_names + 1, r->messages->arena);

    if (!hint)
        hint = rc_format(r->messages->arena, "use [MODE][,KEY=VALUE]... with MODE %s, and keys %s",
                         option_join(r->messages->arena, mode_names + 1, " or "),
                         option_join(r->messages->arena, key_names + 1, " and "));
    rc_say(r->messages, RC201, "%s: %pQ is not known; %s", r->where, &item, hint);
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
#include "resolve/options.def"
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
                     struct rc_messages *messages)
{
    struct reading r = {
        .options = { .given = true }, .is_variable = is_variable, .where = where, .messages = messages
    };
    struct rc_str rest = text.n == 0 || rc_str_is(text, "(null)") ? RC_ABSENT : text;
    const char *wrong;

    for (bool first = true; rest.p; first = false)
        if (!read_item(&r, rc_str_split(rest, ',', &rest), first))
            return false;
    set_choices(&r.options, r.chosen);
    wrong = find_contradiction(&r.options);
    if (wrong)
        return rc_say(messages, RC204, "%s: %s", where, wrong);
    *options = r.options;
    return true;
}

/* 0 is UNSET in the enum of each choice. */
static void fill_in_choices(struct rc_options *over, const struct rc_options *under)
{
#define FILL_CHOICE(key) over->key = over->key ? over->key : under->key;
#define FILL_VALUE(key)
#define FILL_SWITCH(key)
#define ROLLCALL_KEY(key, shape, values, help, section, reader) FILL_##shape(key)
#include "resolve/options.def"
}

static void fill_in(struct rc_options *over, const struct rc_options *under)
{
    if (!under || !under->given)
        return;
    if (!over->mode_given && (under->mode != RC_MODE_OFF || !over->given)) {
        over->mode = under->mode;
        over->mode_given = under->mode_given;
    }
    fill_in_choices(over, under);
    if (!over->nproc)
        over->nproc = under->nproc;
    if (!over->addr) {
        over->addr = under->addr;
        over->addr_kind = under->addr_kind;
    }
    if (!over->deadline)
        over->deadline = under->deadline;
    if (!over->port_first) {
        over->port_first = under->port_first;
        over->port_last = under->port_last;
    }
    if (over->watch == RC_WATCH_UNSET) {
        over->watch = under->watch;
        over->watch_seconds = under->watch_seconds;
    }
    over->given = true;
}

struct rc_options rc_options_combine(const struct rc_options *command_line, const struct rc_options *environment,
                                     const struct rc_options *administrator)
{
    struct rc_options all = { .given = false };

    fill_in(&all, command_line);
    fill_in(&all, environment);
    all.by_user = all.given;
    all.addr_by_user = all.addr != NULL;
    all.port_by_user = all.port_first != 0;
    fill_in(&all, administrator);
    if (environment && environment->given && environment->mode == RC_MODE_OFF)
        all.mode = RC_MODE_OFF;
    if (all.given && !all.by_user && all.mode == RC_MODE_OFF)
        all.given = false;
    return all;
}

uint32_t rc_options_deadline(const struct rc_options *options)
{
    return options->deadline ? options->deadline : RC_DEADLINE_DEFAULT;
}

enum rc_check rc_options_check(const struct rc_options *options)
{
    if (options->check != RC_CHECK_UNSET)
        return options->check;
    return options->by_user ? RC_CHECK_STOP : RC_CHECK_WARN;
}

enum rc_check rc_options_same(const struct rc_options *options)
{
    if (options->same != RC_CHECK_UNSET)
        return options->same;
    return options->by_user ? RC_CHECK_WARN : RC_CHECK_OFF;
}
