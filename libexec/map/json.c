/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "base/numbers.h"
#include "console/value.h"
#include "mapping.h"
#include "placement/near.h"
#include "proposals.h"

static json_t *number_value(int64_t value)
{
    return value < 0 ? json_null() : json_integer(value);
}

static json_t *known_value(uint32_t value)
{
    return value == RC_UNKNOWN ? json_null() : json_integer((json_int_t)value);
}

static const char *const nearness[] = {
    [RC_NEAR_NUMA] = "numa",
    [RC_NEAR_PACKAGE] = "package",
    [RC_NEAR_FAR] = "far",
    [RC_NEAR_UNKNOWN] = NULL,
};

/* Returns what nic=auto would set: the values of this task alone (own), or those that all
 * tasks share. */
static json_t *make_proposals(const struct mapping *mapping, const struct proposals *proposals, unsigned task, bool own)
{
    json_t *object = json_object();

    for (unsigned i = 0; object && i < RC_NIC_VARIABLES; i++) {
        const char *value = map_proposals_is_own(i) == own ? map_proposals_value(proposals, mapping, task, i) : NULL;

        if (value && json_object_set_new(object, rc_nicnames_variable(i).p, json_string(value)) < 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *make_task(const struct mapping *mapping, const struct proposals *proposals, unsigned i)
{
    const struct rc_place *place = &mapping->place[i];
    const struct rc_nic *nic = place->nic >= 0 ? &mapping->nics.nic[place->nic] : NULL;
    char *cpus = NULL;
    json_t *object;

    if (hwloc_bitmap_list_asprintf(&cpus, place->cpus) < 0)
        return NULL;
    object = json_pack(
        "{s:i, s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:b, s:o, s:o}", "local_rank", (int)i, "rank",
        known_value(i == mapping->local_rank ? mapping->rank : RC_UNKNOWN), "gpu", number_value(place->gpu), "pci",
        value_text(place->gpu >= 0 ? mapping->gpus.gpu[place->gpu].bus_id : NULL), "near",
        value_text(nearness[place->nearness]), "numa", number_value(place->memory), "cores", (int)place->cores, "cpus",
        value_text(cpus), "shared", place->shared, "nic", value_text(nic ? rc_nic_name(nic) : NULL), "nic_auto",
        make_proposals(mapping, proposals, i, true));
    free(cpus);
    return object;
}

/* "gi1/ci0" and so on; those that there was no room for are missing. */
static json_t *make_slices(const struct rc_gpu_ids *ids)
{
    struct rc_str rest = ids->slices[0] ? rc_str(ids->slices) : RC_ABSENT;
    json_t *list = json_array();
    int failed = 0;

    while (rest.p)
        failed |= json_array_append_new(list, value_slice(rc_str_split(rest, ',', &rest)));
    return value_whole(list, failed);
}

static json_t *make_gpu(const struct mapping *mapping, const struct proposals *proposals, unsigned i)
{
    const struct rc_pci_gpu *gpu = &mapping->gpus.gpu[i];
    const struct rc_gpu_ids *ids = &mapping->ids[i];

    (void)proposals;
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o}", "index", (int)i, "pci",
                     value_text(gpu->bus_id), "vendor", value_text(rc_gpu_vendor_name(gpu->vendor)), "model",
                     value_text(rc_pci_gpu_model(gpu)), "numa", number_value(rc_near_numa(gpu->pci)), "used",
                     i < mapping->gpus.used, "uuid", value_text(ids->uuid[0] ? ids->uuid : NULL), "render",
                     value_text(ids->render[0] ? ids->render : NULL), "minor", number_value(ids->minor), "rocr_index",
                     number_value(ids->rocr), "mig", make_slices(ids));
}

static json_t *make_nic(const struct mapping *mapping, const struct proposals *proposals, unsigned i)
{
    const struct rc_nic *nic = &mapping->nics.nic[i];

    (void)proposals;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "fabric", value_text(nic->fabric), "network",
                     value_text(nic->network), "kind", value_text(rc_nic_kind_name(nic->kind)), "pci",
                     value_text(nic->bus_id), "numa", number_value(rc_near_numa(nic->pci)), "used",
                     i < mapping->nics.used, "down", nic->down);
}

static json_t *make_variable(const struct mapping *mapping, const struct proposals *proposals, unsigned i)
{
    const struct rc_gpu_variable *row = &rc_gpu_variables[i];

    (void)mapping;
    (void)proposals;
    return json_pack("{s:o, s:o, s:o, s:o}", "name", value_text(row->name), "vendor",
                     value_text(rc_gpu_vendor_name(row->vendor)), "forms", value_text(row->forms), "order",
                     value_text(row->order));
}

static json_t *make_note(const struct mapping *mapping, const struct proposals *proposals, unsigned i)
{
    (void)proposals;
    return value_text(mapping->note[i]);
}

static json_t *make_list(const struct mapping *mapping, const struct proposals *proposals, size_t count,
                         json_t *(*make)(const struct mapping *mapping, const struct proposals *proposals, unsigned i))
{
    json_t *array = json_array();

    for (unsigned i = 0; array && i < count; i++) {
        if (json_array_append_new(array, make(mapping, proposals, i)) < 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *make_document(const struct mapping *mapping, const struct proposals *proposals)
{
    size_t variables = 0;

    while (rc_gpu_variables[variables].name)
        variables++;
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", JSON_SCHEMA, "from",
                     value_text(mapping->file), "local_rank", known_value(mapping->local_rank), "tasks",
                     make_list(mapping, proposals, mapping->tasks, make_task), "gpus",
                     make_list(mapping, proposals, mapping->gpus.count, make_gpu), "nics",
                     make_list(mapping, proposals, mapping->nics.count, make_nic), "nic_auto",
                     make_proposals(mapping, proposals, 0, false), "variables",
                     make_list(mapping, proposals, variables, make_variable), "notes",
                     make_list(mapping, proposals, mapping->notes, make_note));
}

int map_print_json(const struct mapping *mapping)
{
    struct proposals proposals;
    int status = value_print(map_proposals_make(mapping, &proposals) == 0 ? make_document(mapping, &proposals) : NULL);

    map_proposals_free(&proposals);
    return status;
}
