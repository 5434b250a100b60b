/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "console/output.h"
#include "resolve/options.h"
#include "system/node.h"
#include "tasks.h"

enum { CELL_SIZE = 200, CELL_CUT = 40 };

static const char *const titles[CLI_COLUMN_COUNT] = {
    "rank", "node", "local rank", "GPU", "cores", "master", "verdict"
};

struct line {
    struct rc_arena arena;
    bool failed;
};

/* A value is cut: a list of GPUs or cores may be long. */
static void add_cell(struct line *line, struct rc_str value)
{
    char *clean = console_escape(value.n ? value : RC_STR("-"), CELL_CUT);

    if (!clean) {
        line->failed = true;
        return;
    }
    rc_join(&line->arena);
    rc_format(&line->arena, "\t%s", clean);
    free(clean);
}

static void add_number(struct line *line, uint32_t value)
{
    char text[16];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };

    add_cell(line, value == RC_UNKNOWN ? RC_ABSENT : rc_str(rc_format(&arena, "%u", value)));
}

static uint32_t rank_of(const struct rc_result *result)
{
    if (result->mode == RC_MODE_LAUNCHER)
        return result->identity.field[RC_NODE_RANK];
    if (result->identity.field[RC_RANK] != RC_UNKNOWN)
        return result->identity.field[RC_RANK];
    return result->facts.field[RC_RANK].value;
}

/* The entry of LOCAL_RANK in the list that the program will see; without a list, the device of that number. */
static struct rc_str seen_gpu(const struct rc_result *result, struct rc_arena *arena)
{
    const struct rc_gpus *gpus = &result->gpus;
    struct rc_str list = gpus->list ? rc_str(gpus->list) : gpus->seen;
    uint32_t device = gpus->device;

    if (list.p)
        return device < rc_str_pieces(list, ',') ? rc_gpu_list_at(list, device) : RC_ABSENT;
    return device < rc_node_gpus() && rc_node_gpus() != RC_UNKNOWN ? rc_str(rc_format(arena, "%u", device)) : RC_ABSENT;
}

static struct rc_str own_gpu(const struct rc_result *result, struct rc_arena *arena)
{
    const struct rc_gpus *gpus = &result->gpus;

    if (result->mode == RC_MODE_LAUNCHER)
        return gpus->all.p ? gpus->all : gpus->seen;
    return gpus->own.p ? gpus->own : seen_gpu(result, arena);
}

static struct rc_str own_cores(struct rc_arena *arena)
{
    struct rc_cpuset cores;

    return rc_affinity_get(&cores) ? rc_str(rc_cpuset_write(&cores, arena)) : RC_ABSENT;
}

static struct rc_str master_place(const struct rc_master *master, struct rc_arena *arena)
{
    bool is_ipv6 = master->addr && strchr(master->addr, ':');

    if (!master->addr)
        return RC_ABSENT;
    return rc_str(rc_format(arena, is_ipv6 ? "[%s]:%u" : "%s:%u", master->addr, (uint32_t)master->port));
}

static bool is_said(enum rc_message_id id)
{
    return rc_message_entry(id)->level != RC_LEVEL_NOTE;
}

/* "ok", "nothing is set", or "RC301 RC407". */
static struct rc_str verdict(const struct rc_result *result, struct rc_arena *arena)
{
    const struct rc_messages *messages = &result->messages;
    const char *text = result->mode == RC_MODE_NONE ? "nothing is set" : "ok";
    bool any = false;

    for (unsigned i = 0; i < messages->count; i++) {
        if (!is_said(messages->list[i].id))
            continue;
        if (any)
            rc_join(arena);
        rc_format(arena, "%s%s", any ? " " : "", rc_message_entry(messages->list[i].id)->id);
        if (!any)
            text = arena->base;
        any = true;
    }
    return rc_str(text);
}

static void add_notes(struct line *line, const struct rc_messages *messages)
{
    for (unsigned i = 0; i < messages->count && !line->failed; i++) {
        const struct rc_message_entry *entry = rc_message_entry(messages->list[i].id);
        char *clean = is_said(messages->list[i].id) ? console_escape(rc_str(messages->list[i].text), 0) : NULL;
        size_t used = line->arena.used;

        if (!clean)
            continue;
        rc_join(&line->arena);
        rc_format(&line->arena, "note %s %s\t%s\n", rc_level_name(entry->level), entry->id, clean);
        free(clean);
        if (line->arena.full) {
            line->arena.base[used - 1] = '\0';
            return;
        }
    }
}

bool cli_taskline_write(const struct rc_result *result, char text[CLI_TASKLINE_SIZE])
{
    struct line line = { .arena = { .base = text, .size = CLI_TASKLINE_SIZE } };
    const uint32_t *field = result->identity.field;
    char room[2 * RC_CPUS_MAX];
    char name[RC_NODE_NAME_SIZE];

#define ROOM (&(struct rc_arena){ .base = room, .size = sizeof(room) })
    rc_format(&line.arena, "task %u", rank_of(result));
    add_number(&line, rank_of(result));
    add_cell(&line, rc_str(rc_node_name(name)));
    add_number(&line, field[RC_LOCAL_RANK]);
    add_cell(&line, own_gpu(result, ROOM));
    add_cell(&line, own_cores(ROOM));
    add_cell(&line, master_place(&result->master, ROOM));
    add_cell(&line, verdict(result, ROOM));
#undef ROOM
    rc_join(&line.arena);
    rc_format(&line.arena, "\n");
    if (line.failed || line.arena.full)
        return false;
    add_notes(&line, &result->messages);
    return !line.failed;
}

enum { GAP = 2 };

struct row {
    uint32_t rank;
    const char *cell[CLI_COLUMN_COUNT];
};

struct tasktable {
    struct row *row;
    size_t count;
    const char **note; /* "warning RC301\tTEXT" */
    size_t notes;
};

/* Takes the text up to a separator, which becomes its end; NULL after the last piece. */
static char *take_piece(char **rest, char separator)
{
    char *piece = *rest;
    char *end = piece ? strchr(piece, separator) : NULL;

    if (end)
        *end = '\0';
    *rest = end ? end + 1 : NULL;
    return piece;
}

static bool read_row(char *text, struct row *row)
{
    const char *number = take_piece(&text, '\t');

    if (!rc_parse_u32(rc_str(number), UINT32_MAX, &row->rank))
        return false;
    for (unsigned i = 0; i < CLI_COLUMN_COUNT; i++)
        if (!(row->cell[i] = take_piece(&text, '\t')))
            return false;
    return true;
}

/* What several tasks say alike is said once. */
static void add_note(struct tasktable *table, const char *text)
{
    for (size_t i = 0; i < table->notes; i++)
        if (strcmp(table->note[i], text) == 0)
            return;
    table->note[table->notes++] = text;
}

static int compare_rows(const void *a, const void *b)
{
    uint32_t left = ((const struct row *)a)->rank;
    uint32_t right = ((const struct row *)b)->rank;

    return (left > right) - (left < right);
}

static bool read_table(char *text, struct tasktable *table)
{
    size_t most = 1;

    for (const char *p = text; *p; p++)
        most += *p == '\n';
    table->row = calloc(most, sizeof(*table->row));
    table->note = calloc(most, sizeof(*table->note));
    if (!table->row || !table->note)
        return false;
    for (char *line; (line = take_piece(&text, '\n'));) {
        if (strncmp(line, "task ", 5) == 0)
            table->count += read_row(line + 5, &table->row[table->count]);
        else if (strncmp(line, "note ", 5) == 0)
            add_note(table, line + 5);
    }
    qsort(table->row, table->count, sizeof(*table->row), compare_rows);
    return true;
}

static void free_table(struct tasktable *table)
{
    free(table->row);
    free(table->note);
}

/* A column that has nothing to say in any row is left out. */
static bool is_empty(const struct tasktable *table, enum cli_column column)
{
    size_t i = 0;

    while (i < table->count && strcmp(table->row[i].cell[column], "-") == 0)
        i++;
    return i == table->count;
}

static const char *title_of(const struct rc_result *result, enum cli_column column)
{
    return column == CLI_COLUMN_RANK && result->mode == RC_MODE_LAUNCHER ? "node rank" : titles[column];
}

static void print_line(const struct row *row, const int *width)
{
    for (unsigned i = 0; i < CLI_COLUMN_VERDICT; i++)
        if (width[i])
            printf("%-*s%*s", width[i], row->cell[i], GAP, "");
    puts(row->cell[CLI_COLUMN_VERDICT]);
}

static void print_rows(const struct tasktable *table, const struct rc_result *result)
{
    struct row head = { .rank = 0 };
    int width[CLI_COLUMN_COUNT] = { 0 };

    for (unsigned column = 0; column < CLI_COLUMN_COUNT; column++) {
        head.cell[column] = title_of(result, (enum cli_column)column);
        if (is_empty(table, (enum cli_column)column))
            continue;
        width[column] = (int)strlen(head.cell[column]);
        for (size_t i = 0; i < table->count; i++)
            if ((int)strlen(table->row[i].cell[column]) > width[column])
                width[column] = (int)strlen(table->row[i].cell[column]);
    }
    print_line(&head, width);
    for (size_t i = 0; i < table->count; i++)
        print_line(&table->row[i], width);
}

static int print_notes(const struct tasktable *table)
{
    for (size_t i = 0; i < table->notes; i++) {
        size_t head = strcspn(table->note[i], "\t");

        printf("\n%.*s: ", (int)head, table->note[i]);
        if (console_print_wrapped((unsigned)head + 2, 4, PAINT_NONE, table->note[i] + head + 1) < 0)
            return -1;
    }
    return 0;
}

int cli_tasktable_print(const struct rc_result *result, enum cli_part part, char *text)
{
    struct tasktable table = { .count = 0 };
    int status = -1;

    if (read_table(text, &table)) {
        cli_together_head(result, part, table.count);
        print_rows(&table, result);
        status = print_notes(&table);
    }
    free_table(&table);
    return status;
}
