/* SPDX-License-Identifier: BSD-3-Clause */
#include "rosterjson.h"

#include <stdlib.h>

#include "console/json.h"
#include "exclude.h"
#include "roll/items.h"
#include "timesjson.h"

static void write_gpus(struct json *json, const struct rc_roll *roll)
{
    json_open_array(json, "gpus");
    for (unsigned i = 0; i < roll->gpu_count; i++) {
        json_open_object(json, NULL);
        json_number(json, "rank", roll->gpu[i].rank);
        json_slice(json, "gpu", roll->gpu[i].id);
        json_close(json);
    }
    json_close(json);
}

/* What the node has, by the names of items.def. */
static void write_items(struct json *json, const struct rc_roll *roll)
{
    struct rc_str lines = roll->items;
    struct rc_str value;
    enum rc_item item;

    json_open_object(json, "has");
    while (rc_items_next(&lines, &item, &value))
        json_slice(json, rc_item_row(item)->name, value);
    json_close(json);
}

static void write_entry(struct json *json, const struct rc_roll *roll)
{
    json_open_object(json, NULL);
    json_number(json, "node_rank", roll->node);
    json_slice(json, "host", roll->host);
    json_slice(json, "boot_id", roll->boot);
    json_slice(json, "place", roll->place);
    json_slice(json, "tasks", roll->tasks);
    json_slice(json, "launcher", roll->launcher);
    json_slice(json, "mode", roll->mode);
    json_slice(json, "master_addr", roll->addr);
    json_number_if(json, "master_port", roll->port != 0, roll->port);
    json_slice(json, "version", roll->version);
    json_slice(json, "visible", roll->visible);
    write_gpus(json, roll);
    json_slice(json, "dead", roll->dead);
    write_items(json, roll);
    json_close(json);
}

static void write_findings(struct json *json, const struct roster *roster)
{
    const struct rc_blame *blame = &roster->blame;

    json_open_array(json, "messages");
    for (unsigned finding = 0; finding < roster->findings.count; finding++) {
        json_open_object(json, NULL);
        json_message(json, roster->findings.list[finding].id, roster->findings.list[finding].text);
        json_open_array(json, "nodes");
        for (size_t i = 0; i < blame->count; i++)
            if (blame->list[i].finding == finding)
                json_text(json, NULL, blame->list[i].name);
        json_close(json);
        json_close(json);
    }
    json_close(json);
}

int cli_roster_print_json(const struct roster *roster)
{
    char *exclude = cli_exclude_list(&roster->blame);
    struct json json;

    if (!exclude)
        return -1;
    json = json_begin(stdout);
    json_text(&json, "step", roster->step);
    /* 0 where no node has answered */
    json_number_if(&json, "nnodes", roster->nodes != 0, roster->nodes);
    json_number_if(&json, "world_size", roster->world != 0, roster->world);
    json_open_array(&json, "entries");
    for (size_t i = 0; i < roster->count; i++)
        write_entry(&json, &roster->roll[i]);
    json_close(&json);
    write_findings(&json, roster);
    json_text(&json, "exclude", *exclude ? exclude : NULL);
    cli_times_json(&json, &roster->times);
    json_end(&json);
    free(exclude);
    return 0;
}
