/* SPDX-License-Identifier: BSD-3-Clause */
/* sys.h - the few system calls that plugin, command and preload share.
 *
 * Each returns what the kernel does: a result, or -errno. In hosted builds
 * they are libc's functions; with ROLLCALL_RAW_SYSCALLS (the preload, which
 * links no libc) they are the instructions themselves, on x86_64, aarch64,
 * ppc64le and riscv64. On another machine they all answer -ENOSYS, and the
 * preload goes without what needs them (holding the port, reading the port
 * range).
 */
#ifndef ROLLCALL_SYSTEM_SYS_H
#define ROLLCALL_SYSTEM_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* hidden by the C library's headers under a strict -std=c11 */
#ifndef O_CLOEXEC
#define O_CLOEXEC 02000000
#endif
#ifndef O_DIRECTORY
#define O_DIRECTORY 0 /* getdents64 refuses a file anyway */
#endif
#ifndef AT_FDCWD
#define AT_FDCWD (-100)
#endif

#ifndef ROLLCALL_RAW_SYSCALLS

#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

static inline long rc_sys_result(long result)
{
    return result < 0 ? -(long)errno : result;
}

static inline long rc_sys_open(const char *path, int flags)
{
    return rc_sys_result(open(path, flags));
}

static inline long rc_sys_read(int fd, void *buffer, size_t size)
{
    return rc_sys_result(read(fd, buffer, size));
}

static inline long rc_sys_close(int fd)
{
    return rc_sys_result(close(fd));
}

static inline long rc_sys_socket(int family, int type)
{
    return rc_sys_result(socket(family, type, 0));
}

static inline long rc_sys_setsockopt(int fd, int level, int option, const int *value)
{
    return rc_sys_result(setsockopt(fd, level, option, value, sizeof(*value)));
}

static inline long rc_sys_bind(int fd, const void *address, size_t size)
{
    return rc_sys_result(bind(fd, address, (socklen_t)size));
}

static inline long rc_sys_getsockname(int fd, void *address, socklen_t *size)
{
    return rc_sys_result(getsockname(fd, address, size));
}

static inline long rc_sys_dup_from(int fd, int lowest)
{
    return rc_sys_result(fcntl(fd, F_DUPFD, lowest));
}

static inline uint32_t rc_sys_getpid(void)
{
    return (uint32_t)getpid();
}

/* Whether the effective user or group is another than the real one, as in set-uid programs. */
static inline bool rc_sys_changes_user(void)
{
    return getuid() != geteuid() || getgid() != getegid();
}

static inline long rc_sys_write(int fd, const void *text, size_t size)
{
    return rc_sys_result(write(fd, text, size));
}

/* Entries of a folder as getdents64(2) writes them. */
static inline long rc_sys_read_folder(int fd, void *buffer, size_t size)
{
    return rc_sys_result(syscall(SYS_getdents64, fd, buffer, size));
}

static inline long rc_sys_uname(struct utsname *uts)
{
    return rc_sys_result(uname(uts));
}

/* The mask of the calling thread, by system call: libc's types have a fixed size, and
 * the size in older versions is too small for the largest machines. */
static inline long rc_sys_getaffinity(void *mask, size_t size)
{
    return rc_sys_result(syscall(SYS_sched_getaffinity, 0, size, mask));
}

static inline long rc_sys_setaffinity(const void *mask, size_t size)
{
    return rc_sys_result(syscall(SYS_sched_setaffinity, 0, size, mask));
}

#else /* ROLLCALL_RAW_SYSCALLS */

#include <sys/syscall.h>
#include <sys/utsname.h>

#if defined(__x86_64__) && !defined(__ILP32__)

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

static inline long rc_sys_open(const char *path, int flags)
{
    return rc_sys_call(RC_SYS_NR(openat), AT_FDCWD, (long)path, flags, 0, 0);
}

static inline long rc_sys_read(int fd, void *buffer, size_t size)
{
    return rc_sys_call(RC_SYS_NR(read), fd, (long)buffer, (long)size, 0, 0);
}

static inline long rc_sys_close(int fd)
{
    return rc_sys_call(RC_SYS_NR(close), fd, 0, 0, 0, 0);
}

static inline long rc_sys_socket(int family, int type)
{
    return rc_sys_call(RC_SYS_NR(socket), family, type, 0, 0, 0);
}

static inline long rc_sys_setsockopt(int fd, int level, int option, const int *value)
{
    return rc_sys_call(RC_SYS_NR(setsockopt), fd, level, option, (long)value, sizeof(*value));
}

static inline long rc_sys_bind(int fd, const void *address, size_t size)
{
    return rc_sys_call(RC_SYS_NR(bind), fd, (long)address, (long)size, 0, 0);
}

static inline long rc_sys_getsockname(int fd, void *address, socklen_t *size)
{
    return rc_sys_call(RC_SYS_NR(getsockname), fd, (long)address, (long)size, 0, 0);
}

static inline long rc_sys_dup_from(int fd, int lowest)
{
    return rc_sys_call(RC_SYS_NR(fcntl), fd, F_DUPFD, lowest, 0, 0);
}

static inline uint32_t rc_sys_getpid(void)
{
    long pid = rc_sys_call(RC_SYS_NR(getpid), 0, 0, 0, 0, 0);

    return pid > 0 ? (uint32_t)pid : 0;
}

static inline bool rc_sys_changes_user(void)
{
    return rc_sys_call(RC_SYS_NR(getuid), 0, 0, 0, 0, 0) != rc_sys_call(RC_SYS_NR(geteuid), 0, 0, 0, 0, 0) ||
           rc_sys_call(RC_SYS_NR(getgid), 0, 0, 0, 0, 0) != rc_sys_call(RC_SYS_NR(getegid), 0, 0, 0, 0, 0);
}

static inline long rc_sys_write(int fd, const void *text, size_t size)
{
    return rc_sys_call(RC_SYS_NR(write), fd, (long)text, (long)size, 0, 0);
}

static inline long rc_sys_read_folder(int fd, void *buffer, size_t size)
{
    return rc_sys_call(RC_SYS_NR(getdents64), fd, (long)buffer, (long)size, 0, 0);
}

static inline long rc_sys_uname(struct utsname *uts)
{
    return rc_sys_call(RC_SYS_NR(uname), (long)uts, 0, 0, 0, 0);
}

static inline long rc_sys_getaffinity(void *mask, size_t size)
{
    return rc_sys_call(RC_SYS_NR(sched_getaffinity), 0, (long)size, (long)mask, 0, 0);
}

static inline long rc_sys_setaffinity(const void *mask, size_t size)
{
    return rc_sys_call(RC_SYS_NR(sched_setaffinity), 0, (long)size, (long)mask, 0, 0);
}

#endif

#endif
