/* SPDX-License-Identifier: BSD-3-Clause */
#include "pluginversion.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

/* A part of the file; NULL where the file ends before it does. */
static const void *file_piece(const unsigned char *file, size_t size, uint64_t offset, uint64_t length)
{
    return offset <= size && length <= size - offset ? file + offset : NULL;
}

static bool read_header(const unsigned char *file, size_t size, ElfW(Ehdr) *header)
{
    if (size < sizeof(*header))
        return false;
    memcpy(header, file, sizeof(*header));
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
           header->e_shentsize == sizeof(ElfW(Shdr));
}

static bool read_section(const unsigned char *file, size_t size, const ElfW(Ehdr) *header, uint64_t index,
                         ElfW(Shdr) *section)
{
    const void *from = file_piece(file, size, header->e_shoff + index * sizeof(*section), sizeof(*section));

    if (index >= header->e_shnum || !from)
        return false;
    memcpy(section, from, sizeof(*section));
    return true;
}

/* The value of a symbol of four bytes, read from its section. */
static uint32_t read_symbol(const unsigned char *file, size_t size, const ElfW(Ehdr) *header, const ElfW(Sym) *symbol)
{
    ElfW(Shdr) section;
    const void *from;
    uint32_t number = 0;

    if (!read_section(file, size, header, symbol->st_shndx, &section) || section.sh_type == SHT_NOBITS ||
        symbol->st_value < section.sh_addr)
        return 0;
    from = file_piece(file, size, section.sh_offset + (symbol->st_value - section.sh_addr), sizeof(number));
    if (from)
        memcpy(&number, from, sizeof(number));
    return number;
}

static uint32_t find_version(const unsigned char *file, size_t size, const ElfW(Ehdr) *header, const ElfW(Shdr) *table)
{
    static const char name[] = "plugin_version";
    ElfW(Shdr) strings;

    if (!read_section(file, size, header, table->sh_link, &strings))
        return 0;
    for (uint64_t at = 0; at + sizeof(ElfW(Sym)) <= table->sh_size; at += sizeof(ElfW(Sym))) {
        const void *from = file_piece(file, size, table->sh_offset + at, sizeof(ElfW(Sym)));
        const void *text;
        ElfW(Sym) symbol;

        if (!from)
            return 0;
        memcpy(&symbol, from, sizeof(symbol));
        text = file_piece(file, size, strings.sh_offset + symbol.st_name, sizeof(name));
        if (symbol.st_size == sizeof(uint32_t) && text && memcmp(text, name, sizeof(name)) == 0)
            return read_symbol(file, size, header, &symbol);
    }
    return 0;
}

uint32_t doctor_plugin_version(const unsigned char *file, size_t size)
{
    ElfW(Ehdr) header;
    ElfW(Shdr) section;

    if (!read_header(file, size, &header))
        return 0;
    for (uint64_t i = 0; read_section(file, size, &header, i, &section); i++)
        if (section.sh_type == SHT_DYNSYM)
            return find_version(file, size, &header, &section);
    return 0;
}
