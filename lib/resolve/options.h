/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - the one option grammar, [MODE][,KEY=VALUE]...: a row a key in options.def.
 *
 * Read alike from `srun --ddp=...`, `rollcall exec --ddp=...`, the ROLLCALL
 * variable and, without a mode, the line in plugstack.conf. rc_options_combine says which of them holds.
 */
#pragma once

#include "resolve/model.h"

const char *rc_mode_name(enum rc_mode mode);

/* The words of these keys, "off|warn|stop|strict". */
extern const char rc_words_check[];
extern const char rc_words_bind[];

/* Returns the word for a value of a key's enum, which rc_str_which reads; the first one for what is not set. */
struct rc_str rc_options_word(const char *words, unsigned value);

static inline bool rc_bind_is_auto(enum rc_bind wish)
{
    return wish == RC_BIND_UNSET || wish == RC_BIND_AUTO;
}

/* Reads one text. Empty and "(null)" (what Slurm hands an inner srun for an option without a value) are auto. On an
 * error *options is left as it was, false is returned and one line with the right values is in messages, whose arena
 * also has the texts that *options points to; `where` names the source in it ("--ddp", "ROLLCALL", "plugstack.conf").
 */
bool rc_options_parse(struct rc_str text, const char *where, struct rc_options *options, struct rc_messages *messages);

/* Of an absent or empty variable nothing is read: true, with *options untouched. */
static inline bool rc_options_parse_variable(struct rc_str value, const char *where, struct rc_options *options,
                                             struct rc_messages *messages)
{
    return value.n == 0 || rc_options_parse(value, where, options, messages);
}

/* What the plugin's line in plugstack.conf sets. */
struct rc_site {
    struct rc_options keys; /* defaults; without a mode */
    bool logs_steps;        /* log=json */
    struct rc_str off;      /* TEXT of off=TEXT, the rest of the line; empty for "off"; absent if rollcall is on */
};

/* Read the words after the plugin's path, with blanks between them. Ignore each wrong word, or wrong key of a
 * word, with a message: no user may lose a step by it. A mode is a wrong word. Texts are slices of `words`, or
 * in the arena. */
struct rc_site rc_site_read(struct rc_str words, const char *where, struct rc_messages *messages);

/* Returns a key of options.def as a help text shows it: "bind=auto|cores", "watch[=on|off]". */
#define RC_KEY_SHOWN(shape, key, values) RC_KEY_SHOWN_##shape(key, values)
#define RC_KEY_SHOWN_CHOICE(key, values) #key "=" values
#define RC_KEY_SHOWN_VALUE(key, values)  #key "=" values
#define RC_KEY_SHOWN_SWITCH(key, values) #key "[=" values "]"

/* Combine the three sources, each possibly NULL, in their order of precedence: a key that one leaves open is taken
 * from the next. ROLLCALL=off wins over --ddp. `site` has keys only: if neither of the user's two sources is given, the
 * result is not given. */
struct rc_options rc_options_combine(const struct rc_options *command_line, const struct rc_options *environment,
                                     const struct rc_options *site);

static inline bool rc_options_is_by_site(const struct rc_options *options, enum rc_key key)
{
    return options->by_site >> key & 1;
}

/* Return the end of a message about a key that no user has typed: "; plugstack.conf sets addr="; else "". */
const char *rc_options_origin(const struct rc_options *options, enum rc_key key);

/* Return the value in effect, or its default. */

static inline uint32_t rc_options_deadline(const struct rc_options *options)
{
    return options->deadline ? options->deadline : RC_DEADLINE_DEFAULT;
}

static inline enum rc_check rc_options_check(const struct rc_options *options)
{
    return options->check ? options->check : RC_CHECK_STOP;
}

static inline enum rc_check rc_options_same(const struct rc_options *options)
{
    return options->same ? options->same : RC_CHECK_WARN;
}

/* addr=: by which address of RANK 0's node the others reach it.
 *
 * Four kinds, known by how they are written:
 *
 *   ib0                    an interface: the address that it has on that node
 *   10.1.0.0/16            a network: the node's address in it
 *   -ib  .hsn  -ib.fabric  what is appended to the node's name
 *   given                  MASTER_ADDR as it was set, though no node may have it itself (NAT, a virtual address)
 *
 * A suffix goes after the first label of the name. One with a dot is the domain
 * as well, in place of the name's own; one without leaves the domain:
 *
 *   n1 -ib -> n1-ib                n1.example.org -ib  -> n1-ib.example.org
 *   n1 .hsn -> n1.hsn              n1.example.org .hsn -> n1.hsn
 *                                  n1.example.org -ib.fabric -> n1-ib.fabric
 *
 * A suffix is text, the same on all nodes. Interface and network need a look at the node and at its resolver
 * (effects/lookup.h), which the core does not take: it leaves the node's name in the plan, until it is told the
 * address (struct rc_told).
 */

/* Tells the kind of a value of addr=. Returns NULL where the value is good, else what is
 * wrong with it, for a message. */
const char *rc_address_read(struct rc_str value, enum rc_address_kind *kind);

/* Returns the name of a node with a suffix. NULL for an address, which takes no suffix,
 * and where the name becomes too long. */
const char *rc_address_with_suffix(struct rc_str host, struct rc_str suffix, struct rc_arena *arena);
