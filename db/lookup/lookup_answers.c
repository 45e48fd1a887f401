/* Making the answers of a plan: which source of the kernel answers, its expressions, and the rows of all files. */
#include "db/key.h"
#include "db/lookup/lookup_pin.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Answers of at most so many rows have them all checked while they are made (about as long again as loading them); more of them leave that to the finders that come first, so
 * that prepare stays short. */
enum { CHECKED_ROWS = 3000 };

static const char *path_of(const mt_lookup_loader *loader, size_t file)
{
    return loader->plan->db->files[file].path;
}

/* ---- what is left out ---- */

bool mt_lookup_is_of_file(tunelookup_status st)
{
    switch (st) {
    case TUNELOOKUP_ERR_NOT_FOUND: case TUNELOOKUP_ERR_IO: case TUNELOOKUP_ERR_NOT_A_DATABASE: case TUNELOOKUP_ERR_NEWER_SCHEMA: case TUNELOOKUP_ERR_UNTRUSTED:
    case TUNELOOKUP_ERR_OLDER_SCHEMA: case TUNELOOKUP_ERR_LIMIT: return true;
    default: return false;
    }
}

/* Whether the file is left out, or with a key that source of the kernel in it. */
static bool is_left_out(const mt_lookup_loader *loader, size_t file, const char *key)
{
    for (uint32_t i = 0; i < loader->left_out_count; i++) {
        const mt_lookup_left_out *out = &loader->left_out[i];
        if (out->file == file && (!*out->key || (key && strcmp(out->key, key) == 0))) return true;
    }
    return false;
}

/* Begins work on a file: what fails from here on is its fault. */
static void go_to(mt_lookup_loader *loader, size_t file)
{
    loader->file = file;
    loader->is_of_file = true;
    loader->is_of_spec = false;
}

/* ---- which GPU ---- */

/* Parts of a key that the caller's zeros say nothing about. */
static bool is_unknown(int part, const tunelookup_device *device)
{
    return (part == 2 && device->sm_count == 0) || (part == 3 && device->mem_bytes == 0);
}

/* Whether a stored GPU key is the asked one; parts that the caller did not give (SM count, memory) are not compared. */
static bool same_gpu(const char *stored, const char *asked, const tunelookup_device *device)
{
    for (int part = 0; *stored && *asked; part++) {
        size_t a = strcspn(stored, "|"), b = strcspn(asked, "|");
        if (!is_unknown(part, device) && (a != b || memcmp(stored, asked, a) != 0)) return false;
        stored += a + (stored[a] == '|');
        asked += b + (asked[b] == '|');
    }
    return !*stored && !*asked;
}

/* The asked key without the parts that the caller does not know. */
static void drop_unknown(char *key, const tunelookup_device *device)
{
    char *to = key;
    const char *from = key;
    for (int part = 0; *from; part++) {
        size_t length = strcspn(from, "|");
        if (!is_unknown(part, device)) {
            if (part > 0) *to++ = '|';
            memmove(to, from, length);
            to += length;
        }
        from += length + (from[length] == '|');
    }
    *to = '\0';
}

/* The file's row of the asked GPU, and its key: the asked one made whole. */
static tunelookup_status find_device(mt_lookup_loader *loader, size_t file, sqlite3 *db, int64_t *device)
{
    tunelookup_status st = TUNELOOKUP_OK;
    mt_lookup_answers *answers = loader->answers;
    sqlite3_stmt *statement = NULL;
    int code = SQLITE_OK;
    if (sqlite3_prepare_v2(db, "SELECT id, key FROM device ORDER BY id", -1, &statement, NULL) != SQLITE_OK) LOOKUP_LEAVE(mt_lookup_sqlite_fail(db, path_of(loader, file)));
    while (!*device && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *key = (const char *)sqlite3_column_text(statement, 1);
        if (!key || !same_gpu(key, loader->asked_gpu, &loader->plan->device)) continue;
        *device = sqlite3_column_int64(statement, 0);
        answers->gpus[file] = mt_lookup_arena_text(&answers->arena, key, strlen(key));
        if (!answers->gpus[file]) st = mt_lookup_no_memory();
    }
    if (st == TUNELOOKUP_OK && code != SQLITE_ROW && code != SQLITE_DONE) st = mt_lookup_sqlite_fail(db, path_of(loader, file));
done:
    sqlite3_finalize(statement);
    return st;
}

/* ---- which source ---- */

typedef struct choice {
    char key[MT_LOOKUP_KEY_SIZE];
    int64_t rank, time;
    bool found, has_several;
} choice;

/* Sources with winners on this GPU come before sources with winners elsewhere; among those the one whose winner is newest; the earlier file where equal. */
static void consider(choice *best, const char *key, int64_t rank, int64_t time)
{
    if (!key || strlen(key) != MT_LOOKUP_KEY_SIZE - 1) return;
    if (best->found && strcmp(best->key, key) != 0) best->has_several = true;
    if (best->found && (rank < best->rank || (rank == best->rank && time <= best->time))) return;
    memcpy(best->key, key, MT_LOOKUP_KEY_SIZE);
    best->rank = rank;
    best->time = time;
    best->found = true;
}

/* A source of which nothing can be evaluated ('{}', from an import) does not count. */
static const char keys_sql[] = "SELECT key, 0, 0 FROM kernel WHERE name = ?1 AND spec_json <> '{}' AND ?2 IS NOT NULL";
static const char newest_sql[] =
    "SELECT k.key, (SELECT max(updated_unix_ms) FROM answer WHERE kernel_id = k.id AND device_id = ?2), "
    "(SELECT max(updated_unix_ms) FROM answer WHERE kernel_id = k.id) FROM kernel k WHERE k.name = ?1 AND k.spec_json <> '{}'";

static tunelookup_status choose_in(mt_lookup_loader *loader, size_t file, const mt_lookup_source *from, const char *sql, choice *best)
{
    tunelookup_status st = TUNELOOKUP_OK;
    sqlite3_stmt *statement = NULL;
    int code = SQLITE_OK;
    go_to(loader, file);
    if (sqlite3_prepare_v2(from->session.db, sql, -1, &statement, NULL) != SQLITE_OK) LOOKUP_LEAVE(mt_lookup_sqlite_fail(from->session.db, path_of(loader, file)));
    sqlite3_bind_text(statement, 1, loader->answers->kernel, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, from->device);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *key = (const char *)sqlite3_column_text(statement, 0);
        if (is_left_out(loader, file, key)) continue;
        bool here = sqlite3_column_type(statement, 1) != SQLITE_NULL, anywhere = sqlite3_column_type(statement, 2) != SQLITE_NULL;
        consider(best, key, here ? 2 : anywhere, sqlite3_column_int64(statement, here ? 1 : 2));
    }
    if (code != SQLITE_DONE) st = mt_lookup_sqlite_fail(from->session.db, path_of(loader, file));
done:
    sqlite3_finalize(statement);
    return st;
}

/* The one source that there is, or the newest; most files have one, and winners need not be looked at. */
static tunelookup_status choose_key(mt_lookup_loader *loader, const mt_lookup_source *sources)
{
    const tunelookup_plan *plan = loader->plan;
    choice best = { 0 };
    if (plan->key) {
        memcpy(loader->answers->kernel_key, plan->key, MT_LOOKUP_KEY_SIZE);
        return TUNELOOKUP_OK;
    }
    for (int pass = 0; pass < 2; pass++) {
        best = (choice){ 0 };
        for (size_t file = 0; file < plan->db->file_count; file++) {
            tunelookup_status st = sources[file].session.db ? choose_in(loader, file, &sources[file], pass ? newest_sql : keys_sql, &best) : TUNELOOKUP_OK;
            if (st != TUNELOOKUP_OK) return st;
        }
        if (!best.has_several) break;
    }
    loader->is_of_file = false;
    char shipped[PATH_MAX + 128];
    mt_lookup_tell_shipped(plan->db, shipped, sizeof shipped);
    if (!best.found) return mt_lookup_fail(TUNELOOKUP_ERR_UNKNOWN_KERNEL, "no kernel %s with stored expressions in %s%s", plan->kernel, path_of(loader, 0), shipped);
    memcpy(loader->answers->kernel_key, best.key, MT_LOOKUP_KEY_SIZE);
    return TUNELOOKUP_OK;
}

/* ---- its expressions ---- */

/* The first file that has expressions gives them. That a later one has others is for explain: rows of one key share them, but a search space may have been edited in between. */
static tunelookup_status take_spec(mt_lookup_loader *loader, size_t file, const char *spec)
{
    char where[512];
    tunelookup_status st = TUNELOOKUP_OK;
    const mt_lookup_json *root = NULL;
    mt_lookup_answers *answers = loader->answers;
    if (loader->spec) {
        if (strcmp(spec, loader->spec) != 0) answers->other_spec_file = file;
        return TUNELOOKUP_OK;
    }
    if (!(loader->spec = mt_lookup_arena_text(&loader->scratch, spec, strlen(spec)))) return mt_lookup_no_memory();
    answers->spec_file = answers->other_spec_file = file;
    snprintf(where, sizeof where, "%s: kernel %s", path_of(loader, file), answers->kernel);
    loader->is_of_spec = true;
    LOOKUP_TRY(mt_lookup_json_load(where, spec, &answers->arena, &root));
    LOOKUP_TRY(mt_lookup_model_load(root, &loader->plan->device, where, &answers->arena, &answers->model));
    loader->is_of_spec = false;
done:
    return st;
}

/* The kernel's row in one file. */
static tunelookup_status find_kernel(mt_lookup_loader *loader, size_t file, mt_lookup_source *from)
{
    tunelookup_status st = TUNELOOKUP_OK;
    sqlite3_stmt *statement = NULL;
    mt_lookup_answers *answers = loader->answers;
    if (sqlite3_prepare_v2(from->session.db, "SELECT id, spec_json FROM kernel WHERE name = ?1 AND key = ?2", -1, &statement, NULL) != SQLITE_OK) {
        st = mt_lookup_sqlite_fail(from->session.db, path_of(loader, file));
        goto done;
    }
    sqlite3_bind_text(statement, 1, answers->kernel, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, answers->kernel_key, -1, SQLITE_STATIC);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) from->kernel = sqlite3_column_int64(statement, 0);
    else if (code != SQLITE_DONE) st = mt_lookup_sqlite_fail(from->session.db, path_of(loader, file));
    const char *spec = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 1) : NULL;
    if (spec && st == TUNELOOKUP_OK && strcmp(spec, "{}") != 0) st = take_spec(loader, file, spec);
done:
    sqlite3_finalize(statement);
    return st;
}

static tunelookup_status find_kernels(mt_lookup_loader *loader, mt_lookup_source *sources)
{
    for (size_t file = 0; file < loader->plan->db->file_count; file++) {
        if (!sources[file].session.db || is_left_out(loader, file, loader->answers->kernel_key)) continue;
        go_to(loader, file);
        tunelookup_status st = find_kernel(loader, file, &sources[file]);
        if (st != TUNELOOKUP_OK) return st;
    }
    loader->is_of_file = false;
    if (loader->spec) return TUNELOOKUP_OK;
    return mt_lookup_fail(TUNELOOKUP_ERR_UNKNOWN_KERNEL, "no kernel %s with key %s and stored expressions", loader->answers->kernel, loader->answers->kernel_key);
}

/* ---- the answers ---- */

/* Keeps the rows that the table leads to. */
static tunelookup_status keep_rows(mt_lookup_loader *loader)
{
    mt_lookup_answers *answers = loader->answers;
    answers->rows = mt_lookup_arena_take(&answers->arena, (size_t)loader->used + loader->extra_count + MT_LOOKUP_DEFAULTS, sizeof *answers->rows);
    answers->table = mt_lookup_arena_take(&answers->arena, (size_t)loader->mask + 1, sizeof *answers->table);
    if (!answers->rows || !answers->table) return mt_lookup_no_memory();
    answers->mask = loader->mask;
    for (uint32_t i = 0; loader->mask && i <= loader->mask; i++) {
        if (!loader->table[i].row) continue;
        answers->rows[answers->row_count] = loader->rows[loader->table[i].row - 1];
        answers->table[i] = (mt_lookup_entry){ loader->table[i].hash, ++answers->row_count };
    }
    for (uint32_t i = 0; answers->row_count <= CHECKED_ROWS && i < answers->row_count; i++) mt_lookup_row_check(answers, answers->rows[i]);
    return TUNELOOKUP_OK;
}

static tunelookup_status open_files(mt_lookup_loader *loader, mt_lookup_source *sources)
{
    tunelookup_status st = TUNELOOKUP_OK;
    mt_lookup_answers *answers = loader->answers;
    for (size_t file = 0; file < loader->plan->db->file_count; file++) {
        if (is_left_out(loader, file, NULL)) continue;
        go_to(loader, file);
        LOOKUP_TRY(mt_lookup_sqlite_open(&loader->plan->db->files[file], &sources[file].session));
        if (sources[file].session.db) LOOKUP_TRY(find_device(loader, file, sources[file].session.db, &sources[file].device));
        if (answers->gpus[file] && !loader->has_gpu) answers->gpu = answers->gpus[file];
        loader->has_gpu = loader->has_gpu || answers->gpus[file];
    }
done:
    return st;
}

static void take_up(mt_lookup_loader *loader, const mt_lookup_source *sources, size_t file)
{
    go_to(loader, file);
    loader->db = sources[file].session.db;
    loader->kernel = sources[file].kernel;
    loader->device = sources[file].device;
}

static tunelookup_status read_rows(mt_lookup_loader *loader, const mt_lookup_source *sources)
{
    tunelookup_status st = TUNELOOKUP_OK;
    for (size_t file = 0; file < loader->plan->db->file_count; file++) {
        if (!sources[file].kernel) continue;
        take_up(loader, sources, file);
        LOOKUP_TRY(mt_lookup_rows_begin(loader));
        if (loader->device) LOOKUP_TRY(mt_lookup_rows_load(loader));
        LOOKUP_TRY(mt_lookup_predictors_load(loader));
    }
done:
    return st;
}

/* No row here is of the workload that was asked for. A workload says how inputs are distributed, never what is computed: the rows of the others answer. */
static void forget_rows(mt_lookup_loader *loader)
{
    mt_lookup_answers *answers = loader->answers;
    answers->missing_workload = answers->workload;
    answers->workload = NULL;
    answers->other_kinds = answers->own_workloads = answers->other_workloads = answers->hidden_recorded = answers->hidden_imported = answers->hidden_damaged = answers->damaged_predictors = answers->other_predictors = answers->hidden_shapes = 0;
    answers->damaged = NULL;
    answers->predictor_count = loader->extra_count = 0;
    loader->extra = NULL;
    loader->row_count = loader->used = 0;
    if (loader->mask) memset(loader->table, 0, ((size_t)loader->mask + 1) * sizeof *loader->table);
}

/* Names that the expressions lack are the caller's fault, unless another file has other expressions: then those that hold may be the wrong ones. */
static tunelookup_status bind_names(mt_lookup_loader *loader)
{
    const tunelookup_plan *plan = loader->plan;
    mt_lookup_answers *answers = loader->answers;
    tunelookup_status st = mt_lookup_bind_names(answers, (const char *const *)plan->names, plan->name_count);
    if (st != TUNELOOKUP_ERR_NAMES || answers->other_spec_file == answers->spec_file) return st;
    go_to(loader, answers->spec_file);
    loader->is_of_spec = true;
    return st;
}

static tunelookup_status read_files(mt_lookup_loader *loader, mt_lookup_source *sources)
{
    tunelookup_status st;
    const tunelookup_plan *plan = loader->plan;
    LOOKUP_TRY(open_files(loader, sources));
    LOOKUP_TRY(choose_key(loader, sources));
    LOOKUP_TRY(find_kernels(loader, sources));
    LOOKUP_TRY(bind_names(loader));
    for (size_t file = 0; file < plan->db->file_count; file++) {
        if (!sources[file].kernel) continue;
        take_up(loader, sources, file);
        LOOKUP_TRY(mt_lookup_wrong_load(loader));
    }
    mt_lookup_wrong_end(loader->answers);
    LOOKUP_TRY(read_rows(loader, sources));
    if (loader->answers->workload && !loader->answers->own_workloads && loader->answers->other_workloads) {
        forget_rows(loader);
        LOOKUP_TRY(read_rows(loader, sources));
    }
    loader->is_of_file = false;
    LOOKUP_TRY(keep_rows(loader));
    LOOKUP_TRY(mt_lookup_predictors_end(loader));
    if (loader->answers->missing_workload || loader->answers->row_count == 0) LOOKUP_TRY(mt_lookup_hint_workload(loader, sources));
    if (loader->answers->row_count == 0) {
        LOOKUP_TRY(mt_lookup_hint_elsewhere(loader, sources));
        LOOKUP_TRY(mt_lookup_hint_unknown(loader, sources));
    }
    for (size_t file = 0; file < plan->db->file_count; file++) {
        go_to(loader, file);
        LOOKUP_TRY(mt_lookup_sqlite_confirm(&plan->db->files[file], &sources[file].session));
    }
    loader->is_of_file = false;
    LOOKUP_TRY(mt_lookup_pin_check(plan->db, sources));
    st = mt_lookup_pin_check_left_out(plan->db, loader->left_out, loader->left_out_count);
done:
    return st;
}

static bool name_answers(mt_lookup_loader *loader)
{
    const tunelookup_plan *plan = loader->plan;
    const tunelookup_device *device = &plan->device;
    mt_lookup_answers *answers = loader->answers;
    char gpu[MT_KEY_GPU_SIZE];
    mt_key_gpu(device->name, device->cc, device->sm_count, device->mem_bytes, device->clock_mhz, gpu, sizeof gpu);
    loader->asked_gpu = mt_lookup_arena_text(&loader->scratch, gpu, strlen(gpu));
    drop_unknown(gpu, device);
    answers->db = plan->db;
    answers->cc = device->cc;
    answers->driver_version = device->driver_version;
    answers->kernel = mt_lookup_arena_text(&answers->arena, plan->kernel, strlen(plan->kernel));
    answers->gpu = mt_lookup_arena_text(&answers->arena, gpu, strlen(gpu));
    answers->gpus = mt_lookup_arena_take(&answers->arena, plan->db->file_count, sizeof *answers->gpus);
    answers->elsewhere = answers->unknown = answers->unknown_workload = "";
    return answers->kernel && answers->gpu && answers->gpus && loader->asked_gpu;
}

/* What the attempt failed of is left out of the next one: a source of the kernel, or the file where a second one is broken. False: it is nothing that can be left out. */
static bool leave_out(mt_lookup_loader *loader, tunelookup_status st)
{
    bool is_of_spec = loader->is_of_spec && !is_left_out(loader, loader->file, NULL);
    if (!loader->is_of_file || !(mt_lookup_is_of_file(st) || (is_of_spec && st == TUNELOOKUP_ERR_NAMES))) return false;
    for (uint32_t i = 0; i < loader->left_out_count; i++) is_of_spec = is_of_spec && loader->left_out[i].file != loader->file;
    if (!is_of_spec && loader->plan->db->file_count == 1) return false;
    mt_lookup_left_out *out = &loader->left_out[loader->left_out_count++];
    *out = (mt_lookup_left_out){ .file = loader->file, .status = st };
    if (is_of_spec) memcpy(out->key, loader->answers->kernel_key, sizeof out->key);
    if (st == TUNELOOKUP_ERR_NAMES) snprintf(out->why, sizeof out->why, "%s: %.300s", path_of(loader, loader->file), tunelookup_detail());
    else snprintf(out->why, sizeof out->why, "%s", tunelookup_detail());
    return true;
}

static void end_attempt(mt_lookup_loader *loader, mt_lookup_source *sources)
{
    sqlite3_finalize(loader->variant_text);
    mt_lookup_backing_end(loader);
    for (size_t i = 0; sources && i < loader->plan->db->file_count; i++) mt_lookup_sqlite_close(&sources[i].session);
    free(sources);
    mt_lookup_arena_free(&loader->scratch);
    mt_lookup_answers_free(loader->answers);
}

static bool keep_left_out(mt_lookup_loader *loader)
{
    mt_lookup_answers *answers = loader->answers;
    answers->left_out = mt_lookup_arena_take(&answers->arena, loader->left_out_count, sizeof *answers->left_out);
    if (!answers->left_out) return false;
    if (loader->left_out_count) memcpy(answers->left_out, loader->left_out, loader->left_out_count * sizeof *answers->left_out);
    answers->left_out_count = loader->left_out_count;
    return true;
}

/* With what earlier attempts left out; adds what this one fails of. */
static tunelookup_status attempt(const tunelookup_plan *plan, mt_lookup_left_out *left_out, uint32_t *left_out_count, mt_lookup_answers **out)
{
    tunelookup_status st = TUNELOOKUP_OK;
    mt_lookup_loader loader = { .plan = plan, .left_out = left_out, .left_out_count = *left_out_count };
    mt_lookup_source *sources = mt_lookup_alloc(plan->db->file_count * sizeof *sources);
    loader.answers = mt_lookup_alloc(sizeof *loader.answers);
    if (!sources || !loader.answers || !name_answers(&loader)) LOOKUP_LEAVE(mt_lookup_no_memory());
    LOOKUP_TRY(read_files(&loader, sources));
    if (!keep_left_out(&loader)) LOOKUP_LEAVE(mt_lookup_no_memory());
    *out = loader.answers;
    loader.answers = NULL;
done:
    if (st != TUNELOOKUP_OK && leave_out(&loader, st)) *left_out_count = loader.left_out_count;
    end_attempt(&loader, sources);
    return st;
}

tunelookup_status mt_lookup_answers_load(const tunelookup_plan *plan, mt_lookup_answers **out)
{
    tunelookup_status st;
    uint32_t count = 0, before;
    mt_lookup_left_out *left_out = mt_lookup_alloc(2 * plan->db->file_count * sizeof *left_out); /* of each file one source, then the file */
    if (!left_out) return mt_lookup_no_memory();
    do {
        before = count;
        st = attempt(plan, left_out, &count, out);
    } while (st != TUNELOOKUP_OK && count > before);
    if (st == TUNELOOKUP_OK) mt_lookup_clear_detail();
    else if (count && (st == TUNELOOKUP_ERR_UNKNOWN_KERNEL || mt_lookup_is_of_file(st))) st = mt_lookup_fail(left_out[0].status, "%s", left_out[0].why);
    free(left_out);
    return st;
}

void mt_lookup_answers_free(mt_lookup_answers *answers)
{
    if (!answers) return;
    mt_lookup_arena_free(&answers->arena);
    free(answers);
}
