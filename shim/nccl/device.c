/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "device.h"

#include <dlfcn.h>
#include <string.h>

enum { UUID_BYTES = 16 };

struct uuid {
    unsigned char bytes[UUID_BYTES];
};

/* CUresult and CUdevice are ints. */
typedef int current_device(int *device);
typedef int device_uuid(struct uuid *uuid, int device);

/* Copies the address, because C has no conversion from an object's pointer to a function's. */
static bool find_symbol(void *handle, const char *name, void *function)
{
    void *address = dlsym(handle, name);

    memcpy(function, &address, sizeof(address));
    return address != NULL;
}

bool guard_device(char uuid[GUARD_DEVICE_SIZE])
{
    static const char digit[] = "0123456789abcdef";
    void *cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    current_device *current;
    device_uuid *of_device;
    struct uuid found;
    int device;
    bool good;

    if (!cuda)
        return false;
    /* cuDeviceGetUuid_v2 (CUDA 11.4 and later) gives MIG instances their own UUIDs */
    good = find_symbol(cuda, "cuCtxGetDevice", &current) &&
           (find_symbol(cuda, "cuDeviceGetUuid_v2", &of_device) || find_symbol(cuda, "cuDeviceGetUuid", &of_device)) &&
           current(&device) == 0 && of_device(&found, device) == 0;
    dlclose(cuda);
    for (unsigned i = 0; good && i < UUID_BYTES; i++) {
        uuid[2 * i] = digit[found.bytes[i] >> 4];
        uuid[2 * i + 1] = digit[found.bytes[i] & 15];
    }
    if (good)
        uuid[2 * UUID_BYTES] = '\0';
    return good;
}
