/* SPDX-License-Identifier: BSD-3-Clause */
/* env.h - an index of an environment block, and the names of rollcall's own variables. */
#ifndef ROLLCALL_BASE_ENV_H
#define ROLLCALL_BASE_ENV_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* The beginning of a variable's name as two numbers.
 *
 * An index of an environment has to be told by something that is cheap to read
 * of every entry. Measuring whole names was half of what the preload cost in a
 * task; sixteen characters tell all launchers' names apart but for a few
 * (OMPI_COMM_WORLD_*), and in two words they are compared at once. */

enum { RC_KEY_SIZE = 16 };

/* The bytes behind a shorter name are zero. */
struct rc_key {
    uint64_t low;
    uint64_t high;
};

static inline uint64_t rc_key_byte(const char *p, unsigned i)
{
    return (uint64_t)(unsigned char)p[i] << i % 8 * 8;
}

/* Builds the key byte by byte, so that nothing behind the '=' or the NUL is read. */
static inline struct rc_key rc_key_by_bytes(const char *entry)
{
    struct rc_key key = { 0, 0 };
    unsigned i;

    for (i = 0; i < 8 && entry[i] && entry[i] != '='; i++)
        key.low |= rc_key_byte(entry, i);
    for (; i >= 8 && i < RC_KEY_SIZE && entry[i] && entry[i] != '='; i++)
        key.high |= rc_key_byte(entry, i);
    return key;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define RC_KEY_WORDS 1

static inline uint64_t rc_key_word(const char *p)
{
    uint64_t word;

    __builtin_memcpy(&word, p, sizeof(word));
    return word;
}

/* Returns the top bit of the first byte that is '=', with some bits above it; 0 where none
 * of the eight bytes is. The subtraction borrows only from bytes that are zero, and those
 * are the '='. */
static inline uint64_t rc_key_equals(uint64_t word)
{
    const uint64_t each = UINT64_MAX / UINT8_MAX;
    uint64_t x = word ^ each * '=';

    return (x - each) & ~x & each << 7;
}

/* Returns the place of the first '=' among RC_KEY_SIZE bytes, or RC_KEY_SIZE where there
 * is none. */
static inline unsigned rc_key_end(const char *entry)
{
    uint64_t low = rc_key_equals(rc_key_word(entry));
    uint64_t high = rc_key_equals(rc_key_word(entry + 8));

    if (low)
        return (unsigned)__builtin_ctzll(low) / 8;
    return high ? 8 + (unsigned)__builtin_ctzll(high) / 8 : RC_KEY_SIZE;
}

/* Builds the same key from two loads, for entries with a '='. The loads may read behind
 * the entry but never beyond its page, so they cannot fault. Checkers (ASan, valgrind on a
 * heap) rightly complain of it, so only the preload does this. */
static inline struct rc_key rc_key_by_words(const char *entry)
{
    enum { SMALLEST_PAGE = 4096 };
    static const uint64_t masks[] = { UINT64_MAX, UINT64_MAX, 0, 0 };
    const char *mask;

    if ((uintptr_t)entry % SMALLEST_PAGE > SMALLEST_PAGE - RC_KEY_SIZE)
        return rc_key_by_bytes(entry);
    /* a mask of the bytes before the '=' */
    mask = (const char *)masks + RC_KEY_SIZE - rc_key_end(entry);
    return (struct rc_key){ rc_key_word(entry) & rc_key_word(mask), rc_key_word(entry + 8) & rc_key_word(mask + 8) };
}
#endif

/* Returns the key of an entry "NAME=VALUE". An entry without '=' gets one, too, which
 * stands for nothing. */
static inline struct rc_key rc_key_of_entry(const char *entry)
{
#if defined(ROLLCALL_WIDE_READS) && defined(RC_KEY_WORDS)
    return rc_key_by_words(entry);
#else
    return rc_key_by_bytes(entry);
#endif
}

/* Returns the key of a name with a known length, and reads nothing behind it. */
static inline struct rc_key rc_key_of_name(const char *name, size_t n)
{
    struct rc_key key = { 0, 0 };

#ifdef RC_KEY_WORDS
    if (n >= RC_KEY_SIZE)
        return (struct rc_key){ rc_key_word(name), rc_key_word(name + 8) };
    if (n >= 8) /* two shifts, as one by 64 bits is not defined */
        return (struct rc_key){ rc_key_word(name), rc_key_word(name + n - 8) >> (15 - n) * 8 >> 8 };
#endif
    for (unsigned i = 0; i < 8 && i < n; i++)
        key.low |= rc_key_byte(name, i);
    for (unsigned i = 8; i < RC_KEY_SIZE && i < n; i++)
        key.high |= rc_key_byte(name, i);
    return key;
}

/* Returns the key of a name in a table: an array of RC_KEY_SIZE bytes or more, filled up
 * with zeros. */
static inline struct rc_key rc_key_of_padded(const char *name)
{
#ifdef RC_KEY_WORDS
    return (struct rc_key){ rc_key_word(name), rc_key_word(name + 8) };
#else
    return rc_key_by_bytes(name);
#endif
}

/* An environment block that can be asked for names quickly.
 *
 * One pass builds an index (some 40 instructions a variable), so that the
 * preload's cost stays flat in the number of names that the launcher families
 * ask for. Beyond RC_ENV_SLOTS variables the answers are the same, from a scan. */

enum { RC_ENV_SLOTS = 512, RC_ENV_BUCKET_BITS = 9, RC_ENV_BUCKETS = 1 << RC_ENV_BUCKET_BITS };

struct rc_env_slot {
    const char *entry;
    struct rc_key key;
    uint16_t next; /* next slot of the same bucket; 0 ends it */
};

struct rc_env {
    const char *const *block; /* NULL-terminated "NAME=VALUE" strings, borrowed */
    unsigned count;           /* number of these strings */
    bool indexed;
    uint16_t bucket[RC_ENV_BUCKETS];           /* a slot, 0 for none; never 0 where there is no index */
    struct rc_env_slot slot[1 + RC_ENV_SLOTS]; /* slot i is of block[i - 1] */
};

/* Letters differ in few bits; the multiplication spreads these to the top. */
static inline unsigned rc_env_bucket(struct rc_key key)
{
    return (unsigned)((key.low ^ key.high) * 0x9e3779b97f4a7c15u >> (64 - RC_ENV_BUCKET_BITS));
}

/* False where no variable has this key. Few of the names that the families ask
 * for are there: for the others this look is all that it takes. */
static inline bool rc_env_may_have(const struct rc_env *env, struct rc_key key)
{
    return env->bucket[rc_env_bucket(key)] != 0;
}

/* block may be NULL (a program can have none). Entries without '=' are passed
 * over. Of a name that stands there twice the first counts, as in getenv. */
void rc_env_index(struct rc_env *env, const char *const *block);

/* The value of a variable, or an absent slice. Names are slices because the
 * compiler then computes their lengths: name.p is NUL-terminated all the same. */
struct rc_str rc_env_find(const struct rc_env *env, struct rc_str name);

/* The same for a name of a table. */
static inline struct rc_str rc_env_find_name(const struct rc_env *env, const struct rc_name *name)
{
    return rc_env_may_have(env, rc_key_of_padded(name->text)) ? rc_env_find(env, rc_name(name)) : RC_ABSENT;
}

/* The value of the first variable, or of the second where the first is absent or empty. */
struct rc_str rc_env_either(const struct rc_env *env, struct rc_str first, struct rc_str second);

/* Returns 1 + the place of the last entry with this name among the first `below` entries
 * of the block, or 0 where none has it. A caller that begins with env->count and goes on
 * below each find sees all of them. */
unsigned rc_env_place(const struct rc_env *env, struct rc_str name, unsigned below);

/* For names that are literals. */
#define rc_env_get(env, literal) rc_env_find((env), RC_STR("" literal))

/* How much rollcall says of its work: a number, which the user sets. */
#define RC_DEBUG "ROLLCALL_DEBUG"

/* The stamp of a task that rollcall has set up; launcher/stamp.h writes it and takes it apart. */
#define RC_STAMP "ROLLCALL_SCOPE"

/* The job name that launcher mode hid. */
#define RC_KEPT_NAME "ROLLCALL_SLURM_JOB_NAME"

/* Where a task's node stands in the order of the network, and Slurm's own numbers of
 * both; launcher/stamp.h writes it and takes it apart. */
#define RC_ORDERED "ROLLCALL_ORDER"

/* The interface that addr= was found on. A later rollcall tells by it which of
 * GLOO_SOCKET_IFNAME and its like an earlier one set. */
#define RC_OWN_INTERFACE "ROLLCALL_IFNAME"

/* The same for the variables of nic=auto: "NAME=VALUE NAME=VALUE". */
#define RC_NICS_OWN "ROLLCALL_NICS"

/* What the watch compares with. In worker mode "rank=3 size=4 node=1 nodes=2", and
 * " other=1" where another numbering of the same tasks has another rank for this
 * one; in launcher mode "node=1 nodes=2". With watch=SECONDS and a server beside
 * srun that the processes are to tell, " task=3 tasks=4" follows: Slurm's number. */
#define RC_IDENTITY "ROLLCALL_IDENTITY"

/* The hardware threads of each worker that a launcher starts, by local rank:
 * "0-7,64-71 8-15,72-79". */
#define RC_PINS "ROLLCALL_PINS"

/* Set in a worker that was bound: its LOCAL_RANK. The processes that it starts
 * (data loaders) keep the mask that they are started with. */
#define RC_PINNED "ROLLCALL_PINNED"

/* Set where an error was said: its id and a digest of its text, so that not every
 * program that the task's script starts says it again. */
#define RC_REPORTED "ROLLCALL_REPORTED"

/* Set by the plugin in srun where node order does not tell which task is where: "JOB.STEP MAP".
 * The map has runs of tasks, by the places of their nodes in SLURM_STEP_NODELIST
 * (launcher/layout.h); or this word, where they are too many for a variable. */
#define RC_TASK_HOSTS      "SLURM_ROLLCALL_TASK_HOSTS"
#define RC_TASK_HOSTS_LONG "long"

/* Set by the plugin in srun, for the step's tasks: "TOKEN PORT JOB.STEP" of its
 * server. The host is where srun runs, which Slurm itself tells them. Names that
 * begin with SLURM_ pass through --export=NONE. */
#define RC_SERVER "SLURM_ROLLCALL_SERVER"

#endif
