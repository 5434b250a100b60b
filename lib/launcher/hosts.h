/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.h - lists of hosts: with brackets, as Slurm writes them, and files of hosts. */
#pragma once

#include "base/text.h"

/* Slurm's host lists: "n[001-004,7]-ib,login1", "rack[1-2]n[1-4]".
 *
 * Never expanded: the i-th host and the number of hosts are computed, so a list of 100,000 hosts costs no more than its
 * text, and n[0-999999999] costs nothing. Several brackets in one name count like an odometer in the order of Slurm's
 * own hostlist_create: the last one fastest, then from left to right. */

enum {
    RC_HOST_MAX = 255,        /* characters in a host name, as in DNS */
    RC_HOST_BRACKETS_MAX = 8, /* in one name; Slurm knows some five dimensions */
};

/* Whether a launcher's word can be the name or address of a host: letters, digits and what is between them. */
bool rc_host_is_name(struct rc_str host);

/* Whether a user's can: any word without comma and slash, which separate things. */
bool rc_host_is_word(struct rc_str host);

/* Counts the hosts, duplicates included; checks the whole text. False, with *count untouched, for anything that is not
 * a host list or names more than RC_MAX_TASKS hosts: open or nested brackets, descending or empty ranges, letters in a
 * range, control characters or blanks, a name over RC_HOST_MAX. */
bool rc_hostlist_count(struct rc_str list, uint32_t *count);

/* Writes the host with that index and a NUL into name. False, with name untouched, if there is no such host. Reads no
 * further than that host, so the text after it is not checked. */
bool rc_hostlist_nth(struct rc_str list, uint32_t index, char name[RC_HOST_MAX + 1]);

/* The index of the first host of that name; RC_UNKNOWN if it is not there. Linear in the text, not in the number of
 * hosts. Where digits or another bracket follow a bracket at once ("n[1-3]0", "n[1-3][4-6]", which Slurm does not
 * write) its hosts are not found: the text would not tell them apart. */
uint32_t rc_hostlist_find(struct rc_str list, struct rc_str name);

/* Like rc_hostlist_find(), but also match the short form of the name. */
uint32_t rc_hostlist_find_node(struct rc_str list, struct rc_str name);

/* Lists of hosts as sites' launchers write them, one entry after the other. Nothing is copied: a name is a piece of the
 * text. */

enum rc_hostfile_format {
    /* A file with an entry a line, its host first: "n1" (PBS_NODEFILE, a line a slot), "n1:2" (Hydra). What follows the
     * host is not read: of Hydra's only the first host is asked for. Empty lines and all after a # are no entries. */
    RC_HOSTFILE_LINES,
    RC_HOSTFILE_PAIRS, /* "n1 2 n2 1", as LSB_MCPU_HOSTS */
};

struct rc_hostfile {
    struct rc_str text;
    enum rc_hostfile_format format;
    uint32_t hosts; /* entries, which have different hosts unless it repeats one */
    uint32_t slots; /* of all entries; one each but for pairs */
    bool repeats;
};

enum {
    RC_HOSTFILE_HASH_BITS = 18, /* of each of the hashes of a host */
    RC_HOSTFILE_HASHES = 3,
    RC_HOSTFILE_BITS = 1 << RC_HOSTFILE_HASH_BITS, /* of scratch: of 20,000 hosts some 40 are looked for in vain */
    RC_HOSTFILE_WORK = 1 << 27,                    /* bytes compared before a list is given up as hostile */
};

/* Reads and checks all of a list; filter is scratch of RC_HOSTFILE_BITS bits (struct rc_reader). False,
 * with *out untouched, if it names no host, a name is none (a path, a pattern), slots are no number or more than
 * RC_MAX_TASKS, or it has so many hosts that reading would take too long. */
bool rc_hostfile_read(struct rc_str text, enum rc_hostfile_format format, uint64_t *filter, struct rc_hostfile *out);

/* The host of the first entry, with nothing after it looked at; absent where it is none. */
struct rc_str rc_hostfile_first(struct rc_str text, enum rc_hostfile_format format);

/* The index of the entry whose host goes by that name ("n1" and "N1.cluster.example" are one, two addresses never);
 * RC_UNKNOWN if it is not there, or if the name fits two of them. */
uint32_t rc_hostfile_find(const struct rc_hostfile *file, struct rc_str name);

/* Where a slot is, counted from 0 in the order of the text. */
struct rc_hostfile_place {
    struct rc_str host;
    uint32_t index;       /* of its entry */
    uint32_t local;       /* slots before it in that entry */
    uint32_t local_slots; /* of that entry */
    uint32_t smallest;    /* of all entries' slots */
    uint32_t largest;
};

/* False, with *out untouched, if there are not so many slots. */
bool rc_hostfile_place(const struct rc_hostfile *file, uint32_t slot, struct rc_hostfile_place *out);
