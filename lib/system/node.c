/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/node.h"

#include "base/numbers.h"
#include "system/file.h"
#include "system/sys.h"

#include <stdalign.h>

/* "32768\t60999\n" */
static bool next_number(struct rc_str *text, uint16_t *number)
{
    uint32_t value;
    size_t n = 0;

    while (text->n && (*text->p == ' ' || *text->p == '\t'))
        *text = (struct rc_str){ text->p + 1, text->n - 1 };
    while (n < text->n && text->p[n] >= '0' && text->p[n] <= '9')
        n++;
    if (!rc_parse_u32((struct rc_str){ text->p, n }, UINT16_MAX, &value))
        return false;
    *number = (uint16_t)value;
    *text = (struct rc_str){ text->p + n, text->n - n };
    return true;
}

void rc_node_port_range(uint16_t *first, uint16_t *last)
{
    char buffer[64];
    struct rc_str text;
    uint16_t low;
    uint16_t high;

    *first = *last = 0;
    text = (struct rc_str){ buffer, rc_file_read("/proc/sys/net/ipv4/ip_local_port_range", buffer, sizeof(buffer)) };
    if (next_number(&text, &low) && next_number(&text, &high) && low <= high) {
        *first = low;
        *last = high;
    }
}

const char *rc_node_name(char name[RC_NODE_NAME_SIZE])
{
    struct utsname uts = { .nodename = "" };
    size_t n = 0;

    _Static_assert(sizeof(uts.nodename) == RC_NODE_NAME_SIZE, "as Linux has it");
    if (rc_sys_uname(&uts) < 0)
        uts.nodename[0] = '\0';
    do
        name[n] = uts.nodename[n];
    while (name[n++]);
    return name;
}

/* "nvidia0", but not "nvidia-uvm", "nvidiactl" or "nvidia-caps" */
static bool is_gpu(const char *name)
{
    struct rc_str text = rc_str(name);
    uint32_t number;

    return rc_str_starts(text, "nvidia") &&
           rc_parse_u32((struct rc_str){ text.p + 6, text.n - 6 }, UINT16_MAX, &number);
}

uint32_t rc_node_gpus(void)
{
    /* struct linux_dirent64, which no header has */
    enum { LENGTH_AT = 16, NAME_AT = 19 };
    alignas(uint64_t) char buffer[4096];
    long fd = rc_sys_open("/dev", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    uint32_t count = 0;
    long n;

    if (fd < 0)
        return RC_UNKNOWN;
    while ((n = rc_sys_read_folder((int)fd, buffer, sizeof(buffer))) > 0) {
        for (long at = 0; at < n;) {
            uint16_t length;

            __builtin_memcpy(&length, buffer + at + LENGTH_AT, sizeof(length));
            count += is_gpu(buffer + at + NAME_AT);
            at += length;
        }
    }
    rc_sys_close((int)fd);
    return count;
}
