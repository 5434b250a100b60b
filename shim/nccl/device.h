/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h - the GPU on which this thread is about to join. */
#ifndef ROLLCALL_SHIM_NCCL_DEVICE_H
#define ROLLCALL_SHIM_NCCL_DEVICE_H

#include <stdbool.h>

enum { GUARD_DEVICE_SIZE = 33 };

/* Its UUID, or that of its MIG part, in hexadecimal. False where CUDA's driver is
 * not loaded, or this thread has no GPU yet: nothing is loaded or begun for it. */
bool guard_device(char uuid[GUARD_DEVICE_SIZE]);

#endif
