/* One line of a recording taken apart. SQLite's JSON functions do it, in statements of the store's own handle. */
#include "db/exchange/recording/recording_line.h"

#include <stdio.h>
#include <string.h>

#include "db/row_json.h"
#include "db/store/store_internal.h"

mt_status mt_line_fail(const mt_line_source *from, const char *what, const char *name, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%lld: %s%s%s", from->path, (long long)mt_lines_number(from->lines), what, name ? " " : "",
                   name ? name : "");
}

/* "… in NAME, found VALUE". */
static mt_status fail_value(const mt_line_source *from, sqlite3_stmt *statement, int column, const char *what, const char *name, mt_error *err)
{
    char found[80];
    const char *value = mt_sql_column_or_null(statement, column);
    snprintf(found, sizeof found, "%s, found %s%.40s%s", name, value ? "\"" : "nothing", value ? value : "", value ? strlen(value) > 40 ? "…\"" : "\"" : "");
    return mt_line_fail(from, what, found, err);
}

/* A text of at least min_length bytes without NULs. */
mt_status mt_line_text(const mt_line_source *from, sqlite3_stmt *statement, int column, const char *name, size_t min_length, const char **text,
                          mt_error *err)
{
    *text = mt_sql_column(statement, column);
    size_t length = strlen(*text);
    if (sqlite3_column_type(statement, column) == SQLITE_TEXT && length >= min_length &&
        length == (size_t)sqlite3_column_bytes(statement, column)) {
        return MT_OK;
    }
    return fail_value(from, statement, column, "expected a text in", name, err);
}

mt_status mt_line_integer(const mt_line_source *from, sqlite3_stmt *statement, int column, const char *name, int64_t *value, mt_error *err)
{
    *value = sqlite3_column_int64(statement, column);
    if (sqlite3_column_type(statement, column) == SQLITE_INTEGER && *value >= 0) return MT_OK;
    return fail_value(from, statement, column, "expected a whole number, zero or more, in", name, err);
}

/* NAN where there is none. */
mt_status mt_line_real(const mt_line_source *from, sqlite3_stmt *statement, int column, const char *name, double *value, mt_error *err)
{
    int type = sqlite3_column_type(statement, column);
    *value = mt_sql_column_real(statement, column);
    return type == SQLITE_NULL || type == SQLITE_INTEGER || type == SQLITE_FLOAT ? MT_OK : fail_value(from, statement, column, "expected a number in", name, err);
}

mt_status mt_line_date(const mt_line_source *from, sqlite3_stmt *statement, int column, const char *name, int64_t *unix_ms, mt_error *err)
{
    mt_status st = mt_line_integer(from, statement, column, name, unix_ms, err);
    return st == MT_OK && *unix_ms >= MT_ROW_DATE_LIMIT ? fail_value(from, statement, column, "expected a time before the year 2100 in", name, err) : st;
}

/* The two columns of a JSON_MEMBER. NULL: there is none. */
mt_status mt_line_object(const mt_line_source *from, sqlite3_stmt *statement, int column, const char *name, const char **json, mt_error *err)
{
    const char *type = mt_sql_column_or_null(statement, column);
    *json = type ? mt_sql_column(statement, column + 1) : NULL;
    return type && strcmp(type, "object") != 0 ? mt_line_fail(from, "expected an object in", name, err) : MT_OK;
}

/* \u0000, which some versions of SQLite take for the text's end. */
static bool has_nul_escape(const char *line)
{
    for (const char *at = strchr(line, '\\'); at; at = strchr(at, '\\')) {
        if (strncmp(at, "\\u0000", 6) == 0) return true;
        at += at[1] ? 2 : 1;
    }
    return false;
}

/* Files that were copied in part end in the middle of a line. */
static const char *not_an_object(const char *line)
{
    size_t length = strlen(line);
    if (line[0] != '{') return "is not a JSON object; expected " MT_RECORDING_FILES;
    return line[length - 1] == '}' ? "is not a JSON object, or a damaged one" : "begins a JSON object that does not end on its line: is the file cut short, or written over several lines?";
}

/* Of two members of one name SQLite takes either, by its version. */
mt_status mt_line_check_names(const mt_line_source *from, const char *line, mt_error *err)
{
    size_t length;
    const char *twice = mt_json_repeated(line, strlen(line), &length);
    if (!twice) return MT_OK;
    return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%lld: \"%.*s\" is there twice in an object", from->path, (long long)mt_lines_number(from->lines), (int)(length < 60 ? length : 60), twice);
}

/* The row of a SELECT that takes the line apart; ?1 is the line. */
mt_status mt_line_parse(const mt_line_source *from, const char *literal, const char *line, sqlite3_stmt **statement, mt_error *err)
{
    mt_status st;
    bool row;
    MT_TRY(mt_sql_cached_get(from->store, "SELECT CASE WHEN json_valid(?1) THEN json_type(?1) = 'object' END", statement, err));
    mt_sql_args check = mt_sql_args_of(*statement);
    mt_sql_text(&check, line);
    int64_t is_object;
    MT_TRY(mt_sql_value(from->store, &check, 0, &is_object, "parse a line", err));
    if (!is_object || has_nul_escape(line)) MT_LEAVE(mt_line_fail(from, is_object ? "holds a NUL character" : not_an_object(line), NULL, err));
    MT_TRY(mt_sql_cached_get(from->store, literal, statement, err));
    mt_sql_args args = mt_sql_args_of(*statement);
    mt_sql_text(&args, line);
    MT_TRY(mt_sql_row(from->store, &args, &row, "parse a line", err));
done:
    return st;
}
