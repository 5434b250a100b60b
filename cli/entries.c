#include "entries.h"

#include <stdio.h>
#include <stdlib.h>

#include "catalogue.h"
#include "cli.h"
#include "json.h"
#include "numbers.h"
#include "report.h"

/* RC602, rc602 or 602 as 602. */
static bool read_number(const char *typed, uint32_t *number)
{
    if ((typed[0] == 'R' || typed[0] == 'r') && (typed[1] == 'C' || typed[1] == 'c'))
        typed += 2;
    return rc_parse_u32(rc_str(typed), UINT32_MAX, number);
}

static uint32_t number_of(enum rc_message_id id)
{
    uint32_t number = 0;

    rc_parse_u32(rc_str(rc_message_entry(id)->id + 2), UINT32_MAX, &number);
    return number;
}

/* The first id that is not below a number, RC_MESSAGE_COUNT behind the last. */
static enum rc_message_id place(uint32_t number)
{
    enum rc_message_id id = 0;

    while (id < RC_MESSAGE_COUNT && number_of(id) < number)
        id++;
    return id;
}

static int find(const char *typed, enum rc_message_id *id)
{
    uint32_t number;

    if (!read_number(typed, &number))
        return cli_fail("explain: what is '%.64s'? a message has an id such as RC602, a file goes after --from, a command "
                        "after --", typed);
    *id = place(number);
    if (*id < RC_MESSAGE_COUNT && number_of(*id) == number)
        return 0;
    if (*id == 0 || *id == RC_MESSAGE_COUNT)
        return cli_fail("explain: there is no message '%.64s'; the nearest is %s; see rollcall explain --list", typed,
                        rc_message_entry(*id ? *id - 1 : 0)->id);
    return cli_fail("explain: there is no message '%.64s'; the nearest are %s and %s; see rollcall explain --list", typed,
                    rc_message_entry(*id - 1)->id, rc_message_entry(*id)->id);
}

static int print_entry(enum rc_message_id id)
{
    const struct rc_message_entry *entry = rc_message_entry(id);
    const struct catalogue_entry *words = catalogue_entry(id);

    printf("%s%s %s%s\n", paint_on(report_level_paint(entry->level)), rc_level_name(entry->level), entry->id, paint_off());
    if (report_detail("cause", words->cause) < 0 || report_detail("example", words->example) < 0 ||
        report_detail("cure", words->cure) < 0)
        return cli_fail("out of memory");
    return STATUS_RESOLVED;
}

int entries_print(char *const *ids, size_t count, bool json)
{
    enum rc_message_id *id = calloc(count + 1, sizeof(*id));
    int status = id ? STATUS_RESOLVED : cli_fail("out of memory");

    for (size_t i = 0; i < count && status == STATUS_RESOLVED; i++)
        status = find(ids[i], &id[i]);
    if (status == STATUS_RESOLVED && json) {
        status = json_print_entries(id, count) < 0 ? cli_fail("out of memory") : STATUS_RESOLVED;
    } else if (status == STATUS_RESOLVED) {
        paint_choose();
        for (size_t i = 0; i < count && status == STATUS_RESOLVED; i++) {
            if (i > 0)
                putchar('\n');
            status = print_entry(id[i]);
        }
    }
    free(id);
    return status;
}

int entries_list(bool json)
{
    enum rc_message_id id[RC_MESSAGE_COUNT];

    for (enum rc_message_id i = 0; i < RC_MESSAGE_COUNT; i++) {
        id[i] = i;
        if (!json)
            printf("%s %-7s  %s\n", rc_message_entry(i)->id, rc_level_name(rc_message_entry(i)->level),
                   catalogue_entry(i)->cause);
    }
    if (json && json_print_entries(id, RC_MESSAGE_COUNT) < 0)
        return cli_fail("out of memory");
    return STATUS_RESOLVED;
}
