/* SPDX-License-Identifier: BSD-3-Clause */
/* move-environ.c - a preload library whose constructor moves the environment to the heap. */
#include <stdlib.h>

__attribute__((constructor)) static void move(void)
{
    setenv("MOVED", "1", 1);
}
