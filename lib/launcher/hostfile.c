/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/hosts.h"

#include "base/netaddr.h"

struct entry {
    struct rc_str host;
    uint32_t slots;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The next word of *rest, absent at the end. */
static struct rc_str next_word(struct rc_str *rest)
{
    struct rc_str word;
    size_t start = 0;
    size_t end;

    while (start < rest->n && is_blank(rest->p[start]))
        start++;
    for (end = start; end < rest->n && !is_blank(rest->p[end]);)
        end++;
    word = end > start ? (struct rc_str){ rest->p + start, end - start } : RC_ABSENT;
    *rest = (struct rc_str){ rest->p + end, rest->n - end };
    return word;
}

/* Letters, digits and what is between them in a name or an address: it travels into MASTER_ADDR. */
static bool is_host(struct rc_str name)
{
    if (name.n == 0 || name.n > RC_HOST_MAX || name.p[0] == '-')
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (!rc_is_in_name(name.p[i]) && name.p[i] != ':')
            return false;
    return true;
}

/* Takes the next entry off *rest. At the end true, with an absent host. */
static bool next_entry(struct rc_str *rest, enum rc_hostfile_format format, struct entry *entry)
{
    struct rc_netaddr address;
    struct rc_str more;

    *entry = (struct entry){ RC_ABSENT, 1 };
    if (format == RC_HOSTFILE_LINES) {
        while (rest->p && !entry->host.p) {
            struct rc_str line = rc_str_split(rc_str_split(*rest, '\n', rest), '#', &more);

            entry->host = next_word(&line);
        }
        if (!rc_netaddr_read(entry->host, &address))
            entry->host = rc_str_split(entry->host, ':', &more);
    } else {
        entry->host = next_word(rest);
    }
    if (!entry->host.p)
        return true;
    return is_host(entry->host) &&
           (format != RC_HOSTFILE_PAIRS || rc_parse_u32(next_word(rest), RC_MAX_TASKS, &entry->slots));
}

/* A walk over the entries that knows for each whether its host is a new one. */
struct walk {
    const struct rc_hostfile *file;
    struct rc_str rest;
    struct rc_str last;
    struct entry entry;
    uint64_t work;
    uint32_t slots; /* of the entries so far, this one included */
    uint32_t hosts; /* different ones so far, this one included */
    bool is_new;
    bool good;
};

static struct walk walk_start(const struct rc_hostfile *file)
{
    for (size_t i = 0; i < RC_HOSTFILE_BITS / 64; i++)
        file->filter[i] = 0;
    return (struct walk){ .file = file, .rest = file->text, .good = true };
}

/* Whether the entries before this one have its host. The filter says so at once for nearly all that have not, and one
 * host's entries mostly follow each other; else the text is looked through from its beginning. */
static bool was_named(struct walk *walk)
{
    struct rc_str name = walk->entry.host;
    struct rc_str rest = walk->file->text;
    uint32_t bit = (uint32_t)(rc_hash(name.p, name.n) % RC_HOSTFILE_BITS);
    uint64_t *word = &walk->file->filter[bit / 64];
    struct entry entry;
    bool found = false;

    if (rc_str_eq(walk->last, name))
        return true;
    if (!(*word >> bit % 64 & 1)) {
        *word |= (uint64_t)1 << bit % 64;
        return false;
    }
    while (!found && next_entry(&rest, walk->file->format, &entry) && entry.host.p != name.p)
        found = rc_str_eq(entry.host, name);
    walk->work += (uint64_t)(entry.host.p - walk->file->text.p);
    return found;
}

/* False at the end, or where something is wrong (walk->good). */
static bool walk_on(struct walk *walk)
{
    walk->last = walk->entry.host;
    walk->good = next_entry(&walk->rest, walk->file->format, &walk->entry);
    if (!walk->good || !walk->entry.host.p)
        return false;
    walk->is_new = !was_named(walk);
    walk->hosts += walk->is_new;
    walk->good = walk->entry.slots <= RC_MAX_TASKS - walk->slots && walk->work <= RC_HOSTFILE_WORK;
    walk->slots += walk->good ? walk->entry.slots : 0;
    return walk->good;
}

bool rc_hostfile_read(struct rc_str text, enum rc_hostfile_format format, uint64_t *filter, struct rc_hostfile *out)
{
    struct rc_hostfile file = { .text = text, .format = format, .filter = filter };
    struct walk walk = walk_start(&file);

    if (!text.p)
        return false;
    while (walk_on(&walk))
        ;
    if (!walk.good || walk.hosts == 0)
        return false;
    file.hosts = walk.hosts;
    file.slots = walk.slots;
    *out = file;
    return true;
}

struct rc_str rc_hostfile_first(struct rc_str text, enum rc_hostfile_format format)
{
    struct entry entry;

    return next_entry(&text, format, &entry) ? entry.host : RC_ABSENT;
}

static char lower_case(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* One host under two names: "n1" and "N1.cluster.example", never two addresses. */
static bool is_same_host(struct rc_str a, struct rc_str b)
{
    struct rc_str shorter = a.n < b.n ? a : b;
    struct rc_str longer = a.n < b.n ? b : a;
    bool has_letter = false;

    if (!a.p || !b.p || shorter.n == 0)
        return false;
    for (size_t i = 0; i < shorter.n; i++) {
        char c = lower_case(shorter.p[i]);

        if (c != lower_case(longer.p[i]))
            return false;
        has_letter = has_letter || (c >= 'a' && c <= 'z');
    }
    /* 10 is not the host of 10.0.0.1 */
    return shorter.n == longer.n || (has_letter && longer.p[shorter.n] == '.');
}

uint32_t rc_hostfile_find(const struct rc_hostfile *file, struct rc_str name)
{
    struct walk walk = walk_start(file);
    uint32_t alike = RC_UNKNOWN;
    bool several = false;

    while (walk_on(&walk)) {
        if (!walk.is_new)
            continue;
        if (rc_str_eq(walk.entry.host, name))
            return walk.hosts - 1;
        if (is_same_host(walk.entry.host, name)) {
            several = alike != RC_UNKNOWN;
            alike = walk.hosts - 1;
        }
    }
    return several ? RC_UNKNOWN : alike;
}

static void note_size(struct rc_hostfile_place *place, uint32_t slots)
{
    if (slots < place->smallest)
        place->smallest = slots;
    if (slots > place->largest)
        place->largest = slots;
}

/* One pass over the runs of entries with the same host. Where each host's entries
 * follow each other, there are as many runs as hosts. */
static void count_slots(const struct rc_hostfile *file, uint32_t slot, struct rc_hostfile_place *place)
{
    struct rc_str rest = file->text;
    struct rc_str last = RC_ABSENT;
    struct entry entry;
    uint32_t slots = 0; /* of the entries so far */
    uint32_t run = 0;   /* of the host's entries so far */
    uint32_t runs = 0;

    place->smallest = RC_UNKNOWN;
    while (next_entry(&rest, file->format, &entry) && entry.host.p) {
        if (!rc_str_eq(entry.host, last)) {
            if (runs++)
                note_size(place, run);
            if (rc_str_eq(entry.host, place->host))
                place->slots_before = slots;
            run = 0;
        }
        if (rc_str_eq(entry.host, place->host)) {
            place->local_slots += entry.slots;
            if (slots < slot)
                place->local += slot - slots < entry.slots ? slot - slots : entry.slots;
        }
        run += entry.slots;
        slots += entry.slots;
        last = entry.host;
    }
    note_size(place, run);
    if (runs != file->hosts)
        place->slots_before = place->smallest = place->largest = RC_UNKNOWN;
}

bool rc_hostfile_place(const struct rc_hostfile *file, uint32_t slot, struct rc_hostfile_place *out)
{
    struct walk walk = walk_start(file);

    while (walk_on(&walk)) {
        if (slot < walk.slots) {
            struct rc_hostfile_place place = { .host = walk.entry.host };

            place.index = rc_hostfile_find(file, place.host);
            count_slots(file, slot, &place);
            *out = place;
            return true;
        }
    }
    return false;
}
