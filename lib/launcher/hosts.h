/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.h - lists of hosts: Slurm's, with brackets, and files of hosts. */
#pragma once

#include "base/text.h"

/* Slurm's host lists: "n[001-004,7]-ib,login1", "rack[1-2]n[1-4]". Never expanded: cost depends only on the text.
 * Several brackets count as in Slurm's hostlist_create: the last fastest, then from left to right. */

enum {
    RC_HOST_MAX = 255,        /* characters, as in DNS */
    RC_HOST_BRACKETS_MAX = 8, /* in one name; Slurm supports about five dimensions */
};

/* Return true for a launcher's host name or address. */
bool rc_host_is_name(struct rc_str host);

/* Return true for a user's host: printable, without comma and slash. */
bool rc_host_is_word(struct rc_str host);

/* Validate and count the hosts, with duplicates. Return false, with *count unchanged, for brackets left open or nested,
 * descending or empty ranges, bad characters, a name over RC_HOST_MAX, or more than RC_MAX_TASKS hosts. */
bool rc_hostlist_count(struct rc_str list, uint32_t *count);

/* Write the host at `index`. Return false, with name unchanged, if there is none. Later text is not validated. */
bool rc_hostlist_nth(struct rc_str list, uint32_t index, char name[RC_HOST_MAX + 1]);

/* Return the first index of a host, or RC_UNKNOWN. Brackets before digits or another bracket ("n[1-3]0", "n[1-3][4-6]";
 * never from Slurm) are ambiguous and not matched. */
uint32_t rc_hostlist_find(struct rc_str list, struct rc_str name);

/* Like rc_hostlist_find(), but also match the short form. */
uint32_t rc_hostlist_find_node(struct rc_str list, struct rc_str name);

/* Other lists of hosts. Names are slices. */

enum rc_hostfile_format {
    /* An entry per line: "n1" (PBS_NODEFILE, a line per slot), "n1:2" (Hydra). Text after the host and after # is
     * ignored. */
    RC_HOSTFILE_LINES,
    RC_HOSTFILE_PAIRS, /* "n1 2 n2 1", as LSB_MCPU_HOSTS */
};

struct rc_hostfile {
    struct rc_str text;
    enum rc_hostfile_format format;
    uint32_t hosts; /* entries, with distinct hosts unless it repeats one */
    uint32_t slots; /* of all entries */
    bool repeats;
};

enum {
    RC_HOSTFILE_HASH_BITS = 18,
    RC_HOSTFILE_HASHES = 3,
    RC_HOSTFILE_BITS = 1 << RC_HOSTFILE_HASH_BITS, /* among 20,000 hosts ~40 false positives */
    RC_HOSTFILE_WORK = 1 << 27,                    /* compared bytes of a hostile list */
};

/* Read and validate a list; `filter` is scratch of RC_HOSTFILE_BITS bits. Return false, with *out unchanged, without a
 * host, with an invalid name or number, more than RC_MAX_TASKS slots, or above RC_HOSTFILE_WORK. */
bool rc_hostfile_read(struct rc_str text, enum rc_hostfile_format format, uint64_t *filter, struct rc_hostfile *out);

/* Return the first host, or RC_ABSENT. Later text is not read. */
struct rc_str rc_hostfile_first(struct rc_str text, enum rc_hostfile_format format);

/* Return the index of a host ("n1" equals "N1.cluster.example"); RC_UNKNOWN if none or two match. */
uint32_t rc_hostfile_find(const struct rc_hostfile *file, struct rc_str name);

/* A slot's place, in the order of the text. */
struct rc_hostfile_place {
    struct rc_str host;
    uint32_t index;       /* of its entry */
    uint32_t local;       /* slots before it in that entry */
    uint32_t local_slots; /* of that entry */
    uint32_t smallest;    /* of all entries' slots */
    uint32_t largest;
};

/* Return false, with *out unchanged, if there are fewer slots. */
bool rc_hostfile_place(const struct rc_hostfile *file, uint32_t slot, struct rc_hostfile_place *out);
