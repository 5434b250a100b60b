/* SPDX-License-Identifier: BSD-3-Clause */
#include "rosterjson.h"

#include "console/value.h"
#include "json.h"

static json_t *gpus_json(const struct rc_roll *roll)
{
    json_t *list = json_array();
    int failed = 0;

    for (unsigned i = 0; i < roll->gpu_count; i++)
        failed |= json_array_append_new(
            list, json_pack("{s:I, s:o}", "rank", (json_int_t)roll->gpu[i].rank, "gpu", value_slice(roll->gpu[i].id)));
    return value_whole(list, failed);
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
                 value_put(object, "visible", value_slice(roll->visible)) | value_put(object, "gpus", gpus_json(roll));

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

static json_t *findings_json(const struct rc_messages *messages)
{
    json_t *list = json_array();
    int failed = 0;

    for (unsigned i = 0; i < messages->count; i++)
        failed |= json_array_append_new(list, value_message(messages->list[i].id, messages->list[i].text));
    return value_whole(list, failed);
}

int cli_roster_print_json(const struct roster *roster)
{
    return value_print(json_pack("{s:i, s:s, s:I, s:I, s:o, s:o}", "schema", JSON_SCHEMA, "step", roster->step,
                                 "nnodes", (json_int_t)roster->roll[0].nodes, "world_size",
                                 (json_int_t)roster->roll[0].world, "entries", entries_json(roster), "messages",
                                 findings_json(&roster->findings)));
}
