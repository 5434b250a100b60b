/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "console/output.h"
#include "map.h"

static void put_head(const struct mapping *mapping)
{
    const struct {
        int count;
        const char *what;
    } parts[] = {
        { hwloc_get_nbobjs_by_type(mapping->topology, HWLOC_OBJ_PACKAGE), "package" },
        { hwloc_get_nbobjs_by_type(mapping->topology, HWLOC_OBJ_NUMANODE), "NUMA node" },
        { hwloc_get_nbobjs_by_type(mapping->topology, HWLOC_OBJ_CORE), "core" },
        { (int)mapping->gpus.count, "GPU" },
        { (int)mapping->nics.count, "NIC" },
    };

    console_print(stdout, rc_str(mapping->file ? mapping->file : "this machine"), 64);
    putchar(':');
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        int count = parts[i].count > 0 ? parts[i].count : 0;

        printf("%s %d %s%s", i ? "," : "", count, parts[i].what, count == 1 ? "" : "s");
    }
    puts("\n");
}

/* Break a long list after a comma. */
static void put_list(unsigned column, const char *list)
{
    unsigned at = column;

    while (*list) {
        size_t n = strcspn(list, ",");

        n += list[n] == ',';
        if (at > column && at + n > console_width()) {
            printf("\n%*s", (int)column, "");
            at = column;
        }
        printf("%.*s", (int)n, list);
        at += (unsigned)n;
        list += n;
    }
    putchar('\n');
}

static const char *nic_name(const struct mapping *mapping, int nic)
{
    return nic >= 0 ? rc_nic_name(&mapping->nics.nic[nic]) : "-";
}

enum { NIC_WIDTH = 16, GPU_TEXT = RC_BUS_ID + 16 };

static void gpu_text(const struct mapping *mapping, int gpu, char text[GPU_TEXT])
{
    if (gpu < 0)
        snprintf(text, GPU_TEXT, "-");
    else
        snprintf(text, GPU_TEXT, "%d %s", gpu, mapping->gpus.gpu[gpu].bus_id);
}

static int put_task(const struct mapping *mapping, unsigned task, int gpu_width, int nic_width)
{
    const struct rc_place *place = &mapping->place[task];
    bool own = task == mapping->local_rank;
    char *nic = console_escape(rc_str(nic_name(mapping, place->nic)), NIC_WIDTH);
    char gpu[GPU_TEXT];
    char node[16] = "-";
    int column;

    if (!nic)
        return -1;
    gpu_text(mapping, place->gpu, gpu);
    if (place->memory >= 0)
        snprintf(node, sizeof(node), "%d", place->memory);
    column = printf("%c %4u  %-*s  %4s  %-*s  %5u  ", own ? '*' : ' ', task, gpu_width, gpu, node, nic_width, nic,
                    place->cores);
    put_list((unsigned)column, mapping->cpus[task]);
    free(nic);
    return 0;
}

static int put_tasks(const struct mapping *mapping)
{
    int gpu_width = 3;
    int nic_width = 3;

    for (unsigned i = 0; i < mapping->tasks; i++) {
        size_t n = strnlen(nic_name(mapping, mapping->place[i].nic), NIC_WIDTH + 3);
        char gpu[GPU_TEXT];

        gpu_text(mapping, mapping->place[i].gpu, gpu);
        if ((int)n > nic_width)
            nic_width = (int)n;
        if ((int)strlen(gpu) > gpu_width)
            gpu_width = (int)strlen(gpu);
    }
    printf("%s  task  %-*s  NUMA  %-*s  cores  hardware threads%s\n", paint_on(PAINT_STRONG), gpu_width, "GPU",
           nic_width, "NIC", paint_off());
    for (unsigned i = 0; i < mapping->tasks; i++)
        if (put_task(mapping, i, gpu_width, nic_width) < 0)
            return -1;
    if (mapping->local_rank != RC_UNKNOWN)
        puts("\n* this task");
    return 0;
}

static void put_where(const struct mapping *mapping, hwloc_obj_t pci, char text[16])
{
    int node = rc_near_numa(mapping->topology, pci);

    snprintf(text, 16, node < 0 ? "NUMA ?" : "NUMA %d", node);
}

static int put_gpus(const struct mapping *mapping)
{
    struct table table = { .columns = 4 };

    for (size_t i = 0; i < mapping->gpus.count; i++) {
        const struct rc_pci_gpu *gpu = &mapping->gpus.gpu[i];
        const char *model = rc_pci_gpu_model(gpu);
        char text[GPU_TEXT];
        char name[128];

        gpu_text(mapping, (int)i, text);
        table_text(&table, PAINT_NONE, text);
        put_where(mapping, gpu->pci, text);
        table_text(&table, PAINT_NONE, text);
        table_text(&table, PAINT_NONE, rc_gpu_vendor_name(gpu->vendor));
        snprintf(name, sizeof(name), "%s%s", model ? model : "-", i >= mapping->gpus.used ? " (not used)" : "");
        table_text(&table, PAINT_FAINT, name);
    }
    return table_print_titled(stdout, "GPUs", &table);
}

/* Print a line with the driver's names of each GPU, if known. */
static int put_names(const struct mapping *mapping)
{
    struct table table = { .columns = 3 };

    for (size_t i = 0; i < mapping->gpus.count; i++) {
        const struct rc_pci_gpu *gpu = &mapping->gpus.gpu[i];
        char text[16];

        if (!gpu->uuid[0] && gpu->minor < 0)
            continue;
        snprintf(text, sizeof(text), "%u", (unsigned)i);
        table_text(&table, PAINT_NONE, text);
        table_text(&table, PAINT_NONE, gpu->uuid[0] ? gpu->uuid : "-");
        snprintf(text, sizeof(text), "nvidia%d", gpu->minor);
        table_text(&table, PAINT_NONE, gpu->minor >= 0 ? text : "");
    }
    return table_print_titled(stdout, "Names of the GPUs", &table);
}

static int put_nics(const struct mapping *mapping)
{
    struct table table = { .columns = 4 };

    for (size_t i = 0; i < mapping->nics.count; i++) {
        const struct rc_nic *nic = &mapping->nics.nic[i];
        char names[64];
        char text[16];

        snprintf(names, sizeof(names), "%s%s%s", nic->fabric ? nic->fabric : "", nic->fabric && nic->network ? " " : "",
                 nic->network ? nic->network : "");
        table_text(&table, PAINT_NONE, names);
        put_where(mapping, nic->pci, text);
        table_text(&table, PAINT_NONE, text);
        table_text(&table, PAINT_NONE, rc_nic_kind_name(nic->kind));
        snprintf(names, sizeof(names), "%s%s", nic->bus_id, nic->down ? " (down)" : "");
        table_text(&table, PAINT_FAINT, names);
    }
    return table_print_titled(stdout, "NICs", &table);
}

/* Print the card of this process, or as an example the first task's. */
static void put_proposals(const struct mapping *mapping)
{
    unsigned task = mapping->local_rank == RC_UNKNOWN ? 0 : mapping->local_rank;
    bool any = false;

    for (unsigned i = 0; i < RC_NIC_VARIABLES; i++) {
        const char *value = map_proposal(mapping, task, i);

        if (!value)
            continue;
        if (!any)
            console_title(stdout, "With nic=auto");
        any = true;
        put_list((unsigned)printf("  %s=", rc_nicnames_variable(i).p), value);
        if (map_proposal_is_own(i) && mapping->tasks > 1)
            printf("    for task %u; the others have their own NIC's\n", task);
    }
}

int map_print_text(const struct mapping *mapping)
{
    put_head(mapping);
    if (put_tasks(mapping) < 0 || put_gpus(mapping) < 0 || put_names(mapping) < 0 || put_nics(mapping) < 0)
        return -1;
    put_proposals(mapping);
    for (unsigned i = 0; i < mapping->notes; i++) {
        printf("\nnote: ");
        console_print_wrapped(stdout, 6, 4, PAINT_NONE, mapping->note[i]);
    }
    return 0;
}
