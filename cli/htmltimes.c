/* SPDX-License-Identifier: BSD-3-Clause */
#include "htmltimes.h"

#include <stdio.h>
#include <stdlib.h>

#include "page.h"

/* Further nodes are folded. */
enum { NODES_SHOWN = 16, WORDS_SIZE = 2048 };

/* A node's bar: of each mark the time at which its last task had come so far; 0: one has not. */
struct bar {
    struct rc_str name;
    uint32_t at[RC_MARKS];
};

static uint32_t latest(const struct rc_times *times, const struct rc_roll *roll, enum rc_mark mark)
{
    struct rc_str rest = roll->tasks;
    uint32_t at = 0;
    uint32_t first, last;

    while (rc_roll_next_range(&rest, &first, &last))
        for (uint32_t task = first; task <= last; task++) {
            uint32_t told = task < times->tasks ? times->task[task].at[mark] : 0;

            if (told == 0)
                return 0;
            if (told > at)
                at = told;
        }
    return at;
}

static int by_slowness(const void *left, const void *right)
{
    const struct bar *a = left;
    const struct bar *b = right;

    /* who has not come is slower than all others */
    for (int mark = RC_MARK_INIT; mark >= 0; mark--)
        if (a->at[mark] != b->at[mark])
            return a->at[mark] - 1 > b->at[mark] - 1 ? -1 : 1;
    return 0;
}

static uint32_t find_end(const struct bar *bar, size_t count)
{
    uint32_t end = 1;

    for (size_t i = 0; i < count; i++)
        for (unsigned mark = 0; mark < RC_MARKS; mark++)
            if (bar[i].at[mark] > end)
                end = bar[i].at[mark];
    return end;
}

static struct rc_str write_seconds(uint32_t at, char text[16])
{
    if (at == 0)
        return RC_STR("-");
    snprintf(text, 16, "%.1f", at / 1e3);
    return rc_str(text);
}

static void put_bar(const struct bar *bar, uint32_t end)
{
    char width[RC_MARKS][16];
    char text[RC_MARKS][16];
    uint32_t before = 0;

    for (unsigned mark = 0; mark < RC_MARKS; mark++) {
        uint32_t at = bar->at[mark] > before ? bar->at[mark] : before;

        snprintf(width[mark], sizeof(width[mark]), "%.2f", 1e2 * (at - before) / end);
        before = at;
    }
    page_put(PAGE_timeline_row, { "name", bar->name }, { "begun", write_seconds(bar->at[RC_MARK_BEGUN], text[0]) },
             { "torch", write_seconds(bar->at[RC_MARK_TORCH], text[1]) },
             { "init", write_seconds(bar->at[RC_MARK_INIT], text[2]) },
             { "joined", write_seconds(bar->at[RC_MARK_JOINED], text[3]) }, { "w1", rc_str(width[0]) },
             { "w2", rc_str(width[1]) }, { "w3", rc_str(width[2]) }, { "w4", rc_str(width[3]) });
}

static void put_table(const struct bar *bar, size_t count, uint32_t end, const char *caption)
{
    char text[16];

    page_put(PAGE_timeline_table, { "caption", rc_str(caption) }, { "end", write_seconds(end, text) });
    for (size_t i = 0; i < count; i++)
        put_bar(&bar[i], end);
    page_put_plain(PAGE_table_end);
}

static void put_bars(const struct bar *bar, size_t count)
{
    size_t shown = count < NODES_SHOWN ? count : NODES_SHOWN;
    uint32_t end = find_end(bar, count);
    char words[64];

    put_table(bar, shown, end, "Seconds since srun began; of each node its last task. The slowest nodes stand first.");
    if (count == shown)
        return;
    snprintf(words, sizeof(words), "%zu more nodes", count - shown);
    page_put(PAGE_fold, { "summary", rc_str(words) });
    put_table(bar + shown, count - shown, end, words);
    page_put_plain(PAGE_fold_end);
}

bool cli_html_times(const struct cli_times *times)
{
    const struct rc_times_read *read = &times->read;
    char words[WORDS_SIZE];
    struct rc_arena arena = { .base = words, .size = sizeof(words) };
    const char *line = cli_times_line(times, &arena);
    struct bar *bar;

    if (!line || !read->times.task)
        return true;
    bar = calloc(read->count + 1, sizeof(*bar));
    if (!bar)
        return false;
    for (size_t i = 0; i < read->count; i++) {
        bar[i].name = read->roll[i].host;
        for (unsigned mark = 0; mark < RC_MARKS; mark++)
            bar[i].at[mark] = latest(&read->times, &read->roll[i], (enum rc_mark)mark);
    }
    qsort(bar, read->count, sizeof(*bar), by_slowness);
    page_put(PAGE_timeline, { "line", rc_str(line) });
    put_bars(bar, read->count);
    page_put_plain(PAGE_section_end);
    free(bar);
    return true;
}
