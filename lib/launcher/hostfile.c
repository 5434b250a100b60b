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

/* Remove the next word from *rest; RC_ABSENT at the end. */
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

bool rc_host_is_name(struct rc_str host)
{
    if (host.n == 0 || host.n > RC_HOST_MAX || host.p[0] == '-')
        return false;
    for (size_t i = 0; i < host.n; i++)
        if (!rc_is_in_name(host.p[i]) && host.p[i] != ':')
            return false;
    return true;
}

bool rc_host_is_word(struct rc_str host)
{
    for (size_t i = 0; i < host.n; i++)
        if (host.p[i] <= ' ' || host.p[i] >= 0x7f || host.p[i] == ',' || host.p[i] == '/')
            return false;
    return host.n > 0 && host.n <= RC_HOST_MAX;
}

/* Remove the next entry from *rest, which has no host at the end. Return false for an invalid one. */
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
    return rc_host_is_name(entry->host) &&
           (format != RC_HOSTFILE_PAIRS || rc_parse_u32(next_word(rest), RC_MAX_TASKS, &entry->slots));
}

/* Return true if an earlier entry has this host. If the filter matches, rescan the text and add the bytes to *work. */
static bool was_named(const struct rc_hostfile *file, struct rc_str host, uint64_t *filter, uint64_t *work)
{
    struct rc_str rest = file->text;
    uint64_t hash = rc_hash(host.p, host.n);
    struct entry entry;
    bool found = true;

    for (unsigned i = 0; i < RC_HOSTFILE_HASHES; i++, hash >>= RC_HOSTFILE_HASH_BITS) {
        uint64_t *word = &filter[hash % RC_HOSTFILE_BITS / 64];
        uint64_t bit = (uint64_t)1 << hash % 64;

        found = found && (*word & bit);
        *word |= bit;
    }
    if (!found)
        return false;
    found = false;
    while (!found && next_entry(&rest, file->format, &entry) && entry.host.p != host.p)
        found = rc_str_eq(entry.host, host);
    *work += (uint64_t)(entry.host.p - file->text.p);
    return found;
}

bool rc_hostfile_read(struct rc_str text, enum rc_hostfile_format format, uint64_t *filter, struct rc_hostfile *out)
{
    struct rc_hostfile file = { .text = text, .format = format };
    struct rc_str rest = text;
    struct entry entry;
    uint64_t work = 0;

    for (size_t i = 0; i < RC_HOSTFILE_BITS / 64; i++)
        filter[i] = 0;
    while (next_entry(&rest, format, &entry) && entry.host.p) {
        file.repeats = file.repeats || was_named(&file, entry.host, filter, &work);
        if (entry.slots > RC_MAX_TASKS - file.slots || work > RC_HOSTFILE_WORK)
            return false;
        file.slots += entry.slots;
        file.hosts++;
    }
    if (entry.host.p || file.hosts == 0)
        return false;
    *out = file;
    return true;
}

struct rc_str rc_hostfile_first(struct rc_str text, enum rc_hostfile_format format)
{
    struct entry entry;

    return next_entry(&text, format, &entry) ? entry.host : RC_ABSENT;
}

/* Match "n1" and "N1.cluster.example", but not 10 and the address 10.0.0.1. */
static bool is_same_host(struct rc_str a, struct rc_str b)
{
    struct rc_str shorter = a.n < b.n ? a : b;
    struct rc_str longer = a.n < b.n ? b : a;
    struct rc_netaddr address;

    return shorter.n > 0 && rc_str_is_alike(shorter, (struct rc_str){ longer.p, shorter.n }) &&
           (shorter.n == longer.n || (longer.p[shorter.n] == '.' && !rc_netaddr_read(longer, &address)));
}

uint32_t rc_hostfile_find(const struct rc_hostfile *file, struct rc_str name)
{
    struct rc_str rest = file->text;
    uint32_t alike = RC_UNKNOWN;
    bool several = false;
    struct entry entry;

    for (uint32_t i = 0; i < file->hosts && next_entry(&rest, file->format, &entry); i++) {
        if (rc_str_eq(entry.host, name))
            return i;
        if (is_same_host(entry.host, name)) {
            several = alike != RC_UNKNOWN;
            alike = i;
        }
    }
    return several ? RC_UNKNOWN : alike;
}

bool rc_hostfile_place(const struct rc_hostfile *file, uint32_t slot, struct rc_hostfile_place *out)
{
    struct rc_hostfile_place place = { .smallest = RC_UNKNOWN };
    struct rc_str rest = file->text;
    struct entry entry;
    uint32_t before = 0;

    for (uint32_t i = 0; i < file->hosts && next_entry(&rest, file->format, &entry); i++) {
        if (slot >= before && slot - before < entry.slots) {
            place.host = entry.host;
            place.index = i;
            place.local = slot - before;
            place.local_slots = entry.slots;
        }
        if (entry.slots < place.smallest)
            place.smallest = entry.slots;
        if (entry.slots > place.largest)
            place.largest = entry.slots;
        before += entry.slots;
    }
    if (!place.host.p)
        return false;
    *out = place;
    return true;
}
