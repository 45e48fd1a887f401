/* What a portfolio still has to measure: one task for each subject. Several processes may share them: the list is a file in memory that all have open, and who takes a task locks a byte of it,
 * which nobody else can until that process is gone. */
#pragma once

#include "tuner/base/texts.h"
#include "tuner/session/session.h"

/* Zeroed when empty. */
typedef struct mt_portfolio_tasks {
    mt_session_fixed *fixed; size_t count, capacity; /* one a subject */
    mt_texts texts;                                  /* all subjects' variants, owned */
    int fd;                                          /* the list; 0 = not shared, or stdin of a process that was given it */
    bool is_shared;
} mt_portfolio_tasks;

mt_status mt_portfolio_tasks_add(mt_portfolio_tasks *tasks, const mt_shape *shape, const mt_workload *workload, mt_error *err);
/* To the one added last; takes `text`. */
mt_status mt_portfolio_tasks_add_variant(mt_portfolio_tasks *tasks, char *text, mt_error *err);
/* Nothing is added from then on. */
void mt_portfolio_tasks_seal(mt_portfolio_tasks *tasks);
void mt_portfolio_tasks_free(mt_portfolio_tasks *tasks);

/* Makes the list that others take from. */
mt_status mt_portfolio_tasks_share(mt_portfolio_tasks *tasks, mt_error *err);
/* In a process that has such a list as its stdin. SPEC when the file no longer has the shapes that it names. */
mt_status mt_portfolio_tasks_join(mt_portfolio_tasks *tasks, const mt_spec *spec, mt_error *err);
/* mt_session_params.takes, for shared ones. */
bool mt_portfolio_tasks_take(void *tasks, size_t index);
