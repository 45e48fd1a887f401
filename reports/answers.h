/* What a program that asks the lookup gets of this database: exactly, by prediction, by default; and which shapes were asked for in vain. */
#pragma once

#include "reports/section.h"

/* Tables `answers`, `unanswered` and, when the context has misses, `misses`, into the section begun last. */
mt_status mt_answers_add(const mt_report_context *context, mt_doc *doc, mt_error *err);
