/* SPDX-License-Identifier: BSD-3-Clause */
/* descriptor.h - hands an open descriptor to another process, over a UNIX socket. */
#ifndef ROLLCALL_SYSTEM_DESCRIPTOR_H
#define ROLLCALL_SYSTEM_DESCRIPTOR_H

/* Sends a descriptor, which stays open here. Does not wait; what goes wrong is not told. */
void rc_descriptor_send(int socket, int fd);

/* Takes one that has been sent, and is not closed on exec. -1 where there is none. Does not wait. */
int rc_descriptor_take(int socket);

#endif
