/* A final under way, shared by session_final.c (who takes part, the verdict) and session_final_rounds.c (the rounds). Nothing else includes this. */
#ifndef MT_RUN_SESSION_FINAL_H
#define MT_RUN_SESSION_FINAL_H

#include "tuner/run/final_rules.h"
#include "tuner/run/session_internal.h"

typedef struct mt_final_entry {
    char *variant, *cubin_path;
    mt_hash cubin;
    mt_energy energy[MT_FINAL_ENERGY_ROUNDS];
    size_t index;
    bool is_out;        /* it did not survive being timed again */
} mt_final_entry;

typedef struct mt_final {
    mt_session *session;
    const mt_subject *subject;
    const mt_space *space;
    size_t number;
    mt_final_entry entries[MT_FINALISTS_MAX];
    mt_finalist finalists[MT_FINALISTS_MAX]; /* entries that are in come first when it is judged */
    size_t count, rounds;
    bool can_retime;
    mt_objective objective;
    char why[256];      /* of the first whose energy could not be measured */
    int64_t evaluation;
} mt_final;

/* Times the entries in turns, round by round: each round on one GPU, several GPUs side by side. Fills round_ns, energy and `rounds`, and stores the rows of those that
 * fail. After a signal it ends early, with nothing running. */
mt_status mt_final_run_rounds(mt_final *final, mt_error *err);

#endif
