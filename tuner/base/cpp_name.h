/* Names of C++ functions, as compilers write them into logs and cubins (Itanium C++ ABI), and as people wrote them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/strbuf.h"

/* Adds the name without its parameters, arguments of templates as <…> and without unnamed namespaces: "_Z5scalePf" is scale, "_ZN2ns4tileILi4EE3runEv" ns::tile<…>::run. False, and nothing is added, for what is no such name. */
bool mt_cpp_name(const char *mangled, size_t length, mt_strbuf *out);
/* Adds the text; behind each mangled name in single quotes, which gives way to the plain one, it stands in brackets: "Unresolved extern function 'f' (_Z1ff)". */
void mt_cpp_names_in(const char *text, mt_strbuf *out);
/* The name as an expression: an overload, ns::scale<float>(float *, int), is a pointer to it, "(void (*)(float *, int))(ns::scale<float>)", since every kernel is void. mt_free; NULL = no memory. */
char *mt_cpp_expression(const char *name);
