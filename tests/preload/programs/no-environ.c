/* SPDX-License-Identifier: BSD-3-Clause */
/* no-environ.c - a preload library whose constructor takes the environment away. */
extern char **environ;

__attribute__((constructor)) static void take_away(void)
{
    environ = 0;
}
