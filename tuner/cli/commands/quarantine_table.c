#include "tuner/cli/commands/quarantine_table.h"

#include <string.h>
#include <time.h>

typedef struct listing {
    mt_table table;
    mt_strbuf json;
    size_t rows;
} listing;

static mt_status add_row(void *context, const mt_strike_info *row, mt_error *err)
{
    static const char *const names[] = {"GPU", "kernel", "shape", "state", "strikes", "cause", "last (UTC)", "knobs"};
    listing *l = context;
    mt_strbuf knobs = {0};
    char when[32] = "?";
    time_t seconds = (time_t)(row->newest_unix_ms / 1000);
    struct tm tm;
    (void)err;
    if (!l->table.count) {
        l->table.columns = sizeof names / sizeof names[0];
        l->table.right = "llllrlll";
        l->table.wraps = true;
        for (size_t i = 0; i < l->table.columns; i++) mt_table_cell(&l->table, names[i]);
    }
    if (gmtime_r(&seconds, &tm)) strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
    mt_print_knobs(&knobs, row->variant);
    mt_table_cellf(&l->table, "%.*s", (int)strcspn(row->gpu_key, "|"), row->gpu_key);
    mt_table_cell(&l->table, row->kernel);
    mt_table_cell(&l->table, row->shape);
    mt_table_cell(&l->table, row->is_quarantined ? "quarantined" : "may run");
    mt_table_cellf(&l->table, "%lld", (long long)row->strikes);
    mt_table_cell(&l->table, row->cause);
    mt_table_cell(&l->table, when);
    mt_table_cell(&l->table, mt_strbuf_text(&knobs));
    mt_strbuf_free(&knobs);
    l->rows++;
    return MT_OK;
}

static void add_text(mt_strbuf *json, const char *name, const char *text)
{
    mt_strbuf_addf(json, "\"%s\":", name);
    mt_strbuf_add_json(json, text);
    mt_strbuf_add_char(json, ',');
}

static mt_status add_json(void *context, const mt_strike_info *row, mt_error *err)
{
    listing *l = context;
    (void)err;
    mt_strbuf_add(&l->json, l->rows++ ? ",\n {" : "[\n {");
    add_text(&l->json, "gpu", row->gpu_key);
    add_text(&l->json, "kernel", row->kernel);
    add_text(&l->json, "kernel_key", row->kernel_key);
    add_text(&l->json, "shape", row->shape);
    add_text(&l->json, "variant", row->variant);
    add_text(&l->json, "origin", mt_origin_name(row->subject.origin));
    add_text(&l->json, "cause", row->cause);
    mt_strbuf_addf(&l->json, "\"strikes\":%lld,\"quarantined\":%s,\"newest_unix_ms\":%lld}", (long long)row->strikes, row->is_quarantined ? "true" : "false",
                   (long long)row->newest_unix_ms);
    return MT_OK;
}

mt_status mt_quarantine_print(mt_store *store, const mt_filter *filter, bool as_json, mt_error *err)
{
    listing l = {0};
    mt_status st = mt_query_strikes(store, filter, as_json ? add_json : add_row, &l, err);
    if (st == MT_OK && as_json) printf("%s%s\n", l.rows ? mt_strbuf_text(&l.json) : "[", l.rows ? "\n]" : "]");
    else if (st == MT_OK && l.rows) mt_table_print(&l.table, stdout, "");
    else if (st == MT_OK) printf("No variant has strikes.\n");
    mt_table_free(&l.table);
    mt_strbuf_free(&l.json);
    return st;
}
