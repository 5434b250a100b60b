/* SPDX-License-Identifier: BSD-3-Clause */
/* tasktable.c - the table of `rollcall show`, a row per task. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/netaddr.h"
#include "console/output.h"
#include "effects/binding.h"
#include "inspect.h"
#include "system/node.h"
#include "tasks.h"

enum { CELL_CUT = 40 };

/* Cut a value: lists of GPUs or cores may be long. */
static void print_cell(FILE *out, struct rc_str value)
{
    console_print(out, value, CELL_CUT);
    putc('\t', out);
}

static void print_number(FILE *out, uint32_t value)
{
    if (value != RC_UNKNOWN)
        fprintf(out, "%u", value);
    putc('\t', out);
}

/* Return the entry of LOCAL_RANK in the list that the program will see. Without a list, return that device, except in a
 * Slurm job, whose GPUs need not be the node's first. */
static struct rc_str seen_gpu(const struct rc_result *result, struct rc_arena *arena)
{
    const struct rc_gpus *gpus = &result->gpus;
    struct rc_str list = gpus->list ? rc_str(gpus->list) : gpus->seen;
    uint32_t device = gpus->device;

    if (list.p)
        return device < rc_str_pieces(list, ',') ? rc_gpu_list_at(list, device) : RC_ABSENT;
    if (rc_env_get(&result->env, "SLURM_JOB_ID").n)
        return RC_ABSENT;
    return device < rc_node_gpus() && rc_node_gpus() != RC_UNKNOWN ? rc_str(rc_format(arena, "%u", device)) : RC_ABSENT;
}

struct cli_got cli_got_find(const struct rc_result *result)
{
    bool is_slurms = result->launcher && result->launcher->slurm_environment;
    /* a bound task sees only its GPUs */
    struct rc_str step = rc_gpus_are_bound(&result->env) ? RC_ABSENT : rc_env_get(&result->env, "SLURM_STEP_GPUS");
    uint32_t promised = rc_binding_promised(result);
    struct rc_cpuset cores;

    return (struct cli_got){
        .cpus = rc_affinity_get(&cores) ? rc_cpuset_count(&cores) : RC_UNKNOWN,
        .promised = promised ? promised : RC_UNKNOWN,
        .gpus = step.n ? rc_count_devices(step) : RC_UNKNOWN,
        .job_gpus = is_slurms ? rc_gpus_of_job(&result->env, step) : RC_UNKNOWN,
    };
}

/* Write "1 of 4: 0" if the job has more. */
static struct rc_str write_part(uint32_t has, uint32_t job, struct rc_str list, struct rc_arena *arena)
{
    return list.n && job != RC_UNKNOWN && has < job ? rc_str(rc_format(arena, "%u of %u: %pS", has, job, &list)) : list;
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

static bool is_said(enum rc_message_id id)
{
    return rc_message_entry(id)->level != RC_LEVEL_NOTE;
}

/* Print "ok", "ok for a launcher", "nothing is set", or "RC301 RC407". */
static void print_verdict(FILE *out, const struct rc_result *result)
{
    const struct rc_messages *messages = &result->messages;
    bool any = false;

    for (unsigned i = 0; i < messages->count; i++) {
        if (!is_said(messages->list[i].id))
            continue;
        fprintf(out, "%s%s", any ? " " : "", rc_message_entry(messages->list[i].id)->id);
        any = true;
    }
    fputs(any                                ? "\n"
          : result->mode == RC_MODE_NONE     ? "nothing is set\n"
          : result->mode == RC_MODE_LAUNCHER ? "ok for a launcher\n"
                                             : "ok\n",
          out);
}

static void print_notes(FILE *out, const struct rc_result *result)
{
    const struct rc_messages *messages = &result->messages;
    const char *left = cli_meet_left(result);

    for (unsigned i = 0; i < messages->count; i++) {
        const struct rc_message_entry *entry = rc_message_entry(messages->list[i].id);

        if (!is_said(messages->list[i].id))
            continue;
        fprintf(out, "%s %s: ", rc_level_name(entry->level), entry->id);
        console_print(out, rc_str(messages->list[i].text), 0);
        putc('\n', out);
    }
    if (left)
        fprintf(out, "note: %s\n", left);
}

int cli_task_print(FILE *out, const struct rc_result *result)
{
    char rooms[2][2 * RC_CPUS_MAX];
    char name[RC_NODE_NAME_SIZE];
    struct cli_got got = cli_got_find(result);

#define ROOM(i) (&(struct rc_arena){ .base = rooms[i], .size = sizeof(rooms[i]) })
    fprintf(out, "%s\tnode\tlocal rank\tGPU\tcores\tmaster\tverdict\n",
            result->mode == RC_MODE_LAUNCHER ? "node rank" : "rank");
    print_number(out, cli_rank_of(result));
    print_cell(out, rc_str(rc_node_name(name)));
    print_number(out, result->identity.field[RC_LOCAL_RANK]);
    print_cell(out, write_part(got.gpus, got.job_gpus, own_gpu(result, ROOM(0)), ROOM(1)));
    print_cell(out, write_part(got.cpus, got.promised, own_cores(ROOM(0)), ROOM(1)));
    print_cell(out, rc_str(rc_host_with_port(rc_str(result->master.addr), result->master.port, ROOM(0))));
    print_verdict(out, result);
    print_notes(out, result);
#undef ROOM
    return result->status == RC_RESOLVED ? STATUS_RESOLVED : STATUS_CONTRADICTION;
}

/* Return whether the note concerns the whole launch, so that one node's text is enough. */
static bool is_of_launch(struct rc_str note)
{
    enum rc_message_id id;
    struct rc_str name;

    rc_str_split(rc_str_split(note, ':', &name), ' ', &name);
    return rc_message_named(name, &id) && rc_message_entry(id)->said == RC_SAID_PER_LAUNCH;
}

/* Add a note unless present. Return the number of notes. */
static size_t add_note(struct rc_str *notes, size_t count, struct rc_str note)
{
    struct rc_str rest;
    struct rc_str head = rc_str_split(note, ':', &rest);

    for (size_t i = 0; i < count; i++)
        if (rc_str_eq(notes[i], note) || (is_of_launch(note) && rc_str_eq(rc_str_split(notes[i], ':', &rest), head)))
            return count;
    notes[count] = note;
    return count + 1;
}

static void add_row(struct table *table, struct rc_str line, enum paint paint)
{
    for (unsigned i = 0; i < table->columns; i++)
        table_cell(table, paint, rc_str_split(line, '\t', &line), 0);
}

int cli_tasks_print(struct rc_str *reports, size_t count)
{
    struct table table = { .columns = CLI_TASK_COLUMNS, .headed = true };
    struct rc_str head = reports[0];
    struct rc_str *notes = reports + count;
    size_t noted = 0;
    int status;

    add_row(&table, rc_str_split(head, '\n', &head), PAINT_STRONG);
    for (size_t i = 0; i < count; i++) {
        struct rc_str lines = reports[i];

        rc_str_split(lines, '\n', &lines);
        add_row(&table, rc_str_split(lines, '\n', &lines), PAINT_NONE);
        while (lines.n)
            noted = add_note(notes, noted, rc_str_split(lines, '\n', &lines));
    }
    status = table_print(stdout, &table);
    for (size_t i = 0; i < noted && status == 0; i++) {
        char *note = strndup(notes[i].p, notes[i].n);

        putchar('\n');
        console_print_wrapped(stdout, 0, 4, PAINT_NONE, note ? note : "");
        status = note ? 0 : -1;
        free(note);
    }
    return status;
}
