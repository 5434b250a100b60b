/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <stdlib.h>

#include "console/json.h"
#include "inspect.h"
#include "roster.h"

static void write_identity(struct json *json, const struct rc_result *result)
{
    json_open_object(json, "identity");
    for (enum rc_field field = 0; field < RC_FIELD_COUNT; field++) {
        uint32_t value = result->identity.field[field];

        json_number_if(json, cli_fields[field].key, value != RC_UNKNOWN, value);
    }
    json_close(json);
}

static void write_master(struct json *json, const struct rc_master *master)
{
    json_open_object(json, "master");
    json_text(json, "addr", master->addr);
    json_number_if(json, "port", master->port != 0, master->port);
    json_text(json, "source", master->addr ? master->addr_source : NULL);
    json_close(json);
}

/* {NAME: VALUE} of the plan's entries of one kind. */
static void write_values(struct json *json, const char *name, const struct rc_plan *plan, enum rc_action action)
{
    json_open_object(json, name);
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->entry[i].action == action)
            json_text(json, plan->entry[i].name.p, plan->entry[i].value);
    json_close(json);
}

static void write_unset(struct json *json, const struct rc_plan *plan)
{
    json_open_array(json, "unset");
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->entry[i].action == RC_UNSET)
            json_text(json, NULL, plan->entry[i].name.p);
    json_close(json);
}

static void write_messages(struct json *json, const struct rc_messages *messages, bool why)
{
    json_open_array(json, "messages");
    for (unsigned i = 0; i < messages->count; i++) {
        const struct cli_catalogue_entry *words = cli_catalogue_message(messages->list[i].id);

        json_open_object(json, NULL);
        json_message(json, messages->list[i].id, messages->list[i].text);
        if (why) {
            json_text(json, "cause", words->cause);
            json_text(json, "cure", words->cure);
        }
        json_close(json);
    }
    json_close(json);
}

static void write_sources(struct json *json, const struct rc_result *result)
{
    json_open_object(json, "sources");
    for (enum rc_field field = 0; field < RC_FIELD_COUNT; field++) {
        const char *source = rc_identity_source(result, field);

        if (source)
            json_text(json, cli_fields[field].key, source);
    }
    for (unsigned i = 0; i < result->plan.count; i++)
        if (result->plan.entry[i].source)
            json_text(json, result->plan.entry[i].name.p, result->plan.entry[i].source);
    json_close(json);
}

static void write_reasons(struct json *json, const struct rc_result *result)
{
    json_open_object(json, "reasons");
    json_text(json, "mode", result->mode_reason);
    for (unsigned i = 0; i < result->plan.count; i++)
        json_text(json, result->plan.entry[i].name.p, result->plan.entry[i].reason);
    json_close(json);
}

static void write_rejected(struct json *json, const struct rc_plan *plan)
{
    json_open_array(json, "rejected");
    for (unsigned i = 0; i < plan->rejected_count; i++) {
        json_open_object(json, NULL);
        json_text(json, "name", plan->rejected[i].name);
        json_slice(json, "value", plan->rejected[i].value);
        json_text(json, "reason", plan->rejected[i].reason);
        json_close(json);
    }
    json_close(json);
}

static void write_got(struct json *json, struct cli_got got)
{
    json_open_object(json, "got");
    json_number_if(json, "cpus", got.cpus != RC_UNKNOWN, got.cpus);
    json_number_if(json, "cpus_promised", got.promised != RC_UNKNOWN, got.promised);
    json_number_if(json, "gpus", got.gpus != RC_UNKNOWN, got.gpus);
    json_number_if(json, "job_gpus", got.job_gpus != RC_UNKNOWN, got.job_gpus);
    json_close(json);
}

void cli_json_print(FILE *out, const struct rc_result *result, bool is_own, bool why)
{
    struct json json = json_begin(out);

    json_text(&json, "launcher", result->launcher ? result->launcher->id : NULL);
    json_text(&json, "mode", rc_mode_name(result->mode));
    write_identity(&json, result);
    write_master(&json, &result->master);
    write_values(&json, "set", &result->plan, RC_SET);
    write_unset(&json, &result->plan);
    if (is_own)
        write_got(&json, cli_got_find(result));
    write_messages(&json, &result->messages, why);
    if (why) {
        write_values(&json, "keep", &result->plan, RC_KEEP);
        write_sources(&json, result);
        write_reasons(&json, result);
        write_rejected(&json, &result->plan);
    }
    json_end(&json);
}

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

/* The node's items, by the names of items.def. */
static void write_items(struct json *json, const struct rc_roll *roll)
{
    json_open_object(json, "has");
    for (unsigned item = 0; item < RC_ITEMS; item++)
        if (roll->item[item].p)
            json_slice(json, rc_item_row((enum rc_item)item)->name, roll->item[item]);
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
        return console_fail("out of memory");
    json = json_begin(stdout);
    json_text(&json, "step", roster->step);
    json_number(&json, "nnodes", roster->nodes);
    json_number(&json, "world_size", roster->world);
    json_open_array(&json, "entries");
    for (size_t i = 0; i < roster->count; i++)
        write_entry(&json, &roster->roll[i]);
    json_close(&json);
    write_findings(&json, roster);
    json_text(&json, "exclude", *exclude ? exclude : NULL);
    json_end(&json);
    free(exclude);
    return STATUS_RESOLVED;
}
