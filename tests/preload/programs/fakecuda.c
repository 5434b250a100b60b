/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of CUDA's driver: one GPU, whose number is in FAKE_GPU. */
#include <stdlib.h>
#include <string.h>

int cuCtxGetDevice(int *device)
{
    *device = 0;
    return getenv("FAKE_GPU") ? 0 : 201; /* CUDA_ERROR_INVALID_CONTEXT */
}

int cuDeviceGetUuid_v2(unsigned char uuid[16], int device)
{
    memset(uuid, atoi(getenv("FAKE_GPU")), 16);
    return device;
}
