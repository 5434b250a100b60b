/* SPDX-License-Identifier: BSD-3-Clause */
/* sys.h - the few system calls that plugin, command and preload share.
 *
 * Each returns what the kernel does: a result, or -errno. In hosted builds they go through libc's syscall(); with
 * ROLLCALL_RAW_SYSCALLS (the preload, which links no libc) they are the instructions themselves, on x86_64, aarch64,
 * ppc64le and riscv64. On another machine they all answer -ENOSYS, and the preload goes without what needs them
 * (holding the port, reading the port range).
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* hidden by the C library's headers under a strict -std=c11 */
#ifndef O_CLOEXEC
#define O_CLOEXEC 02000000
#endif
#ifndef AT_FDCWD
#define AT_FDCWD (-100)
#endif

#ifndef ROLLCALL_RAW_SYSCALLS

static inline long rc_sys_call(long number, long a, long b, long c, long d, long e)
{
    long result = syscall(number, a, b, c, d, e);

    return result < 0 ? -(long)errno : result;
}

#elif defined(__x86_64__) && !defined(__ILP32__)

static inline long rc_sys_call(long number, long a, long b, long c, long d, long e)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__) && !defined(__ILP32__)

static inline long rc_sys_call(long number, long a, long b, long c, long d, long e)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
}

#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)

/* An error is a positive number, and the overflow bit of the first condition field says so. */
static inline long rc_sys_call(long number, long a, long b, long c, long d, long e)
{
    register long r0 __asm__("r0") = number;
    register long r3 __asm__("r3") = a;
    register long r4 __asm__("r4") = b;
    register long r5 __asm__("r5") = c;
    register long r6 __asm__("r6") = d;
    register long r7 __asm__("r7") = e;

    __asm__ volatile("sc\n\tbns+ 1f\n\tneg %1, %1\n1:"
                     : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7)
                     :
                     : "memory", "cr0", "ctr", "xer", "r8", "r9", "r10", "r11", "r12");
    return r3;
}

#elif defined(__riscv) && __riscv_xlen == 64

static inline long rc_sys_call(long number, long a, long b, long c, long d, long e)
{
    register long a7 __asm__("a7") = number;
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a3 __asm__("a3") = d;
    register long a4 __asm__("a4") = e;

    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4) : "memory");
    return a0;
}

#else

#define RC_NO_SYSCALLS 1

static inline long rc_sys_call(long number, long a, long b, long c, long d, long e)
{
    (void)number, (void)a, (void)b, (void)c, (void)d, (void)e;
    return -ENOSYS;
}

#endif

#ifdef RC_NO_SYSCALLS
#define RC_SYS_NR(name) 0 /* i386 and others have no name for some of these */
#else
#define RC_SYS_NR(name) SYS_##name
#endif

/* A row each: the function, its parameters, the kernel's call, and that one's arguments. */
#define RC_SYS_CALL(function, parameters, call, a, b, c, d, e)                                      \
    static inline long function parameters                                                          \
    {                                                                                               \
        return rc_sys_call(RC_SYS_NR(call), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e)); \
    }

/* clang-format off */
RC_SYS_CALL(rc_sys_open, (const char *path, int flags), openat, AT_FDCWD, path, flags, 0, 0)
RC_SYS_CALL(rc_sys_read, (int fd, void *buffer, size_t size), read, fd, buffer, size, 0, 0)
RC_SYS_CALL(rc_sys_write, (int fd, const void *text, size_t size), write, fd, text, size, 0, 0)
RC_SYS_CALL(rc_sys_close, (int fd), close, fd, 0, 0, 0, 0)
RC_SYS_CALL(rc_sys_dup_from, (int fd, int lowest), fcntl, fd, F_DUPFD, lowest, 0, 0)

RC_SYS_CALL(rc_sys_access, (const char *path, int mode), faccessat, AT_FDCWD, path, mode, 0, 0)

RC_SYS_CALL(rc_sys_socket, (int family, int type), socket, family, type, 0, 0, 0)
RC_SYS_CALL(rc_sys_setsockopt, (int fd, int level, int option, const int *value), setsockopt, fd, level, option, value,
            sizeof(*value))
RC_SYS_CALL(rc_sys_bind, (int fd, const void *address, size_t size), bind, fd, address, size, 0, 0)
RC_SYS_CALL(rc_sys_getsockname, (int fd, void *address, socklen_t *size), getsockname, fd, address, size, 0, 0)

RC_SYS_CALL(rc_sys_uname, (struct utsname *uts), uname, uts, 0, 0, 0, 0)

/* Of this process. `next` may be NULL, to read only. */
struct rc_limit {
    uint64_t soft;
    uint64_t hard;
};

RC_SYS_CALL(rc_sys_limit, (int resource, const struct rc_limit *next, struct rc_limit *now), prlimit64, 0, resource,
            next, now, 0)

/* The mask of the calling thread. libc's own type has a fixed size, in older versions too small for the largest
 * machines. */
RC_SYS_CALL(rc_sys_getaffinity, (void *mask, size_t size), sched_getaffinity, 0, size, mask, 0, 0)
RC_SYS_CALL(rc_sys_setaffinity, (const void *mask, size_t size), sched_setaffinity, 0, size, mask, 0, 0)

RC_SYS_CALL(rc_sys_getpid, (void), getpid, 0, 0, 0, 0, 0)
RC_SYS_CALL(rc_sys_getuid, (void), getuid, 0, 0, 0, 0, 0)
RC_SYS_CALL(rc_sys_geteuid, (void), geteuid, 0, 0, 0, 0, 0)
RC_SYS_CALL(rc_sys_getgid, (void), getgid, 0, 0, 0, 0, 0)
RC_SYS_CALL(rc_sys_getegid, (void), getegid, 0, 0, 0, 0, 0)
/* clang-format on */
