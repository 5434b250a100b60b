/* SPDX-License-Identifier: BSD-3-Clause */
#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <stdalign.h>
#include <time.h>

#include "shim.h"
#include "system/sys.h"

/* A loader that passes no arguments leaves random values. Trust those in the kernel's layout: argc, argv, envp, then
 * environ. */
const char *const *shim_command_line(int argc, char **argv, char **envp)
{
    if (envp != environ || argc < 1 || (uintptr_t)argv % alignof(char *) != 0 ||
        (uintptr_t)envp != (uintptr_t)argv + ((size_t)argc + 1) * sizeof(*argv) || argv[argc])
        return NULL;
    return (const char *const *)argv;
}

const char *const *shim_command_read(void)
{
    enum { TEXT = 4096, WORDS = 128 };
    static char text[TEXT];
    static const char *words[WORDS + 1];
    int fd = (int)rc_sys_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    long n = fd < 0 ? -1 : rc_sys_read(fd, text, sizeof(text) - 1);
    unsigned count = 0;

    if (fd >= 0)
        rc_sys_close(fd);
    for (long i = 0; i < n && count < WORDS; i++) {
        if (i == 0 || !text[i - 1])
            words[count++] = text + i;
    }
    return count ? words : NULL;
}

/* AT_SECURE follows the kernel's environment, if argv is known. Otherwise user ids miss file capabilities. */
bool shim_is_privileged(const char *const *argv, unsigned variables)
{
    const unsigned long *auxiliary = (const unsigned long *)(const void *)(environ + variables + 1);

    if (!argv)
        return rc_sys_getuid() != rc_sys_geteuid() || rc_sys_getgid() != rc_sys_getegid();
    for (; auxiliary[0] != AT_NULL; auxiliary += 2)
        if (auxiliary[0] == AT_SECURE)
            return auxiliary[1] != 0;
    return false;
}

enum { STDERR = 2 };

void shim_page_open(struct shim_page *page)
{
    page->arena = (struct rc_arena){ .base = page->text, .size = sizeof(page->text) };
}

/* Poll first: a pipe without a reader would raise SIGPIPE, and a full one would block. */
bool shim_page_say(const struct shim_page *page)
{
    struct pollfd out = { .fd = STDERR, .events = POLLOUT };
    struct timespec at_once = { .tv_sec = 0 };

    return page->arena.used && rc_sys_call(RC_SYS_NR(ppoll), (long)&out, 1, (long)&at_once, 0, 0) == 1 &&
           out.revents == POLLOUT && rc_sys_write(STDERR, page->text, page->arena.used) > 0;
}

void shim_say_line(const char *format, ...)
{
    struct shim_page page;
    va_list args;

    shim_page_open(&page);
    rc_format(&page.arena, "rollcall: ");
    rc_join(&page.arena);
    va_start(args, format);
    rc_format_list(&page.arena, format, args);
    va_end(args);
    rc_join(&page.arena);
    shim_page_say(&page);
}
