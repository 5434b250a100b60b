/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/options.h"

#include "launcher/hosts.h"

enum { NPROC_MAX = 4096, PORT_MIN = 1024 };

/* "auto|worker" and "order=|nproc=|watch"; readers skip the first bar. */
#define NAME_CHOICE "="
#define NAME_VALUE  "="
#define NAME_SWITCH ""

static const char mode_names[] = ""
#define ROLLCALL_MODE(word, help) "|" word
#include "resolve/options.def"
    ;

static const char key_names[] = ""
#define ROLLCALL_KEY(key, shape, values, read, member, last, help, section) "|" #key NAME_##shape
#include "resolve/options.def"
    ;

const char *rc_mode_name(enum rc_mode mode)
{
    static const char names[][9] = {
        [RC_MODE_AUTO] = "auto",         [RC_MODE_WORKER] = "worker", [RC_MODE_LAUNCHER] = "launcher",
        [RC_MODE_ALONE] = "alone",       [RC_MODE_OFF] = "off",       [RC_MODE_NONE] = "none",
        [RC_MODE_TORCHRUN] = "torchrun",
    };

    return mode < sizeof(names) / sizeof(*names) ? names[mode] : names[RC_MODE_NONE];
}

struct rc_str rc_options_word(const char *words, unsigned value)
{
    return rc_str_word(words, value ? value : 1);
}

/* "a|b|c" becomes "a, b or c": `last` is " or ". */
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

struct reading {
    struct rc_options options;
    const char *where;
    struct rc_messages *messages;
};

struct key {
    char name[12];
    const char *values;
    bool is_switch;
    size_t at; /* in struct rc_options */
    size_t size;
    /* Write the value there. Return false, with RC202, if it is invalid. */
    bool (*read)(struct reading *r, const struct key *key, struct rc_str value);
};

static bool read_choice(struct reading *r, const struct key *key, struct rc_str value)
{
    unsigned *chosen = (unsigned *)(void *)((char *)&r->options + key->at);

    *chosen = rc_str_which(value, key->values);
    if (*chosen)
        return true;
    return rc_say(r->messages, RC202, "%s: %s=%pQ is not known; use %s=%s", r->where, key->name, &value, key->name,
                  option_join(r->messages->arena, key->values, " or "));
}

static bool read_count(struct reading *r, const struct key *key, struct rc_str value, uint32_t most)
{
    uint32_t *count = (uint32_t *)(void *)((char *)&r->options + key->at);

    if (rc_parse_u32(value, most, count) && *count > 0)
        return true;
    return rc_say(r->messages, RC202, "%s: %s=%pQ is not known; use %s=1 to %s=%u", r->where, key->name, &value,
                  key->name, key->name, most);
}

static bool read_nproc(struct reading *r, const struct key *key, struct rc_str value)
{
    return read_count(r, key, value, NPROC_MAX);
}

static bool read_deadline(struct reading *r, const struct key *key, struct rc_str value)
{
    return read_count(r, key, value, RC_DEADLINE_MAX);
}

static bool read_address(struct reading *r, const struct key *key, struct rc_str value)
{
    const char *wrong = rc_address_read(value, &r->options.addr_kind);

    if (!wrong) {
        r->options.addr = rc_copy(r->messages->arena, value);
        if (!r->messages->arena->full)
            return true;
        wrong = "too long";
    }
    return rc_say(r->messages, RC202,
                  "%s: %s=%pQ is %s; use an interface (addr=ib0), a network (addr=10.1.0.0/16), a suffix of "
                  "node names (addr=-ib, addr=.hsn) or addr=given",
                  r->where, key->name, &value, wrong);
}

static bool read_port(struct reading *r, const struct key *key, struct rc_str value)
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
                  "%s: %s=%pQ is no port; use a number from %u to %u (port=23456) or a range "
                  "(port=23000-23999)",
                  r->where, key->name, &value, (uint32_t)PORT_MIN, (uint32_t)UINT16_MAX);
}

static bool read_watch(struct reading *r, const struct key *key, struct rc_str value)
{
    if (rc_str_is(value, "off"))
        r->options.watch = RC_WATCH_OFF;
    else if (!value.p || rc_str_is(value, "on") ||
             (rc_parse_u32(value, RC_WATCH_SECONDS_MAX, &r->options.watch_seconds) && r->options.watch_seconds > 0))
        r->options.watch = RC_WATCH_ON;
    if (r->options.watch != RC_WATCH_UNSET)
        return true;
    return rc_say(r->messages, RC202,
                  "%s: %s=%pQ is not known; use watch, watch=on, watch=off or, in seconds, "
                  "watch=1 to watch=%u",
                  r->where, key->name, &value, (uint32_t)RC_WATCH_SECONDS_MAX);
}

#define ROLLCALL_KEY(key, shape, values, read, member, last, help, section) const char rc_words_##key[] = values;
#include "resolve/options.def"

enum shape { CHOICE, VALUE, SWITCH };

static const struct key keys[] = {
#define AFTER(member) (offsetof(struct rc_options, member) + sizeof(((struct rc_options *)0)->member))
#define ROLLCALL_KEY(key, shape, values, read, member, last, help, section) \
    { #key,                                                                 \
      rc_words_##key,                                                       \
      shape == SWITCH,                                                      \
      offsetof(struct rc_options, member),                                  \
      AFTER(last) - offsetof(struct rc_options, member),                    \
      read_##read },
#include "resolve/options.def"
#undef AFTER
};

enum { KEYS = sizeof(keys) / sizeof(*keys) };

static bool is_zero(const char *bytes, size_t size)
{
    while (size > 0 && bytes[size - 1] == 0)
        size--;
    return size == 0;
}

static bool read_mode(struct reading *r, struct rc_str item)
{
    unsigned mode = rc_str_which(item, mode_names + 1);

    if (!mode)
        return false;
    r->options.mode = (enum rc_mode)(mode - 1);
    r->options.mode_given = true;
    return true;
}

/* Read KEY=VALUE. For anything else clear *known, without a message. */
static bool read_key(struct reading *r, struct rc_str item, bool *known)
{
    struct rc_str value;
    struct rc_str name = rc_str_split(item, '=', &value);

    for (unsigned i = 0; i < KEYS; i++) {
        const struct key *key = &keys[i];

        if ((!value.p && !key->is_switch) || !rc_str_is(name, key->name))
            continue;
        *known = true;
        if (!is_zero((const char *)&r->options + key->at, key->size))
            return rc_say(r->messages, RC203, "%s: %s%s is given twice; keep one of them", r->where, key->name,
                          key->is_switch ? "" : "=");
        if (key->read(r, key, value))
            return true;
        __builtin_memset((char *)&r->options + key->at, 0, key->size);
        return false;
    }
    *known = false;
    return false;
}

static bool read_item(struct reading *r, struct rc_str item, bool first)
{
    bool known;

    if ((first && read_mode(r, item)) || read_key(r, item, &known))
        return true;
    if (!known)
        rc_say(r->messages, RC201, "%s: %pQ is not known; use [MODE][,KEY=VALUE]... with MODE %s, and keys %s",
               r->where, &item, option_join(r->messages->arena, mode_names + 1, " or "),
               option_join(r->messages->arena, key_names + 1, " and "));
    return false;
}

bool rc_options_parse(struct rc_str text, const char *where, struct rc_options *options, struct rc_messages *messages)
{
    struct reading r = { .options = { .given = true }, .where = where, .messages = messages };
    struct rc_str rest = text.n == 0 || rc_str_is(text, "(null)") ? RC_ABSENT : text;

    for (bool first = true; rest.p; first = false)
        if (!read_item(&r, rc_str_split(rest, ',', &rest), first))
            return false;
    if (r.options.nproc && r.options.mode == RC_MODE_WORKER)
        return rc_say(messages, RC204, "%s: nproc= belongs to launcher mode, not to worker mode; leave it out", where);
    if (r.options.order == RC_ORDER_NODE && r.options.mode == RC_MODE_LAUNCHER)
        return rc_say(messages, RC204, "%s: order=node belongs to worker mode, not to launcher mode; leave it out",
                      where);
    *options = r.options;
    return true;
}

/* Read KEY=VALUE[,KEY=VALUE]... and skip wrong ones. */
static void read_keys(struct reading *r, struct rc_str rest)
{
    while (rest.p) {
        struct rc_str item = rc_str_split(rest, ',', &rest);
        bool known;

        if (!read_key(r, item, &known) && !known)
            rc_say(r->messages, RC201,
                   "%s: %pQ is not known; use off, off=TEXT, log=json, or keys %s; modes belong to users "
                   "(--ddp=auto, ROLLCALL=auto)",
                   r->where, &item, option_join(r->messages->arena, key_names + 1, " and "));
    }
}

struct rc_site rc_site_read(struct rc_str words, const char *where, struct rc_messages *messages)
{
    struct reading r = { .where = where, .messages = messages };
    struct rc_site site = { .off = RC_ABSENT };
    struct rc_str rest, value;

    for (; words.n; words = rest) {
        struct rc_str word = rc_str_split(words, ' ', &rest);

        if (rc_str_is(word, "off")) {
            site.off = RC_STR("");
        } else if (rc_str_starts(word, "off=")) {
            rc_str_split(words, '=', &value);
            site.off = value;
            rest = RC_ABSENT;
        } else if (rc_str_is(word, "log=json")) {
            site.logs_steps = true;
        } else if (word.n) {
            read_keys(&r, word);
        }
    }
    for (; site.off.n && *site.off.p == ' '; site.off.n--)
        site.off.p++;
    site.keys = r.options;
    return site;
}

/* Set the keys that `over` leaves unset. Return their bits. */
static uint32_t fill_in(struct rc_options *over, const struct rc_options *under)
{
    uint32_t filled = 0;

    for (unsigned i = 0; i < KEYS; i++) {
        char *member = (char *)over + keys[i].at;
        const char *value = (const char *)under + keys[i].at;

        if (!is_zero(member, keys[i].size) || is_zero(value, keys[i].size))
            continue;
        __builtin_memcpy(member, value, keys[i].size);
        filled |= UINT32_C(1) << i;
    }
    over->given = true;
    return filled;
}

const char *rc_options_origin(const struct rc_options *options, enum rc_key key)
{
    static const char origins[][40] = {
#define ROLLCALL_KEY(key, shape, values, read, member, last, help, section) "; plugstack.conf sets " #key NAME_##shape,
#include "resolve/options.def"
    };

    return rc_options_is_by_site(options, key) ? origins[key] : "";
}

struct rc_options rc_options_combine(const struct rc_options *command_line, const struct rc_options *environment,
                                     const struct rc_options *site)
{
    struct rc_options all = { .given = false };

    if (command_line && command_line->given)
        all = *command_line;
    if (environment && environment->given) {
        fill_in(&all, environment);
        /* off wins: users must be able to switch rollcall off in one place */
        if (!all.mode_given || environment->mode == RC_MODE_OFF) {
            all.mode = environment->mode;
            all.mode_given = environment->mode_given;
        }
        all.given = true;
    }
    if (all.given && site)
        all.by_site = fill_in(&all, site);
    return all;
}

/* The kernel's rule (dev_valid_name): shorter than IFNAMSIZ, without '/', ':' and blanks. */
enum { INTERFACE_MAX = 15 };

static const char *check_suffix(struct rc_str value)
{
    char last = value.p[value.n - 1];

    if (value.n > RC_HOST_MAX)
        return "longer than a host name";
    for (size_t i = 0; i < value.n; i++)
        if (!rc_is_in_name(value.p[i]) || (i > 0 && value.p[i] == '.' && value.p[i - 1] == '.'))
            return "not the end of a host name";
    return last == '-' || last == '.' ? "not the end of a host name" : NULL;
}

static const char *check_network(struct rc_str value)
{
    struct rc_network network;

    if (!rc_network_read(value, &network))
        return "not a network";
    return rc_netaddr_is_loopback(&network.address) ? "loopback, by which no node reaches another" : NULL;
}

static const char *check_interface(struct rc_str value)
{
    struct rc_netaddr address;

    if (rc_netaddr_read(value, &address))
        return "an address; a network has its length behind it";
    if (rc_str_is(value, "lo"))
        return "loopback, by which no node reaches another";
    for (size_t i = 0; i < value.n; i++)
        if (value.p[i] <= ' ' || value.p[i] >= 0x7f || value.p[i] == ':')
            return "not the name of an interface";
    return value.n > INTERFACE_MAX ? "longer than the name of an interface" : NULL;
}

const char *rc_address_read(struct rc_str value, enum rc_address_kind *kind)
{
    struct rc_str length;

    if (value.n == 0)
        return "empty";
    if (rc_str_is(value, "given")) {
        *kind = RC_ADDRESS_GIVEN;
        return NULL;
    }
    rc_str_split(value, '/', &length);
    if (length.p) {
        *kind = RC_ADDRESS_NETWORK;
        return check_network(value);
    }
    if (value.p[0] == '-' || value.p[0] == '.') {
        *kind = RC_ADDRESS_SUFFIX;
        return check_suffix(value);
    }
    *kind = RC_ADDRESS_INTERFACE;
    return check_interface(value);
}

const char *rc_address_with_suffix(struct rc_str host, struct rc_str suffix, struct rc_arena *arena)
{
    struct rc_netaddr address;
    struct rc_str domain;
    struct rc_str label = rc_str_split(host, '.', &domain);
    struct rc_str own_domain;
    bool with_domain;
    size_t length;

    rc_str_split(suffix, '.', &own_domain);
    with_domain = own_domain.p || !domain.p;
    length = label.n + suffix.n + (with_domain ? 0 : 1 + domain.n);
    if (label.n == 0 || length > RC_HOST_MAX || rc_netaddr_read(host, &address))
        return NULL;
    return with_domain ? rc_format(arena, "%pS%pS", &label, &suffix)
                       : rc_format(arena, "%pS%pS.%pS", &label, &suffix, &domain);
}
