/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - the option grammar, [MODE][,KEY=VALUE]..., of `srun --ddp=...`, `rollcall exec --ddp=...`, the ROLLCALL
 * variable and, without a mode, plugstack.conf. Rows: options.def. */
#pragma once

#include "resolve/model.h"

const char *rc_mode_name(enum rc_mode mode);

/* The words of these keys, "off|warn|stop|strict". */
extern const char rc_words_check[];
extern const char rc_words_bind[];

/* Return the word of a key's enum value, the first one if unset. */
struct rc_str rc_options_word(const char *words, unsigned value);

static inline bool rc_bind_is_auto(enum rc_bind wish)
{
    return wish == RC_BIND_UNSET || wish == RC_BIND_AUTO;
}

/* Read one text. Empty and "(null)" (Slurm's value in an inner srun for an option without one) are auto. Return
 * false, with *options unchanged and a message, on error. messages->arena holds the texts. Messages name the source
 * ("--ddp"). */
bool rc_options_parse(struct rc_str text, const char *where, struct rc_options *options, struct rc_messages *messages);

/* Ignore an empty variable, else call rc_options_parse(). */
static inline bool rc_options_parse_variable(struct rc_str value, const char *where, struct rc_options *options,
                                             struct rc_messages *messages)
{
    return value.n == 0 || rc_options_parse(value, where, options, messages);
}

/* The plugin's line in plugstack.conf. */
struct rc_site {
    struct rc_options keys; /* defaults; without a mode */
    bool logs_steps;        /* log=json */
    struct rc_str off;      /* TEXT of off=TEXT; empty for "off"; RC_ABSENT if on */
};

/* Read the words after the plugin's path. Skip wrong words (also modes) and keys with a message: no user may lose a
 * step. Texts are slices of `words` or in the arena. */
struct rc_site rc_site_read(struct rc_str words, const char *where, struct rc_messages *messages);

/* A key as in help texts: "bind=auto|cores", "watch[=on|off]". */
#define RC_KEY_SHOWN(shape, key, values) RC_KEY_SHOWN_##shape(key, values)
#define RC_KEY_SHOWN_CHOICE(key, values) #key "=" values
#define RC_KEY_SHOWN_VALUE(key, values)  #key "=" values
#define RC_KEY_SHOWN_SWITCH(key, values) #key "[=" values "]"

/* Combine the sources (or NULL) in order of precedence, key by key. ROLLCALL=off overrides --ddp. `site` is unused
 * without another. */
struct rc_options rc_options_combine(const struct rc_options *command_line, const struct rc_options *environment,
                                     const struct rc_options *site);

static inline bool rc_options_is_by_site(const struct rc_options *options, enum rc_key key)
{
    return options->by_site >> key & 1;
}

/* Return "; plugstack.conf sets addr=" for a message about its key, else "". */
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

/* addr=: the address of RANK 0's node.
 *
 *   ib0                    an interface: its address there
 *   10.1.0.0/16            a network: the node's address in it
 *   -ib  .hsn  -ib.fabric  a suffix of the node's name
 *   given                  MASTER_ADDR as set, even if no node has it (NAT, a virtual address)
 *
 * A suffix goes after the first label. With a dot it replaces the domain:
 *
 *   n1.example.org -ib  -> n1-ib.example.org
 *   n1.example.org .hsn -> n1.hsn
 *   n1.example.org -ib.fabric -> n1-ib.fabric
 *
 * Interfaces and networks need a look-up (effects/lookup.h): until then the plan has the node's name. */

/* Set the kind of an addr= value. Return NULL, or what is wrong with it. */
const char *rc_address_read(struct rc_str value, enum rc_address_kind *kind);

/* Return the name with a suffix, or NULL if `host` is an address or the name too long. */
const char *rc_address_with_suffix(struct rc_str host, struct rc_str suffix, struct rc_arena *arena);
