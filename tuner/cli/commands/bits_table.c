#include "tuner/cli/commands/bits_table.h"

#include <stdio.h>
#include <string.h>

#include "tuner/cli/output/print.h"
#include "tuner/cli/requests/database.h"

typedef struct listing {
    mt_table table;
    mt_strbuf heading;
    size_t rows;
} listing;

static void flush(listing *l)
{
    if (l->table.count) printf("%s%s\n", l->rows ? "\n" : "", mt_strbuf_text(&l->heading));
    if (l->table.count) mt_table_print(&l->table, stdout, "  ");
    l->rows += l->table.count;
    mt_table_free(&l->table);
}

static void add_heading(const mt_bits_class *row, mt_strbuf *heading)
{
    mt_print_clean(heading, row->kernel, 0);
    mt_strbuf_add(heading, " on ");
    mt_print_clean(heading, row->gpu_name, 0);
    mt_strbuf_add(heading, "  [");
    mt_print_clean(heading, row->gpu_key, 0);
    mt_strbuf_addf(heading, ", source %.8s, %s, %s]: variants with the same bits on ", row->kernel_key, row->l2, row->origin);
    if (row->subjects == 1) mt_strbuf_add(heading, "this shape");
    else mt_strbuf_addf(heading, "all of %lld shapes and workloads", (long long)row->subjects);
}

static mt_status add_class(void *context, const mt_bits_class *row, mt_error *err)
{
    listing *l = context;
    mt_strbuf heading = {0};
    add_heading(row, &heading);
    if (strcmp(mt_strbuf_text(&heading), mt_strbuf_text(&l->heading)) != 0) {
        flush(l);
        mt_strbuf_clear(&l->heading);
        mt_strbuf_add(&l->heading, mt_strbuf_text(&heading));
        l->table.columns = 3;
        l->table.right = "rrl";
        l->table.wraps = true;
        for (size_t i = 0; i < 3; i++) mt_table_cell(&l->table, (const char *const[]){"variants", "slowdown", "fastest of them"}[i]);
    }
    mt_status st = heading.failed || l->heading.failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "show: out of memory") : MT_OK;
    mt_strbuf_free(&heading);
    mt_table_cellf(&l->table, "%lld", (long long)row->variants);
    mt_table_cellf(&l->table, "%.3f", row->worst);
    mt_table_cell(&l->table, row->fastest);
    return st;
}

mt_status mt_bits_print(mt_store *store, const mt_filter *filter, mt_error *err)
{
    listing l = {0};
    mt_status st = mt_query_bits(store, filter, add_class, &l, err);
    if (st == MT_OK) flush(&l);
    if (st == MT_OK && !l.rows)
        st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: no variant has fingerprints of its bits on all of these shapes: rows have them that were measured since schema 10 with seed 0", mt_store_path(store));
    mt_table_free(&l.table);
    mt_strbuf_free(&l.heading);
    return st;
}
