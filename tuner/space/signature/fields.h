/* The fields of a struct, as far as its declaration tells. */
#pragma once

#include "tuner/space/signature/signature.h"

/* One signature whose parameters are the fields of struct `type`; none where the source has no such struct, several, or one with more than plain fields (functions, bits, unions, structs without a name,
 * conditions). Namespaces in front of the type are not looked at. Free with mt_signatures_free, also after an error.
 * why (may be NULL): what of a struct that the source has is more, "area(…) is a function"; nothing is added where it has none. */
mt_status mt_fields_read(const char *source, const char *type, mt_signatures *fields, mt_strbuf *why, mt_error *err);

/* What search spaces call the numbers of `enum type`, "i32"; NULL: the source has no such enum. */
const char *mt_enum_dtype(const char *source, const char *type);
