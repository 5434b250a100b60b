/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "objects.h"

#include <link.h>
#include <stddef.h>

struct search {
    uintptr_t address; /* one in the object that is looked for, or behind which is looked */
    const char *words;
    const char *name;
    uint32_t hash; /* of name */
    bool passed;
    uintptr_t found;
};

static bool holds_address(const struct dl_phdr_info *object, uintptr_t address)
{
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];

        if (part->p_type == PT_LOAD && address - object->dlpi_addr - part->p_vaddr < part->p_memsz)
            return true;
    }
    return false;
}

static struct rc_str file_name(const char *path)
{
    struct rc_str name = rc_str(path);
    struct rc_str rest = name;

    while (rest.p)
        name = rc_str_split(rest, '/', &rest);
    return name;
}

static bool begins_with_one(struct rc_str name, struct rc_str words)
{
    while (words.p) {
        struct rc_str word = rc_str_split(words, ' ', &words);

        if (name.n >= word.n && rc_str_eq((struct rc_str){ name.p, word.n }, word))
            return true;
    }
    return false;
}

static int look_for_name(struct dl_phdr_info *object, size_t size, void *more)
{
    struct search *search = more;

    (void)size;
    if (!holds_address(object, search->address))
        return 0;
    search->found = object->dlpi_name && begins_with_one(file_name(object->dlpi_name), rc_str(search->words));
    return 1;
}

bool shim_object_is(uintptr_t address, const char *words)
{
    struct search search = { .address = address, .words = words };

    dl_iterate_phdr(look_for_name, &search);
    return search.found;
}

/* What the loader needs of an object to find a name in it. */
struct names {
    const uint32_t *hash; /* DT_GNU_HASH, which all of today's libraries have */
    const ElfW(Sym) *symbol;
    const char *text;
};

/* glibc has most of these addresses relocated, musl none. */
static const void *at_address(const struct dl_phdr_info *object, uintptr_t value)
{
    return (const void *)(value < object->dlpi_addr ? object->dlpi_addr + value : value);
}

static bool read_names(const struct dl_phdr_info *object, struct names *names)
{
    const ElfW(Dyn) *entry = NULL;

    for (unsigned i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            entry = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        const void *value = at_address(object, entry->d_un.d_ptr);

        if (entry->d_tag == DT_GNU_HASH)
            names->hash = value;
        else if (entry->d_tag == DT_SYMTAB)
            names->symbol = value;
        else if (entry->d_tag == DT_STRTAB)
            names->text = value;
    }
    return names->hash && names->symbol && names->text;
}

static uint32_t hash_name(const char *name)
{
    uint32_t hash = 5381;

    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* The table begins with: buckets, number of the first symbol, words of a filter, its shift. Then
 * come filter, buckets and chains; a chain's last value is odd. */
static uintptr_t find_name(const struct dl_phdr_info *object, const struct names *names, const struct search *search)
{
    uint32_t count = names->hash[0];
    uint32_t first = names->hash[1];
    const uint32_t *bucket = names->hash + 4 + names->hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + count;
    uint32_t number = count ? bucket[search->hash % count] : 0;

    if (number < first)
        return 0;
    for (;; number++) {
        const ElfW(Sym) *symbol = &names->symbol[number];

        if ((chain[number - first] | 1) == (search->hash | 1) && symbol->st_shndx != SHN_UNDEF &&
            (symbol->st_info & 15) == STT_FUNC && rc_str_is(rc_str(names->text + symbol->st_name), search->name))
            return object->dlpi_addr + symbol->st_value;
        if (chain[number - first] & 1)
            return 0;
    }
}

static int look_behind(struct dl_phdr_info *object, size_t size, void *more)
{
    struct search *search = more;
    struct names names = { .hash = NULL };

    (void)size;
    if (search->passed && read_names(object, &names))
        search->found = find_name(object, &names, search);
    search->passed = search->passed || holds_address(object, search->address);
    return search->found != 0;
}

uintptr_t shim_object_next(const char *name)
{
    struct search search = { .address = (uintptr_t)&shim_object_next, .name = name, .hash = hash_name(name) };

    dl_iterate_phdr(look_behind, &search);
    return search.found;
}
