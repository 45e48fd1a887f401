#include "tuner/space/spec/npy.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* The header's dictionary, a Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } */
typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
        c->at++;
}

static bool take(cursor *c, char wanted)
{
    skip_space(c);
    if (c->at == c->end || *c->at != wanted) return false;
    c->at++;
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    size_t length = strlen(word);
    skip_space(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return false;
    c->at += length;
    return true;
}

static bool take_string(cursor *c, char *out, size_t size)
{
    size_t length = 0;
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) return false;
    char quote = *c->at++;
    while (c->at < c->end && *c->at != quote) {
        if (length + 1 >= size) return false;
        out[length++] = *c->at++;
    }
    out[length] = '\0';
    return take(c, quote);
}

static bool take_number(cursor *c, int64_t *value)
{
    bool any = false;
    *value = 0;
    skip_space(c);
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
        any = true;
        if (__builtin_mul_overflow(*value, (int64_t)10, value) || __builtin_add_overflow(*value, (int64_t)(*c->at - '0'), value)) return false;
        c->at++;
    }
    return any;
}

/* "(3, 4)", "(3,)", "()" */
static bool take_shape(cursor *c, mt_npy *npy)
{
    if (!take(c, '(')) return false;
    npy->elements = 1;
    while (!take(c, ')')) {
        int64_t dim;
        if (npy->rank == MT_MAX_RANK || !take_number(c, &dim)) return false;
        if (__builtin_mul_overflow(npy->elements, (uint64_t)dim, &npy->elements)) return false;
        npy->dims[npy->rank++] = dim;
        if (!take(c, ',')) return take(c, ')');
    }
    return true;
}

static bool set_dtype(const char *descr, mt_npy *npy)
{
    static const struct {
        const char *code;
        mt_dtype dtype;
    } codes[] = {{"f2", MT_F16}, {"f4", MT_F32}, {"f8", MT_F64}, {"i1", MT_I8},  {"u1", MT_U8},  {"b1", MT_U8},  {"i2", MT_I16}, {"u2", MT_U16},
                 {"i4", MT_I32}, {"u4", MT_U32}, {"i8", MT_I64}, {"u8", MT_U64}, {"V2", MT_BF16}};
    if (descr[0] != '<' && descr[0] != '|' && descr[0] != '=') return false;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (strcmp(descr + 1, codes[i].code) != 0) continue;
        npy->dtype = codes[i].dtype;
        npy->is_raw16 = codes[i].dtype == MT_BF16;
        return descr[0] != '|' || mt_dtype_bytes(npy->dtype) == 1 || npy->is_raw16;
    }
    return false;
}

static mt_status parse_dictionary(const char *name, cursor c, mt_npy *npy, mt_error *err)
{
    bool has_descr = false, has_order = false, has_shape = false;
    if (!take(&c, '{')) goto malformed;
    while (!take(&c, '}')) {
        char key[32], descr[32];
        if (!take_string(&c, key, sizeof key) || !take(&c, ':')) goto malformed;
        if (strcmp(key, "descr") == 0) {
            if (!take_string(&c, descr, sizeof descr)) goto malformed;
            if (descr[0] == '>') return MT_FAIL(err, MT_ERR_SYNTAX, "%s: big-endian (%s): expected little-endian data", name, descr);
            if (!set_dtype(descr, npy)) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: dtype %s: expected one of f2 f4 f8 i1 u1 i2 u2 i4 u4 i8 u8 (V2 for bfloat16)", name, descr);
            has_descr = true;
        } else if (strcmp(key, "fortran_order") == 0) {
            if (take_word(&c, "True")) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: Fortran order: expected C order (numpy.ascontiguousarray)", name);
            if (!take_word(&c, "False")) goto malformed;
            has_order = true;
        } else if (strcmp(key, "shape") == 0 && !has_shape) {
            if (!take_shape(&c, npy)) goto malformed;
            has_shape = true;
        } else {
            goto malformed;
        }
        if (!take(&c, ',')) {
            if (!take(&c, '}')) goto malformed;
            break;
        }
    }
    if (has_descr && has_order && has_shape) return MT_OK;
malformed:
    return MT_FAIL(err, MT_ERR_SYNTAX, "%s: malformed .npy header: expected {'descr': …, 'fortran_order': False, 'shape': (…)} with at most %d dimensions", name, MT_MAX_RANK);
}

mt_status mt_npy_parse(const char *name, const void *bytes, size_t available, uint64_t length, mt_npy *npy, mt_error *err)
{
    const unsigned char *b = bytes;
    *npy = (mt_npy){0};
    if (available < 12 || memcmp(b, magic, sizeof magic) != 0) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: not a .npy file", name);
    size_t prefix = b[6] == 1 ? 10 : 12; /* version 1 has a 16-bit length, 2 and 3 a 32-bit one */
    if (b[6] < 1 || b[6] > 3) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: .npy version %d: expected 1, 2 or 3", name, b[6]);
    uint64_t header = (uint64_t)b[8] | (uint64_t)b[9] << 8;
    if (b[6] > 1) header |= (uint64_t)b[10] << 16 | (uint64_t)b[11] << 24;
    if (header > available - prefix) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: cut short within its header: %llu bytes, expected %llu and the data", name,
                                                     (unsigned long long)available, (unsigned long long)(prefix + header));
    cursor c = {(const char *)b + prefix, (const char *)b + prefix + header};
    mt_status st = parse_dictionary(name, c, npy, err);
    if (st != MT_OK) return st;
    npy->data_offset = prefix + header;
    uint64_t wanted;
    if (__builtin_mul_overflow(npy->elements, (uint64_t)mt_dtype_bytes(npy->dtype), &wanted) || wanted != length - npy->data_offset)
        return MT_FAIL(err, MT_ERR_SYNTAX, "%s: %llu bytes of data: expected %llu elements of %zu bytes", name, (unsigned long long)(length - npy->data_offset),
                       (unsigned long long)npy->elements, mt_dtype_bytes(npy->dtype));
    return MT_OK;
}

mt_status mt_npy_open(const char *path, mt_npy_file *file, mt_error *err)
{
    mt_status st = MT_OK;
    struct stat info;
    *file = (mt_npy_file){0};
    int fd;
    MT_TRY(mt_file_open_regular(path, &fd, err));
    if (fstat(fd, &info) != 0 || info.st_size <= 0) MT_LEAVE(MT_FAIL(err, MT_ERR_SYNTAX, "%s: not a .npy file", path));
    void *mapping = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapping == MAP_FAILED) MT_LEAVE(MT_FAIL(err, MT_ERR_IO, "%s: cannot map: %s", path, strerror(errno)));
    file->mapping = mapping;
    file->mapped_bytes = (size_t)info.st_size;
    MT_TRY(mt_npy_parse(path, mapping, file->mapped_bytes, file->mapped_bytes, &file->npy, err));
    file->data = (const char *)mapping + file->npy.data_offset;
done:
    if (fd >= 0) close(fd);
    if (st != MT_OK) mt_npy_close(file);
    return st;
}

void mt_npy_close(mt_npy_file *file)
{
    if (file->mapping) munmap(file->mapping, file->mapped_bytes);
    *file = (mt_npy_file){0};
}

static void add_shape(mt_strbuf *text, const char *dtype, const int64_t *dims, size_t rank)
{
    mt_strbuf_addf(text, "%s[", dtype);
    for (size_t i = 0; i < rank; i++)
        mt_strbuf_addf(text, "%s%lld", i ? "," : "", (long long)dims[i]);
    mt_strbuf_add(text, "]");
}

static bool has_shape(const mt_npy *npy, const int64_t *dims, size_t rank)
{
    return npy->rank == rank && (rank == 0 || memcmp(npy->dims, dims, rank * sizeof *dims) == 0);
}

static mt_status refuse(const mt_npy *npy, const char *path, const char *arg, const char *dtype, const int64_t *dims, size_t rank, mt_error *err)
{
    mt_strbuf found = {0}, wanted = {0};
    add_shape(&found, mt_dtype_name(npy->dtype), npy->dims, npy->rank);
    add_shape(&wanted, dtype, dims, rank);
    mt_status st = MT_FAIL(err, MT_ERR_SPEC, "%s: %s holds %s: expected %s", arg, path, mt_strbuf_text(&found), mt_strbuf_text(&wanted));
    mt_strbuf_free(&found);
    mt_strbuf_free(&wanted);
    return st;
}

mt_status mt_npy_expect(const mt_npy *npy, const char *path, const char *arg, mt_dtype dtype, const int64_t *dims, size_t rank, mt_error *err)
{
    return npy->dtype == dtype && has_shape(npy, dims, rank) ? MT_OK : refuse(npy, path, arg, mt_dtype_name(dtype), dims, rank, err);
}

mt_status mt_npy_expect_output(const mt_npy *npy, const char *path, const char *arg, mt_dtype dtype, const int64_t *dims, size_t rank, mt_error *err)
{
    if (!mt_dtype_is_float(dtype)) return mt_npy_expect(npy, path, arg, dtype, dims, rank, err);
    bool is_float = npy->dtype == MT_F64 || npy->dtype == MT_F32 || npy->dtype == MT_F16;
    return is_float && has_shape(npy, dims, rank) ? MT_OK : refuse(npy, path, arg, is_float ? mt_dtype_name(npy->dtype) : "f64, f32 or f16, of the shape ", dims, rank, err);
}
