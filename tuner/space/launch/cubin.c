#include "tuner/space/launch/cubin.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/cpp_name.h"

/* Section .nv.info.KERNEL is a list of attributes: a byte for the form of the value, one for which it is, two for the value or, in the form "sized", for its length. NVIDIA documents
 * none of it (`cuobjdump -elf` prints it), so what does not add up is not believed. */
enum {
    FORM_SIZED = 4,
    ATTRIBUTE_MOST_THREADS = 0x05,    /* of the launch bounds: u32 x, y, z */
    ATTRIBUTE_PARAMETER = 0x17,       /* u32 unused, u16 ordinal, u16 offset, u32 with the size from bit 18 on */
    ATTRIBUTE_REGISTERS = 0x2f,       /* in .nv.info, of all kernels: u32 symbol, u32 registers */
    ATTRIBUTE_PARAMETER_BYTES = 0x19, /* of all together */
    ATTRIBUTE_CLUSTER = 0x3d,         /* __cluster_dims__: u32 x, y, z */
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

/* Walks over the sections of a cubin. */
typedef struct walk {
    span image, names;
    Elf64_Ehdr header;
    size_t next;
    Elf64_Shdr section;
    const char *name; /* ends with its NUL within the file */
} walk;

static bool walk_open(span image, walk *self)
{
    Elf64_Shdr names;
    *self = (walk){.image = image};
    if (image.bytes < sizeof self->header) return false;
    memcpy(&self->header, image.data, sizeof self->header);
    if (memcmp(self->header.e_ident, ELFMAG, SELFMAG) != 0 || self->header.e_ident[EI_CLASS] != ELFCLASS64) return false;
    return section_header(image, &self->header, self->header.e_shstrndx, &names) && part(image, names.sh_offset, names.sh_size, &self->names);
}

static bool walk_next(walk *self)
{
    span name;
    while (self->next < self->header.e_shnum && section_header(self->image, &self->header, self->next++, &self->section)) {
        self->name = part(self->names, self->section.sh_name, 1, &name) ? (const char *)name.data : NULL;
        if (self->name && memchr(self->name, '\0', self->names.bytes - self->section.sh_name)) return true;
    }
    return false;
}

/* Of a section without content, as shared memory is, there is nothing to read. */
static bool content_of(const walk *self, span *content)
{
    return self->section.sh_type != SHT_NOBITS && part(self->image, self->section.sh_offset, self->section.sh_size, content);
}

/* The section PREFIX and NAME. */
static bool walk_to(span image, const char *prefix, const char *name, walk *self)
{
    size_t length = strlen(prefix);
    for (bool is_open = walk_open(image, self); is_open && walk_next(self);)
        if (strncmp(self->name, prefix, length) == 0 && strcmp(self->name + length, name) == 0) return true;
    return false;
}

static bool find_section(span image, const char *prefix, const char *name, span *found)
{
    walk self;
    return walk_to(image, prefix, name, &self) && content_of(&self, found);
}

static uint32_t u16_at(const unsigned char *data)
{
    return data[0] | (uint32_t)data[1] << 8;
}

static uint32_t u32_at(const unsigned char *data)
{
    return u16_at(data) | u16_at(data + 2) << 16;
}

/* The next attribute of a list, with its value where that is of the form "sized". False at the end, and at what does not add up. */
typedef struct attribute {
    unsigned kind;
    uint32_t number; /* in another form than "sized" */
    span value;
} attribute;

static bool next_attribute(span *list, attribute *found)
{
    span head;
    if (!part(*list, 0, 4, &head)) return false;
    bool is_sized = head.data[0] == FORM_SIZED;
    *found = (attribute){.kind = head.data[1], .number = u16_at(head.data + 2)};
    if (is_sized && !part(*list, 4, found->number, &found->value)) return false;
    *list = (span){list->data + 4 + found->value.bytes, list->bytes - 4 - found->value.bytes};
    return true;
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
    span info;
    attribute one;
    uint32_t end = 0;
    int64_t total = -1;
    memset(parameters, 0, sizeof *parameters);
    if (!find_section((span){cubin, bytes}, ".nv.info.", entry, &info)) return false;
    while (next_attribute(&info, &one)) {
        if (one.kind == ATTRIBUTE_PARAMETER_BYTES && !one.value.data) total = one.number;
        if (one.kind == ATTRIBUTE_PARAMETER && one.value.data && (one.value.bytes != PARAMETER_RECORD || !add_parameter(one.value.data, parameters, &end))) return false;
    }
    if (info.bytes >= 4) return false;
    for (size_t i = 0; i < parameters->count; i++)
        if (!parameters->bytes[i]) return false;
    return total >= 0 && end == (uint64_t)total;
}

/* Walks over the symbols. */
typedef struct symbols {
    span table, names;
    size_t next;
    Elf64_Sym symbol;
    const char *name;
} symbols;

static bool symbols_open(const void *cubin, size_t bytes, symbols *self)
{
    *self = (symbols){.next = 0};
    if (!find_section((span){cubin, bytes}, ".symtab", "", &self->table) || !find_section((span){cubin, bytes}, ".strtab", "", &self->names)) return false;
    return self->names.bytes && !self->names.data[self->names.bytes - 1];
}

static bool symbols_next(symbols *self)
{
    span at;
    while (part(self->table, self->next++ * sizeof self->symbol, sizeof self->symbol, &at)) {
        memcpy(&self->symbol, at.data, sizeof self->symbol);
        if (self->symbol.st_shndx == SHN_UNDEF || !part(self->names, self->symbol.st_name, 1, &at)) continue;
        self->name = (const char *)at.data;
        return true;
    }
    return false;
}

static bool is_kernel(const Elf64_Sym *symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_other & SYMBOL_IS_ENTRY;
}

bool mt_kernels_read(const void *cubin, size_t bytes, mt_strbuf *kernels)
{
    symbols all;
    if (!symbols_open(cubin, bytes, &all)) return false;
    while (symbols_next(&all))
        if (is_kernel(&all.symbol)) mt_strbuf_addf(kernels, "%s\n", all.name);
    return true;
}

void mt_variables_read(const void *cubin, size_t bytes, mt_strbuf *variables)
{
    symbols all;
    for (bool is_open = symbols_open(cubin, bytes, &all); is_open && symbols_next(&all);)
        if (ELF64_ST_TYPE(all.symbol.st_info) == STT_OBJECT && all.name[0] != '.') mt_strbuf_addf(variables, "%s\n", all.name);
}

int64_t mt_variable_bytes(const void *cubin, size_t bytes, const char *name)
{
    symbols all;
    if (!symbols_open(cubin, bytes, &all)) return -1;
    while (symbols_next(&all))
        if (ELF64_ST_TYPE(all.symbol.st_info) == STT_OBJECT && strcmp(all.name, name) == 0) return all.symbol.st_size <= INT64_MAX ? (int64_t)all.symbol.st_size : -1;
    return 0;
}

/* ---- pointers ---- */

static bool find_variable(const void *cubin, size_t bytes, const char *name, Elf64_Sym *found)
{
    symbols all;
    for (bool is_open = symbols_open(cubin, bytes, &all); is_open && symbols_next(&all);) {
        *found = all.symbol;
        if (ELF64_ST_TYPE(all.symbol.st_info) == STT_OBJECT && strcmp(all.name, name) == 0) return true;
    }
    return false;
}

/* The symbol of the relocation at that place of the section; 0: there is none. */
static size_t relocated_at(span image, size_t section, uint64_t offset)
{
    walk self;
    span content, at;
    for (bool is_open = walk_open(image, &self); is_open && walk_next(&self);) {
        if (self.section.sh_type != SHT_RELA || self.section.sh_info != section || !content_of(&self, &content)) continue;
        for (size_t i = 0; part(content, i * sizeof(Elf64_Rela), sizeof(Elf64_Rela), &at); i++) {
            Elf64_Rela one;
            memcpy(&one, at.data, sizeof one);
            if (one.r_offset == offset && one.r_addend == 0) return ELF64_R_SYM(one.r_info);
        }
    }
    return 0;
}

const char *mt_pointer_read(const void *cubin, size_t bytes, const char *array, size_t index)
{
    Elf64_Sym variable;
    symbols all;
    if (!find_variable(cubin, bytes, array, &variable) || index >= variable.st_size / 8 || !symbols_open(cubin, bytes, &all)) return NULL;
    size_t symbol = relocated_at((span){cubin, bytes}, variable.st_shndx, variable.st_value + 8 * index);
    while (symbol && symbols_next(&all))
        if (all.next - 1 == symbol) return is_kernel(&all.symbol) ? all.name : NULL;
    return NULL;
}

/* ---- C++ names ---- */

static bool is_named(const Elf64_Sym *symbol)
{
    return is_kernel(symbol) || ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT;
}

/* Of a template only the compiler can tell which instance a name is. */
static bool plain_name(const char *symbol, mt_strbuf *name)
{
    mt_strbuf_clear(name);
    return mt_cpp_name(symbol, strlen(symbol), name) && !strstr(mt_strbuf_text(name), "<…>");
}

/* Overloads share a name, which then says nothing. */
static bool is_shared(const void *cubin, size_t bytes, size_t index, const char *name)
{
    symbols all;
    mt_strbuf other = {0};
    bool found = false;
    for (bool is_open = symbols_open(cubin, bytes, &all); is_open && !found && symbols_next(&all);)
        found = all.next != index && is_named(&all.symbol) && plain_name(all.name, &other) && strcmp(mt_strbuf_text(&other), name) == 0;
    mt_strbuf_free(&other);
    return found;
}

void mt_cpp_names_read(const void *cubin, size_t bytes, mt_strbuf *names)
{
    symbols all;
    mt_strbuf name = {0};
    for (bool is_open = symbols_open(cubin, bytes, &all); is_open && symbols_next(&all);) {
        if (!is_named(&all.symbol) || !plain_name(all.name, &name) || is_shared(cubin, bytes, all.next, mt_strbuf_text(&name))) continue;
        mt_strbuf_add_bytes(names, mt_strbuf_text(&name), name.length + 1);
        mt_strbuf_add_bytes(names, all.name, strlen(all.name) + 1);
    }
    mt_strbuf_free(&name);
}

/* ---- resources ---- */

static uint32_t registers_of(span image, const char *entry)
{
    symbols all;
    span info;
    attribute one;
    if (!symbols_open(image.data, image.bytes, &all) || !find_section(image, ".nv.info", "", &info)) return 0;
    bool is_found = false;
    while (!is_found && symbols_next(&all)) is_found = is_kernel(&all.symbol) && strcmp(all.name, entry) == 0;
    while (is_found && next_attribute(&info, &one))
        if (one.kind == ATTRIBUTE_REGISTERS && one.value.bytes == 8 && u32_at(one.value.data) == all.next - 1) return u32_at(one.value.data + 4);
    return 0;
}

/* From compute capability 9.0 on, which such a section tells, what the driver reserves of each block is counted in. */
static uint32_t static_bytes_of(span image, const char *entry, uint32_t reserved)
{
    walk own, of_driver;
    if (!walk_to(image, ".nv.shared.", entry, &own)) return 0;
    uint64_t bytes = own.section.sh_size, counted = walk_to(image, ".nv.shared.reserved.", "0", &of_driver) ? reserved : 0;
    return bytes > counted && bytes <= UINT32_MAX ? (uint32_t)(bytes - counted) : 0;
}

void mt_kernel_code_read(const void *cubin, size_t bytes, const char *entry, uint32_t reserved, mt_kernel_code *code)
{
    span image = {cubin, bytes}, info;
    attribute one;
    *code = (mt_kernel_code){.registers = registers_of(image, entry), .static_smem_bytes = static_bytes_of(image, entry, reserved)};
    if (!find_section(image, ".nv.info.", entry, &info)) return;
    while (next_attribute(&info, &one)) {
        if (one.value.bytes != 12) continue;
        const uint32_t xyz[3] = {u32_at(one.value.data), u32_at(one.value.data + 4), u32_at(one.value.data + 8)};
        if (one.kind == ATTRIBUTE_MOST_THREADS) code->most_threads = xyz[0] * xyz[1] * xyz[2];
        if (one.kind == ATTRIBUTE_CLUSTER && xyz[0] && xyz[1] && xyz[2]) memcpy(code->cluster, xyz, sizeof xyz);
    }
}

/* ---- what can run ---- */

static bool is_line_of(const char *lines, const char *name, size_t length)
{
    for (size_t line; *lines; lines += line + (lines[line] == '\n')) {
        line = strcspn(lines, "\n");
        if (line == length && strncmp(lines, name, length) == 0) return true;
    }
    return false;
}

/* Of a kernel that is not among the `entries`: ".text.K", ".nv.constant0.K". */
static bool is_of_another(const char *section, const char *kernels, const char *entries)
{
    for (const char *dot = strchr(section + (*section == '.'), '.'); dot; dot = strchr(dot + 1, '.'))
        if (is_line_of(kernels, dot + 1, strlen(dot + 1))) return !is_line_of(entries, dot + 1, strlen(dot + 1));
    return false;
}

bool mt_code_hash(const void *cubin, size_t bytes, const char *entries, mt_hash *hash)
{
    walk all;
    span content;
    mt_strbuf kernels = {0}, text = {0};
    bool is_read = mt_kernels_read(cubin, bytes, &kernels) && walk_open((span){cubin, bytes}, &all);
    while (is_read && walk_next(&all)) {
        if (!(all.section.sh_flags & SHF_ALLOC) || is_of_another(all.name, mt_strbuf_text(&kernels), entries)) continue;
        mt_strbuf_addf(&text, "%s %llu\n", all.name, (unsigned long long)all.section.sh_size);
        if (content_of(&all, &content)) mt_strbuf_add_bytes(&text, (const char *)content.data, content.bytes);
    }
    is_read = is_read && !kernels.failed && !text.failed;
    if (is_read) *hash = mt_hash_bytes(mt_strbuf_text(&text), text.length);
    mt_strbuf_free(&kernels);
    mt_strbuf_free(&text);
    return is_read;
}
