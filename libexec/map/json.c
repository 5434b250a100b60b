/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/json.h"

#include "base/text.h"
#include "map.h"

static void write_index(struct json *json, const char *name, int64_t index)
{
    json_number_if(json, name, index >= 0, index);
}

/* The values of nic=auto: those of this task (own), or those common to all. */
static void write_proposals(struct json *json, const struct mapping *mapping, unsigned task, bool own)
{
    json_open_object(json, "nic_auto");
    for (unsigned i = 0; i < RC_NIC_VARIABLES; i++) {
        const char *value = map_proposal_is_own(i) == own ? map_proposal(mapping, task, i) : NULL;

        if (value)
            json_text(json, rc_nicnames_variable(i).p, value);
    }
    json_close(json);
}

static void write_task(struct json *json, const struct mapping *mapping, unsigned i)
{
    const struct rc_place *place = &mapping->place[i];
    const struct rc_nic *nic = place->nic >= 0 ? &mapping->nics.nic[place->nic] : NULL;
    bool is_ours = i == mapping->local_rank && mapping->rank != RC_UNKNOWN;

    json_open_object(json, NULL);
    json_number(json, "local_rank", i);
    json_number_if(json, "rank", is_ours, mapping->rank);
    write_index(json, "gpu", place->gpu);
    json_text(json, "pci", place->gpu >= 0 ? mapping->gpus.gpu[place->gpu].bus_id : NULL);
    write_index(json, "numa", place->memory);
    json_number(json, "cores", place->cores);
    json_text(json, "cpus", mapping->cpus[i]);
    json_bool(json, "shared", place->shared);
    json_text(json, "nic", nic ? rc_nic_name(nic) : NULL);
    write_proposals(json, mapping, i, true);
    json_close(json);
}

static void write_gpus(struct json *json, const struct mapping *mapping)
{
    json_open_array(json, "gpus");
    for (unsigned i = 0; i < mapping->gpus.count; i++) {
        const struct rc_pci_gpu *gpu = &mapping->gpus.gpu[i];

        json_open_object(json, NULL);
        json_number(json, "index", i);
        json_text(json, "pci", gpu->bus_id);
        json_text(json, "vendor", rc_gpu_vendor_name(gpu->vendor));
        json_text(json, "model", rc_pci_gpu_model(gpu));
        write_index(json, "numa", rc_near_numa(mapping->topology, gpu->pci));
        json_bool(json, "used", i < mapping->gpus.used);
        json_text(json, "uuid", gpu->uuid[0] ? gpu->uuid : NULL);
        write_index(json, "minor", gpu->minor);
        json_close(json);
    }
    json_close(json);
}

static void write_nics(struct json *json, const struct mapping *mapping)
{
    json_open_array(json, "nics");
    for (unsigned i = 0; i < mapping->nics.count; i++) {
        const struct rc_nic *nic = &mapping->nics.nic[i];

        json_open_object(json, NULL);
        json_text(json, "fabric", nic->fabric);
        json_text(json, "network", nic->network);
        json_text(json, "kind", rc_nic_kind_name(nic->kind));
        json_text(json, "pci", nic->bus_id);
        write_index(json, "numa", rc_near_numa(mapping->topology, nic->pci));
        json_bool(json, "used", i < mapping->nics.used);
        json_bool(json, "down", nic->down);
        json_close(json);
    }
    json_close(json);
}

void map_print_json(const struct mapping *mapping)
{
    struct json document = json_begin(stdout);
    struct json *json = &document;

    json_text(json, "from", mapping->file);
    json_number_if(json, "local_rank", mapping->local_rank != RC_UNKNOWN, mapping->local_rank);
    json_open_array(json, "tasks");
    for (unsigned i = 0; i < mapping->tasks; i++)
        write_task(json, mapping, i);
    json_close(json);
    write_gpus(json, mapping);
    write_nics(json, mapping);
    write_proposals(json, mapping, 0, false);
    json_open_array(json, "notes");
    for (unsigned i = 0; i < mapping->notes; i++)
        json_text(json, NULL, mapping->note[i]);
    json_close(json);
    json_end(json);
}
