/* SPDX-License-Identifier: BSD-3-Clause */
/* picture.h - a mapping as lstopo draws it: the GPU, cores and card of each task in its colour, and a caption. */
#ifndef ROLLCALL_LIBEXEC_MAP_PICTURE_H
#define ROLLCALL_LIBEXEC_MAP_PICTURE_H

#include "mapping.h"

/* Marks the mapping's topology and has lstopo draw it into a file; format is
 * "svg" or "png". 0, or -1 after one line on standard error. */
int map_draw_picture(struct mapping *mapping, const char *format, const char *file);

#endif
