/* SPDX-License-Identifier: BSD-3-Clause */
/* pins.h - the placement that plugin and command ask for: a request on standard input, pins of resolve/pins.h. */
#ifndef ROLLCALL_LIBEXEC_MAP_PINS_H
#define ROLLCALL_LIBEXEC_MAP_PINS_H

/* `rollcall-map pins [TOPOLOGY.xml]`. The request, a line a key:
 *
 *   tasks=4           of the node
 *   gpus=0,1,2,3      of local rank 0, 1, ..., over again where there are more tasks: indices
 *                     by PCI bus id, bus ids or UUIDs; one that is none of these is no GPU;
 *                     or all: those of the vendor whose runtime a job uses
 *   cpus=0-31,64-95   the hardware threads that may be used; without: this process's
 *   cards=no          nobody wants to know the network cards, which takes longer to find out
 *   bind=cores        whole cores for each alone (default); numa: all that may be used of
 *                     their NUMA nodes
 *
 * What cannot be answered has nothing on standard output, a line on standard
 * error, and a status. */
int map_answer_pins(const char *file);

#endif
