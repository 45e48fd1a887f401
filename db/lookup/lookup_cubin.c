/* Cubins: read when first asked for, checked, kept until close.
 *
 * The driver is given a pointer without a length, so an image must not claim to be longer than it is. The hash guards against accidents; against intent guard the rules of
 * lookup_trust.c and the caller's opt-in. */
#include "db/cubin_names.h"
#include "db/lookup/lookup.h"

#include <elf.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { CUBIN_LIMIT = 256 << 20, MACHINE_CUDA = 190, FIRST_ABI_WITH_SHIFTED_SM = 8 };

/* ---- checks ---- */

static bool hash_matches(const unsigned char *data, size_t bytes, const char *hash)
{
    XXH128_canonical_t canonical;
    char hex[MT_LOOKUP_KEY_SIZE];
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, bytes));
    mt_lookup_hex(canonical.digest, hex);
    return strcmp(hex, hash) == 0;
}

static bool lies_inside(uint64_t offset, uint64_t length, size_t bytes)
{
    return offset <= bytes && length <= bytes - offset;
}

/* Every section and segment within the bytes. */
static bool has_whole_parts(const unsigned char *data, size_t bytes, const Elf64_Ehdr *header)
{
    if (header->e_shentsize != sizeof(Elf64_Shdr) || !lies_inside(header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr), bytes)) return false;
    if (header->e_phnum && (header->e_phentsize != sizeof(Elf64_Phdr) || !lies_inside(header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr), bytes))) return false;
    for (unsigned i = 0; i < header->e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, data + header->e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL && !lies_inside(section.sh_offset, section.sh_size, bytes)) return false;
    }
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, data + header->e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type != PT_NULL && !lies_inside(segment.p_offset, segment.p_filesz, bytes)) return false;
    }
    return header->e_shnum > 0;
}

/* Code for sm_90 runs on 9.x with x ≥ 0; architecture-specific code ("sm_90a") on exactly its own. */
static bool runs_on(unsigned sm, const char *arch, int64_t cc)
{
    size_t length = strlen(arch);
    bool is_specific = length && arch[length - 1] == 'a';
    return is_specific ? sm == cc : sm / 10 == cc / 10 && sm <= cc;
}

static const char *elf_problem(const unsigned char *data, size_t bytes, const char *arch, int64_t cc)
{
    Elf64_Ehdr header;
    if (bytes < sizeof header) return "it is shorter than an ELF header";
    memcpy(&header, data, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) return "it is no 64-bit ELF image";
    if (header.e_machine != MACHINE_CUDA) return "it is no code for NVIDIA GPUs";
    unsigned sm = header.e_ident[EI_ABIVERSION] >= FIRST_ABI_WITH_SHIFTED_SM ? header.e_flags >> 8 & 0xff : header.e_flags & 0xff;
    if (!runs_on(sm, arch, cc)) return "it is for another architecture than this GPU's";
    if (!has_whole_parts(data, bytes, &header)) return "it is cut short";
    return NULL;
}

/* ---- reading ---- */

/* Takes the bytes of the row at hand. */
static tunelookup_status take_bytes(sqlite3_stmt *statement, const char *path, mt_lookup_cubin *cubin)
{
    const unsigned char *blob = sqlite3_column_blob(statement, 1);
    int bytes = sqlite3_column_bytes(statement, 1);
    const char *encoding = (const char *)sqlite3_column_text(statement, 0);
    if (!encoding || strcmp(encoding, "raw") != 0) return mt_lookup_fail(TUNELOOKUP_ERR_NOT_FOUND, "%s: has cubin %s only compressed", path, cubin->hash);
    if (!blob || bytes <= 0 || bytes > CUBIN_LIMIT) return mt_lookup_fail(TUNELOOKUP_ERR_CUBIN_DAMAGED, "%s: cubin %s has %d bytes", path, cubin->hash, bytes);
    if (!(cubin->data = mt_lookup_alloc((size_t)bytes))) return mt_lookup_no_memory();
    memcpy(cubin->data, blob, (size_t)bytes);
    cubin->bytes = (size_t)bytes;
    return TUNELOOKUP_OK;
}

/* A pack's part of that name. */
static tunelookup_status read_packed(const mt_lookup_file *file, mt_lookup_cubin *cubin)
{
    char why[MT_PACK_WHY], real[PATH_MAX];
    mt_pack pack;
    bool is_shared;
    tunelookup_status st = mt_lookup_check_trust(file->path, real, &is_shared);
    if (st != TUNELOOKUP_OK) return st;
    mt_pack_verdict verdict = mt_pack_open(real, &pack, why);
    if (verdict != MT_PACK_OK) return mt_lookup_pack_fail(verdict, file->path, why);
    const mt_pack_part *part = mt_pack_find(&pack, cubin->hash);
    if (!part) LOOKUP_LEAVE(mt_lookup_fail(TUNELOOKUP_ERR_NOT_FOUND, "%s: does not hold cubin %s", file->path, cubin->hash));
    if (part->bytes > CUBIN_LIMIT) LOOKUP_LEAVE(mt_lookup_fail(TUNELOOKUP_ERR_CUBIN_DAMAGED, "%s: cubin %s has %llu bytes", file->path, cubin->hash, (unsigned long long)part->bytes));
    if (!(cubin->data = mt_lookup_alloc((size_t)mt_pack_padded(part->bytes)))) LOOKUP_LEAVE(mt_lookup_no_memory());
    cubin->bytes = (size_t)part->bytes;
    verdict = mt_pack_read(&pack, part, cubin->data, why);
    if (verdict != MT_PACK_OK) st = mt_lookup_pack_fail(verdict, file->path, why);
done:
    mt_pack_close(&pack);
    return st;
}

static tunelookup_status read_cubin(const mt_lookup_file *file, mt_lookup_cubin *cubin)
{
    tunelookup_status st;
    mt_lookup_session session;
    if (mt_pack_is_name(file->path)) return read_packed(file, cubin);
    sqlite3_stmt *statement = NULL;
    LOOKUP_TRY(mt_lookup_sqlite_open(file, &session));
    if (!session.db) return mt_lookup_fail(TUNELOOKUP_ERR_NOT_FOUND, "%s: is gone", file->path);
    sqlite3_limit(session.db, SQLITE_LIMIT_LENGTH, CUBIN_LIMIT);
    if (sqlite3_prepare_v2(session.db, "SELECT encoding, bytes FROM cubin WHERE hash = ?1", -1, &statement, NULL) != SQLITE_OK) LOOKUP_LEAVE(mt_lookup_sqlite_fail(session.db, file->path));
    sqlite3_bind_text(statement, 1, cubin->hash, -1, SQLITE_STATIC);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) st = take_bytes(statement, file->path, cubin);
    else if (code == SQLITE_DONE) st = mt_lookup_fail(TUNELOOKUP_ERR_NOT_FOUND, "%s: does not hold cubin %s", file->path, cubin->hash);
    else st = mt_lookup_sqlite_fail(session.db, file->path);
done:
    sqlite3_finalize(statement);
    mt_lookup_sqlite_close(&session);
    return st;
}

/* ---- keeping ---- */

static const mt_lookup_cubin *find_kept(tunelookup_db *db, const char *hash, uint8_t file)
{
    for (const mt_lookup_cubin *at = atomic_load_explicit(&db->cubins, memory_order_acquire); at; at = at->next) {
        if (at->file == file && strcmp(at->hash, hash) == 0) return at;
    }
    return NULL;
}

/* Two threads may read the same cubin at the same time: then it is kept twice, which harms nothing. */
static void keep(tunelookup_db *db, mt_lookup_cubin *cubin)
{
    cubin->next = atomic_load(&db->cubins);
    while (!atomic_compare_exchange_weak(&db->cubins, &cubin->next, cubin)) continue;
}

static tunelookup_status check_cubin(const mt_lookup_answers *answers, const mt_lookup_row *row, const mt_lookup_cubin *cubin, const char *path)
{
    if (!hash_matches(cubin->data, cubin->bytes, cubin->hash)) return mt_lookup_fail(TUNELOOKUP_ERR_CUBIN_DAMAGED, "%s: cubin %s does not have that hash", path, cubin->hash);
    const char *problem = elf_problem(cubin->data, cubin->bytes, row->toolchain->text, answers->cc);
    return problem ? mt_lookup_fail(TUNELOOKUP_ERR_CUBIN_DAMAGED, "%s: cubin %s: %s", path, cubin->hash, problem) : TUNELOOKUP_OK;
}

static tunelookup_status load_cubin(const mt_lookup_answers *answers, const mt_lookup_row *row, const mt_lookup_cubin **out)
{
    tunelookup_status st;
    const mt_lookup_file *file = &answers->db->files[row->file];
    mt_lookup_cubin *cubin = mt_lookup_alloc(sizeof *cubin);
    if (!cubin) return mt_lookup_no_memory();
    cubin->file = row->file;
    memcpy(cubin->hash, row->cubin, sizeof cubin->hash);
    LOOKUP_TRY(read_cubin(file, cubin));
    LOOKUP_TRY(check_cubin(answers, row, cubin, file->path));
    keep(answers->db, cubin);
    *out = cubin;
    cubin = NULL;
done:
    if (cubin) free(cubin->data);
    free(cubin);
    return st;
}

/* Code of one CUDA major version runs on every driver of that version or a newer one. */
static bool driver_is_too_old(int64_t driver, int64_t nvrtc)
{
    return driver && nvrtc && driver / 1000 < nvrtc / 1000;
}

/* Whether the code of a tuned shape is that of the asked one: nothing that the variant's source reads of it differs. Strings are the plan's. */
static bool has_its_code(const mt_lookup_answers *answers, const mt_lookup_row *row, const tunelookup_result *result, const mt_lookup_variant *variant)
{
    const mt_lookup_model *model = &answers->model;
    if (strcmp(row->variant->text, variant->text) != 0 || variant->algo < 0) return false;
    uint64_t baked = model->variants[variant->algo].baked;
    for (uint32_t i = 0; i < model->name_count; i++) {
        const mt_lookup_model_name *name = &model->names[i];
        if (!(baked >> i & 1) || name->kind == MT_LOOKUP_NAME_STRING) continue;
        if (memcmp(row->values + name->offset, result->values_ + name->offset, name->length * sizeof *row->values) != 0) return false;
    }
    return true;
}

/* The result's own row, or another tuned shape's that was compiled to the same; NULL = none. */
static const mt_lookup_row *row_with_code(const mt_lookup_answers *answers, const tunelookup_result *result)
{
    const mt_lookup_row *own = answers->rows[result->row_];
    if (result->match == TUNELOOKUP_MATCH_EXACT && *own->cubin) return own;
    for (uint32_t i = 0; i < answers->row_count; i++) {
        if (*answers->rows[i]->cubin && has_its_code(answers, answers->rows[i], result, own->variant)) return answers->rows[i];
    }
    return NULL;
}

const mt_lookup_row *mt_lookup_row_to_compile(const tunelookup_result *result)
{
    const mt_lookup_answers *answers = result->answers_;
    const mt_lookup_row *own = answers->rows[result->row_];
    if (result->match == TUNELOOKUP_MATCH_EXACT) return own->is_recorded ? NULL : own;
    for (uint32_t i = 0; i < answers->row_count; i++)
        if (!answers->rows[i]->is_recorded && has_its_code(answers, answers->rows[i], result, own->variant)) return answers->rows[i];
    return NULL;
}

const char *tunelookup_symbol(const void *cubin, size_t bytes, const char *name)
{
    return cubin && name ? mt_cubin_symbol(cubin, bytes, name) : name;
}

tunelookup_status tunelookup_cubin(const tunelookup_result *result, const void **data, size_t *bytes)
{
    mt_lookup_clear_detail();
    const mt_lookup_answers *answers = result ? result->answers_ : NULL;
    if (!data || !bytes || !answers || result->match == TUNELOOKUP_MATCH_NONE || result->row_ >= answers->row_total) {
        return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "a NULL, or a result without a match");
    }
    const mt_lookup_row *row = row_with_code(answers, result);
    if (!row && result->match == TUNELOOKUP_MATCH_EXACT) return mt_lookup_fail(TUNELOOKUP_ERR_NOT_FOUND, "no cubin was stored for this row");
    if (!row) return mt_lookup_fail(TUNELOOKUP_ERR_NOT_FOUND, "no stored cubin is of this variant as compiled for this shape; compile it");
    const mt_lookup_file *file = &answers->db->files[row->file];
    if (!file->is_shipped && !(answers->db->flags & TUNELOOKUP_USER_CUBINS)) {
        return mt_lookup_fail(TUNELOOKUP_ERR_CUBIN_NOT_ALLOWED, "%s: is not shipped with the library; open it with TUNELOOKUP_USER_CUBINS", file->path);
    }
    int64_t nvrtc = row->toolchain->numbers[0];
    if (driver_is_too_old(answers->driver_version, nvrtc)) {
        return mt_lookup_fail(TUNELOOKUP_ERR_DRIVER_TOO_OLD, "compiled by CUDA %lld.%lld, the driver offers %lld.%lld", (long long)nvrtc / 1000,
                              (long long)nvrtc % 1000 / 10, (long long)answers->driver_version / 1000, (long long)answers->driver_version % 1000 / 10);
    }
    const mt_lookup_cubin *cubin = find_kept(answers->db, row->cubin, row->file);
    tunelookup_status st = cubin ? TUNELOOKUP_OK : load_cubin(answers, row, &cubin);
    if (st != TUNELOOKUP_OK) return st;
    *data = cubin->data;
    *bytes = cubin->bytes;
    return TUNELOOKUP_OK;
}
