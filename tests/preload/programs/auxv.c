/* SPDX-License-Identifier: BSD-3-Clause */
/* auxv.c - finds the auxiliary vector as the Go runtime does: behind the NULL
 * that ends the environment, which is behind argv.
 *
 * A preload that moves that NULL makes every cgo program misread the vector.
 */
#include <elf.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char **p = argv + argc + 1;
    const unsigned long *aux;
    unsigned long page = 0, random = 0;

    while (*p++)
        ;
    for (aux = (const unsigned long *)(const void *)p; aux[0] != AT_NULL; aux += 2) {
        if (aux[0] == AT_PAGESZ)
            page = aux[1];
        if (aux[0] == AT_RANDOM)
            random = aux[1];
        if (aux[0] > 4096)
            break; /* not a tag: the vector is misread */
    }
    if (page != (unsigned long)sysconf(_SC_PAGESIZE) || random != getauxval(AT_RANDOM)) {
        printf("auxv misread\n");
        return 1;
    }
    printf("auxv ok\n");
    return 0;
}
