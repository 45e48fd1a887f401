/* What is read out of compiled code; damaged code is not believed and not read past. */
#include "tests/unit/unit.h"
#include "tuner/space/launch/cubin.h"

#include <elf.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"

static char *read_cubin(size_t *bytes)
{
    char *cubin = NULL;
    mt_error err;
    ck_assert_int_eq(mt_file_read(TEST_DATA_DIR "/fake/o.cubin", 0, &cubin, bytes, &err), MT_OK);
    return cubin;
}

START_TEST(are_read)
{
    size_t bytes;
    char *cubin = read_cubin(&bytes);
    mt_parameters p;
    ck_assert(mt_parameters_read(cubin, bytes, "fake_add_reference", &p));
    ck_assert_uint_eq(p.count, 4);
    for (size_t i = 0; i < 4; i++) ck_assert_uint_eq(p.bytes[i], 8);
    ck_assert(mt_parameters_read(cubin, bytes, "fake_init", &p));
    ck_assert_uint_eq(p.count, 3);
    ck_assert(!mt_parameters_read(cubin, bytes, "fake_ini", &p));
    ck_assert(!mt_parameters_read(cubin, bytes, "", &p));
    ck_assert(!mt_parameters_read("FAKE-CUBIN 1\n", 13, "fake_init", &p));
    ck_assert_int_eq(mt_variable_bytes(cubin, bytes, "fake_init"), 0); /* a kernel */
    ck_assert_int_eq(mt_variable_bytes(cubin, bytes, ".nv.reservedSmem.offset0"), 0); /* of another module */
    ck_assert_int_eq(mt_variable_bytes("FAKE-CUBIN 1\n", 13, "fake_init"), -1);
    mt_strbuf names = {0};
    ck_assert(!mt_kernels_read("FAKE-CUBIN 1\n", 13, &names) && !names.length);
    ck_assert(mt_kernels_read(cubin, bytes, &names));
    ck_assert_str_eq(mt_strbuf_text(&names), "fake_init\nfake_add_reference\nfake_add_under_another_name\n");
    mt_strbuf_free(&names);
    mt_free(cubin);
}
END_TEST

START_TEST(resources)
{
    size_t bytes;
    char *cubin = read_cubin(&bytes);
    mt_kernel_code code;
    mt_kernel_code_read(cubin, bytes, "fake_init", 1024, &code);
    ck_assert_uint_eq(code.registers, 14);
    ck_assert_uint_eq(code.static_smem_bytes, 0);
    ck_assert_uint_eq(code.most_threads, 0);
    mt_kernel_code_read(cubin, bytes, "fake_ini", 1024, &code);
    ck_assert_uint_eq(code.registers, 0);
    mt_kernel_code_read("FAKE-CUBIN 1\n", 13, "fake_init", 1024, &code);
    ck_assert_uint_eq(code.registers, 0);
    mt_free(cubin);
}
END_TEST

/* The first byte of the kernel's code. */
static char *code_of(char *cubin, size_t bytes, const char *section)
{
    Elf64_Ehdr *header = (Elf64_Ehdr *)cubin;
    Elf64_Shdr *sections = (Elf64_Shdr *)(cubin + header->e_shoff);
    ck_assert_uint_le(header->e_shoff, bytes);
    for (size_t i = 0; i < header->e_shnum; i++)
        if (strcmp(cubin + sections[header->e_shstrndx].sh_offset + sections[i].sh_name, section) == 0) return cubin + sections[i].sh_offset;
    ck_abort_msg("no section %s", section);
}

START_TEST(code_of_entries)
{
    size_t bytes;
    char *cubin = read_cubin(&bytes);
    mt_hash before, after, both;
    ck_assert(mt_code_hash(cubin, bytes, "fake_init\n", &before));
    ck_assert(mt_code_hash(cubin, bytes, "fake_init\nfake_add_reference\n", &both));
    ck_assert_str_ne(before.hex, both.hex);
    ++*code_of(cubin, bytes, ".text.fake_add_reference");
    ck_assert(mt_code_hash(cubin, bytes, "fake_init\n", &after));
    ck_assert_str_eq(before.hex, after.hex);
    ck_assert(mt_code_hash(cubin, bytes, "fake_add_reference\nfake_init\n", &after));
    ck_assert_str_ne(both.hex, after.hex);
    ++*code_of(cubin, bytes, ".nv.constant0.fake_init");
    ck_assert(mt_code_hash(cubin, bytes, "fake_init\n", &after));
    ck_assert_str_ne(before.hex, after.hex);
    ck_assert(!mt_code_hash("FAKE-CUBIN 1\n", 13, "fake_init\n", &after));
    mt_free(cubin);
}
END_TEST

/* All that is read of it, for a sanitizer. */
static void read_all(const char *cubin, size_t bytes)
{
    mt_strbuf names = {0};
    mt_kernel_code code;
    mt_hash hash;
    mt_kernels_read(cubin, bytes, &names);
    mt_kernel_code_read(cubin, bytes, "fake_init", 1024, &code);
    mt_code_hash(cubin, bytes, "fake_init\n", &hash);
    mt_strbuf_free(&names);
}

/* Each copy lies in a block of its own length, so that a sanitizer sees a read behind it. */
START_TEST(cut_short)
{
    size_t bytes;
    char *cubin = read_cubin(&bytes);
    for (size_t length = 0; length < bytes; length += 7) {
        char *cut = mt_alloc(length + !length, 1);
        mt_parameters p;
        memcpy(cut, cubin, length);
        if (mt_parameters_read(cut, length, "fake_init", &p)) ck_assert_uint_eq(p.count, 3);
        ck_assert_int_le(mt_variable_bytes(cut, length, "fake_init"), 0);
        read_all(cut, length);
        mt_free(cut);
    }
    mt_free(cubin);
}
END_TEST

START_TEST(damaged)
{
    size_t bytes;
    char *cubin = read_cubin(&bytes);
    for (size_t at = 0; at < bytes; at++) {
        mt_parameters p;
        char kept = cubin[at];
        cubin[at] = (char)~kept;
        if (mt_parameters_read(cubin, bytes, "fake_init", &p)) ck_assert_uint_le(p.count, MT_PARAMETERS_MOST);
        mt_variable_bytes(cubin, bytes, ".nv.reservedSmem.offset0");
        read_all(cubin, bytes);
        cubin[at] = kept;
    }
    mt_free(cubin);
}
END_TEST

UNIT_MAIN("cubin", are_read, resources, code_of_entries, cut_short, damaged)
