/* A final under way, shared by session_final.c (who takes part, the verdict) and session_final_rounds.c (the rounds). Nothing else includes this. */
#pragma once

#include "tuner/session/final_rules.h"
#include "tuner/session/session_internal.h"

typedef struct mt_final_entry {
    char *variant, *cubin_path;
    mt_hash cubin;
    mt_energy energy[MT_FINAL_ENERGY_ROUNDS];
    size_t index;
    bool is_out;        /* it did not survive being timed again */
} mt_final_entry;

/* An algorithm of the baseline plugin: timed in the same rounds, never picked. */
typedef struct mt_library {
    char *text;         /* what the plugin calls it; NULL until it ran */
    double alone_ns;    /* before the rounds, validated */
    double round_ns[MT_FINAL_ROUNDS];
    bool is_out;
} mt_library;

enum {
    MT_LIBRARIES_MAX = 8,
    MT_LIBRARIES_TIMED = 4,  /* in the rounds: the first, and the fastest of the others */
    MT_LIBRARY_DEATHS = 2,  /* worker processes that a plugin may cost, alone; then those of its algorithms that have not run do not */
    MT_FINAL_PLACES = MT_FINALISTS_MAX + MT_LIBRARIES_MAX /* library r sits at MT_FINALISTS_MAX + r */
};

typedef struct mt_final {
    mt_session *session;
    const mt_subject *subject;
    const mt_space *space;
    size_t number;
    size_t device;      /* of the libraries alone, and of energy */
    mt_final_entry entries[MT_FINALISTS_MAX];
    mt_finalist finalists[MT_FINALISTS_MAX]; /* entries that are in come first when it is judged */
    size_t count, rounds;
    bool can_retime, is_first; /* of this session */
    mt_objective objective;
    mt_library libraries[MT_LIBRARIES_MAX];
    size_t library_count; /* 0 = there is no plugin, or it can't be used */
    char library_why[256]; /* of the first that could not be run */
    size_t library_deaths;
    bool is_limited;    /* power or heat held the clock down meanwhile */
    char why[256];      /* of the first whose energy could not be measured */
    int64_t evaluation;
} mt_final;

/* Runs the libraries alone, and chooses those that take part in the rounds; library_count is 0 when there are none. After a signal it ends early, with nothing running. */
mt_status mt_final_try_libraries(mt_final *final, mt_error *err);
/* Times the entries in turns, round by round: each round on one GPU, several GPUs side by side. Fills round_ns, energy and `rounds`, and stores the rows of those that
 * fail. After a signal it ends early, with nothing running. */
mt_status mt_final_run_rounds(mt_final *final, mt_error *err);

/* ---- session_final_libraries.c ---- */

/* After the libraries ran alone: which of them take part in the rounds. */
void mt_final_choose_libraries(mt_final *final);
/* Does a final of the database (its id) say how its pick did against the plugin? */
mt_status mt_final_was_compared(const mt_final *final, int64_t id, bool *is_compared, mt_error *err);
/* Stores how each finalist did against the first library and the fastest: rows of table library_comparison. Says why where there is nothing to compare with; the summary keeps that. */
mt_status mt_final_keep_libraries(mt_final *final, mt_subject_summary *summary, mt_error *err);
