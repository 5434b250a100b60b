/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz.h - what the harnesses share: one function that takes an input, and checks that stop the process.
 *
 * A harness is one file fuzz_NAME.c with fuzz_one(). Built with libFuzzer it is a fuzzer; without (see
 * fuzz.am) it reads its inputs from files, and runs each once: replay.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/message.h"
#include "base/text.h"

/* The harness: tries one input. May be called again and again. */
void fuzz_one(struct rc_str input);

/* Ends the process with a line on standard error where the condition is false. */
#define CHECK(condition) ((condition) ? (void)0 : fuzz_fail(#condition, __FILE__, __LINE__))
_Noreturn void fuzz_fail(const char *condition, const char *file, int line);

/* A copy with an allocation of exactly its size: a sanitizer sees a read past it. The caller frees it. An absent
 * text stays absent. */
struct rc_str fuzz_copy(struct rc_str text);
void fuzz_free(struct rc_str text);

/* The same with a NUL after it. A NUL within the text ends it. */
char *fuzz_copy_string(struct rc_str text);

/* Takes a line of numbers off the input; one that is not there is as it was. */
void fuzz_take_numbers(struct rc_str *input, uint32_t *number, unsigned count, uint32_t most);

/* Whether a slice is a piece of the text that it was taken from, or absent. */
bool fuzz_is_within(struct rc_str part, struct rc_str whole);

/* Hands an input to the reader that its first letter names, in an allocation of exactly its size. */
struct fuzz_reader {
    char letter;
    void (*try)(struct rc_str text);
};
void fuzz_try(const struct fuzz_reader *readers, size_t count, struct rc_str input);

/* An empty arena, always the same one of that many bytes at most. */
struct rc_arena fuzz_arena(size_t size);
enum { FUZZ_ARENA = 1 << 20 };

bool fuzz_is_printable(struct rc_str text);

/* Whether a text is one JSON object as the writer of all --json output has it: integers, and printable ASCII. */
bool fuzz_is_json(struct rc_str text);

/* Each message is one line of printable ASCII, with an id of the catalogue. */
void fuzz_check_messages(const struct rc_messages *messages);

/* The lowest descriptor that is free. */
int fuzz_free_descriptor(void);
