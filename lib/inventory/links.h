/* SPDX-License-Identifier: BSD-3-Clause */
/* links.h - how wide and fast a PCIe device's link is now, against what both of its ends can do.
 *
 * A GPU lowers its link's speed while it is idle, and raises it when it works: nvidia-smi and hwloc's maintainers warn
 * of that, and lspci shows such a link as "2.5GT/s (downgraded), Width x16". Healthy nodes would differ by what ran
 * on them last. So of a GPU the speed is that which both ends can do, and the width alone is that of now. A network
 * card keeps its speed.
 */
#ifndef ROLLCALL_INVENTORY_LINKS_H
#define ROLLCALL_INVENTORY_LINKS_H

#include "base/text.h"

/* Writes "x16 32.0 GT/s" for the device with this PCI address; "x8 of x16 ..." where both ends can do more; with
 * "behind x8 of x16" where that is so of a link between it and the processor. Absent where the kernel does not say: a
 * virtual function, many virtual machines. */
struct rc_str rc_links_write(const char *root, const char *address, bool idles, struct rc_arena *arena);

/* "0000:3b:00.0" */
bool rc_links_is_address(struct rc_str name);

#endif
