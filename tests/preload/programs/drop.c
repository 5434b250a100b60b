/* SPDX-License-Identifier: BSD-3-Clause */
/* drop.c - what set-uid tools do: gives its rights up, then starts a program with the environment it has.
 *
 * A line says first whether the kernel took it for a set-uid program, and what it has for RANK.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *rank = getenv("RANK");

    printf("secure %lu, RANK=%s\n", getauxval(AT_SECURE), rank ? rank : "");
    fflush(stdout);
    if (argc < 2 || setresgid(getgid(), getgid(), getgid()) || setresuid(getuid(), getuid(), getuid()))
        return 125;
    execv(argv[1], argv + 1);
    perror(argv[1]);
    return 126;
}
