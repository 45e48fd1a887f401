/* Pinned handles (TUNELOOKUP_PINNED): while others write into the file, nothing is answered differently, in one process or in several. */
#include "tests/unit/lookup_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

static const int64_t asked[] = {64, 3, 5};

static void write_all(int fd, const void *bytes, size_t count)
{
    if (write(fd, bytes, count) != (ssize_t)count) _exit(9);
}

/* False where the other side is gone. */
static bool read_all(int fd, void *bytes, size_t count)
{
    char *at = bytes;
    while (count) {
        ssize_t got = read(fd, at, count);
        if (got <= 0) return false;
        at += got;
        count -= (size_t)got;
    }
    return true;
}

/* ---- what processes do ---- */

/* What one process saw of a snapshot. */
typedef struct seen {
    tunelookup_status status; /* of opening and preparing */
    char id[TUNELOOKUP_SNAPSHOT_ID];
    double median_ns;
} seen;

static tunelookup_status prepare(tunelookup_db *db, tunelookup_plan **plan)
{
    return tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, plan);
}

static double median_of(const tunelookup_plan *plan)
{
    tunelookup_result r;
    ck_lookup(tunelookup_find(plan, asked, &r));
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
    return r.median_ns;
}

/* `id` NULL: whatever is there. */
static seen look(const char *id)
{
    tunelookup_db *db = NULL;
    tunelookup_plan *plan = NULL;
    seen s = {.status = id ? tunelookup_open_pinned(fixture_db, 0, id, &db) : tunelookup_open(fixture_db, TUNELOOKUP_PINNED, &db)};
    if (s.status == TUNELOOKUP_OK) s.status = tunelookup_snapshot_id(db, s.id);
    if (s.status == TUNELOOKUP_OK) s.status = prepare(db, &plan);
    if (s.status == TUNELOOKUP_OK) s.median_ns = median_of(plan);
    tunelookup_close(db);
    return s;
}

/* A rank: opens with the id that it is sent, and looks again at every byte; what it sees goes back. */
static void be_rank(int from, int to)
{
    char id[TUNELOOKUP_SNAPSHOT_ID], byte;
    tunelookup_db *db = NULL;
    tunelookup_plan *plan = NULL;
    if (!read_all(from, id, sizeof id)) _exit(8);
    seen s = {.status = tunelookup_open_pinned(fixture_db, 0, id, &db)};
    if (s.status == TUNELOOKUP_OK) s.status = prepare(db, &plan);
    while (plan) {
        s.median_ns = median_of(plan);
        tunelookup_snapshot_id(db, s.id);
        write_all(to, &s, sizeof s);
        if (!read_all(from, &byte, 1)) _exit(0);
        tunelookup_plan *other = NULL;
        s.status = prepare(db, &other);
    }
    write_all(to, &s, sizeof s);
    _exit(0);
}

typedef struct process {
    pid_t pid;
    int to, from;
} process;

static process start(void (*body)(int from, int to))
{
    int down[2], up[2];
    ck_assert_int_eq(pipe(down), 0);
    ck_assert_int_eq(pipe(up), 0);
    process p = {.pid = fork(), .to = down[1], .from = up[0]};
    ck_assert_int_ge(p.pid, 0);
    if (p.pid == 0) {
        close(down[1]);
        close(up[0]);
        body(down[0], up[1]);
    }
    close(down[0]);
    close(up[1]);
    return p;
}

static void end(process *p)
{
    int status;
    close(p->to);
    close(p->from);
    ck_assert_int_eq(waitpid(p->pid, &status, 0), p->pid);
    ck_assert_int_eq(status, 0);
}

static seen told(const process *p)
{
    seen s;
    ck_assert(read_all(p->from, &s, sizeof s));
    return s;
}

static seen ask_again(const process *p)
{
    write_all(p->to, "", 1);
    return told(p);
}

static void write_faster_row(void)
{
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=wide;B=32;C=4", 500);
    lookup_end(&w);
}

/* Does for each byte what changes an answer, and back, in a transaction; the second answer is half the first. Tells when the transaction is done. */
static void be_writer(int from, int to)
{
    char byte;
    sqlite3 *db = NULL;
    for (int i = 0; read_all(from, &byte, 1); i++) {
        double ns = i % 2 ? 1000 : 500;
        char sql[256];
        snprintf(sql, sizeof sql, "BEGIN IMMEDIATE; UPDATE measurement SET median_ns = %g, low_ns = NULL, high_ns = NULL; UPDATE answer SET median_ns = %g, low_ns = NULL, high_ns = NULL; COMMIT", ns, ns);
        if (sqlite3_open(fixture_db, &db) != SQLITE_OK || sqlite3_busy_timeout(db, 60000) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) _exit(7);
        sqlite3_close(db);
        write_all(to, "", 1);
    }
    _exit(0);
}

/* ---- the tests ---- */

START_TEST(test_two_ranks_and_a_writer)
{
    char id[TUNELOOKUP_SNAPSHOT_ID], now[TUNELOOKUP_SNAPSHOT_ID];
    tunelookup_db *db = NULL;
    tunelookup_plan *plan = NULL, *other = NULL;
    lookup_one_row();
    process rank = start(be_rank), late = start(be_rank);
    ck_lookup(tunelookup_open(fixture_db, TUNELOOKUP_PINNED, &db));
    ck_lookup(tunelookup_snapshot_id(db, id));
    ck_lookup(prepare(db, &plan));
    write_all(rank.to, id, sizeof id);
    seen s = told(&rank);
    ck_assert_int_eq(s.status, TUNELOOKUP_OK);
    ck_assert_str_eq(s.id, id);
    ck_assert_double_eq(s.median_ns, 1000);
    /* a session that measured nothing: no answer changes, and no id */
    fixture_sql("UPDATE session SET host = 'elsewhere', ended_unix_ms = 1");
    ck_lookup(tunelookup_refresh(db));
    ck_assert_int_eq(ask_again(&rank).status, TUNELOOKUP_OK);
    /* one that found a faster variant */
    write_faster_row();
    s = ask_again(&rank);
    ck_assert_int_eq(s.status, TUNELOOKUP_ERR_OTHER_SNAPSHOT);
    ck_assert_double_eq(s.median_ns, 1000);
    ck_lookup_fails(prepare(db, &other), TUNELOOKUP_ERR_OTHER_SNAPSHOT, id);
    ck_assert_ptr_null(other);
    ck_lookup_fails(tunelookup_refresh(db), TUNELOOKUP_ERR_OTHER_SNAPSHOT, "the snapshot here is");
    ck_lookup_fails(tunelookup_refresh(db), TUNELOOKUP_ERR_OTHER_SNAPSHOT, "the snapshot here is"); /* and so the next time */
    ck_assert_double_eq(median_of(plan), 1000);
    ck_lookup(tunelookup_snapshot_id(db, now));
    ck_assert_str_eq(now, id);
    /* a rank that comes too late answers nothing, and not something else */
    write_all(late.to, id, sizeof id);
    ck_assert_int_eq(told(&late).status, TUNELOOKUP_ERR_OTHER_SNAPSHOT);
    tunelookup_db *refused = NULL;
    ck_lookup_fails(tunelookup_open_pinned(fixture_db, 0, id, &refused), TUNELOOKUP_ERR_OTHER_SNAPSHOT, "expected");
    ck_assert_ptr_null(refused);
    seen fresh = look(NULL);
    ck_assert_int_eq(fresh.status, TUNELOOKUP_OK);
    ck_assert_str_ne(fresh.id, id);
    ck_assert_double_eq(fresh.median_ns, 500);
    ck_assert_double_eq(ask_again(&rank).median_ns, 1000);
    end(&late);
    end(&rank);
    tunelookup_close(db);
}
END_TEST

/* Two processes open again and again while a third writes whenever they do: one id stands for one answer, in both. */
static void be_reader(int from, int to)
{
    char byte;
    while (read_all(from, &byte, 1)) {
        seen s = look(NULL);
        write_all(to, &s, sizeof s);
    }
    _exit(0);
}

START_TEST(test_an_id_is_an_answer)
{
    enum { ROUNDS = 60 };
    char ids[2][TUNELOOKUP_SNAPSHOT_ID] = {"", ""}, byte;
    lookup_one_row();
    fixture_sql("UPDATE measurement SET low_ns = NULL, high_ns = NULL; UPDATE answer SET low_ns = NULL, high_ns = NULL");
    process readers[2] = {start(be_reader), start(be_reader)}, writer = start(be_writer);
    for (int i = 0; i < 2; i++) { /* nobody writes: both states, for reference */
        write_all(readers[i].to, "", 1);
        seen s = told(&readers[i]);
        ck_assert_int_eq(s.status, TUNELOOKUP_OK);
        ck_assert_double_eq(s.median_ns, i ? 500 : 1000);
        strcpy(ids[i], s.id);
        write_all(writer.to, "", 1);
        ck_assert(read_all(writer.from, &byte, 1));
    }
    ck_assert_str_ne(ids[0], ids[1]);
    for (int i = 0; i < ROUNDS; i++) {
        for (int r = 0; r < 2; r++) write_all(readers[r].to, "", 1);
        write_all(writer.to, "", 1);
        for (int r = 0; r < 2; r++) {
            seen s = told(&readers[r]);
            if (s.status == TUNELOOKUP_ERR_OTHER_SNAPSHOT) continue; /* it was written between open and prepare */
            ck_assert_int_eq(s.status, TUNELOOKUP_OK);
            ck_assert_msg(s.median_ns == 1000 || s.median_ns == 500, "%g ns", s.median_ns);
            ck_assert_str_eq(s.id, ids[s.median_ns == 500]);
        }
        ck_assert(read_all(writer.from, &byte, 1));
    }
    end(&writer); /* each holds the pipes of those before it */
    end(&readers[1]);
    end(&readers[0]);
}
END_TEST

START_TEST(test_words)
{
    tunelookup_db *db = NULL;
    char id[TUNELOOKUP_SNAPSHOT_ID];
    lookup_one_row();
    ck_lookup_fails(tunelookup_open_pinned(fixture_db, 0, NULL, &db), TUNELOOKUP_ERR_ARGUMENT, "32 hex digits");
    ck_lookup_fails(tunelookup_open_pinned(fixture_db, 0, "abc", &db), TUNELOOKUP_ERR_ARGUMENT, "abc is no snapshot id");
    ck_lookup_fails(tunelookup_open_pinned(fixture_db, 0, "00000000000000000000000000000000", &db), TUNELOOKUP_ERR_OTHER_SNAPSHOT, "expected 00000000000000000000000000000000");
    ck_assert_ptr_null(db);
    ck_lookup(tunelookup_open(fixture_db, 0, &db));
    ck_lookup(tunelookup_snapshot_id(db, id));
    tunelookup_close(db);
    ck_lookup(tunelookup_open_pinned(fixture_db, TUNELOOKUP_COUNT_MISSES, id, &db)); /* counting decides nothing */
    tunelookup_close(db);
    ck_lookup_fails(tunelookup_open_pinned(fixture_db, TUNELOOKUP_RECORDED, id, &db), TUNELOOKUP_ERR_OTHER_SNAPSHOT, "expected");
}
END_TEST

/* Files over one another: the user's, which is missing, counts for nothing until it is there. */
START_TEST(test_a_file_that_appears)
{
    char command[1024];
    tunelookup_db *db = NULL;
    tunelookup_plan *plan = NULL;
    lookup_one_row();
    fixture_sql("PRAGMA journal_mode = DELETE");
    ck_lookup(tunelookup_open(fixture_db, TUNELOOKUP_PINNED, &db));
    ck_lookup(prepare(db, &plan));
    snprintf(command, sizeof command, "cp '%s' '%s.copy' && chmod 600 '%s.copy' && mv '%s.copy' '%s'", fixture_db, fixture_db, fixture_db, fixture_db, fixture_db);
    ck_assert_int_eq(system(command), 0); /* another file of the same contents */
    ck_lookup(prepare(db, &plan));
    ck_assert_int_eq(unlink(fixture_db), 0);
    ck_assert_int_ne(prepare(db, &plan), TUNELOOKUP_OK);
    ck_assert_int_eq(prepare(db, &plan), TUNELOOKUP_ERR_NOT_FOUND);
    tunelookup_close(db);
}
END_TEST

FIXTURE_MAIN("tunelookup_pinned", test_two_ranks_and_a_writer, test_an_id_is_an_answer, test_words, test_a_file_that_appears)
