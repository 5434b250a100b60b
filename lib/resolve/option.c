/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/option.h"

#include "base/numbers.h"

enum { NPROC_MAX = 4096, PORT_MIN = 1024 };

static const struct {
    char name[12];
    enum rc_mode mode;
} modes[] = {
    { "auto", RC_MODE_AUTO },
    { "worker", RC_MODE_WORKER },
    { "launcher", RC_MODE_LAUNCHER },
    { "off", RC_MODE_OFF },
};

const char *rc_mode_name(enum rc_mode mode)
{
    switch (mode) {
    case RC_MODE_AUTO:
        return "auto";
    case RC_MODE_OFF:
        return "off";
    case RC_MODE_WORKER:
        return "worker";
    case RC_MODE_LAUNCHER:
        return "launcher";
    case RC_MODE_TORCHRUN:
        return "torchrun";
    case RC_MODE_NONE:
        break;
    }
    return "none";
}

static bool read_mode(struct rc_str item, enum rc_mode *mode)
{
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        if (rc_str_is(item, modes[i].name)) {
            *mode = modes[i].mode;
            return true;
        }
    }
    return false;
}

/* Keys whose value is one of some words, in the order of their enums, which begin behind UNSET. */
enum choice_key { KEY_ORDER, KEY_EXCHANGE, KEY_CHECK, KEY_GUARD, KEY_GPUS, KEY_BIND, KEY_NIC, CHOICE_KEYS };

enum { WORDS_MAX = 4 };

static const struct {
    char key[9];
    char word[WORDS_MAX][9];
} choices[CHOICE_KEYS] = {
    [KEY_ORDER] = { "order", { "launcher", "node" } },
    [KEY_EXCHANGE] = { "exchange", { "auto", "pmix", "srun", "off" } },
    [KEY_CHECK] = { "check", { "off", "warn", "stop", "strict" } },
    [KEY_GUARD] = { "guard", { "nccl", "off" } },
    [KEY_GPUS] = { "gpus", { "auto", "all", "own" } },
    [KEY_BIND] = { "bind", { "auto", "cores", "numa", "none" } },
    [KEY_NIC] = { "nic", { "auto", "none" } },
};

/* What a word stands for; 0, UNSET, where it is none of them. */
static unsigned find_word(enum choice_key key, struct rc_str text)
{
    for (unsigned i = 0; i < WORDS_MAX && choices[key].word[i][0]; i++)
        if (rc_str_is(text, choices[key].word[i]))
            return i + 1;
    return 0;
}

const char *rc_check_name(enum rc_check check)
{
    return choices[KEY_CHECK].word[check - 1];
}

bool rc_check_read(struct rc_str text, enum rc_check *check)
{
    unsigned found = find_word(KEY_CHECK, text);

    if (found)
        *check = (enum rc_check)found;
    return found != 0;
}

struct reading {
    struct rc_options options;
    unsigned chosen[CHOICE_KEYS];
    const char *where;
    struct rc_messages *messages;
    struct rc_arena *arena;
};

static bool twice(struct reading *r, const char *what)
{
    rc_message_add(r->messages, RC203, rc_format(r->arena, "%s: %s is given twice; keep one of them", r->where, what));
    return false;
}

/* "order=launcher or order=node", "check=off, warn, stop or strict" */
static const char *list_words(struct reading *r, enum choice_key key)
{
    const char *name = choices[key].key;
    const char *list = rc_format(r->arena, "%s=%s", name, choices[key].word[0]);
    unsigned count = 1;

    while (count < WORDS_MAX && choices[key].word[count][0])
        count++;
    if (count == 2)
        return rc_format(r->arena, "%s or %s=%s", list, name, choices[key].word[1]);
    for (unsigned i = 1; i < count; i++)
        list = rc_format(r->arena, "%s%s%s", list, i + 1 < count ? ", " : " or ", choices[key].word[i]);
    return list;
}

static bool read_choice(struct reading *r, enum choice_key key, struct rc_str value)
{
    if (r->chosen[key])
        return twice(r, rc_format(r->arena, "%s=", choices[key].key));
    r->chosen[key] = find_word(key, value);
    if (r->chosen[key])
        return true;
    rc_message_add(
        r->messages, RC202,
        rc_format(r->arena, "%s: %s=%q is not known; use %s", r->where, choices[key].key, &value, list_words(r, key)));
    return false;
}

static bool read_nproc(struct reading *r, struct rc_str value)
{
    if (r->options.nproc)
        return twice(r, "nproc=");
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

    if (r->options.addr)
        return twice(r, "addr=");
    wrong = rc_address_read(value, &r->options.addr_kind);
    if (!wrong) {
        r->options.addr = rc_format(r->arena, "%S", &value);
        if (!r->arena->full)
            return true;
        wrong = "too long";
    }
    rc_message_add(r->messages, RC202,
                   rc_format(r->arena,
                             "%s: addr=%q is %s; use an interface (addr=ib0), a network (addr=10.1.0.0/16) or a suffix "
                             "of node names (addr=-ib, addr=.hsn)",
                             r->where, &value, wrong));
    return false;
}

static bool read_deadline(struct reading *r, struct rc_str value)
{
    if (r->options.deadline)
        return twice(r, "deadline=");
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

    if (r->options.port_first)
        return twice(r, "port=");
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
    if (r->options.watch != RC_WATCH_UNSET)
        return twice(r, "watch");
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

static bool read_item(struct reading *r, struct rc_str item, bool first)
{
    struct rc_str value;
    struct rc_str key = rc_str_split(item, '=', &value);

    for (unsigned i = 0; value.p && i < CHOICE_KEYS; i++)
        if (rc_str_is(key, choices[i].key))
            return read_choice(r, (enum choice_key)i, value);
    /* no table of pointers: each is a relocation in every process with the preload */
    if (value.p && rc_str_is(key, "nproc"))
        return read_nproc(r, value);
    if (value.p && rc_str_is(key, "addr"))
        return read_addr(r, value);
    if (value.p && rc_str_is(key, "deadline"))
        return read_deadline(r, value);
    if (value.p && rc_str_is(key, "port"))
        return read_port(r, value);
    if (rc_str_is(key, "watch"))
        return read_watch(r, value);
    if (first && read_mode(item, &r->options.mode)) {
        r->options.mode_given = true;
        return true;
    }
    rc_message_add(r->messages, RC201,
                   rc_format(r->arena,
                             "%s: %q is not known; use [MODE][,KEY=VALUE]... with MODE auto, worker, launcher or "
                             "off, and keys order=, nproc=, addr=, port=, exchange=, check=, deadline=, watch, guard=, "
                             "gpus=, bind= and nic=",
                             r->where, &item));
    return false;
}

bool rc_options_parse(struct rc_str text, const char *where, struct rc_options *options, struct rc_messages *messages,
                      struct rc_arena *arena)
{
    struct reading r = { .options = { .given = true }, .where = where, .messages = messages, .arena = arena };
    struct rc_str rest = text;

    if (!text.p || text.n == 0 || rc_str_is(text, "(null)"))
        rest = RC_ABSENT;
    for (bool first = true; rest.p; first = false)
        if (!read_item(&r, rc_str_split(rest, ',', &rest), first))
            return false;
    r.options.order = (enum rc_order)r.chosen[KEY_ORDER];
    r.options.exchange = (enum rc_exchange)r.chosen[KEY_EXCHANGE];
    r.options.check = (enum rc_check)r.chosen[KEY_CHECK];
    r.options.guard = (enum rc_guard)r.chosen[KEY_GUARD];
    r.options.gpus = (enum rc_gpus)r.chosen[KEY_GPUS];
    r.options.bind = (enum rc_bind)r.chosen[KEY_BIND];
    r.options.nic = (enum rc_nics)r.chosen[KEY_NIC];
    if (r.options.nproc && r.options.mode == RC_MODE_WORKER) {
        rc_message_add(
            messages, RC204,
            rc_format(arena, "%s: nproc= belongs to launcher mode, not to worker mode; leave it out", where));
        return false;
    }
    if (r.options.order == RC_ORDER_NODE && r.options.mode == RC_MODE_LAUNCHER) {
        rc_message_add(
            messages, RC204,
            rc_format(arena, "%s: order=node belongs to worker mode, not to launcher mode; leave it out", where));
        return false;
    }
    *options = r.options;
    return true;
}
