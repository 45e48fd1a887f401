/* The user's database over shipped ones, which lie beside the library: this program, copied into a prefix of its own, is the library's place. A child asks there and prints
 * what it was told; one of an older schema is left out, and said to be. */
#include "tests/unit/lookup_fixture.h"

#include <sys/wait.h>

#include "db/exchange/pack_make.h"
#include "tuner/base/file.h"

/* ---- the child: PREFIX/bin/asker FLAGS [FILE] ---- */

static int ask(unsigned flags, const char *file)
{
    const void *cubin;
    size_t bytes;
    tunelookup_db *db = NULL;
    tunelookup_plan *plan = NULL;
    tunelookup_result r = { .match = TUNELOOKUP_MATCH_NONE };
    char why[4096] = "";
    tunelookup_status st = tunelookup_open(file, flags, &db);
    printf("open %d: %s\n", (int)st, tunelookup_detail());
    if (st == TUNELOOKUP_OK) st = tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &plan);
    if (db) printf("prepare %d: %s\n", (int)st, tunelookup_detail());
    if (st == TUNELOOKUP_OK) st = tunelookup_find(plan, (const int64_t[]){ 64, 3, 5 }, &r);
    if (plan) {
        tunelookup_explain(&r, why, sizeof why);
        printf("find %d: match %d median %g\n%s", (int)st, (int)r.match, r.median_ns, why);
        st = tunelookup_cubin(&r, &cubin, &bytes);
        printf("cubin %d: %s\n", (int)st, tunelookup_detail());
        st = tunelookup_refresh(db);
        printf("refresh %d: %s\n", (int)st, tunelookup_detail());
    }
    tunelookup_close(db);
    return 0;
}

/* ---- the tests ---- */

static void shell(const char *format, const char *a, const char *b)
{
    char command[1024];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(command, sizeof command, format, a, b);
#pragma GCC diagnostic pop
    ck_assert_msg(system(command) == 0, "%s", command);
}

static char shipped[160], answer[8192];

/* The prefix, with the fixture's database (whose one row takes `ns`) as the shipped one; the fixture's place is free again. */
static void make_prefix(double ns)
{
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=wide;B=32;C=2", ns);
    lookup_end(&w);
    fixture_sql("PRAGMA journal_mode = DELETE");
    snprintf(shipped, sizeof shipped, "%s/prefix/share/msda-tune-shipped/tuned.sqlite", fixture_folder);
    shell("mkdir -p '%s/prefix/bin' '%s/prefix/share/msda-tune-shipped'", fixture_folder, fixture_folder);
    shell("cp /proc/$PPID/exe '%s/prefix/bin/asker' && chmod 755 '%s/prefix/bin/asker'", fixture_folder, fixture_folder);
    shell("mv '%s' '%s'", fixture_db, shipped);
}

/* A program below the prefix; file "" = the default ones. */
static const char *run_program(const char *folder, const char *name, const char *file)
{
    char command[640];
    snprintf(command, sizeof command, "MSDA_TUNE_DB='%s' '%s/prefix/%s/%s' 0 %s", fixture_db, fixture_folder, folder, name, file);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    size_t length = fread(answer, 1, sizeof answer - 1, pipe);
    answer[length] = '\0';
    ck_assert_int_eq(pclose(pipe), 0);
    return answer;
}

static const char *run_asker_on(const char *file)
{
    return run_program("bin", "asker", file);
}

static const char *run_asker(void)
{
    return run_asker_on("");
}

static void ck_told(const char *part)
{
    ck_assert_msg(strstr(answer, part) != NULL, "no \"%s\" in:\n%s", part, answer);
}

START_TEST(test_shipped_answers_alone)
{
    make_prefix(2000);
    run_asker();
    ck_told("open 0: \nprepare 0: \nfind 0: match 1 median 2000\n");
    ck_told("prefix/share/msda-tune-shipped/tuned.sqlite (shipped), measurement");
    ck_told("refresh 0: \n");
    ck_assert_ptr_null(strstr(answer, "left out"));
}
END_TEST

/* The prefix's database becomes a pack, with code. */
static void pack_shipped(const lookup_cubin *cubin)
{
    mt_store *store = NULL, *copy = NULL;
    mt_packed packed = {0};
    const mt_filter all = {0};
    shell("mv '%s' '%s'", shipped, fixture_db);
    lookup_store_cubin(cubin, sizeof *cubin);
    ck_ok(mt_store_open(fixture_db, MT_STORE_READ_ONLY, &store, &fixture_err));
    ck_ok(mt_pack_gather(store, &all, NULL, &copy, &fixture_err));
    ck_ok(mt_pack_make(copy, &all, &packed, &fixture_err));
    mt_store_close(copy);
    mt_store_close(store);
    snprintf(shipped, sizeof shipped, "%s/prefix/share/msda-tune-shipped/app.pack", fixture_folder);
    char made[160];
    snprintf(made, sizeof made, "%s/app.pack", fixture_folder);
    ck_ok(mt_file_write_atomic(made, packed.bytes, packed.contents.bytes, &fixture_err)); /* the tool writes nothing into that folder */
    mt_packed_free(&packed);
    shell("mv '%s' '%s'", made, shipped);
    shell("chmod 644 '%s' && rm -f '%s'*", shipped, fixture_db);
}

/* A pack among the shipped files answers as a database does there: its code is handed out without a flag. */
START_TEST(test_shipped_pack)
{
    const lookup_cubin cubin = lookup_make_cubin(90);
    make_prefix(2000);
    pack_shipped(&cubin);
    run_asker();
    ck_told("open 0: \nprepare 0: \nfind 0: match 1 median 2000\n");
    ck_told("prefix/share/msda-tune-shipped/app.pack (shipped), measurement");
    ck_told("cubin 0: \nrefresh 0: \n");
    lookup_one_row(); /* the user's lies over it */
    run_asker();
    ck_told("find 0: match 1 median 1000\n");
}
END_TEST

START_TEST(test_user_first)
{
    make_prefix(2000);
    lookup_one_row();
    run_asker();
    ck_told("find 0: match 1 median 1000\n");
    ck_told("t.sqlite (user's), measurement");
}
END_TEST

START_TEST(test_older_user_file_is_left_out)
{
    make_prefix(2000);
    lookup_one_row();
    fixture_sql("PRAGMA user_version = 7");
    run_asker();
    ck_told("open 0: left out: ");
    ck_told("t.sqlite has the older schema 7 (this libtunelookup, ");
    ck_told("prepare 0: \nfind 0: match 1 median 2000\n");
    ck_told("note:     left out: ");
    ck_told("any msda-tune command that writes into it (tune, import) updates it\n");
    ck_told("refresh 0: \n");
}
END_TEST

/* An older shipped file is the packager's mistake: said, not left out. So is a user's file with nothing over which it lies. */
START_TEST(test_older_and_nothing_else)
{
    make_prefix(2000);
    shell("mv '%s' '%s'", shipped, fixture_db);
    fixture_sql("PRAGMA user_version = 1");
    run_asker();
    ck_told("open 16: ");
    ck_told("t.sqlite has the older schema 1 (");
    shell("mv '%s' '%s'", fixture_db, shipped);
    run_asker();
    ck_told("open 16: ");
    ck_told("tuned.sqlite has the older schema 1 (");
}
END_TEST

/* The key does not change with a constraint: the user's rows may be of an older search space than the shipped ones, or the other way round. */
START_TEST(test_other_constraints)
{
    char *spec = mt_strdup(lookup_spec), *limit = strstr(spec, "1000000");
    make_prefix(2000);
    lookup_one_row();
    run_asker();
    ck_assert_ptr_null(strstr(answer, "other expressions"));
    memcpy(limit, "0000060", 7); /* not for N = 64 */
    lookup_writer w = lookup_begin(spec, "toy", lookup_kernel_key);
    lookup_end(&w);
    run_asker();
    ck_told("refused: breaks constraint small here: N must be small");
    ck_told("prefix/share/msda-tune-shipped/tuned.sqlite has another version of this kernel's expressions; those of ");
    ck_told("t.sqlite are used, which comes first");
    mt_free(spec);
}
END_TEST

/* A damaged row of the user's does not hide the shipped row. */
START_TEST(test_damaged_row_hides_nothing)
{
    make_prefix(2000);
    lookup_one_row();
    fixture_sql("UPDATE answer SET median_ns = -1");
    run_asker();
    ck_told("find 0: match 1 median 2000\n");
}
END_TEST

/* Whatever is wrong with the user's file, or with its copy of the kernel: it is left out and named, and the shipped rows answer. */
START_TEST(test_broken_user_file_hides_nothing)
{
    static const struct { const char *sql, *said; } cases[] = {
        {"UPDATE kernel SET spec_json = '{'", "t.sqlite: kernel toy: "},
        {"UPDATE kernel SET spec_json = json_set(spec_json, '$.lets[0].value', '+ +')", "t.sqlite: kernel toy: an expression's program is damaged"},
        {"UPDATE kernel SET spec_json = json_set(spec_json, '$.shape', 7)", "t.sqlite: kernel toy: a list is no list"},
        {"UPDATE kernel SET spec_json = json_set(spec_json, '$.shape', json('[{\"name\":\"M\",\"kind\":\"int\"}]'))", "t.sqlite: kernel toy: N: the kernel has no such shape value"},
        {"UPDATE kernel SET key = 'ffeeddccbbaa99887766554433221100', spec_json = '{\"format\":1,\"shape\":7}'; UPDATE answer SET updated_unix_ms = 4000000000000", "a list is no list"},
        {"UPDATE answer SET shape_key = CAST(zeroblob(200000000) AS TEXT)", "note:     1 damaged row is left out, as it or what it refers to is none that msda-tune writes: row 1 of answer: a value is longer than 16 MiB"},
        {"UPDATE kernel SET spec_json = CAST(zeroblob(20000000) AS TEXT)", "t.sqlite: string or blob too big"},
        {"UPDATE device SET key = CAST(zeroblob(20000000) AS TEXT)", "t.sqlite: string or blob too big"},
        {"CREATE VIEW v AS SELECT 1", "which no tuning database does"},
        {"DROP TABLE answer", "no such table: answer"},
        {"PRAGMA user_version = 99", "was written by a newer msda-tune"},
        {"PRAGMA application_id = 7", "is not a tuning database"},
    };
    make_prefix(2000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lookup_one_row();
        fixture_sql(cases[i].sql);
        run_asker();
        ck_assert_msg(strstr(answer, "find 0: match 1 median 2000\n") && strstr(answer, "refresh 0: \n"), "%s:\n%s", cases[i].sql, answer);
        ck_told(" left out");
        ck_told(cases[i].said);
        shell("rm -f '%s' '%s-wal'", fixture_db, fixture_db);
    }
    shell("head -c 9000 '%s' >'%s'", shipped, fixture_db); /* cut short */
    run_asker();
    ck_told("find 0: match 1 median 2000\n");
    shell("rm -f '%s'%s", fixture_db, "");
    lookup_one_row();
    shell("chmod 0666 '%s'%s", fixture_db, "");
    run_asker();
    ck_told("find 0: match 1 median 2000\n");
    ck_told("chmod go-w");
}
END_TEST

/* One source of the kernel in the user's file is broken: the file's other sources still count. */
START_TEST(test_broken_source_hides_no_other_source)
{
    make_prefix(2000);
    lookup_one_row();
    fixture_sql("INSERT INTO kernel (name, key, spec_json) VALUES ('toy', 'ffeeddccbbaa99887766554433221100', '{\"format\":1,\"shape\":7}'); "
                "CREATE TEMP TABLE newer AS SELECT * FROM answer; UPDATE newer SET kernel_id = (SELECT max(id) FROM kernel), updated_unix_ms = 4000000000000; INSERT INTO answer SELECT * FROM newer");
    run_asker();
    ck_told("find 0: match 1 median 1000\n");
    ck_told("note:     left out: ");
}
END_TEST

/* The prefix may be ~/.local: a user's file lies in share/msda-tune, beside the shipped folder. Only what lies in that folder is shipped, by whatever name it is asked for. */
START_TEST(test_only_the_folder_makes_a_file_shipped)
{
    static const char *const own[] = { "prefix/share/msda-tune/tuned.sqlite", "prefix/share/tuned.sqlite", "prefix/share/msda-tune-shipped-mine/tuned.sqlite", "link.sqlite",
                                      "prefix/share/msda-tune-shipped/mine.sqlite" };
    static const char *const theirs[] = { "prefix/share/msda-tune-shipped/tuned.sqlite", "prefix/share/msda-tune/../msda-tune-shipped/tuned.sqlite", "folder/tuned.sqlite",
                                         "prefix/share/msda-tune-shipped/same.sqlite" };
    char file[400];
    make_prefix(2000);
    shell("cp '%s' '%s'", shipped, fixture_db);
    fixture_sql("UPDATE answer SET cubin_hash = '00112233445566778899aabbccddeeff'");
    shell("cp '%s' '%s'", fixture_db, shipped);
    shell("cd '%s' && ln -s '%s' link.sqlite && ln -s prefix/share/msda-tune-shipped folder", fixture_folder, shipped);
    shell("cd '%s/prefix/share' && mkdir msda-tune msda-tune-shipped-mine && for to in msda-tune . msda-tune-shipped-mine; do cp '%s' $to/tuned.sqlite; done", fixture_folder, shipped);
    shell("cd '%s/prefix/share/msda-tune-shipped' && ln -s ../msda-tune/tuned.sqlite mine.sqlite && ln -s tuned.sqlite same.sqlite", fixture_folder, "");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        snprintf(file, sizeof file, "'%s/%s'", fixture_folder, own[i]);
        run_asker_on(file);
        ck_told("sqlite (user's), measurement");
        ck_told("cubin 12: "); /* CUBIN_NOT_ALLOWED */
    }
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++) {
        snprintf(file, sizeof file, "'%s/%s'", fixture_folder, theirs[i]);
        run_asker_on(file);
        ck_told(".sqlite (shipped), measurement");
        ck_told("does not hold cubin 00112233445566778899aabbccddeeff"); /* it would be handed out */
    }
}
END_TEST

/* Without a name the files of the folder answer, and each is judged for itself: a link there does not lend its cubins. */
START_TEST(test_link_among_the_shipped)
{
    make_prefix(2000);
    shell("cp '%s' '%s'", shipped, fixture_db);
    fixture_sql("UPDATE answer SET cubin_hash = '00112233445566778899aabbccddeeff'");
    shell("cd '%s' && mkdir mine && mv t.sqlite mine/tuned.sqlite && ln -sf ../../../mine/tuned.sqlite '%s'", fixture_folder, shipped);
    run_asker();
    ck_told("tuned.sqlite (user's), measurement");
    ck_told("cubin 12: ");
}
END_TEST

/* A program asks the share beside its own folder, and none further up. */
START_TEST(test_no_folder_above)
{
    static const char *const deeper[] = { "libexec/bin", "lib/app", "lib", "" };
    make_prefix(2000);
    for (size_t i = 0; i < sizeof deeper / sizeof *deeper; i++) {
        bool is_beside = strcmp(deeper[i], "lib") == 0; /* one folder below the prefix, as bin is */
        shell("cd '%s/prefix' && mkdir -p './%s'", fixture_folder, deeper[i]);
        shell("cd '%s/prefix' && cp bin/asker './%s/asker2'", fixture_folder, deeper[i]);
        run_program(deeper[i], "asker2", "");
        ck_told(is_beside ? "(shipped), measurement" : "open 3: no tuning database: looked for ");
    }
}
END_TEST

/* What a program asks in vain names where shipped files were looked for: it may have been put where none are. */
START_TEST(test_place_of_no_shipped_files)
{
    char place[256];
    make_prefix(2000);
    lookup_writer w = lookup_begin(lookup_spec, "other", lookup_kernel_key);
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=wide;B=32;C=2", 1000);
    lookup_end(&w);
    shell("cd '%s/prefix' && mkdir -p '%s'", fixture_folder, "libexec/bin");
    shell("cd '%s/prefix' && cp bin/asker '%s/asker2'", fixture_folder, "libexec/bin");
    run_program("libexec/bin", "asker2", "");
    snprintf(place, sizeof place, "t.sqlite; shipped files were looked for in %s/prefix/libexec/share/msda-tune-shipped, which is not there", fixture_folder);
    ck_told("no kernel toy with stored expressions in ");
    ck_told(place);
}
END_TEST

int main(int argc, char **argv)
{
    const TTest *const tests[] = { test_shipped_answers_alone, test_shipped_pack, test_user_first, test_older_user_file_is_left_out, test_older_and_nothing_else, test_other_constraints, test_damaged_row_hides_nothing, test_broken_user_file_hides_nothing,
                                   test_broken_source_hides_no_other_source,
                                   test_only_the_folder_makes_a_file_shipped, test_link_among_the_shipped, test_no_folder_above, test_place_of_no_shipped_files };
    if (argc > 1) return ask((unsigned)strtoul(argv[1], NULL, 10), argc > 2 ? argv[2] : NULL);
    return fixture_run("tunelookup_shipped", tests, sizeof tests / sizeof tests[0]);
}
