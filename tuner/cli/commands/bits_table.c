#include "tuner/cli/commands/bits_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/requests/database.h"

typedef struct entry { int64_t variants; double mean, worst; char *member; } entry;

typedef struct listing {
    mt_strbuf heading;
    entry *entries; /* of the heading at hand */
    size_t count, capacity, tables;
} listing;

static int by_mean(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->mean != y->mean ? (x->mean > y->mean) - (x->mean < y->mean) : strcmp(x->member, y->member);
}

/* The class that costs least comes first. */
static void flush(listing *l)
{
    static const char *const titles[] = {"variants", "mean", "worst", "one of them"};
    mt_table table = {.columns = sizeof titles / sizeof *titles, .right = "rrrl", .wraps = true};
    if (l->count) qsort(l->entries, l->count, sizeof *l->entries, by_mean);
    for (size_t i = 0; i < table.columns; i++) mt_table_cell(&table, titles[i]);
    for (size_t i = 0; i < l->count; i++) {
        entry *e = &l->entries[i];
        mt_table_cellf(&table, "%lld", (long long)e->variants);
        mt_table_cellf(&table, "%.3f", e->mean);
        mt_table_cellf(&table, "%.3f", e->worst);
        mt_table_cell(&table, e->member);
        mt_free(e->member);
    }
    if (l->count) {
        printf("%s%s\n", l->tables++ ? "\n" : "", mt_strbuf_text(&l->heading));
        mt_table_print(&table, stdout, "  ");
    }
    l->count = 0;
    mt_table_free(&table);
}

static void add_heading(const mt_bits_class *row, mt_strbuf *heading)
{
    mt_print_clean(heading, row->kernel, 0);
    mt_strbuf_add(heading, " on ");
    mt_print_clean(heading, row->gpu_name, 0);
    mt_strbuf_add(heading, "  [");
    mt_print_clean(heading, row->gpu_key, 0);
    mt_strbuf_addf(heading, ", source %.8s, %s, %s]: variants with the same bits%s on ", row->kernel_key, row->l2, row->origin, row->is_of_rows ? " of each row, however many a batch has," : "");
    if (row->subjects == 1) mt_strbuf_add(heading, "this shape");
    else mt_strbuf_addf(heading, "all of %lld shapes and workloads", (long long)row->subjects);
}

static mt_status add_class(void *context, const mt_bits_class *row, mt_error *err)
{
    mt_status st = MT_OK;
    listing *l = context;
    mt_strbuf heading = {0};
    add_heading(row, &heading);
    if (strcmp(mt_strbuf_text(&heading), mt_strbuf_text(&l->heading)) != 0) {
        flush(l);
        mt_strbuf_clear(&l->heading);
        mt_strbuf_add(&l->heading, mt_strbuf_text(&heading));
    }
    char *member = mt_strdup(row->member);
    entry *added = member ? MT_APPEND(l->entries, l->count, l->capacity) : NULL;
    if (added) *added = (entry){row->variants, row->mean, row->worst, member};
    else mt_free(member);
    if (!added || heading.failed || l->heading.failed) st = mt_no_memory("show", err);
    mt_strbuf_free(&heading);
    return st;
}

mt_status mt_bits_print(mt_store *store, const mt_filter *filter, mt_error *err)
{
    listing l = {0};
    mt_status st = mt_query_bits(store, filter, add_class, &l, err);
    flush(&l);
    if (st == MT_OK && !l.tables)
        st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: no variant has fingerprints of its bits on all of these shapes: rows have them that were measured since schema 10 with seed 0", mt_store_path(store));
    mt_free(l.entries);
    mt_strbuf_free(&l.heading);
    return st;
}
