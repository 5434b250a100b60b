/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include "base/hash.h"
#include "say.h"

static enum rc_message_id first_error(const struct rc_messages *messages, const char **text)
{
    for (unsigned i = 0; i < messages->count; i++) {
        if (rc_message_entry(messages->list[i].id)->level == RC_LEVEL_ERROR) {
            *text = messages->list[i].text;
            return messages->list[i].id;
        }
    }
    /* no message: it was too long for the arena */
    *text = "a value in the environment is too long; nothing is set";
    return RC502;
}

static void add_message(struct shim_page *page, enum rc_message_id id, const char *text)
{
    rc_message_line(&page->arena, rc_message_entry(id)->level, id, text);
    shim_page_end_line(page);
}

const char *shim_report_error(const struct rc_messages *messages, struct rc_str reported, struct rc_arena *arena)
{
    struct shim_page page;
    const char *text;
    enum rc_message_id id = first_error(messages, &text);
    /* the hash only tells one error's text from another's */
    const char *mark = rc_format(arena, "%s:%U", rc_message_entry(id)->id, rc_hash(text, rc_str(text).n));

    if (rc_str_is(reported, mark))
        return NULL;
    shim_page_open(&page);
    add_message(&page, id, text);
    return shim_page_say(&page) ? mark : NULL;
}

static void add_messages(struct shim_page *page, const struct rc_messages *messages)
{
    for (unsigned i = 0; i < messages->count; i++)
        add_message(page, messages->list[i].id, messages->list[i].text);
}

static void add_plan(struct shim_page *page, const struct rc_plan *plan)
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
        shim_page_end_line(page);
    }
}

void shim_report_result(const struct rc_result *result, uint32_t level)
{
    unsigned count[RC_KEEP + 1] = { 0 };
    struct shim_page page;

    for (unsigned i = 0; i < result->plan.count; i++)
        count[result->plan.entry[i].action]++;
    shim_page_open(&page);
    rc_format(&page.arena, "rollcall: launcher %s, mode %s (%s), %u set, %u unset\n",
              result->launcher ? result->launcher->id : "none", rc_mode_name(result->mode),
              result->mode_reason ? result->mode_reason : "no reason", (uint32_t)count[RC_SET],
              (uint32_t)count[RC_UNSET]);
    shim_page_end_line(&page);
    add_messages(&page, &result->messages);
    if (level > 1)
        add_plan(&page, &result->plan);
    shim_page_say(&page);
}

void shim_report_nothing(const char *reason)
{
    struct shim_page page;

    shim_page_open(&page);
    rc_format(&page.arena, "rollcall: nothing is set: %s\n", reason);
    shim_page_end_line(&page);
    shim_page_say(&page);
}
