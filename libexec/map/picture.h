/* SPDX-License-Identifier: BSD-3-Clause */
/* picture.h - a mapping as lstopo draws it: the GPU, cores and card of each task in its colour, and a caption.
 *
 * The colours and texts are annotations of the topology (lstopo(1), CUSTOM COLORS), which hwloc's XML keeps.
 */
#ifndef ROLLCALL_LIBEXEC_MAP_PICTURE_H
#define ROLLCALL_LIBEXEC_MAP_PICTURE_H

#include "mapping.h"

/* Annotates the mapping's topology and writes it; "-" is standard output. 0, or -1 after one line on standard error. */
int map_write_xml(struct mapping *mapping, const char *file);

/* The format of a picture in lstopo's words, by its file's ending: .svg, .pdf or .png. NULL for any other. */
const char *map_picture_format(const char *file);

/* Becomes lstopo, which draws the annotated topology into the file; its exit status is the program's then. Returns
 * this one's, after one line on standard error, if there is none. */
int map_draw_picture(struct mapping *mapping, const char *file);

#endif
