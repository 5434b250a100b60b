/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <link.h>
#include <netdb.h>
#include <sys/socket.h>

#include "shim.h"

/* Find the object at an address, and the next definition of a function. dl_iterate_phdr is in every libc (dlsym in
 * libdl before glibc 2.34) and takes the loader's lock. */

struct search {
    uintptr_t address; /* in the object to find, or to skip */
    const char *name;
    uint32_t hash;
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

static int look_for_torch(struct dl_phdr_info *object, size_t size, void *more)
{
    struct rc_str name = rc_str_base_name(rc_str(object->dlpi_name));
    struct search *search = more;

    (void)size;
    if (!holds_address(object, search->address))
        return 0;
    search->found = rc_str_starts(name, "libtorch") || rc_str_starts(name, "libc10");
    return 1;
}

/* Return whether the address is in torch. */
static bool is_torch(uintptr_t address)
{
    struct search search = { .address = address };

    dl_iterate_phdr(look_for_torch, &search);
    return search.found;
}

struct names {
    const uint32_t *hash; /* DT_GNU_HASH, in all current libraries */
    const ElfW(Sym) *symbol;
    const char *text;
};

/* glibc has relocated most of these addresses, musl none. */
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

/* Table: bucket count, first symbol, filter words, shift; filter, buckets, chains, each ending with an odd value. */
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

static int look_after(struct dl_phdr_info *object, size_t size, void *more)
{
    struct search *search = more;
    struct names names = { .hash = NULL };

    (void)size;
    if (search->passed && read_names(object, &names))
        search->found = find_name(object, &names, search);
    search->passed = search->passed || holds_address(object, search->address);
    return search->found != 0;
}

/* Return what dlsym(RTLD_NEXT) would, or 0. */
static uintptr_t find_next(const char *name)
{
    struct search search = { .address = (uintptr_t)&find_next, .name = name, .hash = hash_name(name) };

    dl_iterate_phdr(look_after, &search);
    return search.found;
}

/* librollcall-lookup.so (srun --ddp=lookup=numeric): numeric addresses for torch's stores.
 *
 * torch's TCPStore server has one thread, which looks up each client's name for its log (c10d's socket.cpp, both back
 * ends, torch 2.6 to 2.14): thousands of ranks wait for slow name servers. getnameinfo returns the address to torch
 * only. All programs of a task load this: no libc, no constructor, no output. */

typedef int lookup_function(const struct sockaddr *address, socklen_t size, char *host, socklen_t host_size,
                            char *service, socklen_t service_size, int flags);

/* NI_NAMEREQD requires a name. */
__attribute__((visibility("default"))) int getnameinfo(const struct sockaddr *address, socklen_t size, char *host,
                                                       socklen_t host_size, char *service, socklen_t service_size,
                                                       int flags)
{
    lookup_function *next = (lookup_function *)find_next("getnameinfo");

    if (!(flags & (NI_NAMEREQD | NI_NUMERICHOST)) && is_torch((uintptr_t)__builtin_return_address(0)))
        flags |= NI_NUMERICHOST;
    return next ? next(address, size, host, host_size, service, service_size, flags) : EAI_FAIL;
}
