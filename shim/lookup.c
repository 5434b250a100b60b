/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <link.h>
#include <netdb.h>
#include <sys/socket.h>

#include "shim.h"

/* The programs and libraries of this process, as its loader lists them: whose an address is, and whose
 * function comes after ours.
 *
 * Asks dl_iterate_phdr, which each libc has in any version (dlsym was in a library of its
 * own before glibc 2.34), and which takes the loader's lock: other threads may load libraries meanwhile. */

struct search {
    uintptr_t address; /* one in the object that is looked for, or after which is looked */
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

/* Whether the address is in one of torch's own libraries. The program itself has no name. */
static bool is_torch(uintptr_t address)
{
    struct search search = { .address = address };

    dl_iterate_phdr(look_for_torch, &search);
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

/* The function of that name in the first object after the one that this code is in: what dlsym
 * finds with RTLD_NEXT. 0 where there is none. */
static uintptr_t find_next(const char *name)
{
    struct search search = { .address = (uintptr_t)&find_next, .name = name, .hash = hash_name(name) };

    dl_iterate_phdr(look_after, &search);
    return search.found;
}

/* librollcall-lookup.so: torch's stores take addresses as they are, without asking for names.
 *
 *   srun --ddp=lookup=numeric python train.py
 *
 * The server of torch's TCPStore has one thread. On each new connection that looks up the client's name, for lines of a
 * log that nobody reads (c10d's socket.cpp, under both of its back ends, torch 2.6 to 2.14). Where name servers
 * answer slowly, thousands of ranks wait for each other's look-ups. Each client looks up the server, too.
 *
 * rollcall puts this library into LD_PRELOAD of all tasks (lib/resolve/preload.c). It answers getnameinfo with the
 * address where torch's own libraries call, and hands all other calls on as they are. Like the preload library it has
 * no libc, because all programs of a task load it. It has no constructor, starts nothing and prints nothing. */

typedef int lookup_function(const struct sockaddr *address, socklen_t size, char *host, socklen_t host_size,
                            char *service, socklen_t service_size, int flags);

/* With NI_NAMEREQD the address is no answer. */
__attribute__((visibility("default"))) int getnameinfo(const struct sockaddr *address, socklen_t size, char *host,
                                                       socklen_t host_size, char *service, socklen_t service_size,
                                                       int flags)
{
    lookup_function *next = (lookup_function *)find_next("getnameinfo");

    if (!(flags & (NI_NAMEREQD | NI_NUMERICHOST)) && is_torch((uintptr_t)__builtin_return_address(0)))
        flags |= NI_NUMERICHOST;
    return next ? next(address, size, host, host_size, service, service_size, flags) : EAI_FAIL;
}
