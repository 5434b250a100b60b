/* SPDX-License-Identifier: BSD-3-Clause */
#include "shim.h"

enum { BEGIN = 4, WORD = sizeof(uint64_t), PAGE = 4096 };

static const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);

static uint32_t begin_of(const char *name)
{
    uint32_t begin;

    __builtin_memcpy(&begin, name, BEGIN);
    return begin;
}

/* Return the slot of this prefix, or the empty one for it. */
static uint32_t *find_slot(struct shim_look *look, const char *name)
{
    uint32_t begin = begin_of(name);
    uint32_t place = begin * (uint32_t)factor / (UINT32_MAX / SHIM_BEGINS + 1);

    while (look->begin[place] && look->begin[place] != begin)
        place = (place + 1) % SHIM_BEGINS;
    return &look->begin[place];
}

/* The kernel packs entries, so bytes between addresses less than a page apart can be read. After a removal the sum
 * differs and the full check runs. */
static size_t length_of(char *const *entry)
{
    uintptr_t distance = (uintptr_t)entry[1] - (uintptr_t)entry[0];

    return distance - 1 < PAGE && !entry[0][distance - 1] ? distance - 1 : rc_str(entry[0]).n;
}

/* Swap halves, because products only spread upwards. */
static uint64_t mix(uint64_t hash, const char *text)
{
    uint64_t word;

    __builtin_memcpy(&word, text, WORD);
    return ((hash >> 32 | hash << 32) ^ word) * factor;
}

/* As rc_hash, but by words; the last overlaps the one before. */
static uint64_t hash_of(const char *text, size_t n)
{
    uint64_t hash = n;

    if (n < WORD)
        return rc_hash(text, n);
    for (; n > WORD; n -= WORD, text += WORD)
        hash = mix(hash, text);
    hash = mix(hash, text + n - WORD);
    return (hash ^ hash >> 32) * factor;
}

void shim_look_open(struct shim_look *look)
{
    /* markers, a number that a worker's script may change, and the user's options */
    static const char names[][24] = {
#define ROLLCALL_LAUNCHER(name)
#define ROLLCALL_MARKER(name, variable) #variable,
#include "launcher/registry.def"
#undef ROLLCALL_MARKER
#undef ROLLCALL_LAUNCHER
        "LOCAL_RANK",
        "ROLLCALL",
    };

    *look = (struct shim_look){ .sum = 0 };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        *find_slot(look, names[i]) = begin_of(names[i]);
}

void shim_look_at(struct shim_look *look, char **env)
{
    for (; env && *env; env++) {
        struct rc_str entry = { *env, length_of(env) };

        if (entry.n < BEGIN || !*find_slot(look, entry.p))
            continue;
        look->is_marked = true;
        if (*entry.p == 'R' && rc_str_starts(entry, RC_SETTLED "="))
            look->settled = *env + sizeof(RC_SETTLED);
        else
            look->sum += hash_of(entry.p, entry.n);
    }
}

static char letter_of(const struct shim_look *look, unsigned place)
{
    return (char)('a' + (look->sum >> 4 * place & 15));
}

bool shim_is_settled(const struct shim_look *look)
{
    unsigned same = 0;

    while (look->settled && same < SHIM_SUM && look->settled[same] == letter_of(look, same))
        same++;
    return same == SHIM_SUM;
}

void shim_settle(const struct shim_look *look)
{
    for (unsigned i = 0; i < SHIM_SUM; i++)
        look->settled[i] = letter_of(look, i);
}
