/* SPDX-License-Identifier: BSD-3-Clause */
/* objects.h - the programs and libraries of this process, as its loader lists them: whose an address is, and whose
 * function comes after ours.
 *
 * Asks dl_iterate_phdr, which each libc has in any version (dlsym was in a library of its
 * own before glibc 2.34), and which takes the loader's lock: other threads may load libraries meanwhile.
 */
#ifndef ROLLCALL_SHIM_OBJECTS_H
#define ROLLCALL_SHIM_OBJECTS_H

#include <stdint.h>

#include "base/text.h"

/* Whether the library that the address is in has a file name, without its folder, that begins with one of these
 * words, parted by blanks. The program itself has none. */
bool shim_object_is(uintptr_t address, const char *words);

/* The function of that name in the first object behind the one that this code is in: what dlsym
 * finds with RTLD_NEXT. 0 where there is none. */
uintptr_t shim_object_next(const char *name);

#endif
