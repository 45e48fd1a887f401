#include "db/exchange/pack_make.h"

#include <string.h>

#include "db/front_rows.h"
#include "db/store/current.h"
#include "db/store/open/store_image.h"
#include "db/store/query_internal.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"

/* ---- what stays ---- */

/* The winners whose kernel and GPU are asked for, whatever their shape. */
static const char kept_sql[] = "CREATE TEMP TABLE pack_subject AS SELECT s.id AS id, s.kernel_id AS kernel_id, s.device_id AS device_id, k.spec_json = '{}' AS is_blind " SUBJECT_TABLES
                               "WHERE EXISTS (SELECT 1 FROM answer a WHERE a.subject_id = s.id) AND " SUBJECT_FILTER;

/* Of a class of equal bits the member, and the fastest variant of each subject that has its bits there or whose rows are the member's in some batch (db/lookup/lookup_front.c); none without a member. */
static const char member_sql[] = "CREATE TEMP TABLE pack_member AS SELECT s.id AS subject_id, m.variant_id AS variant_id, m.bits AS bits, m.row_bits AS row_bits FROM pack_subject s CROSS JOIN variant v ON v.kernel_id = s.kernel_id "
                                 "CROSS JOIN current_result c ON c.subject_id = s.id AND c.variant_id = v.id " MT_JOIN_CURRENT("c.measurement_id") "WHERE v.text = ?1 AND m.outcome = 'ok'";
static const char class_sql[] = "CREATE TEMP TABLE pack_class AS SELECT s.id AS subject_id, m.variant_id AS variant_id, min(m.median_ns) AS median_ns FROM pack_subject s CROSS JOIN current_result c ON c.subject_id = s.id " MT_JOIN_CURRENT("c.measurement_id")
                                "WHERE m.outcome = 'ok' AND m.median_ns > 0 AND EXISTS (SELECT 1 FROM pack_member p WHERE (p.subject_id = s.id AND p.bits = m.bits) OR instr(p.row_bits, m.row_bits) = 1 OR instr(m.row_bits, p.row_bits) = 1) GROUP BY s.id";

/* Variants that lookups may hand out, and what they are compared with: of others nobody asks how they did. Of these all rows stay, of any GPU, since what is not safe on one is not handed out on another. */
static const char gather_sql[] =
    "CREATE TEMP TABLE pack_portfolio AS SELECT p.id AS id FROM main.portfolio p WHERE EXISTS (SELECT 1 FROM pack_subject s WHERE s.kernel_id = p.kernel_id AND s.device_id = p.device_id); "
    "CREATE TEMP TABLE pack_variant AS SELECT variant_id AS id FROM main.answer WHERE subject_id IN (SELECT id FROM pack_subject) "
    "UNION SELECT variant_id FROM main.landmark WHERE subject_id IN (SELECT id FROM pack_subject) "
    "UNION SELECT variant_id FROM main.portfolio_variant WHERE portfolio_id IN (SELECT id FROM pack_portfolio) "
    "UNION SELECT m.variant_id FROM main.best b JOIN main.finalist f ON f.final_id = b.final_id JOIN main.measurement m ON m.id = f.measurement_id WHERE b.subject_id IN (SELECT id FROM pack_subject) "
    "UNION SELECT variant_id FROM (" MT_FRONT_OF("subject_id IN (SELECT id FROM pack_subject)") ") "
    "UNION SELECT variant_id FROM pack_member UNION SELECT variant_id FROM pack_class; "
    "DELETE FROM main.intent; DELETE FROM main.anchor; DELETE FROM main.pruned; DELETE FROM main.metric; DELETE FROM main.library_comparison; "
    "DELETE FROM main.answer WHERE subject_id NOT IN (SELECT id FROM pack_subject); "
    "DELETE FROM main.best WHERE subject_id NOT IN (SELECT id FROM pack_subject); "
    "DELETE FROM main.error_limit WHERE subject_id NOT IN (SELECT id FROM pack_subject); "
    "DELETE FROM main.landmark WHERE subject_id NOT IN (SELECT id FROM pack_subject); "
    "DELETE FROM main.measurement WHERE variant_id NOT IN (SELECT id FROM pack_variant); "
    "DELETE FROM main.strike WHERE variant_id NOT IN (SELECT id FROM pack_variant); "
    "DELETE FROM main.current_result WHERE newest_id NOT IN (SELECT id FROM main.measurement); "
    "DELETE FROM main.final_round WHERE id NOT IN (SELECT final_id FROM main.best WHERE final_id IS NOT NULL); "
    "DELETE FROM main.finalist WHERE final_id NOT IN (SELECT id FROM main.final_round); "
    "DELETE FROM main.portfolio WHERE id NOT IN (SELECT id FROM pack_portfolio); "
    "DELETE FROM main.portfolio_shape WHERE portfolio_id NOT IN (SELECT id FROM pack_portfolio); "
    "DELETE FROM main.portfolio_variant WHERE portfolio_id NOT IN (SELECT id FROM pack_portfolio); "
    "DELETE FROM main.portfolio_cell WHERE portfolio_id NOT IN (SELECT id FROM main.portfolio WHERE cells IS NULL); " /* else the lookup reads cells */
    "DELETE FROM main.subject WHERE id NOT IN (SELECT id FROM pack_subject UNION SELECT subject_id FROM main.measurement); "
    "DELETE FROM main.variant WHERE id NOT IN (SELECT id FROM pack_variant); "
    "DELETE FROM main.shape WHERE id NOT IN (SELECT shape_id FROM main.subject UNION SELECT shape_id FROM main.strike); "
    "DELETE FROM main.workload WHERE id NOT IN (SELECT workload_id FROM main.subject UNION SELECT workload_id FROM main.portfolio_shape); "
    "DELETE FROM main.kernel WHERE id NOT IN (SELECT kernel_id FROM main.subject); "
    "DELETE FROM main.device WHERE id NOT IN (SELECT device_id FROM main.subject UNION SELECT device_id FROM main.strike); "
    "DELETE FROM main.toolchain WHERE id NOT IN (SELECT toolchain_id FROM main.measurement UNION SELECT toolchain_id FROM main.answer); "
    "DELETE FROM main.session WHERE id NOT IN (SELECT session_id FROM main.measurement UNION SELECT session_id FROM main.final_round); "
    "DELETE FROM main.cubin WHERE encoding <> 'raw'; DROP TABLE pack_portfolio; DROP TABLE pack_variant; DROP TABLE pack_member; DROP TABLE pack_class";

/* Who measured is nobody's business who gets a pack, and equal rows make equal packs: as sealing does of imports (db/store/open/store_seal.c). */
static const char forget_sql[] =
    "UPDATE main.measurement SET samples = NULL, text = NULL; UPDATE main.finalist SET round_ns = NULL; "
    "UPDATE main.session SET command = 'pack', host = '', boot_id = '', process_id = 0, space_path = '', source_hash = NULL, times_json = NULL, warnings = NULL, job = NULL, plan = NULL, "
    "started_unix_ms = ifnull((SELECT max(created_unix_ms) FROM main.measurement WHERE session_id = session.id), 0), "
    "ended_unix_ms = ifnull((SELECT max(created_unix_ms) FROM main.measurement WHERE session_id = session.id), 0); "
    "UPDATE main.best SET updated_unix_ms = ifnull((SELECT created_unix_ms FROM main.measurement WHERE id = measurement_id), 0); "
    "UPDATE main.answer SET updated_unix_ms = created_unix_ms; UPDATE main.portfolio SET updated_unix_ms = 0; DROP TABLE IF EXISTS main.sqlite_stat1";

static mt_status keep(mt_store *copy, const mt_filter *filter, mt_error *err)
{
    mt_status st = MT_OK;
    mt_filter wide = *filter;
    wide.shape = wide.shape_key = wide.workload = wide.workload_key = NULL;
    MT_TRY(mt_sql_exec(copy, "PRAGMA foreign_keys = OFF", err));
    mt_sql_args rows = mt_sql_query(copy, kept_sql, mt_query_values(&wide).in, &st, err);
    while (mt_sql_each(copy, &rows, "choose rows", &st, err)) continue;
done:
    return st;
}

/* What lookups can't evaluate, as of a file that was imported without its expressions, answers nothing. */
static mt_status count_kept(mt_store *copy, mt_error *err)
{
    int64_t all = 0, blind = 0;
    mt_status st = mt_sql_one(copy, "SELECT count(*), total(is_blind) FROM pack_subject", "count winners", MT_NO_IN, MT_OUT(MT_TO_INT(&all), MT_TO_INT(&blind)), err);
    if (st != MT_OK || all > blind) return st == MT_OK ? mt_sql_exec(copy, "DELETE FROM pack_subject WHERE is_blind", err) : st;
    if (!all) return MT_ERR_NOTHING_VALID;
    return MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: the expressions that lookups evaluate are not stored of any kernel that matches, as its rows were imported; tune it with its search space first", mt_store_path(copy));
}

static mt_status keep_class(mt_store *copy, const char *member, mt_error *err)
{
    int64_t known;
    mt_status st;
    mt_sql_args rows = mt_sql_query(copy, member_sql, MT_IN(MT_TEXT(member)), &st, err);
    while (mt_sql_each(copy, &rows, "choose a class", &st, err)) continue;
    if (st == MT_OK) st = mt_sql_exec(copy, class_sql, err);
    if (st != MT_OK || !member) return st;
    st = mt_sql_one(copy, "SELECT count(*) FROM pack_member WHERE bits IS NOT NULL OR row_bits IS NOT NULL", "count a class", MT_NO_IN, MT_OUT(MT_TO_INT(&known)), err);
    return st != MT_OK || known ? st : MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: no fingerprints of the variant %s are stored; expected one that show --bits lists", mt_store_path(copy), member);
}

mt_status mt_pack_gather(mt_store *source, const mt_filter *filter, const char *member, mt_store **copy, mt_error *err)
{
    mt_status st;
    MT_TRY(mt_store_copy(source, copy, err));
    MT_TRY(keep(*copy, filter, err));
    MT_TRY(count_kept(*copy, err));
    MT_TRY(keep_class(*copy, member, err));
    MT_TRY(mt_sql_exec(*copy, gather_sql, err));
    st = mt_sql_exec(*copy, forget_sql, err);
done:
    if (st != MT_OK) {
        mt_store_close(*copy);
        *copy = NULL;
    }
    return st;
}

/* ---- the file ---- */

static const char chosen_sql[] = "CREATE TEMP TABLE pack_code AS SELECT a.subject_id AS subject_id, (SELECT c.hash FROM main.cubin c WHERE c.hash = a.cubin_hash) AS hash "
                                 SUBJECT_TABLES "JOIN answer a ON a.subject_id = s.id WHERE " SUBJECT_FILTER;

static mt_status choose_code(mt_store *copy, const mt_filter *filter, mt_pack_contents *contents, mt_error *err)
{
    static const char count_sql[] = "SELECT (SELECT count(*) FROM pack_code), (SELECT count(*) FROM pack_code WHERE hash IS NULL), (SELECT count(DISTINCT hash) FROM pack_code), "
                                    "(SELECT count(DISTINCT kernel_id) FROM pack_subject), (SELECT count(DISTINCT device_id) FROM pack_subject)";
    mt_status st = MT_OK;
    mt_sql_args rows = mt_sql_query(copy, chosen_sql, mt_query_values(filter).in, &st, err);
    while (mt_sql_each(copy, &rows, "choose code", &st, err)) continue;
    if (st == MT_OK) st = mt_sql_exec(copy, "DELETE FROM main.cubin WHERE hash NOT IN (SELECT hash FROM pack_code WHERE hash IS NOT NULL)", err);
    if (st == MT_OK) st = mt_sql_one(copy, count_sql, "count code", MT_NO_IN, MT_OUT(MT_TO_INT(&contents->winners), MT_TO_INT(&contents->without_code), MT_TO_INT(&contents->cubins), MT_TO_INT(&contents->kernels), MT_TO_INT(&contents->gpus)), err);
    contents->shared = contents->winners - contents->without_code - contents->cubins;
    return st;
}

/* Each part with what fills it up, one behind the other; what they hold is the caller's until the pack is written. */
typedef struct parts {
    mt_pack_part *items;
    unsigned char **bytes;
    uint32_t count;
} parts;

static void free_parts(parts *all)
{
    for (uint32_t i = 0; i < all->count; i++) mt_free(all->bytes[i]);
    mt_free(all->items);
    mt_free(all->bytes);
}

static mt_status add_part(parts *all, const char *name, const void *bytes, size_t count, mt_error *err)
{
    uint64_t padded = mt_pack_padded(count);
    mt_pack_part *part = &all->items[all->count];
    unsigned char *own = mt_alloc(padded, 1);
    if (!own) return mt_no_memory("pack", err);
    memcpy(own, bytes, count);
    strncpy(part->name, name, sizeof part->name - 1);
    part->bytes = count;
    mt_blake2b(own, padded, part->hash);
    all->bytes[all->count++] = own;
    return MT_OK;
}

static mt_status add_code(mt_store *copy, parts *all, mt_pack_contents *contents, mt_error *err)
{
    mt_status st = MT_OK;
    mt_sql_args rows = mt_sql_query(copy, "SELECT hash, bytes FROM main.cubin ORDER BY hash", MT_NO_IN, &st, err);
    while (mt_sql_each(copy, &rows, "read code", &st, err)) {
        const void *bytes = sqlite3_column_blob(rows.statement, 1);
        size_t count = (size_t)sqlite3_column_bytes(rows.statement, 1);
        if (!bytes || !count) st = MT_FAIL(err, MT_ERR_DB, "%s: cubin %s is empty", mt_store_path(copy), mt_sql_column(rows.statement, 0));
        else st = add_part(all, mt_sql_column(rows.statement, 0), bytes, count, err);
        contents->code_bytes += count;
    }
    return st;
}

/* What compiling added stands in the order in which the compilers were done: code, of which the hash alone is left, and versions of compilers, which only its winners refer to. */
static const char order_sql[] =
    "CREATE TEMP TABLE pack_cubin AS SELECT * FROM main.cubin; DELETE FROM main.cubin; INSERT INTO main.cubin SELECT hash, encoding, size_bytes, x'' FROM pack_cubin ORDER BY hash; DROP TABLE pack_cubin; "
    "CREATE TEMP TABLE pack_chain AS SELECT * FROM main.toolchain WHERE id NOT IN (SELECT toolchain_id FROM main.measurement); "
    "CREATE TEMP TABLE pack_number AS SELECT c.id AS old, (SELECT ifnull(max(toolchain_id), 0) FROM main.measurement) + 1 + "
    "(SELECT count(*) FROM pack_chain o WHERE (o.nvrtc_version, o.driver_version, o.arch) < (c.nvrtc_version, c.driver_version, c.arch)) AS new FROM pack_chain c; "
    "DELETE FROM main.toolchain WHERE id IN (SELECT id FROM pack_chain); "
    "INSERT INTO main.toolchain SELECT n.new, c.nvrtc_version, c.driver_version, c.arch FROM pack_chain c JOIN pack_number n ON n.old = c.id ORDER BY n.new; "
    "UPDATE main.answer SET toolchain_id = (SELECT new FROM pack_number WHERE old = toolchain_id) WHERE toolchain_id IN (SELECT old FROM pack_number); "
    "DROP TABLE pack_chain; DROP TABLE pack_number; DROP TABLE temp.pack_code; DROP TABLE temp.pack_subject";

static mt_status add_database(mt_store *copy, parts *all, mt_error *err)
{
    unsigned char *image = NULL;
    size_t count = 0;
    mt_status st;
    MT_TRY(mt_sql_exec(copy, order_sql, err));
    MT_TRY(mt_store_image(copy, &image, &count, err));
    st = add_part(all, MT_PACK_DATABASE, image, count, err);
done:
    mt_store_image_free(image);
    return st;
}

static mt_status put_together(parts *all, mt_packed *packed, mt_error *err)
{
    uint64_t front = mt_pack_front_bytes(all->count), total = front;
    for (uint32_t i = 0; i < all->count; i++) total += mt_pack_padded(all->items[i].bytes);
    if (!(packed->bytes = mt_alloc(total, 1))) return mt_no_memory("pack", err);
    mt_pack_front(all->items, all->count, packed->bytes);
    for (uint32_t i = 0; i < all->count; i++) memcpy(packed->bytes + all->items[i].at, all->bytes[i], mt_pack_padded(all->items[i].bytes));
    packed->contents.bytes = total;
    return MT_OK;
}

mt_status mt_pack_make(mt_store *copy, const mt_filter *filter, mt_packed *packed, mt_error *err)
{
    parts all = {0};
    mt_status st;
    MT_TRY(choose_code(copy, filter, &packed->contents, err));
    if (packed->contents.cubins >= MT_PACK_PARTS) MT_LEAVE(MT_FAIL(err, MT_ERR_UNSUPPORTED, "pack: %lld pieces of code, and a pack holds %d at most; choose fewer kernels or GPUs", (long long)packed->contents.cubins, MT_PACK_PARTS - 1));
    size_t room = (size_t)packed->contents.cubins + 1;
    all.items = mt_alloc(room, sizeof *all.items);
    all.bytes = mt_alloc(room, sizeof *all.bytes);
    if (!all.items || !all.bytes) MT_LEAVE(mt_no_memory("pack", err));
    MT_TRY(add_code(copy, &all, &packed->contents, err));
    MT_TRY(add_database(copy, &all, err));
    st = put_together(&all, packed, err);
done:
    free_parts(&all);
    return st;
}

void mt_packed_free(mt_packed *packed)
{
    mt_free(packed->bytes);
    packed->bytes = NULL;
}
