/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* memfd_create */
#include "map.h"

#include <errno.h>
#include <hwloc/export.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "console/output.h"

enum { NAME_SIZE = 32, LEGEND_SIZE = 400, DESCRIBED_MAX = 16 };

/* For colour-blind eyes, too: M. Okabe, K. Ito, "Color Universal Design"; olive (P. Tol,
 * "Colour Schemes") in the place of its black, on which text cannot be read. */
static const char *const colours[] = { "#56b4e9", "#e69f00", "#009e73", "#f0e442",
                                       "#cc79a7", "#d55e00", "#0072b2", "#999933" };

/* Of these the one on which black cannot be read. */
static const char dark_colour[] = "#0072b2";

static void paint_object(hwloc_obj_t object, const char *colour)
{
    char style[48];

    snprintf(style, sizeof(style), "Background=%s%s", colour, strcmp(colour, dark_colour) == 0 ? ";Text=#ffffff" : "");
    if (!hwloc_obj_get_info_by_name(object, "lstopoStyle"))
        hwloc_obj_add_info(object, "lstopoStyle", style);
}

static void paint_cores(hwloc_topology_t topology, hwloc_const_bitmap_t cpus, const char *colour)
{
    static const hwloc_obj_type_t types[] = { HWLOC_OBJ_CORE, HWLOC_OBJ_PU };

    for (unsigned i = 0; i < 2; i++)
        for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(topology, types[i], o)) != NULL;)
            if (hwloc_bitmap_intersects(o->cpuset, cpus))
                paint_object(o, colour);
}

static const char *task_colour(unsigned task)
{
    return colours[task % (sizeof(colours) / sizeof(*colours))];
}

static void task_name(const struct mapping *mapping, unsigned task, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, task == mapping->local_rank ? "task %u (this)" : "task %u", task);
}

/* Writes a task's name into the box of an object, or below it, on the task's colour. */
static void label_task(struct mapping *mapping, hwloc_obj_t object, unsigned task)
{
    char name[NAME_SIZE];
    hwloc_obj_t misc;

    task_name(mapping, task, name);
    misc = hwloc_topology_insert_misc_object(mapping->topology, object, name);
    if (misc)
        paint_object(misc, task_colour(task));
}

static void mark_cores(struct mapping *mapping, unsigned task)
{
    const struct rc_place *place = &mapping->place[task];
    hwloc_obj_t box = hwloc_get_obj_covering_cpuset(mapping->topology, place->cpus);

    paint_cores(mapping->topology, place->cpus, task_colour(task));
    if (place->gpu < 0)
        label_task(mapping, box ? box : hwloc_get_root_obj(mapping->topology), task);
}

/* Its number among the GPUs, and each task that has it. */
static void mark_gpu(struct mapping *mapping, unsigned gpu)
{
    hwloc_obj_t pci = mapping->gpus.gpu[gpu].pci;
    char text[NAME_SIZE];

    snprintf(text, sizeof(text), "GPU %u", gpu);
    hwloc_topology_insert_misc_object(mapping->topology, pci, text);
    for (unsigned task = 0; task < mapping->tasks; task++) {
        if (mapping->place[task].gpu != (int)gpu)
            continue;
        label_task(mapping, pci, task);
        paint_object(pci, task_colour(task));
    }
}

/* A card that several tasks have keeps its own colour; theirs are in it. */
static void mark_nic(struct mapping *mapping, int nic)
{
    hwloc_obj_t pci = mapping->nics.nic[nic].pci;
    unsigned tasks = 0;
    unsigned last = 0;

    for (unsigned task = 0; task < mapping->tasks; task++) {
        if (mapping->place[task].nic != nic)
            continue;
        label_task(mapping, pci, task);
        last = task;
        tasks++;
    }
    if (tasks == 1)
        paint_object(pci, task_colour(last));
}

static void add_legend(struct mapping *mapping, const char *text)
{
    hwloc_obj_add_info(hwloc_get_root_obj(mapping->topology), "lstopoLegend", text);
}

static void describe_task(struct mapping *mapping, unsigned task)
{
    const struct rc_place *place = &mapping->place[task];
    char name[NAME_SIZE];
    char gpu[NAME_SIZE] = "";
    char text[LEGEND_SIZE];

    task_name(mapping, task, name);
    if (place->gpu >= 0)
        snprintf(gpu, sizeof(gpu), "GPU %d, ", place->gpu);
    snprintf(text, sizeof(text), "%s: %s%u cores (hardware threads %s)%s%s", name, gpu, place->cores,
             mapping->cpus[task], place->nic >= 0 ? ", network card " : "",
             place->nic >= 0 ? rc_nic_name(&mapping->nics.nic[place->nic]) : "");
    add_legend(mapping, text);
}

static void describe(struct mapping *mapping)
{
    char text[LEGEND_SIZE];

    snprintf(text, sizeof(text), "rollcall map of %s: each task's GPU, cores and network card have its colour",
             mapping->file ? mapping->file : "this node");
    add_legend(mapping, text);
    for (unsigned i = 0; i < mapping->tasks && i < DESCRIBED_MAX; i++)
        describe_task(mapping, i);
}

static void annotate(struct mapping *mapping)
{
    for (unsigned i = 0; i < mapping->tasks; i++)
        mark_cores(mapping, i);
    for (unsigned i = 0; i < mapping->gpus.count; i++)
        mark_gpu(mapping, i);
    for (unsigned i = 0; i < mapping->nics.count; i++)
        mark_nic(mapping, (int)i);
    describe(mapping);
}

int map_write_xml(struct mapping *mapping, const char *file)
{
    annotate(mapping);
    if (hwloc_topology_export_xml(mapping->topology, file, 0) == 0)
        return 0;
    console_fail("map: cannot write %.200s: %s", file, strerror(errno));
    return -1;
}

/* "nativesvg" keeps text as text, where cairo's SVG draws shapes. */
const char *map_picture_format(const char *file)
{
    static const struct {
        const char *ending;
        const char *format;
    } formats[] = { { ".svg", "nativesvg" }, { ".pdf", "pdf" }, { ".png", "png" } };

    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (rc_str_ends(rc_str(file), formats[i].ending))
            return formats[i].format;
    return NULL;
}

int map_draw_picture(struct mapping *mapping, const char *file)
{
    static const char *const names[] = { "lstopo", "lstopo-no-graphics" };
    char xml[32];

    /* lstopo inherits it */
    snprintf(xml, sizeof(xml), "/dev/fd/%d", memfd_create("map.xml", 0));
    if (map_write_xml(mapping, xml) < 0)
        return STATUS_USAGE;
    /* cores of several tasks are not folded into one box; links would say their speed without its unit */
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        execlp(names[i], names[i], "-i", xml, "--if", "xml", "--no-factorize", "--no-smt", "--no-useless-caches",
               "--no-text=bridge", "--of", map_picture_format(file), "-f", file, (char *)NULL);
    if (errno == ENOENT)
        console_fail("map: a picture needs lstopo, which is not there; install it (Debian: hwloc; Red Hat: hwloc-gui), "
                     "or write --xml and draw it elsewhere");
    else
        console_fail("map: cannot start lstopo: %s", strerror(errno));
    return STATUS_USAGE;
}
