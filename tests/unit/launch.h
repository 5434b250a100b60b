/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.h - a launch in a row of words, and what its roll call finds: for the tests of lib/roll. */
#pragma once

#include "roll/check.h"
#include "unit.h"

enum { LAUNCH_ENTRIES = 64, LAUNCH_DEADLINE = 10 };

/* Input: entries between semicolons, "HOST NODE TASKS NAME=VALUE...". What an entry does not say is that of a sound
 * launch, whose sizes are the row's. In has=NAME:VALUE a tilde is a blank. */
struct launch_row {
    struct rc_str input;
    uint32_t nodes;
    uint32_t world;
    const char *expected; /* lines "RC601 text" */
    const char *why;
};

#define LAUNCH_KNOWN(seconds)                             \
    &(const struct rc_roll_known)                         \
    {                                                     \
        .deadline = seconds, .item_lines = RC_ITEM_LINES, \
    }

struct launch {
    struct rc_roll rolls[LAUNCH_ENTRIES];
    char text[1 << 16];
    char findings[RC_CHECK_ARENA];
    size_t count;
    struct rc_messages messages;
    struct rc_arena arena;
};

/* Reads the entries of a row; the findings are empty. */
void launch_read(struct launch *launch, const struct launch_row *row);

/* Tests: what is found is `expected`; also whoever answers first; and who is blamed, as in "RC601 n3,n4; itself n2". */
void launch_finds(const struct launch_row *row);
void launch_finds_in_any_order(const struct launch_row *row);
void launch_blames(const struct launch_row *row);
