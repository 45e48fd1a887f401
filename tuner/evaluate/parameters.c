#include "tuner/evaluate/parameters.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

/* Section .nv.info.KERNEL is a list of attributes: a byte for the form of the value, one for which it is, two for the value or, in the form "sized", for its length. NVIDIA documents
 * none of it (`cuobjdump -elf` prints it), so what does not add up is not believed. */
enum {
    FORM_SIZED = 4,
    ATTRIBUTE_PARAMETER = 0x17,       /* u32 unused, u16 ordinal, u16 offset, u32 with the size from bit 18 on */
    ATTRIBUTE_PARAMETER_BYTES = 0x19, /* of all together */
    PARAMETER_RECORD = 12,
    SIZE_SHIFT = 18,
    SYMBOL_IS_ENTRY = 0x10 /* in a symbol's st_other: a kernel, not a __device__ function */
};

typedef struct span {
    const unsigned char *data;
    size_t bytes;
} span;

static bool part(span whole, uint64_t offset, uint64_t bytes, span *out)
{
    if (offset > whole.bytes || bytes > whole.bytes - offset) return false;
    *out = (span){whole.data + offset, (size_t)bytes};
    return true;
}

static bool section_header(span image, const Elf64_Ehdr *header, size_t index, Elf64_Shdr *section)
{
    span at;
    if (header->e_shentsize != sizeof *section || !part(image, header->e_shoff + index * sizeof *section, sizeof *section, &at)) return false;
    memcpy(section, at.data, sizeof *section);
    return true;
}

static bool find_section(span image, const char *name, span *found)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;
    span names, text;
    size_t length = strlen(name) + 1;
    if (image.bytes < sizeof header) return false;
    memcpy(&header, image.data, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return false;
    if (!section_header(image, &header, header.e_shstrndx, &section) || !part(image, section.sh_offset, section.sh_size, &names)) return false;
    for (size_t i = 0; i < header.e_shnum; i++) {
        if (!section_header(image, &header, i, &section)) return false;
        if (part(names, section.sh_name, length, &text) && memcmp(text.data, name, length) == 0) return part(image, section.sh_offset, section.sh_size, found);
    }
    return false;
}

static uint32_t u16_at(const unsigned char *data)
{
    return data[0] | (uint32_t)data[1] << 8;
}

static bool add_parameter(const unsigned char *record, mt_parameters *parameters, uint32_t *end)
{
    uint32_t ordinal = u16_at(record + 4), bytes = (u16_at(record + 8) | u16_at(record + 10) << 16) >> SIZE_SHIFT, last = u16_at(record + 6) + bytes;
    if (ordinal >= MT_PARAMETERS_MOST || bytes == 0 || parameters->bytes[ordinal]) return false;
    parameters->bytes[ordinal] = bytes;
    parameters->count++;
    if (last > *end) *end = last;
    return true;
}

bool mt_parameters_read(const void *cubin, size_t bytes, const char *entry, mt_parameters *parameters)
{
    char name[256];
    span info;
    uint32_t end = 0;
    int64_t total = -1;
    memset(parameters, 0, sizeof *parameters);
    if (snprintf(name, sizeof name, ".nv.info.%s", entry) >= (int)sizeof name || !find_section((span){cubin, bytes}, name, &info)) return false;
    for (size_t at = 0; at + 4 <= info.bytes;) {
        const unsigned char *attribute = info.data + at;
        uint32_t value = u16_at(attribute + 2);
        size_t payload = attribute[0] == FORM_SIZED ? value : 0;
        if (payload > info.bytes - at - 4) return false;
        if (attribute[0] != FORM_SIZED && attribute[1] == ATTRIBUTE_PARAMETER_BYTES) total = value;
        if (attribute[0] == FORM_SIZED && attribute[1] == ATTRIBUTE_PARAMETER && (payload != PARAMETER_RECORD || !add_parameter(attribute + 4, parameters, &end))) return false;
        at += 4 + payload;
    }
    for (size_t i = 0; i < parameters->count; i++)
        if (!parameters->bytes[i]) return false;
    return total >= 0 && end == (uint64_t)total;
}

bool mt_kernels_read(const void *cubin, size_t bytes, mt_strbuf *kernels)
{
    span symbols, names, text;
    Elf64_Sym symbol;
    if (!find_section((span){cubin, bytes}, ".symtab", &symbols) || !find_section((span){cubin, bytes}, ".strtab", &names)) return false;
    if (!names.bytes || names.data[names.bytes - 1]) return false;
    for (size_t at = 0; at + sizeof symbol <= symbols.bytes; at += sizeof symbol) {
        memcpy(&symbol, symbols.data + at, sizeof symbol);
        bool is_kernel = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_other & SYMBOL_IS_ENTRY && symbol.st_shndx != SHN_UNDEF;
        if (is_kernel && part(names, symbol.st_name, 1, &text)) mt_strbuf_addf(kernels, "%s\n", (const char *)text.data);
    }
    return true;
}

int64_t mt_variable_bytes(const void *cubin, size_t bytes, const char *name)
{
    span symbols, names, text;
    Elf64_Sym symbol;
    size_t length = strlen(name) + 1;
    if (!find_section((span){cubin, bytes}, ".symtab", &symbols) || !find_section((span){cubin, bytes}, ".strtab", &names)) return -1;
    for (size_t at = 0; at + sizeof symbol <= symbols.bytes; at += sizeof symbol) {
        memcpy(&symbol, symbols.data + at, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF || !part(names, symbol.st_name, length, &text)) continue;
        if (memcmp(text.data, name, length) == 0) return symbol.st_size <= INT64_MAX ? (int64_t)symbol.st_size : -1;
    }
    return 0;
}
