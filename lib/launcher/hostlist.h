/* SPDX-License-Identifier: BSD-3-Clause */
/* hostlist.h - Slurm's host lists: "n[001-004,7]-ib,login1", "rack[1-2]n[1-4]".
 *
 * Never expanded: the i-th host and the number of hosts are computed, so a
 * list of 100,000 hosts costs no more than its text, and n[0-999999999] costs
 * nothing. Several brackets in one name count like an odometer in the order of
 * Slurm's own hostlist_create: the last one fastest, then from left to right.
 */
#ifndef ROLLCALL_LAUNCHER_HOSTLIST_H
#define ROLLCALL_LAUNCHER_HOSTLIST_H

#include "base/numbers.h"
#include "base/text.h"

enum {
    RC_HOST_MAX = 255,        /* characters in a host name, as in DNS */
    RC_HOST_BRACKETS_MAX = 8, /* in one name; Slurm knows some five dimensions */
};

/* Counts the hosts, duplicates included; checks the whole text. False, with
 * *count untouched, for anything that is not a host list or names more than
 * RC_MAX_TASKS hosts: open or nested brackets, descending or empty ranges,
 * letters in a range, control characters or blanks, a name over RC_HOST_MAX. */
bool rc_hostlist_count(struct rc_str list, uint32_t *count);

/* Writes the host with that index and a NUL into name. False, with name
 * untouched, if there is no such host. Reads no further than that host, so
 * the text behind it is not checked. */
bool rc_hostlist_nth(struct rc_str list, uint32_t index, char name[RC_HOST_MAX + 1]);

/* The index of the first host of that name; RC_UNKNOWN if it is not there.
 * Linear in the text, not in the number of hosts. Where digits or another
 * bracket follow a bracket at once ("n[1-3]0", "n[1-3][4-6]", which Slurm does
 * not write) its hosts are not found: the text would not tell them apart. */
uint32_t rc_hostlist_find(struct rc_str list, struct rc_str name);

#endif
