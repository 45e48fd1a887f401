/* Between the files spec*.c: the reader's state, the key table and the value parsers. Nobody else includes this (but for the tests of the table). */
#pragma once

#include "tuner/space/ini/ini.h"
#include "tuner/space/ini/split.h"
#include "tuner/space/spec/spec.h"

typedef enum mt_section_kind {
    MT_SECTION_KERNEL, MT_SECTION_TUNE, MT_SECTION_SHAPE, MT_SECTION_WORKLOAD, MT_SECTION_LET, MT_SECTION_ALGORITHM, MT_SECTION_PARAM,
    MT_SECTION_CONSTRAINT, MT_SECTION_ARG, MT_SECTION_PREPARE, MT_SECTION_LAUNCH, MT_SECTION_FINISH, MT_SECTION_MODEL, MT_SECTION_COUNT
} mt_section_kind;
extern const char *const mt_section_names[MT_SECTION_COUNT];

/* What is known beyond the public struct. */
struct mt_ini_data {
    const char ***shape_strings; /* per shape value: the strings it has in the shapes (borrowed) */
    size_t *shape_string_counts;
    mt_ini ini;                  /* as it was read, the short forms written out */
};

typedef struct mt_reader {
    mt_spec *spec;
    const mt_ini *ini;
    const mt_ini_section **sections[MT_SECTION_COUNT];  /* by kind, in file order */
    size_t counts[MT_SECTION_COUNT];
    const mt_ini_entry **lets;                          /* per let of the spec: its line */
    size_t let_limit;                                   /* lets that expressions may read now */
    const char *loop_name;                              /* loop variable that expressions may read now, or NULL */
} mt_reader;

/* "path:line: …", MT_ERR_SPEC. Returns the status. */
mt_status mt_reader_fail(const mt_reader *reader, mt_error *err, int line, const char *format, ...) __attribute__((format(printf, 4, 5)));
mt_status mt_reader_no_memory(const mt_reader *reader, mt_error *err);
/* A path that was written in that line, relative to the folder of its file. mt_free it; NULL = out of memory. */
char *mt_reader_resolve(const mt_reader *reader, int line, const char *name);
/* Replaces the short forms in *ini by the sections that they stand for (spec_short.c). */
mt_status mt_write_out_short_forms(mt_reader *reader, mt_ini *ini, mt_error *err);
/* `i32(N)`: a scalar that stands in a launch's args, or among a struct's members. */
bool mt_is_literal_arg(const char *text);
/* Writes ", did you mean `x`?" or "; expected one of a, b, c" into out; returns out. */
const char *mt_reader_suggest(const char *word, const char *const *known, size_t count, char *out, size_t size);

/* ---- the key table (spec_keys.c) ---- */

typedef struct mt_key_rule mt_key_rule;
/* `value` is the entry's text without outer quotes; `object` the struct that the section describes. */
typedef mt_status (*mt_key_parser)(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                                   mt_error *err);

typedef enum mt_rule_set {
    MT_RULES_KERNEL, MT_RULES_TUNE, MT_RULES_SHAPE, MT_RULES_WORKLOAD, MT_RULES_ALGORITHM, MT_RULES_PARAM, MT_RULES_CONSTRAINT,
    MT_RULES_TENSOR, MT_RULES_TENSORMAP, MT_RULES_SCALAR, MT_RULES_STRUCT, MT_RULES_LAUNCH, MT_RULES_MODEL, MT_RULES_COUNT
} mt_rule_set;

/* Keys that name things come first; expressions need the names and are read in a second pass. */
typedef enum mt_rule_pass { MT_PASS_NAMES, MT_PASS_EXPRESSIONS } mt_rule_pass;

struct mt_key_rule {
    const char *key;
    mt_key_parser parse;  /* NULL: read by the section's own code */
    size_t offset;        /* of the field in the object */
    mt_rule_pass pass;
    bool required;
    const void *detail;   /* choices or range of the parser */
};

const mt_key_rule *mt_rules(mt_rule_set set, size_t *count);
/* Keys of earlier versions, also where free names are allowed: an error that says the name of today. */
mt_status mt_rules_refuse_former(mt_reader *reader, const mt_ini_section *section, mt_rule_set set, mt_error *err);
/* Refuses unknown, earlier and missing keys. */
mt_status mt_rules_check(mt_reader *reader, const mt_ini_section *section, mt_rule_set set, mt_error *err);
/* Parses the keys of one pass, in the table's order. */
mt_status mt_rules_apply(mt_reader *reader, const mt_ini_section *section, mt_rule_set set, mt_rule_pass pass, void *object, mt_error *err);

/* ---- value parsers (spec_values.c) ---- */

typedef struct mt_choice { const char *name; int value; } mt_choice; /* arrays end with a NULL name */
typedef struct mt_range { double low, high; bool low_open; } mt_range;

mt_status mt_parse_text(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);       /* char * */
mt_status mt_parse_options(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);    /* char *, quotes included */
mt_status mt_parse_identifier(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *); /* char * */
mt_status mt_parse_entry(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);      /* char *, a kernel's name */
mt_status mt_parse_variable(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);   /* char *, with :: */
/* The texts that `name` can be, when it is a shape value or knob with such. */
bool mt_strings_of(const mt_spec *spec, const char *name, const char *const **strings, size_t *count);
/* The same without blanks around :: and in front of brackets, within which they stay, as keys hold them. expected: "a kernel's name", for who gives something else. */
mt_status mt_parse_kernel_name(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, const char *expected, mt_error *);
mt_status mt_parse_path(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);       /* char * */
mt_status mt_parse_bool(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);       /* bool */
mt_status mt_parse_flag(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);       /* bool, by choices */
mt_status mt_parse_choice(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);     /* int or enum */
mt_status mt_parse_int64(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);      /* int64_t */
mt_status mt_parse_double(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);     /* double */
mt_status mt_parse_int_expr(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);   /* mt_expr */
mt_status mt_parse_bool_expr(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);  /* mt_expr */
mt_status mt_parse_expr_list(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);  /* mt_expr_list */

/* What a file of before is told: constraints used to have a `scope`. */
#define MT_NO_SEARCH_SCOPE "constraints no longer have a scope, since the search orders by itself what is worth trying: " \
                           "delete the constraint if it says that a point is slow, or the `scope` alone if the point cannot run"

/* ---- names and expressions (spec_scope.c) ---- */

/* Builds slot_names once shapes, knobs and lets' names are known. */
mt_status mt_scope_build(mt_reader *reader, mt_error *err);
/* mt_expr_parse of what stands in that line, so that a message says its column there. The scope's column is set. */
mt_status mt_reader_parse(const mt_reader *reader, int line, const char *text, mt_expr_scope *scope, mt_expr *out, mt_error *err);
/* Parses and binds. `want` is INT (booleans promote), BOOL, or LIST for "any type". */
mt_status mt_scope_expr(mt_reader *reader, int line, const char *text, mt_type want, mt_expr *out, mt_error *err);
/* Names of the knobs in the mask, for messages. */
const char *mt_scope_knob_list(const mt_spec *spec, uint64_t knobs, char *out, size_t size);
/* Calls visit for each ${NAME} of text until it fails; refuses an unclosed ${. */
mt_status mt_scope_check_text(const mt_reader *reader, int line, const char *text, mt_error *err);

/* ---- sections ---- */

mt_status mt_read_shapes(mt_reader *reader, mt_error *err);     /* spec_shape.c */
mt_status mt_read_workloads(mt_reader *reader, mt_error *err);  /* spec_shape.c */
mt_status mt_read_knob_names(mt_reader *reader, mt_error *err); /* spec_param.c: variants and params without expressions */
mt_status mt_read_lets(mt_reader *reader, mt_error *err);       /* spec_param.c: those of [let] */
mt_status mt_read_let(mt_reader *reader, size_t let, mt_error *err); /* the next one */
mt_status mt_read_conditions(mt_reader *reader, mt_error *err); /* spec_param.c: requires, when, constraints */
mt_status mt_read_model(mt_reader *reader, mt_error *err);      /* spec_model.c */
/* Whether the line of [let] or [model] gives a name to an expression: all of [let] do, in [model] those beside time_ns that are no keys. */
bool mt_is_helper(const mt_ini_section *section, const mt_ini_entry *entry);
mt_status mt_read_args(mt_reader *reader, mt_error *err);       /* spec_arg.c */
mt_status mt_read_launches(mt_reader *reader, mt_error *err);   /* spec_launch.c */
mt_status mt_check_spec(mt_reader *reader, mt_error *err);      /* spec_check.c */
mt_status mt_check_names(mt_reader *reader, mt_error *err);     /* spec_check.c: before expressions are read */
mt_status mt_check_recorded(mt_reader *reader, mt_error *err);  /* spec_recorded.c: what `points = recorded` needs and rules out */

mt_status mt_parse_workload_names(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
mt_status mt_parse_source(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
mt_status mt_parse_reference(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
mt_status mt_parse_macros(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
mt_status mt_parse_includes(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
mt_status mt_parse_bake(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
mt_status mt_parse_values(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
mt_status mt_parse_default(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
mt_status mt_parse_when(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
mt_status mt_parse_requires(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
mt_status mt_parse_dtype_text(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
mt_status mt_parse_init(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
mt_status mt_parse_swizzle(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
mt_status mt_parse_of(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
mt_status mt_parse_for(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
/* spec_scalar.c */
mt_status mt_parse_scalar_dtype(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
mt_status mt_parse_scalar_value(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
/* Names of arguments, separated by commas, as their indices; *args is the caller's to free. */
mt_status mt_read_arg_list(mt_reader *reader, const mt_ini_entry *entry, const char *value, size_t **args, size_t *arg_count, mt_error *err);
/* spec_struct.c: members with each array (f32[3](0, 0, 1)) as its elements; *text is NULL after an error, else mt_free. */
mt_status mt_members_written_out(mt_reader *reader, const char *value, int line, char **text, mt_error *err);
bool mt_is_member(const mt_spec *spec, const mt_arg *arg); /* of some struct */
mt_status mt_launch_reach(mt_reader *reader, mt_launch *launch, mt_error *err); /* fills launch->reached; its args are known */
mt_status mt_parse_reads_knobs(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *); /* uint64_t, a mask of knobs */
mt_status mt_parse_members(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);
mt_status mt_parse_launch_args(mt_reader *, const mt_key_rule *, const mt_ini_entry *, const char *, void *, mt_error *);

/* spec_setting.c: settings[index] has its name; the ones in front of it may be read. */
mt_status mt_read_shape_setting(mt_reader *reader, const mt_ini_entry *entry, mt_setting *settings, size_t index, mt_error *err);
mt_status mt_read_workload_setting(mt_reader *reader, const mt_ini_entry *entry, mt_setting *settings, size_t index, mt_error *err);
/* Canonical text of all of them; the caller mt_free's *key. */
mt_status mt_settings_key(mt_reader *reader, const mt_setting *settings, size_t count, char **key, mt_error *err);
void mt_expr_list_free(mt_expr_list *list);
