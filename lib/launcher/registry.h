/* SPDX-License-Identifier: BSD-3-Clause */
/* registry.h - all launcher families, in order of precedence.
 *
 * Of a family NAME:
 *
 * const struct rc_launcher rc_launcher_NAME
 *
 * enum rc_claim rc_NAME_recognise(reader, facts)
 *     Which launch this is and which of its tasks: facts->scope, run_id,
 *     port_seed (rc_facts_name) and the rank. It is kept short: nearly every
 *     process carries the stamp of its own task, and needs no more than this.
 *     It changes the facts and reader->why, messages and wanted alone, and may
 *     be called twice. RC_CLAIM_ABSENT also where another family's launcher has
 *     set the variables (PMIx's in a task of mpirun): two claims mean two
 *     launchers, one inside the other.
 *
 * bool rc_NAME_read(reader, facts)
 *     All the rest, into facts that recognise has filled. False, with a
 *     message, where the values are contradictory.
 *
 * Functions, not pointers to them: see struct rc_variable.
 */
#ifndef ROLLCALL_LAUNCHER_REGISTRY_H
#define ROLLCALL_LAUNCHER_REGISTRY_H

#include "launcher/facts.h"

#define ROLLCALL_MARKER(name, variable)

enum {
#define ROLLCALL_LAUNCHER(name) RC_LAUNCHER_INDEX_##name,
#include "launcher/registry.def"
#undef ROLLCALL_LAUNCHER
    RC_LAUNCHER_COUNT
};

#define ROLLCALL_LAUNCHER(name)                                                            \
    extern const struct rc_launcher rc_launcher_##name;                                    \
    enum rc_claim rc_##name##_recognise(struct rc_reader *reader, struct rc_facts *facts); \
    bool rc_##name##_read(struct rc_reader *reader, struct rc_facts *facts);
#include "launcher/registry.def"
#undef ROLLCALL_LAUNCHER

#undef ROLLCALL_MARKER

/* index < RC_LAUNCHER_COUNT, innermost first. The order is for loops over all
 * families: what a single one is like stands in its struct rc_launcher. */
const struct rc_launcher *rc_launcher_at(unsigned index);
enum rc_claim rc_launcher_recognise(unsigned index, struct rc_reader *reader, struct rc_facts *facts);
bool rc_launcher_read(unsigned index, struct rc_reader *reader, struct rc_facts *facts);

/* True where the block holds any marker. Costs a few instructions a variable:
 * nearly all processes are outside of every launcher. */
bool rc_launcher_marked(const char *const *block);

/* The families with a marker in the environment, bit 0 for the first. */
uint32_t rc_launcher_marks(const struct rc_env *env);

/* Whether these marks are of one launcher at most. PMIx's and Slurm's together
 * are, where the PMIx server is Slurm's. */
bool rc_launcher_is_alone(const struct rc_env *env, uint32_t marks);

/* Whether a scope, or a stamp, which begins with one, is of a launch of this
 * family: "slurm:42.0". */
bool rc_launcher_has_scope(const struct rc_launcher *launcher, struct rc_str scope);

#endif
