/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/file.h"

#include "system/sys.h"

size_t rc_file_read(const char *path, char *buffer, size_t size)
{
    long fd = rc_sys_open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    size_t used = 0;
    long n = 0;

    if (fd < 0)
        return 0;
    while (used < size && (n = rc_sys_read((int)fd, buffer + used, size - used)) > 0)
        used += (size_t)n;
    rc_sys_close((int)fd);
    return n < 0 ? 0 : used;
}
