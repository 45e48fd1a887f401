/* Scripts for Slurm: safe whatever the names; the answers of squeue and sacct; how far a folder's tasks are. */
#include "db/exchange/merge.h"
#include "tests/unit/store_fixture.h"

#include "tuner/base/file.h"
#include "tuner/cluster/folder.h"
#include "tuner/cluster/part_progress.h"
#include "tuner/cluster/scripts.h"

static const char HOSTILE[] = "a'b\"c $(touch pwned) `touch pwned` ; touch pwned & | > pwned \\ ! * ~ #";

static char *output_of(const char *const *argv)
{
    mt_strbuf out = {0};
    int code;
    ck_ok(mt_cluster_capture(argv, &out, &code, &fixture_err));
    ck_assert_int_eq(code, 0);
    return mt_strbuf_take(&out);
}

START_TEST(quoted_is_one_word)
{
    static const char *const texts[] = {"", "plain", "'", "''", "a b", "$HOME", "-n", "$(id)", "a\\", "ä\"ö", HOSTILE};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mt_strbuf script = {0};
        mt_strbuf_add(&script, "printf '[%s]' ");
        mt_strbuf_add_quoted(&script, texts[i]);
        mt_strbuf_add_char(&script, ' ');
        mt_strbuf_add_word(&script, texts[i]);
        const char *const argv[] = {"sh", "-c", mt_strbuf_text(&script), NULL};
        char *out = output_of(argv), expected[400];
        snprintf(expected, sizeof expected, "[%s][%s]", texts[i], texts[i]);
        ck_assert_str_eq(out, expected);
        mt_free(out);
        mt_strbuf_free(&script);
    }
}
END_TEST

/* As a command's first word it would be an assignment. */
START_TEST(words_to_copy)
{
    mt_strbuf words = {0};
    mt_strbuf_add_word(&words, "runs/a-1");
    mt_strbuf_add_char(&words, ' ');
    mt_strbuf_add_word(&words, "lr=1");
    ck_assert_str_eq(mt_strbuf_text(&words), "runs/a-1 'lr=1'");
    mt_strbuf_free(&words);
}
END_TEST

START_TEST(time_limits)
{
    static const struct { const char *text; long long seconds; } good[] = {{"0", 0}, {"90", 5400}, {"90:30", 5430}, {"1:30:01", 5401}, {"2-12", 216000}, {"2-12:30", 217800}, {"2-12:30:01", 217801},
                                                                          {"UNLIMITED", 0}, {"infinite", 0}, {"9999999-0", 863999913600}};
    static const char *const bad[] = {"", "4h", "-1", "1:", ":1", "1-", "1::2", "1:2:3:4", "1-2-3", "1:2-3", "1-2:3:4:5", " 1", "1 ", "12345678"};
    long long seconds;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) ck_assert_msg(mt_cluster_time(good[i].text, &seconds) && seconds == good[i].seconds, "%s: %lld", good[i].text, seconds);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) ck_assert_msg(!mt_cluster_time(bad[i], &seconds), "%s", bad[i]);
}
END_TEST

START_TEST(programs_that_are_not_there)
{
    mt_strbuf out = {0};
    int code = 0;
    const char *const argv[] = {"no-such-program-of-slurm", NULL};
    ck_ok(mt_cluster_capture(argv, &out, &code, &fixture_err));
    ck_assert_int_eq(code, 127);
    ck_assert_uint_eq(out.length, 0);
}
END_TEST

START_TEST(answers_are_read)
{
    mt_cluster_jobs jobs = {0};
    ck_ok(mt_cluster_jobs_parse("12|3|RUNNING|node7|1:02:03\n12|4|PENDING||2:00:00\n13|N/A|PENDING||INVALID\n\ngarbage\n|||\n-1|2|RUNNING|x|y\n", &jobs, &fixture_err));
    ck_ok(mt_cluster_jobs_parse("12_5|CANCELLED by 1000|node8\n12_[6-9]|PENDING|None assigned\n14|COMPLETED|node9\n12_3|COMPLETED|node1", &jobs, &fixture_err));
    ck_assert_uint_eq(jobs.count, 6);
    const mt_cluster_entry *entry = mt_cluster_jobs_find(&jobs, 12, 3); /* squeue's word goes first */
    ck_assert_str_eq(entry->state, "RUNNING");
    ck_assert_str_eq(entry->node, "node7");
    ck_assert_str_eq(entry->left, "1:02:03");
    ck_assert_str_eq(mt_cluster_jobs_find(&jobs, 12, 4)->node, "");
    ck_assert_str_eq(mt_cluster_jobs_find(&jobs, 12, 5)->state, "CANCELLED");
    ck_assert_str_eq(mt_cluster_jobs_find(&jobs, 13, -1)->state, "PENDING");
    ck_assert_str_eq(mt_cluster_jobs_find(&jobs, 14, -1)->node, "node9");
    ck_assert_ptr_null(mt_cluster_jobs_find(&jobs, 12, 6));
    mt_cluster_jobs_free(&jobs);
}
END_TEST

static void run_ok(const char *command)
{
    char line[1024];
    snprintf(line, sizeof line, "cd '%s' && %s", fixture_folder, command);
    ck_assert_msg(system(line) == 0, "%s", line);
}

static const char *plan_key = "0011"; /* of the space */

/* Claims the folder and writes the scripts there. */
static mt_status plan_into(bool is_sharded, bool replaces)
{
    mt_strbuf quoted = {0};
    mt_strbuf_add_quoted(&quoted, HOSTILE);
    char words[300];
    snprintf(words, sizeof words, " --shape %s", mt_strbuf_text(&quoted));
    mt_cluster_gpu gpus[] = {{"h100", true}, {"h200", false}};
    mt_cluster_task tasks[] = {{"one", words}, {"two · x", words}};
    mt_cluster_plan plan = {.tool = HOSTILE, .space = HOSTILE, .folder = fixture_folder, .gpus = gpus, .gpu_count = 2, .tasks = tasks, .task_count = 2, .is_sharded = is_sharded, .space_key = plan_key, .tune_words = words, .check_words = words,
                                  .whole_words = words, .template_text = "module() { :; }\n#SBATCH --comment=mine\ntool=./tool\n##SBATCH --none\n", .time = HOSTILE, .partition = HOSTILE, .account = HOSTILE, .qos = HOSTILE, .cpus = 4, .at_once = 7};
    mt_status st = mt_cluster_folder_claim(&plan, replaces, &fixture_err);
    if (st == MT_OK) ck_ok(mt_cluster_write(&plan, &fixture_err));
    mt_strbuf_free(&quoted);
    return st;
}

static void write_plan(bool is_sharded)
{
    ck_ok(plan_into(is_sharded, false));
}

/* The scripts run here with an sbatch and a tool that print their words, one a line. */
START_TEST(scripts_keep_words_together)
{
    write_plan(true);
    run_ok("for f in *.sh; do bash -n $f || exit 1; done");
    run_ok("printf '%s\\n' '#!/bin/sh' 'printf \"%s\\n\" \"$@\" >>words; echo 7' >sbatch && cp sbatch tool && "
           "printf '%s\\n' '#!/bin/sh' 'echo \"MaxArraySize            = $most\"' >scontrol && chmod +x sbatch tool scontrol && export most=1 && "
           "! PATH=$PWD:$PATH ./submit.sh 2>message && grep -q 'takes no arrays of jobs (its MaxArraySize is 1)' message && [ ! -e words ] && most=3 PATH=$PWD:$PATH ./submit.sh --extra >/dev/null");
    run_ok("printf '%s\\n' '#!/bin/sh' '[ \"$2\" = --jobs=7,7,7,7,7,7 ] && echo 7' >squeue && chmod +x squeue && ! PATH=$PWD:$PATH ./submit.sh 2>message && grep -q 'or: scancel 7 7 7 7 7 7$' message && "
           "[ $(wc -l <jobs.tsv) = 6 ] && rm squeue");
    run_ok("[ $(grep -c '^--extra$' words) = 6 ] && [ $(grep -c '^--array=1-2%7$' words) = 2 ] && grep -q '^--gres=gpu:h200:1$' words && [ $(grep -c '^--dependency=afterany:7$' words) = 3 ] && "
           "[ $(grep -c '^--dependency=afterany:7:7$' words) = 1 ]");
    char line[400];
    snprintf(line, sizeof line, "%s/expected", fixture_folder);
    mt_strbuf text = {0};
    mt_strbuf_addf(&text, "--account=%s\n", HOSTILE);
    ck_ok(mt_file_write_atomic(line, mt_strbuf_text(&text), text.length, &fixture_err));
    run_ok("[ \"$(grep -c -xF -f expected words)\" = 6 ]");
    run_ok("rm words && SLURM_ARRAY_TASK_ID=2 bash tune-h100.sh >/dev/null && grep -qx 'part-h100-2.sqlite' words && grep -qx -e --known words && grep -qx 2/2 words && [ $(wc -l <words) = 17 ]");
    run_ok("sed '/^launch=()$/q' tune-h100.sh merge.sh | grep -c '^#SBATCH --comment=mine$' | grep -qx 1 && ! sed '/^launch=()$/q' merge.sh | grep -v '^#'  | grep -qv '^launch'"); /* sbatch reads up to the first command */
    run_ok("! SLURM_ARRAY_TASK_ID=3 bash tune-h100.sh 2>message && grep -q 'from 1 to 2' message");
    run_ok("! bash merge.sh 2>message && grep -q 'no task has begun' message");
    run_ok("touch part-h100-1.sqlite && echo x >part-h200-2.sqlite && rm words && bash merge.sh >/dev/null && [ \"$(cat parts.txt)\" = part-h200-2.sqlite ] && grep -qx parts.txt words && grep -qx report.html words && [ ! -e parts.?????? ]");
    run_ok("rm words && mkdir other && d=$PWD && (cd other && SLURM_SUBMIT_DIR=/ bash ../merge.sh >/dev/null) && grep -qx parts.txt words"); /* by hand, from wherever, within another job */
    run_ok("rm words && cp merge.sh other && (d=$PWD; cd / && SLURM_SUBMIT_DIR=$d bash $d/other/merge.sh >/dev/null && bash $d/other/merge.sh >/dev/null) && [ $(grep -cx parts.txt words) = 2 ]"); /* Slurm runs a copy */
    run_ok("[ ! -e pwned ]");
    mt_strbuf_free(&text);
}
END_TEST

/* As many arrays as the cluster's limit makes of the tasks; each task is run once, whichever array it is in, and has a log of its own. */
START_TEST(more_tasks_than_an_array_takes)
{
    write_plan(true);
    run_ok("printf '%s\\n' '#!/bin/sh' 'n=$(cat jobs 2>/dev/null || echo 70); echo $((n + 1)) >jobs; echo \"$n: $*\" >>words; echo $n' >sbatch && "
           "printf '%s\\n' '#!/bin/sh' 'echo \"MaxArraySize = 2\"' >scontrol && printf '%s\\n' '#!/bin/sh' 'echo \"$*\" >>ran' >tool && chmod +x sbatch scontrol tool && PATH=$PWD:$PATH ./submit.sh >/dev/null");
    run_ok("grep -q '^71: .*--dependency=afterany:70 --output=log/tune-h100-%a.txt --array=1-1%7 .* tune-h100.sh$' words && "
           "grep -q '^72: .*--dependency=afterany:71 --output=log/tune-h100+1-%a.txt --array=1-1%7 .* tune-h100.sh 1$' words && " /* %7 is for both together */
           "grep -q -- '--dependency=afterany:71:72:73:74 .* merge.sh$' words && [ \"$(grep -P '\\t7[12]' jobs.tsv)\" = \"$(printf 'tune-h100\\t71\\ntune-h100\\t72\\t1')\" ]");
    run_ok("SLURM_ARRAY_TASK_ID=1 bash tune-h100.sh && SLURM_ARRAY_TASK_ID=1 bash tune-h100.sh 1 && grep -q 'part-h100-1.sqlite .* 1/2$' ran && grep -q 'part-h100-2.sqlite .* 2/2$' ran && "
           "! SLURM_ARRAY_TASK_ID=2 bash tune-h100.sh 1 2>/dev/null && ! SLURM_ARRAY_TASK_ID=1 bash tune-h100.sh 1x 2>/dev/null");
    mt_cluster_progress progress = {0};
    run_ok("printf '#!/bin/sh\\necho \"71|1|RUNNING|n1|1:00\"; echo \"72|1|FAILED|n2|0:00\"\\n' >squeue && chmod +x squeue && touch log/tune-h100+1-1.txt");
    char *path = strdup(getenv("PATH")), with_queue[16384];
    snprintf(with_queue, sizeof with_queue, "%s:%s", fixture_folder, path);
    setenv("PATH", with_queue, 1);
    ck_ok(mt_cluster_progress_read(fixture_folder, &progress, &fixture_err));
    setenv("PATH", path, 1);
    free(path);
    ck_assert_str_eq(progress.rows[0].node, "n1");
    ck_assert_int_eq(progress.rows[0].stand, MT_CLUSTER_RUNNING);
    ck_assert_str_eq(progress.rows[1].node, "n2");
    ck_assert_str_eq(progress.rows[1].why, "FAILED");
    mt_cluster_progress_free(&progress);
}
END_TEST

/* A script works in the folder of its own plan, wherever it was submitted; made alike does not make two plans one. */
START_TEST(a_task_submitted_from_another_folder)
{
    char own[sizeof fixture_folder], other[200];
    run_ok("mkdir -p other slurmd && printf '%s\\n' '#!/bin/sh' 'pwd >>ran; echo \"$*\" >>ran' >tool && chmod +x tool && cp tool other");
    write_plan(true);
    strcpy(own, fixture_folder);
    snprintf(other, sizeof other, "%s/other", own);
    ck_assert_uint_lt(strlen(other), sizeof fixture_folder);
    strcpy(fixture_folder, other);
    write_plan(true);
    strcpy(fixture_folder, own);
    run_ok("! cmp -s plan.tsv other/plan.tsv && cp tune-h100.sh slurmd/slurm_script && d=$PWD && (cd other && SLURM_SUBMIT_DIR=$PWD SLURM_ARRAY_TASK_ID=1 bash $d/slurmd/slurm_script) && "
           "[ ! -e other/ran ] && [ \"$(head -1 ran)\" = \"$PWD\" ] && grep -q -- \"--plan $(sed -n 's/^#.plan.//p' plan.tsv):\" ran");
    run_ok("cp plan.tsv kept && write() { :; } && mv plan.tsv away && d=$PWD && ! (cd other && SLURM_SUBMIT_DIR=$PWD SLURM_ARRAY_TASK_ID=1 bash $d/slurmd/slurm_script 2>message) && "
           "grep -q 'its plan.tsv is not there or is of another plan, expected plan' other/message && [ ! -e other/ran ] && mv away plan.tsv");
    write_plan(true); /* the same plan keeps its identity, and so its parts */
    run_ok("cmp plan.tsv kept");
}
END_TEST

/* A folder belongs to one plan from its first result on. */
START_TEST(a_folder_of_another_plan)
{
    plan_key = "0011";
    write_plan(true);
    run_ok("echo 'echo mine' >tune-mine.sh && echo mine >template.sh");
    plan_key = "2233"; /* nothing has begun: a new state of the space takes it over, and no script of a stage that there is no more stays */
    write_plan(false);
    run_ok("[ ! -e final-h100.sh ] && [ -e tune-mine.sh ] && grep -q '^#.space.2233$' plan.tsv && : >jobs.tsv");
    plan_key = "0011";
    write_plan(true); /* sbatch had refused the first job */
    run_ok("echo x >part-h100-1.sqlite");
    write_plan(true); /* the same plan */
    plan_key = "2233";
    ck_fails(plan_into(true, false), MT_ERR_USAGE, "was begun (part-h100-1.sqlite) with another state of");
    plan_key = "0011";
    run_ok("rm part-h100-1.sqlite && printf 'tune-h100\t7\nmerge\t8\n' >jobs.tsv && sed -i 's/two · x/other/' plan.tsv");
    ck_fails(plan_into(true, false), MT_ERR_USAGE, "holds another plan, which was begun (jobs.tsv): 4 tasks, the first of them one; expected another folder");
    run_ok("echo x >part-h200-2.sqlite && echo x >merged.sqlite-wal && mkdir bin log && printf '%s\n' '#!/bin/sh' '[ \"$3\" = 7,8 ] && echo 7' >bin/squeue && chmod +x bin/squeue");
    char *path = strdup(getenv("PATH")), with_queue[16384];
    snprintf(with_queue, sizeof with_queue, "%s/bin:%s", fixture_folder, path);
    setenv("PATH", with_queue, 1);
    ck_fails(plan_into(true, true), MT_ERR_USAGE, "wait or run (7,8)");
    run_ok("[ -e part-h200-2.sqlite ] && [ -e jobs.tsv ] && printf '%s\n' '#!/bin/sh' >bin/squeue");
    ck_ok(plan_into(true, true));
    setenv("PATH", path, 1);
    free(path);
    run_ok("[ ! -e part-h200-2.sqlite ] && [ ! -e jobs.tsv ] && [ ! -e log ] && [ -e tune-mine.sh ] && [ \"$(cat template.sh)\" = mine ] && [ -e plan.tsv ] && [ -e final-h100.sh ]");
    run_ok("cd old-1 && [ -e part-h200-2.sqlite ] && [ -e merged.sqlite-wal ] && [ -e jobs.tsv ] && [ -e log ] && [ -e tune-h100.sh ] && [ -e submit.sh ] && grep -q other plan.tsv && [ ! -e tune-mine.sh ] && [ ! -e template.sh ]");
    run_ok("rm plan.tsv && echo x >merged.sqlite");
    ck_fails(plan_into(true, false), MT_ERR_USAGE, "holds merged.sqlite, and no plan.tsv");
    ck_ok(plan_into(true, true));
    run_ok("[ -e old-2/merged.sqlite ] && [ -e old-1/part-h200-2.sqlite ]");
}
END_TEST

/* SIGTERM reaches the tool once and its exit code comes through; USR1 puts the job back into the queue. */
START_TEST(signals_are_passed_on)
{
    write_plan(false);
    run_ok("printf '%s\\n' '#!/bin/bash' 'trap \"echo told >>told; exit 130\" TERM' 'touch ready' 'for i in $(seq 10000); do sleep 0.02; done' >tool && "
           "printf '%s\\n' '#!/bin/sh' 'echo \"$@\" >requeued' >scontrol && chmod +x tool scontrol");
    run_ok("export PATH=$PWD:$PATH SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_JOB_ID=9 SLURM_JOB_ID=11; bash tune-h100.sh & p=$!; until [ -e ready ]; do sleep 0.01; done; kill -TERM $p; wait $p; "
           "[ $? = 130 ] && [ $(wc -l <told) = 1 ] && [ ! -e requeued ]");
    run_ok("rm ready; export PATH=$PWD:$PATH SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_JOB_ID=9 SLURM_JOB_ID=11; bash tune-h100.sh & p=$!; until [ -e ready ]; do sleep 0.01; done; kill -USR1 $p; wait $p; "
           "[ $? = 130 ] && [ $(wc -l <told) = 2 ] && [ \"$(cat requeued)\" = 'requeue 9_1' ]");
}
END_TEST

/* srun kills what it has started when it is told to end: its step is told through Slurm. */
START_TEST(a_step_is_told_by_slurm)
{
    write_plan(false);
    run_ok("sed -i 's/^tool=.\\/tool$/launch=(env srun --x)/' tune-h100.sh && "
           "printf '%s\\n' '#!/bin/bash' 'trap \"touch killed\" TERM' 'trap \"exit 130\" USR2' 'echo $$ >pid; echo $SRUN_CPUS_PER_TASK >cpus; mv pid ready' 'for i in $(seq 10000); do sleep 0.02; done' >srun && "
           "printf '%s\\n' '#!/bin/sh' 'echo \"$@\" >cancelled; kill -USR2 $(cat ready)' >scancel && printf '%s\\n' '#!/bin/sh' 'echo \"$@\" >requeued' >scontrol && chmod +x srun scancel scontrol");
    run_ok("export PATH=$PWD:$PATH SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_JOB_ID=9 SLURM_JOB_ID=11 SLURM_CPUS_PER_TASK=5; bash tune-h100.sh & p=$!; until [ -e ready ]; do sleep 0.01; done; kill -USR1 $p; wait $p; "
           "[ $? = 130 ] && [ \"$(cat cancelled)\" = '--signal=TERM 11' ] && [ \"$(cat requeued)\" = 'requeue 9_1' ] && [ $(cat cpus) = 5 ] && [ ! -e killed ]");
}
END_TEST

static int64_t session_of_plan(mt_store *store, const char *plan)
{
    int64_t id = 0;
    char job[MT_JOB_SIZE];
    mt_job_text(job);
    mt_session_row row = {.command = "msda-tune", .boot_id = "boot-1", .tool_version = "0.1.0", .strategy = "auto", .job = *job ? job : NULL, .plan = plan};
    ck_ok(mt_store_session_begin(store, &row, &id, &fixture_err));
    return id;
}

static const char *the_plan(void)
{
    static char line[64];
    char path[100];
    snprintf(path, sizeof path, "%s/plan.tsv", fixture_folder);
    FILE *file = fopen(path, "r");
    ck_assert(file && fgets(line, sizeof line, file));
    fclose(file);
    ck_assert_int_eq(strncmp(line, "#\tplan\t", 7), 0);
    return line + 7;
}

START_TEST(what_a_session_says_of_its_job)
{
    char text[MT_JOB_SIZE];
    const char *const set[] = {"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_JOB_ID"};
    for (int i = 0; i < 3; i++) unsetenv(set[i]);
    mt_job_text(text);
    ck_assert_str_eq(text, "");
    setenv("SLURM_JOB_ID", "5", 1);
    mt_job_text(text);
    ck_assert_str_eq(text, "slurm 5");
    setenv("SLURM_ARRAY_JOB_ID", "4711", 1);
    setenv("SLURM_ARRAY_TASK_ID", "3", 1);
    mt_job_text(text);
    ck_assert_str_eq(text, "slurm 4711_3");
    for (int i = 0; i < 3; i++) unsetenv(set[i]);
}
END_TEST

/* Slurm's word of the task's newest run, where the part says that a run of it was done: that one, or one before it. */
START_TEST(a_run_that_failed_after_one_was_done)
{
    static const struct { const char *state; bool is_own; mt_cluster_stand stand; } cases[] = {
        {"COMPLETED", true, MT_CLUSTER_DONE}, {"COMPLETED", false, MT_CLUSTER_DONE}, {"FAILED", true, MT_CLUSTER_FAILED}, {"FAILED", false, MT_CLUSTER_FAILED},
        {"OUT_OF_MEMORY", false, MT_CLUSTER_FAILED}, {"OUT_OF_MEMORY", true, MT_CLUSTER_DONE}, {"BOOT_FAIL", false, MT_CLUSTER_FAILED}, {"DEADLINE", false, MT_CLUSTER_FAILED},
        {"NODE_FAIL", false, MT_CLUSTER_STOPPED}, {"TIMEOUT", false, MT_CLUSTER_STOPPED}, {"TIMEOUT", true, MT_CLUSTER_DONE}, {"RUNNING", true, MT_CLUSTER_RUNNING},
    };
    write_plan(false);
    run_ok("printf 'tune-h100\\t71\\n' >jobs.tsv; mkdir -p log");
    char own[] = "0123456789ab", sql[200], *path = strdup(getenv("PATH")), with_queue[16384];
    snprintf(own, sizeof own, "%.12s", the_plan());
    snprintf(fixture_db, sizeof fixture_db, "%s/part-h100-1.sqlite", fixture_folder);
    mt_store *store = fixture_open();
    int64_t session = session_of_plan(store, own);
    const mt_session_end_row end = {.state = "done", .evaluated = 1, .times_json = "{}"};
    ck_ok(mt_store_session_end(store, session, &end, &fixture_err));
    mt_store_close(store);
    snprintf(with_queue, sizeof with_queue, "%s:%s", fixture_folder, path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_cluster_progress progress = {0};
        char command[300];
        snprintf(sql, sizeof sql, "UPDATE session SET job = 'slurm %s'", cases[i].is_own ? "71_1" : "70_1");
        fixture_sql(sql);
        snprintf(command, sizeof command, "printf '#!/bin/sh\\necho \"71|1|%s|n1|1:00\"\\n' >squeue && printf '#!/bin/sh\\n' >sacct && chmod +x squeue sacct", cases[i].state);
        run_ok(command);
        setenv("PATH", with_queue, 1);
        ck_ok(mt_cluster_progress_read(fixture_folder, &progress, &fixture_err));
        setenv("PATH", path, 1);
        ck_assert(progress.is_asked);
        ck_assert_msg(progress.rows[0].stand == cases[i].stand, "%s, %s: %s", cases[i].state, cases[i].is_own ? "its own" : "an earlier one's", mt_cluster_stand_name(progress.rows[0].stand));
        mt_cluster_progress_free(&progress);
    }
    free(path);
}
END_TEST

START_TEST(parts_alone_tell_how_far)
{
    mt_cluster_progress progress = {0};
    ck_fails(mt_cluster_progress_read(fixture_folder, &progress, &fixture_err), MT_ERR_NOT_FOUND, "plan.tsv");
    mt_cluster_progress_free(&progress);
    write_plan(false);
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nonexistent", 1); /* no Slurm */
    char own[40] = "", copied[40] = "", plan[16] = "", *plans[] = {own, NULL, "ffffffffffff", copied}; /* the second was begun by an older tool */
    snprintf(own, sizeof own, "%.12s:h100-1", the_plan());
    snprintf(plan, sizeof plan, "%.12s", own);
    snprintf(copied, sizeof copied, "%.12s:h100-1", the_plan());
    for (int i = 1; i <= 4; i++) {
        snprintf(fixture_db, sizeof fixture_db, "%s/part-h%d00-%d.sqlite", fixture_folder, i > 2 ? 2 : 1, i > 2 ? i - 2 : i);
        mt_store *store = fixture_open();
        mt_subject subject = fixture_subject(store);
        int64_t session = session_of_plan(store, plans[i - 1]);
        fixture_put_ok(store, session, &subject, i == 1 ? "A=1" : i == 2 ? "A=2" : "A=3", i == 1 ? 20 : i == 2 ? 10 : 5);
        ck_ok(mt_store_refresh_best(store, &subject, &fixture_err));
        const mt_session_end_row end = {.state = "done", .evaluated = 1, .times_json = "{}"};
        if (i != 2) ck_ok(mt_store_session_end(store, session, &end, &fixture_err));
        mt_store_close(store);
    }
    ck_ok(mt_cluster_progress_read(fixture_folder, &progress, &fixture_err));
    setenv("PATH", path, 1);
    free(path);
    ck_assert_uint_eq(progress.row_count, 4);
    ck_assert(!progress.is_submitted && !progress.is_asked);
    ck_assert_int_eq(progress.rows[0].stand, MT_CLUSTER_DONE);
    ck_assert_int_eq(progress.rows[1].stand, MT_CLUSTER_STOPPED); /* its session never ended */
    ck_assert_int_eq(progress.rows[2].stand, MT_CLUSTER_FAILED); /* done, but for another plan: neither is it this one's, nor its best */
    ck_assert_str_eq(progress.rows[2].why, "is of plan ffffffffffff, not of this one");
    ck_assert_int_eq(progress.rows[3].stand, MT_CLUSTER_FAILED); /* another task's, under this one's name */
    ck_assert_str_eq(progress.rows[3].why, "is of task h100-1 of this plan, not of this one");
    ck_fails(mt_merge_check_plan(fixture_db, plan, &fixture_err), MT_ERR_DB, "belongs to task h100-1 of the plan, not to the one that it is named for");
    ck_fails(mt_merge_check_plan(fixture_db, "ffffffffffff:h200-2", &fixture_err), MT_ERR_DB, "belongs to plan ");
    ck_assert_uint_eq(progress.counts[MT_CLUSTER_WAITING], 0);
    ck_assert_uint_eq(progress.best_count, 1);
    ck_assert_str_eq(progress.bests[0].variant, "A=2");
    ck_assert_str_eq(progress.rows[1].label, "two · x");
    mt_cluster_progress_free(&progress);
}
END_TEST

FIXTURE_MAIN("cluster", quoted_is_one_word, words_to_copy, time_limits, programs_that_are_not_there, answers_are_read, scripts_keep_words_together, more_tasks_than_an_array_takes, a_task_submitted_from_another_folder, a_folder_of_another_plan, signals_are_passed_on, a_step_is_told_by_slurm, what_a_session_says_of_its_job, parts_alone_tell_how_far, a_run_that_failed_after_one_was_done)
