/* SPDX-License-Identifier: BSD-3-Clause */
#include "rosterjson.h"

#include <stdlib.h>

#include "console/value.h"
#include "exclude.h"
#include "json.h"
#include "roll/items.h"
#include "timesjson.h"

static json_t *gpus_json(const struct rc_roll *roll)
{
    json_t *list = json_array();
    int failed = 0;

    for (unsigned i = 0; i < roll->gpu_count; i++)
        failed |= json_array_append_new(
            list, json_pack("{s:I, s:o}", "rank", (json_int_t)roll->gpu[i].rank, "gpu", value_slice(roll->gpu[i].id)));
    return value_whole(list, failed);
}

/* What the node has, by the names of items.def. */
static json_t *items_json(const struct rc_roll *roll)
{
    struct rc_str lines = roll->items;
    json_t *object = json_object();
    struct rc_str value;
    enum rc_item item;
    int failed = 0;

    while (rc_items_next(&lines, &item, &value))
        failed |= value_put(object, rc_item_row(item)->name, value_slice(value));
    return value_whole(object, failed);
}

static json_t *entry_json(const struct rc_roll *roll)
{
    json_t *object = json_object();
    int failed = value_put(object, "node_rank", json_integer(roll->node)) |
                 value_put(object, "host", value_slice(roll->host)) |
                 value_put(object, "boot_id", value_slice(roll->boot)) |
                 value_put(object, "place", value_slice(roll->place)) |
                 value_put(object, "tasks", value_slice(roll->tasks)) |
                 value_put(object, "launcher", value_slice(roll->launcher)) |
                 value_put(object, "mode", value_slice(roll->mode)) |
                 value_put(object, "master_addr", value_slice(roll->addr)) |
                 value_put(object, "master_port", roll->port ? json_integer(roll->port) : json_null()) |
                 value_put(object, "version", value_slice(roll->version)) |
                 value_put(object, "visible", value_slice(roll->visible)) | value_put(object, "gpus", gpus_json(roll)) |
                 value_put(object, "dead", value_slice(roll->dead)) | value_put(object, "has", items_json(roll));

    return value_whole(object, failed);
}

static json_t *entries_json(const struct roster *roster)
{
    json_t *list = json_array();
    int failed = 0;

    for (size_t i = 0; i < roster->count; i++)
        failed |= json_array_append_new(list, entry_json(&roster->roll[i]));
    return value_whole(list, failed);
}

/* Those whom one finding blames. */
static json_t *nodes_json(const struct rc_blame *blame, unsigned finding)
{
    json_t *list = json_array();
    int failed = 0;

    for (size_t i = 0; i < blame->count; i++)
        if (blame->list[i].finding == finding)
            failed |= json_array_append_new(list, value_text(blame->list[i].name));
    return value_whole(list, failed);
}

static json_t *findings_json(const struct roster *roster)
{
    const struct rc_messages *messages = &roster->findings;
    json_t *list = json_array();
    int failed = 0;

    for (unsigned i = 0; i < messages->count; i++) {
        json_t *message = value_message(messages->list[i].id, messages->list[i].text);

        failed |= value_put(message, "nodes", nodes_json(&roster->blame, i)) | json_array_append_new(list, message);
    }
    return value_whole(list, failed);
}

static json_t *exclude_json(const struct roster *roster)
{
    char *list = cli_exclude_list(&roster->blame);
    json_t *value = !list ? NULL : *list ? value_text(list) : json_null();

    free(list);
    return value;
}

/* Nothing where no node has answered. */
static json_t *count_json(uint32_t count)
{
    return count ? json_integer(count) : json_null();
}

int cli_roster_print_json(const struct roster *roster)
{
    return value_print(json_pack(
        "{s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", JSON_SCHEMA, "step", roster->step, "nnodes",
        count_json(roster->nodes), "world_size", count_json(roster->world), "entries", entries_json(roster), "messages",
        findings_json(roster), "exclude", exclude_json(roster), "startup", cli_times_json(&roster->times)));
}
