/* libtunelookup: the handles. include/tunelookup.h is the contract; db/lookup/lookup.h says how the parts fit together. */
#include "db/lookup/lookup_pin.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

/* ---- texts ---- */

static _Thread_local char detail[1024];

tunelookup_status mt_lookup_fail(tunelookup_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char text[sizeof detail];
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (size_t i = 0; i < sizeof text; i++) { /* parts of it come from the file */
        detail[i] = !text[i] || mt_lookup_is_shown(text, text + i) ? text[i] : '?';
        if (!text[i]) break;
    }
    return status;
}

tunelookup_status mt_lookup_no_memory(void)
{
    return mt_lookup_fail(TUNELOOKUP_ERR_NO_MEMORY, "out of memory");
}

void mt_lookup_clear_detail(void)
{
    detail[0] = '\0';
}

const char *tunelookup_detail(void)
{
    return detail;
}

const char *tunelookup_strerror(tunelookup_status status)
{
    switch (status) {
    case TUNELOOKUP_OK: return "ok";
    case TUNELOOKUP_ERR_ARGUMENT: return "bad argument";
    case TUNELOOKUP_ERR_NO_MEMORY: return "out of memory";
    case TUNELOOKUP_ERR_NOT_FOUND: return "not found";
    case TUNELOOKUP_ERR_IO: return "the file can't be read or written";
    case TUNELOOKUP_ERR_NOT_A_DATABASE: return "not a tuning database, or damaged";
    case TUNELOOKUP_ERR_NEWER_SCHEMA: return "written by a newer msda-tune";
    case TUNELOOKUP_ERR_UNTRUSTED: return "others may write the file, or it belongs to someone else";
    case TUNELOOKUP_ERR_SQLITE_TOO_OLD: return "the system's SQLite is too old";
    case TUNELOOKUP_ERR_UNKNOWN_KERNEL: return "no such kernel in the database";
    case TUNELOOKUP_ERR_NAMES: return "the names are not the kernel's shape values";
    case TUNELOOKUP_ERR_VALUE: return "an expression can't be computed for these values";
    case TUNELOOKUP_ERR_CUBIN_NOT_ALLOWED: return "cubins of this database need TUNELOOKUP_USER_CUBINS";
    case TUNELOOKUP_ERR_DRIVER_TOO_OLD: return "the cubin needs a newer driver";
    case TUNELOOKUP_ERR_CUBIN_DAMAGED: return "the cubin is damaged or not for this GPU";
    case TUNELOOKUP_ERR_LIMIT: return "more than this version supports";
    case TUNELOOKUP_ERR_OLDER_SCHEMA: return "written by an older msda-tune";
    case TUNELOOKUP_ERR_NOT_IN_CLASS: return "no variant is known to have the bits of the class on this shape";
    case TUNELOOKUP_ERR_NOT_WITHIN: return "no variant is known to be within the limit of errors";
    case TUNELOOKUP_ERR_OTHER_SNAPSHOT: return "the files hold another snapshot than the pinned one";
    }
    return "unknown status";
}

const char *tunelookup_version(int *number)
{
    if (number) *number = 10000 * TUNELOOKUP_VERSION_MAJOR + 100 * TUNELOOKUP_VERSION_MINOR + TUNELOOKUP_VERSION_PATCH;
    return STRING(TUNELOOKUP_VERSION_MAJOR) "." STRING(TUNELOOKUP_VERSION_MINOR) "." STRING(TUNELOOKUP_VERSION_PATCH);
}

/* ---- open ---- */

/* The first page of each file, so that what is wrong as a whole (not to be trusted, no tuning database, cut short, another schema) is said here and not at the first question. Where another file may answer, it is left out. */
static tunelookup_status try_files(tunelookup_db *db)
{
    char left_out[sizeof detail - 16] = "";
    tunelookup_status first = TUNELOOKUP_OK;
    bool is_any_there = false;
    for (size_t i = 0; i < db->file_count; i++) {
        db->files[i].stamp = mt_lookup_stamp_of(db->files[i].path); /* before reading: what changes meanwhile is seen by refresh */
        mt_lookup_session tried;
        tunelookup_status st = mt_lookup_sqlite_try(&db->files[i], &tried);
        is_any_there = is_any_there || (st == TUNELOOKUP_OK && db->files[i].stamp.bytes >= 0);
        if (st == TUNELOOKUP_OK) continue;
        if (!mt_lookup_is_of_file(st)) return st;
        if (first != TUNELOOKUP_OK) continue;
        first = st;
        snprintf(left_out, sizeof left_out, "%.*s", (int)sizeof left_out - 1, detail);
    }
    if (first != TUNELOOKUP_OK && !is_any_there) return mt_lookup_fail(first, "%s", left_out);
    mt_lookup_clear_detail();
    return *left_out ? mt_lookup_fail(TUNELOOKUP_OK, "left out: %s", left_out) : TUNELOOKUP_OK;
}

/* `pin`: an id, or NULL. */
static tunelookup_status open_files(const char *path, unsigned flags, const char *pin, tunelookup_db **out)
{
    tunelookup_status st = TUNELOOKUP_OK;
    tunelookup_db *db = NULL;
    mt_lookup_clear_detail();
    if (!out) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "db is NULL");
    *out = NULL;
    if (flags & ~(unsigned)(TUNELOOKUP_RECORDED | TUNELOOKUP_USER_CUBINS | TUNELOOKUP_COUNT_MISSES | TUNELOOKUP_PINNED | TUNELOOKUP_ERRORS)) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "unknown flags %#x", flags);
    if (path && !*path) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "the path is empty; NULL stands for the user's and the shipped files");
    db = mt_lookup_alloc(sizeof *db);
    if (!db) return mt_lookup_no_memory();
    db->flags = flags;
    db->is_default = !path;
    LOOKUP_TRY(path ? mt_lookup_given_file(path, &db->files, &db->file_count) : mt_lookup_default_files(&db->files, &db->file_count));
    LOOKUP_TRY(try_files(db));
    if (flags & TUNELOOKUP_PINNED) LOOKUP_TRY(mt_lookup_pin(db, pin));
    *out = db;
    db = NULL;
done:
    tunelookup_close(db);
    return st;
}

tunelookup_status tunelookup_open(const char *path, unsigned flags, tunelookup_db **db)
{
    return open_files(path, flags, NULL, db);
}

tunelookup_status tunelookup_open_pinned(const char *path, unsigned flags, const char *snapshot_id, tunelookup_db **db)
{
    if (db) *db = NULL;
    bool is_id = snapshot_id && strlen(snapshot_id) == TUNELOOKUP_SNAPSHOT_ID - 1 && strspn(snapshot_id, "0123456789abcdef") == TUNELOOKUP_SNAPSHOT_ID - 1;
    if (!is_id) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "%.64s is no snapshot id: expected the 32 hex digits that tunelookup_snapshot_id gives", snapshot_id ? snapshot_id : "NULL");
    return open_files(path, flags | TUNELOOKUP_PINNED, snapshot_id, db);
}

/* ---- prepare ---- */

static char *copy_text(const char *text, size_t length)
{
    char *copy = mt_lookup_alloc(length + 1);
    return copy ? memcpy(copy, text, length) : NULL;
}

static void free_plan(tunelookup_plan *plan)
{
    if (!plan) return;
    mt_lookup_answers *answers = atomic_load(&plan->answers);
    while (answers) {
        mt_lookup_answers *older = answers->older;
        mt_lookup_answers_free(answers);
        answers = older;
    }
    for (size_t i = 0; plan->names && i < plan->name_count; i++) free(plan->names[i]);
    free(plan->names);
    free(plan->kernel);
    free(plan->key);
    free((void *)(uintptr_t)plan->device.name);
    free(plan->misses);
    free(plan);
}

static bool is_key(const char *text)
{
    return strlen(text) == MT_LOOKUP_KEY_SIZE - 1 && strspn(text, "0123456789abcdefABCDEF") == MT_LOOKUP_KEY_SIZE - 1;
}

/* "msda", "msda@<key>" */
static tunelookup_status set_kernel(tunelookup_plan *plan, const char *kernel)
{
    const char *at = strrchr(kernel, '@');
    if (!*kernel || at == kernel) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "the kernel's name is empty: expected NAME or NAME@ with 32 hex digits");
    if (at && !is_key(at + 1)) return mt_lookup_fail(TUNELOOKUP_ERR_UNKNOWN_KERNEL, "%s: expected NAME or NAME@ with 32 hex digits", kernel);
    plan->kernel = copy_text(kernel, at ? (size_t)(at - kernel) : strlen(kernel));
    if (at) plan->key = copy_text(at + 1, strlen(at + 1));
    for (char *digit = plan->key; digit && *digit; digit++) {
        if (*digit >= 'A' && *digit <= 'F') *digit += 'a' - 'A';
    }
    return plan->kernel && (plan->key || !at) ? TUNELOOKUP_OK : mt_lookup_no_memory();
}

/* What no GPU has while this library is in use. Numbers far outside come from an uninitialised struct or from another unit. */
static const struct fact_range { const char *name; size_t offset; int64_t least, most; } fact_ranges[] = {
#define FACT(name, least, most) { #name, offsetof(tunelookup_device, name), least, most }
    FACT(cc, 10, 9999), FACT(sm_count, 0, 1000000), FACT(smem_optin, 0, 1 << 30), FACT(smem_per_sm, 0, 1 << 30), FACT(smem_reserved, 0, 1 << 30),
    FACT(regs_per_sm, 0, 1 << 30), FACT(threads_per_sm, 0, 1 << 20), FACT(blocks_per_sm, 0, 1 << 20), FACT(max_cluster, 0, 1 << 20),
    FACT(l2_bytes, 0, INT64_C(1) << 50), FACT(mem_bytes, 0, INT64_C(1) << 50), FACT(clock_mhz, 0, 1000000), FACT(driver_version, 0, 10000000),
#undef FACT
};

/* Everything that is wrong at once. */
static tunelookup_status check_facts(const tunelookup_device *device)
{
    char bad[1000] = "";
    size_t used = 0;
    if (!device->name || !*device->name) used = (size_t)snprintf(bad, sizeof bad, "device.name is missing (as cuDeviceGetName gives it)");
    for (size_t i = 0; i < sizeof fact_ranges / sizeof *fact_ranges && used < sizeof bad; i++) {
        const struct fact_range *range = &fact_ranges[i];
        int64_t value;
        memcpy(&value, (const char *)device + range->offset, sizeof value);
        if (value >= range->least && value <= range->most) continue;
        used += (size_t)snprintf(bad + used, sizeof bad - used, "%sdevice.%s is %lld, expected %s to %lld", used ? "; " : "", range->name, (long long)value,
                                 range->least ? "10 (90 for 9.0)" : "0 (not known)", (long long)range->most);
    }
    return used ? mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "%s", bad) : TUNELOOKUP_OK;
}

/* A caller compiled against an older header has a shorter struct: what it lacks is unknown. */
static tunelookup_status set_device(tunelookup_plan *plan, const tunelookup_device *device)
{
    size_t size = device->struct_size < sizeof *device ? device->struct_size : sizeof *device;
    if (size < offsetof(tunelookup_device, cc) + sizeof device->cc) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "device.struct_size is not set");
    tunelookup_device known = { 0 };
    memcpy(&known, device, size);
    tunelookup_status st = check_facts(&known);
    if (st != TUNELOOKUP_OK) return st;
    plan->device = known;
    plan->device.struct_size = sizeof *device;
    plan->device.name = copy_text(known.name, strlen(known.name));
    return plan->device.name ? TUNELOOKUP_OK : mt_lookup_no_memory();
}

static tunelookup_status set_names(tunelookup_plan *plan, const char *const names[], size_t count)
{
    if (count > 4 * TUNELOOKUP_MAX_VALUES) return mt_lookup_fail(TUNELOOKUP_ERR_LIMIT, "%zu names", count);
    plan->names = mt_lookup_alloc((count + 1) * sizeof *plan->names);
    if (!plan->names) return mt_lookup_no_memory();
    for (size_t i = 0; i < count; i++) {
        if (!names[i] || !*names[i]) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "names[%zu] is NULL or empty", i);
        plan->names[i] = copy_text(names[i], strlen(names[i]));
        plan->name_count = i + 1;
        if (!plan->names[i]) return mt_lookup_no_memory();
    }
    return TUNELOOKUP_OK;
}

tunelookup_status tunelookup_prepare(tunelookup_db *db, const tunelookup_device *device, const char *kernel, const char *const names[], size_t count,
                                     tunelookup_plan **out)
{
    tunelookup_status st = TUNELOOKUP_OK;
    tunelookup_plan *plan = NULL;
    mt_lookup_answers *answers = NULL;
    mt_lookup_clear_detail();
    if (!out) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "plan is NULL");
    *out = NULL;
    if (!db || !device || !kernel || (!names && count)) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "db, device, kernel or names is NULL");
    plan = mt_lookup_alloc(sizeof *plan);
    if (!plan) return mt_lookup_no_memory();
    plan->db = db;
    LOOKUP_TRY(set_kernel(plan, kernel));
    LOOKUP_TRY(set_device(plan, device));
    LOOKUP_TRY(set_names(plan, names, count));
    if ((db->flags & TUNELOOKUP_COUNT_MISSES) && !(plan->misses = mt_lookup_alloc(sizeof *plan->misses))) LOOKUP_LEAVE(mt_lookup_no_memory());
    LOOKUP_TRY(mt_lookup_answers_load(plan, &answers));
    atomic_store(&plan->answers, answers);
    plan->value_count = answers->value_count;
    plan->next = db->plans;
    db->plans = plan;
    *out = plan;
    plan = NULL;
done:
    free_plan(plan);
    return st;
}

/* ---- refresh ---- */

static bool read_stamps(const tunelookup_db *db, mt_lookup_stamp *stamps)
{
    bool changed = false;
    for (size_t i = 0; i < db->file_count; i++) {
        stamps[i] = mt_lookup_stamp_of(db->files[i].path);
        changed = changed || !mt_lookup_stamp_equal(&stamps[i], &db->files[i].stamp);
    }
    return changed;
}

static bool has_left_out(const mt_lookup_answers *answers, size_t file)
{
    for (uint32_t i = 0; i < answers->left_out_count; i++) {
        if (answers->left_out[i].file == file) return true;
    }
    return false;
}

/* A file that answered before and can't be read now, while it is copied say, is an error: its old rows are better than none. */
static tunelookup_status check_loss(const mt_lookup_answers *before, const mt_lookup_answers *now)
{
    for (uint32_t i = 0; i < now->left_out_count; i++) {
        if (!has_left_out(before, now->left_out[i].file)) return mt_lookup_fail(now->left_out[i].status, "%s", now->left_out[i].why);
    }
    return TUNELOOKUP_OK;
}

/* New answers for all plans, or none. */
static tunelookup_status load_all(const tunelookup_db *db, mt_lookup_answers **loaded_answers, size_t count)
{
    tunelookup_status st = TUNELOOKUP_OK;
    size_t loaded = 0;
    for (const tunelookup_plan *plan = db->plans; plan && st == TUNELOOKUP_OK; plan = plan->next) {
        st = mt_lookup_answers_load(plan, &loaded_answers[loaded]);
        if (st != TUNELOOKUP_OK) break;
        st = check_loss(atomic_load(&plan->answers), loaded_answers[loaded++]);
    }
    if (st == TUNELOOKUP_OK) return st;
    for (size_t i = 0; i < loaded && i < count; i++) {
        mt_lookup_answers_free(loaded_answers[i]);
        loaded_answers[i] = NULL;
    }
    return st;
}

tunelookup_status tunelookup_refresh(tunelookup_db *db)
{
    tunelookup_status st = TUNELOOKUP_OK;
    size_t count = 0;
    mt_lookup_clear_detail();
    if (!db) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "db is NULL");
    if (*db->pin) return mt_lookup_pin_check(db, NULL);
    for (const tunelookup_plan *plan = db->plans; plan; plan = plan->next) count++;
    mt_lookup_stamp *stamps = mt_lookup_alloc(db->file_count * sizeof *stamps);
    mt_lookup_answers **loaded_answers = mt_lookup_alloc(count * sizeof *loaded_answers);
    if (!stamps || !loaded_answers) LOOKUP_LEAVE(mt_lookup_no_memory());
    if (!read_stamps(db, stamps)) goto done;
    LOOKUP_TRY(load_all(db, loaded_answers, count));
    size_t next = 0;
    for (tunelookup_plan *plan = db->plans; plan; plan = plan->next, next++) {
        loaded_answers[next]->older = atomic_load(&plan->answers);
        atomic_store_explicit(&plan->answers, loaded_answers[next], memory_order_release);
    }
    for (size_t i = 0; i < db->file_count; i++) db->files[i].stamp = stamps[i];
done:
    free(stamps);
    free(loaded_answers);
    return st;
}

void tunelookup_release(tunelookup_plan *plan)
{
    if (!plan || plan->misses) return;
    tunelookup_plan **at = &plan->db->plans;
    while (*at != plan) at = &(*at)->next;
    *at = plan->next;
    free_plan(plan);
}

void tunelookup_close(tunelookup_db *db)
{
    if (!db) return;
    while (db->plans) {
        tunelookup_plan *next = db->plans->next;
        free_plan(db->plans);
        db->plans = next;
    }
    for (mt_lookup_kept_text *text = atomic_load(&db->texts), *next; text; text = next) {
        next = text->next;
        free(text);
    }
    for (mt_lookup_cubin *cubin = atomic_load(&db->cubins), *next; cubin; cubin = next) {
        next = cubin->next;
        free(cubin->data);
        free(cubin);
    }
    mt_lookup_files_free(db->files, db->file_count);
    free(db);
}
