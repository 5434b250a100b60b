/* SPDX-License-Identifier: BSD-3-Clause */
/* rollcall explain FILE: explain a job's output with docs/symptoms.md and the message catalogue. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "console/json.h"
#include "errorlog.h"
#include "inspect.h"

/* Text printed by a program, "*" for up to 60 bytes of words, and advice. */
struct symptom {
    const char *text;
    enum rc_level level;
    unsigned least; /* least number of matches in a log */
    const char *advice;
};

static const struct symptom symptoms[] = {
#include "cli/symptoms.inc"
};

enum {
    SYMPTOMS = sizeof(symptoms) / sizeof(*symptoms),
    ENTRIES = SYMPTOMS + RC_MESSAGE_COUNT,
    GAP = 60,
    LINE_MAX_SIZE = 1 << 16, /* longer lines are read in pieces */
    LINE_SHOWN = 240,
    ADVICE_SHOWN = 2048,
};

struct match {
    uint64_t line; /* of the first match */
    uint64_t count;
    uint32_t rank; /* that printed it; or RC_UNKNOWN */
    char text[LINE_SHOWN + 1];
};

struct errorlog {
    const char *path;
    uint64_t line;
    bool is_at_begin;
    struct match found[ENTRIES]; /* symptoms, then messages */
};

/* Search for the texts of all symptoms at once (Wu and Manber, A fast algorithm for multi-pattern searching, 1994, with
 * blocks of two bytes): seconds per gigabyte. */

#define OWN_MESSAGE "rollcall: "

static struct rc_str needles[SYMPTOMS + 1]; /* longest literal of each symptom; then OWN_MESSAGE */
static size_t window;                       /* bytes of the shortest needle */
static unsigned char shift[1 << 16];

static struct rc_str longest_piece(const char *text)
{
    struct rc_str rest = rc_str(text);
    struct rc_str longest = { text, 0 };

    while (rest.p) {
        struct rc_str piece = rc_str_split(rest, '*', &rest);

        if (piece.n > longest.n)
            longest = piece;
    }
    return longest;
}

static unsigned block_at(const char *p)
{
    return (unsigned)(unsigned char)p[0] << 8 | (unsigned char)p[1];
}

static void prepare_search(void)
{
    for (size_t i = 0; i < SYMPTOMS; i++)
        needles[i] = longest_piece(symptoms[i].text);
    needles[SYMPTOMS] = RC_STR(OWN_MESSAGE);
    window = SIZE_MAX;
    for (size_t i = 0; i <= SYMPTOMS; i++)
        window = needles[i].n < window ? needles[i].n : window;
    memset(shift, (int)window - 1, sizeof(shift));
    for (size_t i = 0; i <= SYMPTOMS; i++) {
        for (size_t end = 2; end <= window; end++) {
            unsigned char *least = &shift[block_at(needles[i].p + end - 2)];

            if (window - end < *least)
                *least = (unsigned char)(window - end);
        }
    }
}

static bool has_pieces(struct rc_str line, const char *text)
{
    struct rc_str rest = rc_str(text);
    bool is_first = true;

    while (rest.p) {
        struct rc_str piece = rc_str_split(rest, '*', &rest);
        const char *at = memmem(line.p, line.n, piece.p, piece.n);

        if (!at || (!is_first && at - line.p > GAP))
            return false;
        line.n -= (size_t)(at - line.p) + piece.n;
        line.p = at + piece.n;
        is_first = false;
    }
    return true;
}

/* Parse "[rank3]: " of torch, "3: " of srun --label. */
static uint32_t rank_of(struct rc_str line)
{
    uint32_t rank;
    struct rc_str rest;

    while (rc_str_starts(line, " "))
        line = (struct rc_str){ line.p + 1, line.n - 1 };
    if (rc_str_starts(line, "[rank"))
        line = rc_str_split((struct rc_str){ line.p + 5, line.n - 5 }, ']', &rest);
    else
        line = rc_str_split(line, ':', &rest);
    /* not the hour of "10:30:01" */
    return (rc_str_starts(rest, " ") || rc_str_starts(rest, ": ")) && rc_parse_u32(line, RC_MAX_TASKS, &rank)
               ? rank
               : RC_UNKNOWN;
}

static void note_match(struct errorlog *log, size_t entry, struct rc_str line)
{
    struct match *match = &log->found[entry];

    if (match->count++ > 0)
        return;
    match->line = log->line;
    match->rank = rank_of(line);
    line = rc_str_cut(line, LINE_SHOWN);
    memcpy(match->text, line.p, line.n);
    match->text[line.n] = '\0';
}

/* `rest` follows OWN_MESSAGE: "error RC602: two tasks ...". */
static void note_message(struct errorlog *log, struct rc_str rest, struct rc_str line)
{
    struct rc_str id = rc_str_split(rest, ' ', &rest);

    id = rc_str_split(rest, ':', &rest);
    for (size_t i = 0; rest.p && i < RC_MESSAGE_COUNT; i++)
        if (rc_str_is(id, cli_catalogue[i].id))
            note_match(log, SYMPTOMS + i, line);
}

static void search_line(struct errorlog *log, struct rc_str line)
{
    for (size_t end = window; end <= line.n;) {
        struct rc_str rest = { line.p + end - window, line.n - (end - window) };
        size_t step = shift[block_at(line.p + end - 2)];

        end += step ? step : 1;
        for (size_t i = 0; !step && i <= SYMPTOMS; i++) {
            struct rc_str needle = needles[i];

            if (!rc_str_eq(rc_str_cut(rest, needle.n), needle))
                continue;
            if (i == SYMPTOMS)
                note_message(log, (struct rc_str){ rest.p + needle.n, rest.n - needle.n }, line);
            else if (has_pieces(line, symptoms[i].text))
                note_match(log, i, line);
        }
    }
}

/* Search all whole lines, and a line that fills the buffer. Return the number of bytes searched. */
static size_t search_lines(struct errorlog *log, struct rc_str text, bool is_last)
{
    size_t searched = 0;

    while (searched < text.n) {
        const char *begin = text.p + searched;
        const char *end = memchr(begin, '\n', text.n - searched);

        if (!end && !is_last && (searched || text.n < LINE_MAX_SIZE))
            break;
        log->line += log->is_at_begin;
        log->is_at_begin = end != NULL;
        search_line(log, (struct rc_str){ begin, end ? (size_t)(end - begin) : text.n - searched });
        searched = end ? (size_t)(end - text.p) + 1 : text.n;
    }
    return searched;
}

/* Return 0 or -errno. */
static int search_file(struct errorlog *log, int fd)
{
    static char buffer[LINE_MAX_SIZE];
    size_t used = 0;
    ssize_t n;

    while ((n = read(fd, buffer + used, sizeof(buffer) - used)) != 0) {
        size_t searched;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        used += (size_t)n;
        searched = search_lines(log, (struct rc_str){ buffer, used }, false);
        used -= searched;
        memmove(buffer, buffer + searched, used);
    }
    search_lines(log, (struct rc_str){ buffer, used }, true);
    return 0;
}

/* Order: errors, warnings, notes. RC711, the first exception, leads the errors; then by place in the log. */

/* Return NULL for a symptom. */
static const struct cli_catalogue_entry *message_of(size_t entry)
{
    return entry < SYMPTOMS ? NULL : cli_catalogue_message((enum rc_message_id)(entry - SYMPTOMS));
}

static enum rc_level level_of(size_t entry)
{
    return entry < SYMPTOMS ? symptoms[entry].level : message_of(entry)->level;
}

static int compare_matches(const void *a, const void *b, void *more)
{
    const struct errorlog *log = more;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    enum { FIRST = SYMPTOMS + RC711 };

    if (x == FIRST || y == FIRST)
        return (y == FIRST) - (x == FIRST);
    if (level_of(x) != level_of(y))
        return level_of(x) > level_of(y) ? -1 : 1;
    return (log->found[x].line > log->found[y].line) - (log->found[x].line < log->found[y].line);
}

static size_t sort_matches(struct errorlog *log, size_t order[ENTRIES])
{
    size_t count = 0;

    for (size_t i = 0; i < ENTRIES; i++)
        if (log->found[i].count >= (i < SYMPTOMS ? symptoms[i].least : 1))
            order[count++] = i;
    qsort_r(order, count, sizeof(*order), compare_matches, log);
    return count;
}

/* One line per paragraph and per command. */
static void print_advice(FILE *out, const char *advice)
{
    struct rc_str rest = rc_str(advice);
    char line[ADVICE_SHOWN];

    while (rest.n) {
        struct rc_str text = rc_str_split(rest, '\n', &rest);

        snprintf(line, sizeof(line), "%.*s", (int)text.n, text.p);
        if (rc_str_starts(text, "    "))
            fprintf(out, "        %s\n", line);
        else
            cli_report_detail(out, text.p == advice ? "cause" : "", line);
    }
}

static void print_match(FILE *out, const struct errorlog *log, size_t entry)
{
    const struct match *match = &log->found[entry];
    const struct cli_catalogue_entry *message = message_of(entry);

    fprintf(out, "%s%s%s%s%s ", paint_on(cli_report_level_paint(level_of(entry))), rc_level_name(level_of(entry)),
            message ? " " : "", message ? message->id : "", paint_off());
    console_print(out, rc_str(log->path), 0);
    fprintf(out, ":%llu", (unsigned long long)match->line);
    if (match->rank != RC_UNKNOWN)
        fprintf(out, ", rank %u", match->rank);
    if (match->count > 1)
        fprintf(out, ", and %llu more", (unsigned long long)match->count - 1);
    fputc('\n', out);
    cli_report_detail(out, "line", match->text);
    if (message) {
        cli_report_detail(out, "cause", message->cause);
        cli_report_detail(out, "cure", message->cure);
    } else {
        print_advice(out, symptoms[entry].advice);
    }
}

static void write_match(struct json *json, const struct errorlog *log, size_t entry)
{
    const struct match *match = &log->found[entry];
    const struct cli_catalogue_entry *message = message_of(entry);

    json_open_object(json, NULL);
    json_text(json, "file", log->path);
    json_number(json, "line", (int64_t)match->line);
    json_number(json, "count", (int64_t)match->count);
    json_number_if(json, "rank", match->rank != RC_UNKNOWN, match->rank);
    json_text(json, "text", match->text);
    json_text(json, "level", rc_level_name(level_of(entry)));
    json_text(json, "id", message ? message->id : NULL);
    json_text(json, "cause", message ? message->cause : symptoms[entry].advice);
    json_text(json, "cure", message ? message->cure : NULL);
    json_close(json);
}

static bool search_path(struct errorlog *log, const char *path)
{
    bool is_input = strcmp(path, "-") == 0;
    int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    int rc;

    *log = (struct errorlog){ .path = is_input ? "standard input" : path, .is_at_begin = true };
    rc = fd < 0 ? -errno : search_file(log, fd);
    if (fd >= 0 && !is_input)
        close(fd);
    if (rc < 0)
        console_fail("explain: cannot read %.512s: %s", path, strerror(-rc));
    return rc == 0;
}

int errorlog_explain(FILE *out, char *const *paths, size_t count, struct json *json)
{
    static struct errorlog log;
    size_t order[ENTRIES];
    size_t all = 0;

    prepare_search();
    for (size_t i = 0; i < count; i++) {
        size_t found;

        if (!search_path(&log, paths[i]))
            return STATUS_USAGE;
        found = sort_matches(&log, order);
        for (size_t k = 0; k < found; k++) {
            fputs(!json && all++ ? "\n" : "", out);
            if (json)
                write_match(json, &log, order[k]);
            else
                print_match(out, &log, order[k]);
        }
        if (!found && !json)
            fprintf(out, "%s: %llu lines, none of which rollcall explain knows\n", log.path,
                    (unsigned long long)log.line);
    }
    return STATUS_RESOLVED;
}
