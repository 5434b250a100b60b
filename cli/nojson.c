/* SPDX-License-Identifier: BSD-3-Clause */
/* nojson.c - what a build without jansson has in the place of what prints JSON.
 *
 * Nobody calls it: console_getopt refuses --json first.
 */
#include "json.h"
#include "rosterjson.h"

int cli_json_print(const struct rc_result *result, bool explain)
{
    (void)result;
    (void)explain;
    return -1;
}

int cli_json_print_entries(const struct cli_catalogue_entry *entry, size_t count)
{
    (void)entry;
    (void)count;
    return -1;
}

int cli_roster_print_json(const struct roster *roster)
{
    (void)roster;
    return -1;
}
