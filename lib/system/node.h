/* SPDX-License-Identifier: BSD-3-Clause */
/* node.h - facts about this node that the core needs and may not read itself. */
#ifndef ROLLCALL_SYSTEM_NODE_H
#define ROLLCALL_SYSTEM_NODE_H

#include <stdint.h>

enum { RC_NODE_NAME_SIZE = 65 }; /* as in struct utsname */

/* The range that the kernel takes outgoing connections' ports from
 * (/proc/sys/net/ipv4/ip_local_port_range, which covers IPv6 as well). Writes
 * 0,0 where it cannot be read. Four system calls, no allocation, no stdio. */
void rc_node_port_range(uint16_t *first, uint16_t *last);

/* This node's own name into name, which is also returned; "" where there is none. */
const char *rc_node_name(char name[RC_NODE_NAME_SIZE]);

/* The number of NVIDIA GPUs that this process can see as /dev/nvidiaN; a container has
 * only its own. RC_UNKNOWN where /dev cannot be read. */
uint32_t rc_node_gpus(void);

#endif
