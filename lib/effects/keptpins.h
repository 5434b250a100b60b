/* SPDX-License-Identifier: BSD-3-Clause */
/* keptpins.h - what rollcall-map has answered, for the user's next step on the node.
 *
 * Starting it takes more of the processor than all else that a node does for the roll call (tests/bench: 2.5 of 4.3
 * ms). The answer is kept in the user's keyring for some minutes, with all that it was made from: the question, the
 * program, the machine's hardware threads and its PCI devices.
 */
#ifndef ROLLCALL_EFFECTS_KEPTPINS_H
#define ROLLCALL_EFFECTS_KEPTPINS_H

#include "base/text.h"
#include "system/keyring.h"

struct rc_keptpins {
    char text[RC_KEYRING_TEXT]; /* the whole question */
    size_t length;              /* 0: its answer is not kept */
};

/* Begins with a request to the rollcall-map at `path`. Where it names GPUs, the machine's must be the same. */
void rc_keptpins_begin(struct rc_keptpins *kept, const char *path, struct rc_str request, bool has_gpus);

/* Writes the answer with a NUL behind it. Returns its length; 0 where none is kept that fits into `size`. */
size_t rc_keptpins_find(const struct rc_keptpins *kept, char *answer, size_t size);

/* Keeps the answer. *kept is used up. */
void rc_keptpins_keep(struct rc_keptpins *kept, struct rc_str answer);

#endif
