#include "report.h"

#include "hash.h"
#include "numbers.h"
#include "system/sys.h"

#include <poll.h>
#include <time.h>

enum { LINE_MAX = 511, STDERR = 2 };

uint32_t shim_debug_level(struct rc_str text)
{
    uint32_t level = 0;

    if (text.n && !rc_parse_u32(text, UINT32_MAX, &level))
        level = 1;
    return level < SHIM_DEBUG_MAX ? level : SHIM_DEBUG_MAX;
}

/* A write to a pipe that nobody reads any more would kill the program with
 * SIGPIPE, one to a full pipe would stop it: look first. */
static bool say(const char *text, size_t n)
{
    struct pollfd out = { .fd = STDERR, .events = POLLOUT };
    struct timespec at_once = { .tv_sec = 0 };

    return n && rc_sys_call(RC_SYS_NR(ppoll), (long)&out, 1, (long)&at_once, 0, 0) == 1 && out.revents == POLLOUT &&
           rc_sys_write(STDERR, text, n) > 0;
}

/* Text that lines are appended to while they fit. */
struct page {
    char text[LINE_MAX + 1];
    struct rc_arena arena;
};

static void open_page(struct page *page)
{
    page->arena = (struct rc_arena){ .base = page->text, .size = sizeof(page->text) };
}

/* rc_format ends each text with a NUL, which the next line takes the place of. */
static void end_line(struct page *page)
{
    if (!page->arena.full)
        page->arena.used--;
}

static const char *first_error(const struct rc_messages *messages, const char **text)
{
    for (unsigned i = 0; i < messages->count; i++) {
        const struct rc_message_entry *entry = rc_message_entry(messages->list[i].id);

        if (entry->level == RC_LEVEL_ERROR) {
            *text = messages->list[i].text;
            return entry->id;
        }
    }
    /* what was too long for the arena */
    *text = "a value in the environment is too long; nothing is set";
    return rc_message_entry(RC502)->id;
}

const char *shim_report_error(const struct rc_messages *messages, struct rc_str reported,
                              struct rc_arena *arena)
{
    struct page page;
    const char *text;
    const char *id = first_error(messages, &text);
    /* tells one error's text from another's, no more */
    const char *mark = rc_format(arena, "%s:%U", id, rc_hash(text, rc_str(text).n));

    if (rc_str_is(reported, mark))
        return NULL;
    open_page(&page);
    rc_format(&page.arena, "rollcall: error %s: %s\n", id, text);
    if (page.arena.full) {
        open_page(&page);
        rc_format(&page.arena, "rollcall: error %s: see `rollcall explain`\n", id);
    }
    end_line(&page);
    return say(page.text, page.arena.used) ? mark : NULL;
}

static void add_messages(struct page *page, const struct rc_messages *messages)
{
    for (unsigned i = 0; i < messages->count; i++) {
        const struct rc_message_entry *entry = rc_message_entry(messages->list[i].id);

        rc_format(&page->arena, "rollcall: %s %s: %s\n", rc_level_name(entry->level), entry->id,
                  messages->list[i].text);
        end_line(page);
    }
}

static void add_plan(struct page *page, const struct rc_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++) {
        const struct rc_plan_entry *e = &plan->entry[i];
        struct rc_str value = rc_str(e->value);

        switch (e->action) {
        case RC_SET:
            rc_format(&page->arena, "rollcall: %S=%q\n", &e->name, &value);
            break;
        case RC_UNSET:
            rc_format(&page->arena, "rollcall: %S is unset\n", &e->name);
            break;
        case RC_KEEP:
            rc_format(&page->arena, "rollcall: %S is kept\n", &e->name);
            break;
        }
        end_line(page);
    }
}

void shim_report_result(const struct rc_result *result, uint32_t level)
{
    unsigned count[RC_KEEP + 1] = { 0 };
    struct page page;

    for (unsigned i = 0; i < result->plan.count; i++)
        count[result->plan.entry[i].action]++;
    open_page(&page);
    rc_format(&page.arena, "rollcall: launcher %s, mode %s (%s), %u set, %u unset\n",
              result->launcher ? result->launcher->id : "none", rc_mode_name(result->mode),
              result->mode_reason ? result->mode_reason : "no reason", (uint32_t)count[RC_SET],
              (uint32_t)count[RC_UNSET]);
    end_line(&page);
    add_messages(&page, &result->messages);
    if (level > 1)
        add_plan(&page, &result->plan);
    say(page.text, page.arena.used);
}

void shim_report_pin(uint32_t local_rank, struct rc_str cpus)
{
    struct page page;

    open_page(&page);
    rc_format(&page.arena, "rollcall: the worker with LOCAL_RANK=%u is bound to hardware threads %q\n", local_rank,
              &cpus);
    end_line(&page);
    say(page.text, page.arena.used);
}

void shim_report_nothing(const char *reason)
{
    struct page page;

    open_page(&page);
    rc_format(&page.arena, "rollcall: nothing is set: %s\n", reason);
    end_line(&page);
    say(page.text, page.arena.used);
}
