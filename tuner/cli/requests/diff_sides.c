#include "tuner/cli/requests/diff_sides.h"

#include <string.h>
#include <time.h>

#include "db/row_rules.h"
#include "tuner/base/text.h"
#include "tuner/cli/requests/database.h"

static mt_status bad_value(const char *command, char side, const char *text, const char *expected, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_USAGE, "%s: --%c %s: expected %s", command, side, text, expected);
}

/* "12.8" → 12080, "13000" as it is. */
static bool read_version(const char *text, int64_t *version)
{
    const char *dot = strchr(text, '.');
    int64_t major, minor;
    if (!dot) return mt_text_int64(text, strlen(text), version) && *version >= 1000;
    if (!mt_text_int64(text, (size_t)(dot - text), &major) || !mt_text_int64(dot + 1, strlen(dot + 1), &minor) || major < 1 || major > 999 || minor < 0 || minor > 99) return false;
    *version = 1000 * major + 10 * minor;
    return true;
}

/* Exactly as it would be written: two digits a part, and a day that there is. */
static bool read_date(const char *text, int64_t *unix_ms)
{
    bool has_time = strchr(text, 'T');
    char written[32];
    struct tm tm = {0};
    const char *end = strptime(text, has_time ? "%Y-%m-%dT%H:%M:%S" : "%Y-%m-%d", &tm);
    if (!end || *end) return false;
    *unix_ms = (int64_t)timegm(&tm) * 1000; /* which makes the 2nd of March of February's 30th, in tm too */
    size_t length = has_time ? strftime(written, sizeof written, "%Y-%m-%dT%H:%M:%S", &tm) : strftime(written, sizeof written, "%Y-%m-%d", &tm);
    return *unix_ms > 0 && *unix_ms < MT_ROW_DATE_LIMIT && length && strcmp(written, text) == 0;
}

static mt_status set_side(const char *command, char name, const char *text, mt_diff_side *side, mt_error *err)
{
    static const char *const keys[] = {"gpu", "source", "driver", "nvrtc", "session", "since", "until"};
    enum { GPU, SOURCE, DRIVER, NVRTC, SESSION, SINCE, UNTIL, KEYS };
    const char *value = strchr(text, '=');
    size_t key = 0, length = value ? (size_t)(value - text) : 0;
    while (key < KEYS && !(value && strlen(keys[key]) == length && strncmp(keys[key], text, length) == 0)) key++;
    if (key == KEYS || !*++value) return bad_value(command, name, text, "gpu=…, driver=…, nvrtc=…, session=…, since=…, until=… or source=…", err);
    switch (key) {
    case GPU: side->gpu = value; return MT_OK;
    case SOURCE: side->source = value; return MT_OK;
    case DRIVER: return read_version(value, &side->driver) ? MT_OK : bad_value(command, name, text, "the CUDA version that the driver offers, 12.8", err);
    case NVRTC: return read_version(value, &side->nvrtc) ? MT_OK : bad_value(command, name, text, "a version, 12.8", err);
    case SESSION: return mt_text_int64(value, strlen(value), &side->session) && side->session > 0 ? MT_OK : bad_value(command, name, text, "a number of `show --sessions`", err);
    default: return read_date(value, key == SINCE ? &side->since_ms : &side->until_ms) ? MT_OK : bad_value(command, name, text, "a day (UTC) from 1970 to 2099, 2026-01-31, or 2026-01-31T12:00:00", err);
    }
}

static mt_status set_sides(const char *command, const mt_diff_sides_values *values, const char *gpu, mt_diff_sides *sides, mt_error *err)
{
    mt_status st = MT_OK;
    double percent;
    for (size_t i = 0; i < values->a.count; i++) MT_TRY(set_side(command, 'a', values->a.items[i], &sides->a, err));
    for (size_t i = 0; i < values->b.count; i++) MT_TRY(set_side(command, 'b', values->b.items[i], &sides->b, err));
    if (gpu && (sides->a.gpu || sides->b.gpu)) st = MT_FAIL(err, MT_ERR_USAGE, "%s: --gpu is for both sides, and --%c gpu= says something else", command, sides->a.gpu ? 'a' : 'b');
    if (st != MT_OK || !values->threshold) goto done;
    if (!mt_text_double(values->threshold, &percent) || percent < 0 || percent > 100)
        st = MT_FAIL(err, MT_ERR_USAGE, "%s: --threshold is '%s', expected per cent, 0 to 100", command, values->threshold);
    else sides->threshold = percent / 100;
done:
    return st;
}

static mt_status open_files(const char *command, const mt_diff_sides_values *values, const mt_arguments *arguments, const char *db, mt_diff_sides *sides, mt_error *err)
{
    mt_status st = MT_OK;
    if (arguments->operand_count > 2) return MT_FAIL(err, MT_ERR_USAGE, "%s: %zu files, expected at most two: %s A.sqlite B.sqlite", command, arguments->operand_count, command);
    if (arguments->operand_count && db) return MT_FAIL(err, MT_ERR_USAGE, "%s: --db and FILE both name a database; expected one of them", command);
    for (size_t i = 0; i < 2; i++) {
        const char *path = arguments->operand_count ? arguments->operands[arguments->operand_count == 2 ? i : 0] : db;
        MT_TRY(mt_database_open(path, &sides->stores[i], err));
    }
    if (arguments->operand_count < 2 && !values->a.count && !values->b.count)
        st = MT_FAIL(err, MT_ERR_USAGE, "%s: %s is one side, the second is missing; give two files, or say how the sides differ: --a driver=12.8 --b driver=13.0", command, mt_store_path(sides->stores[0]));
    sides->a.store = sides->stores[0];
    sides->b.store = sides->stores[1];
done:
    return st;
}

mt_status mt_diff_sides_open(const char *command, const mt_diff_sides_values *values, const mt_arguments *arguments, const char *db, const char *gpu, mt_diff_sides *sides, mt_error *err)
{
    *sides = (mt_diff_sides){.threshold = 0.01};
    mt_status st = set_sides(command, values, gpu, sides, err);
    return st == MT_OK ? open_files(command, values, arguments, db, sides, err) : st;
}

void mt_diff_sides_close(mt_diff_sides *sides)
{
    mt_store_close(sides->stores[0]);
    mt_store_close(sides->stores[1]);
    *sides = (mt_diff_sides){0};
}

void mt_diff_sides_describe(const mt_diff_sides_values *values, const mt_diff_sides *sides, size_t which, mt_strbuf *text)
{
    const mt_texts *words = which ? &values->b : &values->a;
    mt_strbuf_add(text, mt_store_path(sides->stores[which]));
    for (size_t i = 0; i < words->count; i++) mt_strbuf_addf(text, ", %s", words->items[i]);
}
