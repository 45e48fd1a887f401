/* A C++ function's name in compiled code: _Z, its name with its length, and its parameters' types, where a type that was there before is told by its number. */
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/signature/signature.h"

static const struct {
    const char *type, *letter; /* NULL: a class of that name */
} builtins[] = { /* int64_t and uint64_t are long or long long, as the header pleases */
    {"bool", "b"}, {"char", "c"}, {"signed char", "a"}, {"int8_t", "a"}, {"unsigned char", "h"}, {"uint8_t", "h"}, {"short", "s"}, {"int16_t", "s"}, {"unsigned short", "t"}, {"uint16_t", "t"},
    {"int", "i"}, {"int32_t", "i"}, {"unsigned int", "j"}, {"unsigned", "j"}, {"uint32_t", "j"}, {"long", "l"}, {"unsigned long", "m"}, {"size_t", "m"},
    {"long long", "x"}, {"unsigned long long", "y"}, {"float", "f"}, {"double", "d"},
    {"__half", NULL}, {"__half2", NULL}, {"__nv_bfloat16", NULL}, {"__nv_bfloat162", NULL}, {"__nv_fp8_e4m3", NULL}, {"__nv_fp8x2_e4m3", NULL}, {"__nv_fp8x4_e4m3", NULL}, {"__nv_fp8_e5m2", NULL}, {"__nv_fp8x2_e5m2", NULL}, {"__nv_fp8x4_e5m2", NULL},
    {"float2", NULL}, {"float3", NULL}, {"float4", NULL}, {"double2", NULL}, {"int2", NULL}, {"int3", NULL}, {"int4", NULL}, {"uint2", NULL}, {"uint4", NULL},
};
static const struct {
    const char *alias, *type;
} aliases[] = {{"half", "__half"}, {"half2", "__half2"}, {"nv_bfloat16", "__nv_bfloat16"}, {"nv_bfloat162", "__nv_bfloat162"}};

enum { MOST_SEEN = 96, TYPE_SIZE = 96 };

typedef struct mangler {
    char seen[MOST_SEEN][TYPE_SIZE]; /* compound types, spelled without numbers */
    size_t count;
    mt_strbuf out;
} mangler;

/* S_, S0_, S1_ …: where the type was there before; else notes it. */
static bool add_seen(mangler *m, const char *type)
{
    for (size_t i = 0; i < m->count; i++) {
        if (strcmp(m->seen[i], type) != 0) continue;
        if (i == 0) mt_strbuf_add(&m->out, "S_");
        else mt_strbuf_addf(&m->out, "S%c_", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(i - 1) % 36]);
        return true;
    }
    return false;
}

static bool note(mangler *m, const char *type)
{
    if (m->count == 37) return false; /* what follows would need two digits */
    snprintf(m->seen[m->count++], TYPE_SIZE, "%s", type);
    return true;
}

/* `type` as the ABI spells it without numbers, "PKf": writes it with them, inside out. */
static bool add_type(mangler *m, const char *type)
{
    bool is_compound = *type == 'P' || *type == 'K' || (*type >= '0' && *type <= '9');
    if (!is_compound) return mt_strbuf_add(&m->out, type), true;
    if (add_seen(m, type)) return true;
    if (*type != 'P' && *type != 'K') mt_strbuf_add(&m->out, type);
    else {
        mt_strbuf_add_char(&m->out, *type);
        if (!add_type(m, type + 1)) return false;
    }
    return note(m, type);
}

static bool spell(const mt_parameter *parameter, char out[TYPE_SIZE])
{
    const char *type = parameter->type;
    char pointers[9] = "";
    if (parameter->pointers > 8) return false;
    memset(pointers, 'P', (size_t)parameter->pointers);
    pointers[parameter->pointers] = '\0';
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(type, aliases[i].alias) == 0) type = aliases[i].type;
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        if (strcmp(type, builtins[i].type) != 0) continue;
        const char *constant = parameter->is_const && parameter->pointers ? "K" : "";
        if (builtins[i].letter) snprintf(out, TYPE_SIZE, "%s%s%s", pointers, constant, builtins[i].letter);
        else snprintf(out, TYPE_SIZE, "%s%s%zu%s", pointers, constant, strlen(type), type);
        return true;
    }
    return false;
}

char *mt_signature_mangle(const mt_signature *signature)
{
    mangler *m = mt_alloc(1, sizeof *m);
    bool is_known = m != NULL && !signature->is_template;
    if (m) mt_strbuf_addf(&m->out, "_Z%zu%s%s", strlen(signature->name), signature->name, signature->parameter_count ? "" : "v");
    for (size_t i = 0; is_known && i < signature->parameter_count; i++) {
        char type[TYPE_SIZE];
        is_known = spell(&signature->parameters[i], type) && add_type(m, type);
    }
    char *symbol = is_known ? mt_strbuf_take(&m->out) : NULL;
    if (m) mt_strbuf_free(&m->out);
    mt_free(m);
    return symbol;
}
