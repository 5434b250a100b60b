/* SPDX-License-Identifier: BSD-3-Clause */
#include "picture.h"

#include <errno.h>
#include <fcntl.h>
#include <hwloc/export.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "console/usage.h"

enum { NOT_THERE = 127, PATH_SIZE = 4096, NAME_SIZE = 32, LEGEND_SIZE = 400, DESCRIBED_MAX = 16 };

/* What lstopo is to draw. */
struct drawing {
    const char *xml;
    const char *file;
    bool unfolded; /* each core has its own box */
    bool plain;    /* for an lstopo that does not know the options of a new one */
};

/* Told apart by colour-blind eyes, too: M. Okabe, K. Ito, "Color Universal Design"; olive (P. Tol,
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

/* Writes a text into the box of an object, or below it, on a task's colour; NULL: on none. */
static void label_object(struct mapping *mapping, hwloc_obj_t object, const char *colour, const char *text)
{
    hwloc_obj_t misc = hwloc_topology_insert_misc_object(mapping->topology, object, text);

    if (misc && colour)
        paint_object(misc, colour);
}

static void task_name(const struct mapping *mapping, unsigned task, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, task == mapping->local_rank ? "task %u (this)" : "task %u", task);
}

static void mark_cores(struct mapping *mapping, unsigned task)
{
    const struct rc_place *place = &mapping->place[task];
    hwloc_obj_t box = hwloc_get_obj_covering_cpuset(mapping->topology, place->cpus);
    char name[NAME_SIZE];

    paint_cores(mapping->topology, place->cpus, task_colour(task));
    task_name(mapping, task, name);
    if (place->gpu < 0)
        label_object(mapping, box ? box : hwloc_get_root_obj(mapping->topology), task_colour(task), name);
}

/* Its number among the GPUs, and each task that has it. */
static void mark_gpu(struct mapping *mapping, unsigned gpu)
{
    hwloc_obj_t pci = mapping->gpus.gpu[gpu].pci;
    char text[NAME_SIZE];

    snprintf(text, sizeof(text), "GPU %u", gpu);
    label_object(mapping, pci, NULL, text);
    for (unsigned task = 0; task < mapping->tasks; task++) {
        if (mapping->place[task].gpu != (int)gpu)
            continue;
        task_name(mapping, task, text);
        label_object(mapping, pci, task_colour(task), text);
        paint_object(pci, task_colour(task));
    }
}

/* A card that several tasks have keeps its own colour; theirs are in it. */
static void mark_nic(struct mapping *mapping, int nic)
{
    hwloc_obj_t pci = mapping->nics.nic[nic].pci;
    unsigned tasks = 0;
    unsigned last = 0;

    for (unsigned task = 0; pci && task < mapping->tasks; task++) {
        char name[NAME_SIZE];

        if (mapping->place[task].nic != nic)
            continue;
        task_name(mapping, task, name);
        label_object(mapping, pci, task_colour(task), name);
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
    char *cpus = NULL;
    char name[NAME_SIZE];
    char gpu[NAME_SIZE] = "";
    char text[LEGEND_SIZE];

    task_name(mapping, task, name);
    if (place->gpu >= 0)
        snprintf(gpu, sizeof(gpu), "GPU %d, ", place->gpu);
    if (hwloc_bitmap_list_asprintf(&cpus, place->cpus) < 0)
        return;
    snprintf(text, sizeof(text), "%s: %s%u cores (hardware threads %s)%s%s", name, gpu, place->cores, cpus,
             place->nic >= 0 ? ", network card " : "",
             place->nic >= 0 ? rc_nic_name(&mapping->nics.nic[place->nic]) : "");
    free(cpus);
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

static unsigned task_of(const struct mapping *mapping, hwloc_obj_t core)
{
    unsigned task = 0;

    while (task < mapping->tasks && !hwloc_bitmap_intersects(core->cpuset, mapping->place[task].cpus))
        task++;
    return task;
}

/* What lstopo draws a core beside others in; its own caches may lie between. */
static hwloc_obj_t row_of(hwloc_obj_t core)
{
    while (core->parent && core->parent->arity == 1)
        core = core->parent;
    return core->parent;
}

/* Whether cores that lstopo would fold into one box are of different tasks. */
static bool has_border(const struct mapping *mapping)
{
    hwloc_obj_t last = NULL;

    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(mapping->topology, HWLOC_OBJ_CORE, o)) != NULL;) {
        if (last && row_of(o) == row_of(last) && task_of(mapping, o) != task_of(mapping, last))
            return true;
        last = o;
    }
    return false;
}

static void become_lstopo(const struct drawing *drawing, const char *format)
{
    static const char *const names[] = { "lstopo", "lstopo-no-graphics" };
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd);
    /* links say their speed without its unit */
    for (unsigned i = 0; i < 2; i++)
        execlp(names[i], names[i], "-i", drawing->xml, "--if", "xml", "-f", "--of", format, drawing->file,
               drawing->plain ? (char *)NULL : "--no-default-legend", "--no-useless-caches", "--no-text=bridge",
               drawing->unfolded ? "--no-factorize" : (char *)NULL, "--no-smt", (char *)NULL);
    _exit(NOT_THERE);
}

/* Runs a program and returns its status as waitpid(2) gives it, or -1. */
static int draw_as(const struct drawing *drawing, const char *format)
{
    pid_t child = fork();
    int status = -1;
    pid_t ended;

    if (child == 0)
        become_lstopo(drawing, format);
    do
        ended = waitpid(child, &status, 0);
    while (child > 0 && ended < 0 && errno == EINTR);
    return child < 0 || ended < 0 ? -1 : status;
}

static bool has_refused(int status)
{
    return status > 0 && WIFEXITED(status) && WEXITSTATUS(status) != NOT_THERE;
}

/* Draws as well as this lstopo can: an old one has no such format, or folds all cores. */
static int draw(struct drawing *drawing, const char *format)
{
    bool svg = strcmp(format, "svg") == 0;
    /* "nativesvg" keeps text as text, where cairo's SVG draws shapes */
    int status = draw_as(drawing, svg ? "nativesvg" : format);

    if (svg && has_refused(status))
        status = draw_as(drawing, format);
    if (!has_refused(status) || drawing->plain)
        return status;
    drawing->plain = true;
    return draw(drawing, format);
}

static int run_lstopo(struct drawing *drawing, const char *format)
{
    bool svg = strcmp(format, "svg") == 0;
    int status = draw(drawing, format);

    if (status < 0)
        console_fail("map: cannot start lstopo: %s", strerror(errno));
    else if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_THERE)
        console_fail(
            "map: --%s needs lstopo, which is not there; install it (Debian: hwloc; for --svg hwloc-nox will do)",
            format);
    else if (status != 0 && !svg)
        console_fail(
            "map: this lstopo draws no PNG: it was built without cairo; install the whole one (Debian: hwloc, in the "
            "place of hwloc-nox; Red Hat: hwloc-gui), or draw --svg");
    else if (status != 0)
        console_fail("map: lstopo could not draw %.200s", drawing->file);
    else
        return 0;
    return -1;
}

/* Returns the file's name so that lstopo takes it for no option where it begins with a dash. */
static int write_target(const char *file, char path[PATH_SIZE])
{
    return snprintf(path, PATH_SIZE, "%s%s", *file == '-' ? "./" : "", file) < PATH_SIZE ? 0 : -1;
}

/* Checks whether the file can be written, because lstopo's status does not say why it
 * failed. *made says that the file was not there before. */
static int create_picture(const char *file, bool *made)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    *made = fd >= 0;
    if (fd < 0 && errno == EEXIST)
        fd = open(file, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        console_fail("map: cannot write %.200s: %s", file, strerror(errno));
        return -1;
    }
    close(fd);
    return 0;
}

static int draw_topology(const struct mapping *mapping, const char *format, const char *file)
{
    struct drawing drawing = { .unfolded = has_border(mapping) };
    const char *folder = getenv("TMPDIR");
    char xml[PATH_SIZE];
    char path[PATH_SIZE];
    bool made;
    int status = -1;
    int fd;

    if (write_target(file, path) < 0 ||
        snprintf(xml, sizeof(xml), "%s/rollcall-map.XXXXXX", folder && *folder ? folder : "/tmp") >= (int)sizeof(xml)) {
        console_fail("map: the name of the file is too long");
        return -1;
    }
    if (create_picture(path, &made) < 0)
        return -1;
    fd = mkstemp(xml);
    if (fd < 0) {
        console_fail("map: cannot make %.200s: %s", xml, strerror(errno));
        if (made)
            unlink(path);
        return -1;
    }
    close(fd);
    drawing.xml = xml;
    drawing.file = path;
    if (hwloc_topology_export_xml(mapping->topology, xml, 0) < 0)
        console_fail("map: cannot write %.200s: %s", xml, strerror(errno));
    else
        status = run_lstopo(&drawing, format);
    unlink(xml);
    if (status < 0 && made)
        unlink(path);
    return status;
}

int map_draw_picture(struct mapping *mapping, const char *format, const char *file)
{
    for (unsigned i = 0; i < mapping->tasks; i++)
        mark_cores(mapping, i);
    for (unsigned i = 0; i < mapping->gpus.count; i++)
        mark_gpu(mapping, i);
    for (unsigned i = 0; i < mapping->nics.count; i++)
        mark_nic(mapping, (int)i);
    describe(mapping);
    return draw_topology(mapping, format, file);
}
