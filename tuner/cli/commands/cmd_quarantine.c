/* msda-tune quarantine: the variants that are not run again, and how to forgive them. */
#include "tuner/base/alloc.h"
#include "tuner/cli/command.h"
#include "tuner/cli/commands/quarantine_table.h"
#include "tuner/cli/measure/rerun.h"
#include "tuner/cli/output/print.h"

typedef struct quarantine_values {
    mt_filter_values filter;
    const char *db;
    mt_texts lift;
    bool all, json;
} quarantine_values;

#define FIELD(name) offsetof(quarantine_values, name)
static const mt_option options[] = {
    MT_FILTER_OPTIONS,
    {"db", 0, MT_OPTION_DATABASE, FIELD(db), "FILE", "database; default $MSDA_TUNE_DB, else in the user's data folder"},
    {"lift", 0, MT_OPTION_TEXTS, FIELD(lift), "VARIANT", "forgive this variant (as listed); may be repeated"},
    {"all", 0, MT_OPTION_FLAG, FIELD(all), NULL, "forgive all that the filters let through"},
    {"json", 0, MT_OPTION_FLAG, FIELD(json), NULL, "an array of objects instead of text"},
    {0},
};

/* Whom to forgive is gathered first: the rows must not change while they are read. */
typedef struct lifting {
    const quarantine_values *values;
    struct pardon {
        mt_subject subject;
        char *variant;
    } *pardons;
    size_t count, capacity;
} lifting;

static bool is_asked(const quarantine_values *values, const char *variant)
{
    for (size_t i = 0; i < values->lift.count; i++)
        if (mt_rerun_same_variant(values->lift.items[i], variant)) return true;
    return values->all;
}

static mt_status gather(void *context, const mt_strike_info *row, mt_error *err)
{
    lifting *self = context;
    if (!is_asked(self->values, row->variant)) return MT_OK;
    struct pardon *added = MT_APPEND(self->pardons, self->count, self->capacity);
    if (!added) return mt_no_memory("quarantine", err);
    *added = (struct pardon){row->subject, mt_strdup(row->variant)};
    return added->variant ? MT_OK : mt_no_memory("quarantine", err);
}

static mt_status forgive(lifting *self, mt_store *store, mt_error *err)
{
    mt_status st = mt_store_begin(store, err);
    if (st != MT_OK) return st;
    for (size_t i = 0; i < self->count && st == MT_OK; i++) {
        int64_t strikes;
        st = mt_store_lift_strikes(store, &self->pardons[i].subject, self->pardons[i].variant, &strikes, err);
        mt_strbuf line = {0};
        mt_print_knobs(&line, self->pardons[i].variant);
        if (st == MT_OK) mt_tell("lifted: %s (%lld strike%s)\n", mt_strbuf_text(&line), (long long)strikes, strikes == 1 ? "" : "s");
        mt_strbuf_free(&line);
    }
    if (st == MT_OK) return mt_store_commit(store, err);
    mt_store_rollback(store);
    return st;
}

static mt_status lift(const quarantine_values *values, const mt_filter *filter, mt_store *store, mt_error *err)
{
    mt_status st = MT_OK;
    lifting self = {.values = values};
    MT_TRY(mt_query_strikes(store, filter, gather, &self, err));
    if (self.count == 0) MT_LEAVE(MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: no such variant has strikes; 'msda-tune quarantine' lists those that have", mt_store_path(store)));
    MT_TRY(forgive(&self, store, err));
    mt_tell("The next tune tries %s again.\n", self.count == 1 ? "it" : "them");
done:
    for (size_t i = 0; i < self.count; i++) mt_free(self.pardons[i].variant);
    mt_free(self.pardons);
    return st;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const quarantine_values *values = arguments->values;
    bool is_lift = values->all || values->lift.count;
    mt_filter_box box;
    mt_store *store = NULL;
    mt_status st = MT_OK;
    if (values->all && values->lift.count) return MT_FAIL(err, MT_ERR_USAGE, "quarantine: --all and --lift exclude each other");
    if (is_lift && values->json) return MT_FAIL(err, MT_ERR_USAGE, "quarantine: --json lists; it does not go with --lift or --all");
    mt_filter_fill(&values->filter, &box);
    MT_TRY(mt_database_open_as(values->db, is_lift ? MT_STORE_READ_WRITE : MT_STORE_READ_ONLY, &store, err));
    st = is_lift ? lift(values, &box.filter, store, err) : mt_quarantine_print(store, &box.filter, values->json, err);
done:
    mt_store_close(store);
    return st;
}

const mt_command mt_cmd_quarantine = {
    .name = "quarantine",
    .summary = "variants that are not run again because they faulted or hung; lifts that",
    .help = "A variant that faulted, hung, or twice took its worker or the host down is not run again on that GPU\n"
            "and shape. Without --lift or --all: lists strikes. With them: forgives, so that the next tune tries\n"
            "the variant again.\n\n"
            "  msda-tune quarantine\n"
            "  msda-tune quarantine --lift \"ALGO=direct BLOCK=64\"\n"
            "  msda-tune quarantine --kernel vector_op --all",
    .options = options,
    .values_size = sizeof(quarantine_values),
    .run = run,
};
