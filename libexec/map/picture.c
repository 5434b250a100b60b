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

enum { NOT_THERE = 127, PATH_SIZE = 4096 };

/* Told apart by colour-blind eyes, too: M. Okabe, K. Ito, "Color Universal Design"; olive (P. Tol,
 * "Colour Schemes") in the place of its black, on which text cannot be read. */
static const char *const colours[] = { "#56b4e9", "#e69f00", "#009e73", "#f0e442",
                                       "#cc79a7", "#d55e00", "#0072b2", "#999933" };

static void paint_object(hwloc_obj_t object, const char *colour)
{
    char style[32];

    snprintf(style, sizeof(style), "Background=%s", colour);
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

static void mark_task(struct mapping *mapping, unsigned task)
{
    const struct rc_place *place = &mapping->place[task];
    const char *colour = colours[task % (sizeof(colours) / sizeof(*colours))];
    hwloc_obj_t parent = place->gpu >= 0 ? mapping->gpus.gpu[place->gpu].pci
                                         : hwloc_get_obj_covering_cpuset(mapping->topology, place->cpus);
    hwloc_obj_t misc;
    char name[32];

    snprintf(name, sizeof(name), task == mapping->local_rank ? "task %u (this)" : "task %u", task);
    misc = hwloc_topology_insert_misc_object(mapping->topology, parent ? parent : hwloc_get_root_obj(mapping->topology),
                                             name);
    if (misc)
        paint_object(misc, colour);
    if (place->gpu >= 0)
        paint_object(parent, colour);
    paint_cores(mapping->topology, place->cpus, colour);
}

static void become_lstopo(const char *xml, const char *format, const char *file)
{
    static const char *const names[] = { "lstopo", "lstopo-no-graphics" };
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd);
    for (unsigned i = 0; i < 2; i++)
        execlp(names[i], names[i], "-i", xml, "--if", "xml", "-f", "--of", format, file, (char *)NULL);
    _exit(NOT_THERE);
}

/* Runs a program and returns its status as waitpid(2) gives it, or -1. */
static int draw_as(const char *xml, const char *format, const char *file)
{
    pid_t child = fork();
    int status = -1;
    pid_t ended;

    if (child == 0)
        become_lstopo(xml, format, file);
    do
        ended = waitpid(child, &status, 0);
    while (child > 0 && ended < 0 && errno == EINTR);
    return child < 0 || ended < 0 ? -1 : status;
}

static int run_lstopo(const char *xml, const char *format, const char *file)
{
    bool svg = strcmp(format, "svg") == 0;
    int status = draw_as(xml, svg ? "nativesvg" : format, file);

    /* "nativesvg" keeps text as text, where cairo's SVG draws shapes; an old lstopo has no
     * such format */
    if (svg && status > 0 && WIFEXITED(status) && WEXITSTATUS(status) != NOT_THERE)
        status = draw_as(xml, format, file);
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
        console_fail("map: lstopo could not draw %.200s", file);
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

static int draw_topology(hwloc_topology_t topology, const char *format, const char *file)
{
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
    if (hwloc_topology_export_xml(topology, xml, 0) < 0)
        console_fail("map: cannot write %.200s: %s", xml, strerror(errno));
    else
        status = run_lstopo(xml, format, path);
    unlink(xml);
    if (status < 0 && made)
        unlink(path);
    return status;
}

int map_draw_picture(struct mapping *mapping, const char *format, const char *file)
{
    for (unsigned i = 0; i < mapping->tasks; i++)
        mark_task(mapping, i);
    return draw_topology(mapping->topology, format, file);
}
