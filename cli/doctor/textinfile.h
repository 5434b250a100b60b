/* SPDX-License-Identifier: BSD-3-Clause */
/* textinfile.h - looks for a text in a file, such as a release in a library that is not loaded. */
#ifndef ROLLCALL_CLI_DOCTOR_TEXTINFILE_H
#define ROLLCALL_CLI_DOCTOR_TEXTINFILE_H

#include <stdbool.h>
#include <stddef.h>

/* True if the file has this text. Then `rest`, if it is not NULL, has what follows up to the next zero byte, at most
 * size - 1 bytes. */
bool doctor_text_in_file(const char *path, const char *text, char *rest, size_t size);

#endif
