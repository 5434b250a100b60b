/* SPDX-License-Identifier: BSD-3-Clause */
/* hostile - tries to change what is outside of a rehearsal, by system calls that no hook sees; prints what it could.
 * Arguments: a file that exists, a process, a port of this machine. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static void say(const char *what, long rc)
{
    if (rc >= 0)
        printf("%s\n", what);
}

int main(int argc, char **argv)
{
    const char *file = argv[1];
    char other[4096];
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(argv[3])) };
    char *python[] = { (char[]){ "python3" }, (char[]){ "-c" }, (char[]){ "print('started')" }, NULL };
    int fd;

    if (argc < 4)
        return 2;
    snprintf(other, sizeof(other), "%s.new", file);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    say("write", syscall(SYS_openat, AT_FDCWD, file, O_WRONLY));
    say("append", syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_APPEND));
    say("create", syscall(SYS_openat, AT_FDCWD, other, O_WRONLY | O_CREAT, 0600));
    say("truncate", syscall(SYS_truncate, file, 0));
    say("chmod", syscall(SYS_fchmodat, AT_FDCWD, file, 0777));
    say("chown", syscall(SYS_fchownat, AT_FDCWD, file, 65534, 65534, 0));
    say("times", syscall(SYS_utimensat, AT_FDCWD, file, NULL, 0));
    say("rename", syscall(SYS_renameat2, AT_FDCWD, file, AT_FDCWD, other, 0));
    say("link", syscall(SYS_linkat, AT_FDCWD, file, AT_FDCWD, other, 0));
    say("symlink", syscall(SYS_symlinkat, file, AT_FDCWD, other));
    say("mkdir", syscall(SYS_mkdirat, AT_FDCWD, other, 0700));
    say("mkfifo", syscall(SYS_mknodat, AT_FDCWD, other, 0010600, 0));
    say("attribute", syscall(SYS_setxattr, file, "user.x", "1", 1, 0));
    fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDONLY);
    say("fchmod", fd < 0 ? -1 : syscall(SYS_fchmod, fd, 0777));
    say("unlink", syscall(SYS_unlinkat, AT_FDCWD, file, 0));
    say("kill", syscall(SYS_kill, atoi(argv[2]), SIGUSR1));
    say("kill a group", syscall(SYS_kill, -atoi(argv[2]), SIGUSR1));
    fd = socket(AF_INET, SOCK_STREAM, 0);
    say("connect", fd < 0 ? -1 : connect(fd, (struct sockaddr *)&address, sizeof(address)));
    say("udp", socket(AF_INET, SOCK_DGRAM, 0));
    say("mount", mount("none", "/mnt", "tmpfs", 0, NULL));
    say("namespace", syscall(SYS_unshare, 0x10000000));
    say("terminal", open("/dev/tty", O_RDWR));
    fflush(stdout);
    syscall(SYS_execve, "/usr/bin/python3", python, NULL);
    printf("end\n");
    return 0;
}
