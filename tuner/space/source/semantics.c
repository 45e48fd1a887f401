/* One normalised text of what decides which code runs on which numbers. Sorted lines, programs instead of sources: moving sections,
 * reformatting an expression or renaming a loop variable's spacing changes nothing. */
#include "tuner/space/source/semantics.h"

#include <stdlib.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"
#include "tuner/space/ini/split.h"
#include "tuner/space/points/point.h"
#include "tuner/space/source/option_words.h"

typedef struct lines {
    char **items;
    size_t count, capacity;
    bool failed;
} lines;

static void add_line(lines *all, mt_strbuf *line)
{
    char **grown = all->failed ? NULL : mt_grow(all->items, all->count, &all->capacity, sizeof *grown);
    char *text = mt_strbuf_take(line);
    if (grown) all->items = grown;
    if (!grown || !text) {
        all->failed = true;
        mt_free(text);
        return;
    }
    grown[all->count++] = text;
}

static void add_expr(mt_strbuf *line, const char *key, const mt_expr *expr)
{
    if (expr->program_text) mt_strbuf_addf(line, " %s={%s}", key, expr->program_text);
}

static void add_list(mt_strbuf *line, const char *key, const mt_expr_list *list)
{
    if (list->count == 0) return;
    mt_strbuf_addf(line, " %s=", key);
    for (size_t i = 0; i < list->count; i++) mt_strbuf_addf(line, "{%s}", list->items[i].program_text);
}

static void add_arg(const mt_spec *spec, size_t index, mt_strbuf *line)
{
    const mt_arg *arg = &spec->args[index];
    mt_strbuf_addf(line, "arg %s kind=%d dtype=%s", arg->name, (int)arg->kind, arg->dtype_text ? arg->dtype_text : "");
    switch (arg->kind) {
    case MT_ARG_TENSOR:
        /* "floor" was the name of atol: the keys of stored sources keep it. */
        mt_strbuf_addf(line, " role=%d init=%d(%.17g,%.17g,%s) rtol=%.17g worst=%.17g floor=%.17g any=%d zero=%d", (int)arg->role,
                       (int)arg->init, arg->init_a,
                       arg->init_b, arg->init_kernel ? arg->init_kernel : "", arg->rtol, arg->worst, arg->atol, arg->any_order, arg->zero_before_each);
        if (arg->spread > 0) mt_strbuf_addf(line, " spread=%.17g", arg->spread); /* only then: other spaces keep their text */
        if (arg->may_differ > 0) mt_strbuf_addf(line, " may_differ=%.17g", arg->may_differ);
        if (arg->constant) mt_strbuf_addf(line, " constant=%s", arg->constant);
        if (arg->init_bounds.count) add_list(line, "bounds", &arg->init_bounds);
        add_list(line, "shape", &arg->shape);
        break;
    case MT_ARG_TENSORMAP:
        mt_strbuf_addf(line, " of=%s loop=%s swizzle=%d nan=%d l2=%d", spec->args[arg->of].name, arg->loop ? arg->loop : "",
                       arg->swizzle_bytes, arg->fill_nan, arg->l2_promotion_bytes);
        add_expr(line, "swizzle", &arg->swizzle);
        add_expr(line, "count", &arg->count);
        add_expr(line, "offset", &arg->offset);
        add_list(line, "dims", &arg->dims);
        add_list(line, "strides", &arg->strides);
        add_list(line, "box", &arg->box);
        break;
    case MT_ARG_SCALAR:
        mt_strbuf_addf(line, " literal=%.17g", arg->literal);
        add_expr(line, "value", &arg->value);
        break;
    case MT_ARG_STRUCT:
        mt_strbuf_addf(line, " align=%lld members=", (long long)arg->align);
        for (size_t i = 0; i < arg->member_count; i++) mt_strbuf_addf(line, "%s%s", i ? "," : "", spec->args[arg->members[i]].name);
        break;
    }
}

static void add_launch(const mt_spec *spec, const mt_launch *launch, mt_strbuf *line)
{
    mt_strbuf_addf(line, "%s %s %d entry=%s cooperative=%d programmatic=%d args=", mt_launch_phase_names[launch->phase], launch->algorithm ? launch->algorithm : "*", launch->number,
                   launch->entry ? launch->entry : "", launch->cooperative, launch->programmatic);
    for (size_t i = 0; i < launch->arg_count; i++) mt_strbuf_addf(line, "%s%s", i ? "," : "", spec->args[launch->args[i]].name);
    add_list(line, "grid", &launch->grid);
    add_list(line, "block", &launch->block);
    add_list(line, "cluster", &launch->cluster);
    add_expr(line, "smem", &launch->smem);
    add_expr(line, "carveout", &launch->carveout);
    add_expr(line, "when", &launch->when);
    /* Younger than the first keys: only where they are used, so that the others' keys stay. */
    if (launch->blocks_per_sm.program) add_expr(line, "blocks_per_sm", &launch->blocks_per_sm);
    if (launch->resident) mt_strbuf_add(line, " resident=1");
    add_expr(line, "repeat", &launch->repeat);
}

static void add_algorithm(const mt_algorithm *algorithm, mt_strbuf *line)
{
    mt_strbuf_addf(line, "variant %s entry=%s options=%s bake=%s", algorithm->name, algorithm->entry, algorithm->options,
                   algorithm->bake_all ? "all" : "");
    if (algorithm->is_yardstick) mt_strbuf_add(line, " yardstick=1"); /* younger than the first keys */
    const char **bake = mt_alloc(algorithm->bake_count, sizeof *bake);
    if (!bake) {
        line->failed = true;
        return;
    }
    for (size_t i = 0; i < algorithm->bake_count; i++) bake[i] = algorithm->bake[i];
    if (algorithm->bake_count) qsort(bake, algorithm->bake_count, sizeof *bake, mt_text_order);
    for (size_t i = 0; i < algorithm->bake_count; i++) mt_strbuf_addf(line, "%s,", bake[i]);
    mt_free(bake);
}

static char *joined(lines *all)
{
    mt_strbuf text = { 0 };
    if (all->count) qsort(all->items, all->count, sizeof *all->items, mt_text_order);
    for (size_t i = 0; i < all->count; i++) mt_strbuf_addf(&text, "%s\n", all->items[i]);
    char *out = all->failed ? NULL : mt_strbuf_take(&text);
    mt_strbuf_free(&text);
    mt_strings_free(all->items, all->count);
    return out;
}

/* With another default, other outputs are right: old verdicts say nothing. */
static void add_default(const mt_spec *spec, mt_strbuf *line, lines *all)
{
    char *usual = mt_point_usual(spec);
    if (usual) mt_strbuf_addf(line, " of %s", usual);
    else all->failed = true;
    mt_free(usual);
}

char *mt_spec_semantics(const mt_spec *spec)
{
    lines all = { 0 };
    mt_strbuf line = { 0 };
    char *options = mt_words_without_files(spec->options);
    all.failed = !options;
    mt_strbuf_addf(&line, "kernel options=%s reference=%s", options ? options : "", spec->reference ? spec->reference : spec->reference_is_default ? "default" : "file");
    if (spec->reference_is_default) add_default(spec, &line, &all);
    if (spec->macros) mt_strbuf_addf(&line, " macros=%s", spec->macros); /* younger than the first keys */
    for (size_t i = 0; i < spec->param_count; i++)
        if (spec->reference_knobs >> i & 1) mt_strbuf_addf(&line, " reads=%s", spec->params[i].name);
    if (spec->is_for_nvcc) mt_strbuf_add(&line, " compiler=nvcc");
    add_expr(&line, "per", &spec->per);
    mt_free(options);
    add_line(&all, &line);
    for (size_t i = 0; i < spec->model_let; i++) {
        mt_strbuf_addf(&line, "let %s", spec->lets[i].name);
        add_expr(&line, "is", &spec->lets[i].expr);
        add_line(&all, &line);
    }
    for (size_t i = 0; i < spec->algorithm_count; i++) {
        add_algorithm(&spec->algorithms[i], &line);
        add_line(&all, &line);
    }
    for (size_t i = 0; i < spec->arg_count; i++) {
        add_arg(spec, i, &line);
        add_line(&all, &line);
    }
    for (size_t i = 0; i < spec->launch_count; i++) {
        add_launch(spec, &spec->launches[i], &line);
        add_line(&all, &line);
    }
    return joined(&all);
}
