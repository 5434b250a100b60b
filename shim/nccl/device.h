/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h - the GPU on which this thread is about to join. */
#ifndef ROLLCALL_SHIM_NCCL_DEVICE_H
#define ROLLCALL_SHIM_NCCL_DEVICE_H

#include <stdbool.h>

enum { GUARD_DEVICE_SIZE = 33 };

/* Writes the UUID of this thread's GPU, or MIG instance, in hexadecimal. False where
 * CUDA's driver is not loaded, or this thread has no GPU yet. Loads and starts nothing. */
bool guard_device(char uuid[GUARD_DEVICE_SIZE]);

#endif
