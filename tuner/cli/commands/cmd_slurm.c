/* msda-tune slurm: writes a tuning job for a cluster, submits it if asked to, and says how far it is. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/cli/output/cluster_show.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/command.h"
#include "tuner/cli/requests/known_device.h"
#include "tuner/cli/share.h"
#include "tuner/cli/requests/slurm.h"
#include "tuner/cli/requests/requested_shapes.h"
#include "tuner/cluster/folder.h"
#include "tuner/cluster/scripts.h"
#include "tuner/session/session.h"

enum { TEMPLATE_MAX_BYTES = 1 << 20 };

#define FIELD(name) offsetof(mt_slurm_values, name)
static const mt_option options[] = {
    {"space", 0, MT_OPTION_SPACE, FIELD(space), "FILE", "search space: a file, or the name of a shipped one"},
    {"shape", 0, MT_OPTION_TEXTS, FIELD(shapes), "NAME", "only this [shape], or the one with these values, as for tune;\nmay be repeated"},
    {"workload", 0, MT_OPTION_WORDS, FIELD(workloads), "NAME", "use this [workload]; may be repeated"},
    {"gpu-type", 0, MT_OPTION_WORDS, FIELD(gpu_types), "TYPES", "an array for each of these types: h100,h200 (default: one, for\nwhatever GPU a node has)"},
    {"shards", 0, MT_OPTION_COUNT, FIELD(shards), "N", "N tasks on the same space (tune --shard), instead of one for each\nshape and workload"},
    {"time", 0, MT_OPTION_TEXT, FIELD(time), "T", "time limit of a job, as sbatch takes it: 4:00:00. Two minutes\nbefore it a task stops and goes back into the queue"},
    {"partition", 0, MT_OPTION_TEXT, FIELD(partition), "NAME", "of the jobs"},
    {"compile-partition", 0, MT_OPTION_TEXT, FIELD(compile_partition), "NAME", "of the jobs that need no GPU"},
    {"account", 0, MT_OPTION_TEXT, FIELD(account), "NAME", "whom the jobs are charged to"},
    {"qos", 0, MT_OPTION_TEXT, FIELD(qos), "NAME", "of the jobs"},
    {"gres", 0, MT_OPTION_TEXT, FIELD(gres), "GRES", "what a task needs; the word TYPE becomes the GPU type (default\ngpu:TYPE:1, or gpu:1 without types; none: nothing)"},
    {"cpus", 0, MT_OPTION_COUNT, FIELD(cpus), "N", "cores of a task, for its compile workers"},
    {"at-once", 0, MT_OPTION_COUNT, FIELD(at_once), "N", "at most so many tasks of an array run at the same time"},
    {"compile", 0, MT_OPTION_CHOICE, FIELD(compile), "all|sample|none", "what is compiled on nodes without a GPU before the tasks begin:\nall points (default), each value of each knob once, or nothing"},
    {"template", 0, MT_OPTION_INPUT, FIELD(template), "FILE", "#SBATCH lines, modules, containers for all scripts (default:\nDIR/template.sh, made with examples if it is not there)"},
    {"output", 'o', MT_OPTION_FOLDER, FIELD(output), "DIR", "folder on a shared file system for scripts, parts and results\n(default: slurm-KERNEL)"},
    {"replace", 0, MT_OPTION_FLAG, FIELD(replace), NULL, "where DIR holds another plan that has begun: move its scripts and\nresults into DIR/old-N first"},
    {"submit", 0, MT_OPTION_FLAG, FIELD(submit), NULL, "submit the jobs as well"},
    {"status", 0, MT_OPTION_INPUT, FIELD(status), "DIR", "instead: how far the tasks of the folder are, and the best so far"},
    {"json", 0, MT_OPTION_FLAG, FIELD(json), NULL, "with --status: as JSON"},
    {0},
};

/* Everything that the plan borrows from. */
typedef struct planning {
    const mt_arguments *arguments;
    const mt_slurm_values *values;
    char *space_path, *tool, *folder, *template_text;
    mt_spec *spec, *as_written; /* with shapes given by values, and without */
    mt_requested_shapes wanted;
    mt_cluster_gpu *gpus;
    size_t gpu_count;
    mt_cluster_task *tasks;
    size_t task_count, task_capacity;
    mt_strbuf tune_words, check_words, whole_words;
    mt_hash space_key;
} planning;

/* ---- words of the scripts ---- */

static void add_word(mt_strbuf *words, const char *option, const char *value)
{
    mt_strbuf_addf(words, " %s ", option);
    mt_strbuf_add_quoted(words, value);
}

/* A shape that was given by values is known to other processes by them alone. */
static const char *shape_word(const planning *p, const mt_shape *shape)
{
    return mt_spec_shape(p->as_written, shape->name) ? shape->name : shape->key;
}

static mt_status add_task(planning *p, mt_strbuf *label, mt_strbuf *words, mt_error *err)
{
    mt_cluster_task *tasks = mt_grow(p->tasks, p->task_count, &p->task_capacity, sizeof *tasks);
    mt_cluster_task task = {mt_strbuf_take(label), mt_strbuf_take(words)};
    if (tasks && task.label && task.words) {
        p->tasks = tasks;
        tasks[p->task_count++] = task;
        return MT_OK;
    }
    if (tasks) p->tasks = tasks;
    mt_free(task.label);
    mt_free(task.words);
    return mt_no_memory("slurm", err);
}

static mt_status plan_subjects(planning *p, const mt_session_target *targets, size_t count, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < count && st == MT_OK; i++) {
        mt_strbuf label = {0}, words = {0};
        mt_strbuf_addf(&label, "%s · %s", targets[i].shape->name, targets[i].workload->name);
        add_word(&words, "--shape", shape_word(p, targets[i].shape));
        add_word(&words, "--workload", targets[i].workload->name);
        mt_hash key;
        st = mt_session_plan_key(p->spec, &targets[i], 1, &key, err);
        if (st == MT_OK) add_word(&words, "--space-key", key.hex);
        if (st == MT_OK) st = add_task(p, &label, &words, err);
        mt_strbuf_free(&label);
        mt_strbuf_free(&words);
    }
    return st;
}

static mt_status plan_shards(planning *p, mt_error *err)
{
    mt_status st = MT_OK;
    long long count = (long long)p->values->shards;
    if (count > MT_SHARDS_MAX) return MT_FAIL(err, MT_ERR_USAGE, "slurm: --shards: %lld are too many; expected at most %d", count, MT_SHARDS_MAX);
    for (long long i = 1; i <= count && st == MT_OK; i++) {
        mt_strbuf label = {0}, words = {0};
        mt_strbuf_addf(&label, "shard %lld/%lld", i, count);
        st = add_task(p, &label, &words, err);
    }
    return st;
}

static bool is_seen(const mt_session_target *targets, size_t count, const mt_shape *shape)
{
    for (size_t i = 0; i < count; i++)
        if (targets[i].shape == shape) return true;
    return false;
}

static mt_status plan_tasks(planning *p, mt_error *err)
{
    mt_session_target *targets = NULL;
    size_t count = 0;
    mt_status st;
    const mt_session_params params = {.spec = p->spec, .shapes = (const char *const *)p->wanted.shapes.items, .shape_count = p->wanted.shapes.count,
                                      .workloads = (const char *const *)p->values->workloads.items, .workload_count = p->values->workloads.count};
    MT_TRY(mt_session_plan(&params, &targets, &count, err));
    if (count == 0) MT_LEAVE(MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: has no shape to tune", p->space_path));
    for (size_t i = 0; i < count; i++) {
        const mt_shape *shape = targets[i].shape;
        if (is_seen(targets, i, shape)) continue;
        add_word(&p->whole_words, "--shape", shape_word(p, shape));
        add_word(&p->check_words, "--shape", shape_word(p, shape));
    }
    for (size_t i = 0; i < p->values->workloads.count; i++) add_word(&p->whole_words, "--workload", p->values->workloads.items[i]);
    MT_TRY(mt_session_plan_key(p->spec, targets, count, &p->space_key, err));
    add_word(&p->whole_words, "--space-key", p->space_key.hex);
    if (p->check_words.length && p->values->compile == 2) mt_strbuf_add(&p->check_words, " --sample");
    MT_TRY(mt_slurm_tune_words(p->arguments, &p->tune_words, err));
    st = p->values->shards ? plan_shards(p, err) : plan_subjects(p, targets, count, err);
    if (st == MT_OK && (p->whole_words.failed || p->check_words.failed || p->tune_words.failed)) st = mt_no_memory("slurm", err);
done:
    mt_free(targets);
    return st;
}

static bool replays(const mt_arguments *arguments)
{
    for (size_t i = 0; i < arguments->operand_count; i++)
        if (strstr(arguments->operands[i], "recorded:")) return true;
    return false;
}

static mt_status plan_gpus(planning *p, mt_error *err)
{
    const mt_texts *types = &p->values->gpu_types;
    bool compiles = p->values->compile != 3 && p->check_words.length && !replays(p->arguments);
    p->gpu_count = types->count ? types->count : 1;
    p->gpus = mt_alloc(p->gpu_count, sizeof *p->gpus);
    if (!p->gpus) return mt_no_memory("slurm", err);
    p->gpus[0] = (mt_cluster_gpu){.type = ""};
    for (size_t i = 0; i < types->count; i++) {
        mt_device_facts facts;
        char arch[MT_ARCH_SIZE];
        mt_error why;
        p->gpus[i] = (mt_cluster_gpu){.type = types->items[i], .is_compiled = compiles};
        for (size_t k = 0; k < i; k++)
            if (strcmp(types->items[k], types->items[i]) == 0) return MT_FAIL(err, MT_ERR_USAGE, "slurm: --gpu-type: '%s' is given twice", types->items[i]);
        if (!compiles || mt_known_device(types->items[i], NULL, &facts, arch, &why) == MT_OK) continue;
        p->gpus[i].is_compiled = false;
        mt_log_warn("%s: nothing is compiled before the tasks begin: %s", types->items[i], why.message);
    }
    return MT_OK;
}

/* ---- the folder ---- */

static mt_status absolute(const char *path, char **out, mt_error *err)
{
    char *real = realpath(path, NULL);
    *out = real ? mt_strdup(real) : NULL;
    free(real);
    return *out ? MT_OK : MT_FAIL(err, MT_ERR_IO, "%s: %s", path, strerror(errno));
}

/* Slurm expands its own patterns in the names of logs, the working folder in front of them included: jobs would end before they begin. */
static mt_status check_folder(const char *path, mt_error *err)
{
    const char *at = strpbrk(path, "%\\");
    return at ? MT_FAIL(err, MT_ERR_USAGE, "slurm: -o: %s: holds '%c', which Slurm takes for a pattern in the names of logs, so that no job could begin; expected a folder without '%%' and '\\' in its path", path, *at)
              : MT_OK;
}

static mt_status make_folder(planning *p, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf name = {0};
    char *here = NULL;
    mt_strbuf_addf(&name, "slurm-%s", p->spec->name);
    const char *given = p->values->output ? p->values->output : mt_strbuf_text(&name);
    MT_TRY(check_folder(given, err));
    if (*given != '/') MT_TRY(absolute(".", &here, err));
    if (here) MT_TRY(check_folder(here, err)); /* before the folder is made */
    MT_TRY(mt_dir_make_all(given, err));
    MT_TRY(absolute(given, &p->folder, err));
    st = check_folder(p->folder, err); /* where a link led */
done:
    mt_free(here);
    mt_strbuf_free(&name);
    return st;
}

/* The user's own; one that is not there yet is made of examples. */
static mt_status read_template(planning *p, mt_error *err)
{
    mt_status st = MT_OK;
    size_t length;
    char *path = p->values->template ? mt_strdup(p->values->template) : mt_path_join(p->folder, "template.sh");
    if (!path) return mt_no_memory("slurm", err);
    if (!p->values->template && !mt_file_exists(path)) MT_TRY(mt_file_write_atomic(path, mt_cluster_template, strlen(mt_cluster_template), err));
    MT_TRY(mt_file_read(path, TEMPLATE_MAX_BYTES, &p->template_text, &length, err));
    if (strlen(p->template_text) != length) st = MT_FAIL(err, MT_ERR_SPEC, "%s: holds a NUL byte; expected lines of bash", path);
done:
    mt_free(path);
    return st;
}

static mt_status submit(const char *folder, mt_error *err)
{
    int status = 0;
    char *script = mt_path_join(folder, "submit.sh");
    if (!script) return mt_no_memory("slurm", err);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execlp("bash", "bash", script, (char *)NULL);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    mt_status st = pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0
                       ? MT_OK
                       : MT_FAIL(err, MT_ERR_IO, "%s: failed; what sbatch said stands above. Jobs that it did submit: %s/jobs.tsv", script, folder);
    mt_free(script);
    return st;
}

static bool has_program(const char *name)
{
    const char *path = getenv("PATH");
    for (size_t length; path && *path; path += length, path += *path == ':') {
        mt_strbuf file = {0};
        length = strcspn(path, ":");
        mt_strbuf_addf(&file, "%.*s/%s", (int)length, path, name);
        bool is_there = access(mt_strbuf_text(&file), X_OK) == 0;
        mt_strbuf_free(&file);
        if (is_there) return true;
    }
    return false;
}

static mt_status say_and_submit(const planning *p, mt_error *err)
{
    bool has_slurm = has_program("sbatch");
    mt_status st = MT_OK;
    mt_strbuf word = {0};
    mt_strbuf program = {0};
    mt_print_program(&program);
    mt_strbuf_add_word(&word, p->folder);
    const char *folder = mt_strbuf_text(&word); /* for commands that are copied from here */
    mt_tell("%zu task%s", p->task_count, p->task_count == 1 ? "" : "s");
    if (p->values->gpu_types.count) mt_tell(" for each of %zu GPU type%s", p->gpu_count, p->gpu_count == 1 ? "" : "s");
    mt_tell(": %s\n", p->folder);
    if (p->values->submit && !has_slurm) {
        st = MT_FAIL(err, MT_ERR_NOT_FOUND, "slurm: --submit: sbatch is not in PATH; the scripts are written: on a machine of the cluster, with this folder, run %s/submit.sh", folder);
    } else if (p->values->submit) {
        st = submit(p->folder, err);
    } else {
        mt_tell("Submit:  %s/submit.sh%s\n", folder, has_slurm ? "" : "   (on a machine that has sbatch; there is none here)");
        mt_tell("Look:    %s slurm --status %s\n", mt_strbuf_text(&program), folder);
    }
    mt_strbuf_free(&word);
    mt_strbuf_free(&program);
    return st;
}

static mt_status write_all(planning *p, mt_error *err)
{
    const mt_slurm_values *v = p->values;
    mt_status st;
    if (!v->space) return MT_FAIL(err, MT_ERR_USAGE, "slurm: --space FILE is missing; 'msda-tune list' names the shipped ones");
    MT_TRY(mt_slurm_check(v, p->arguments, err));
    char *found = NULL;
    MT_TRY(mt_share_space(v->space, &found, err));
    st = absolute(found, &p->space_path, err);
    mt_free(found);
    if (st != MT_OK) goto done;
    MT_TRY(mt_requested_shapes_load(p->space_path, &v->shapes, &p->spec, &p->wanted, err));
    MT_TRY(mt_spec_load(p->space_path, &p->as_written, err));
    MT_TRY(plan_tasks(p, err));
    MT_TRY(plan_gpus(p, err));
    MT_TRY(make_folder(p, err));
    MT_TRY(read_template(p, err));
    if (!(p->tool = mt_path_self())) MT_LEAVE(mt_no_memory("slurm", err));
    mt_cluster_plan plan = {.tool = p->tool, .space = p->space_path, .folder = p->folder, .gpus = p->gpus, .gpu_count = p->gpu_count, .tasks = p->tasks, .task_count = p->task_count,
                                  .is_sharded = v->shards > 0, .tune_words = mt_strbuf_text(&p->tune_words), .check_words = mt_strbuf_text(&p->check_words),
                                  .whole_words = mt_strbuf_text(&p->whole_words), .space_key = p->space_key.hex, .template_text = p->template_text, .time = v->time, .partition = v->partition,
                                  .account = v->account, .qos = v->qos, .gres = v->gres, .compile_partition = v->compile_partition, .cpus = v->cpus, .at_once = v->at_once};
    MT_TRY(mt_cluster_folder_claim(&plan, v->replace, err));
    MT_TRY(mt_cluster_write(&plan, err));
    st = say_and_submit(p, err);
done:
    return st;
}

static void free_planning(planning *p)
{
    for (size_t i = 0; i < p->task_count; i++) {
        mt_free(p->tasks[i].label);
        mt_free(p->tasks[i].words);
    }
    MT_FREE_EACH(p->space_path, p->tool, p->folder, p->template_text);
    mt_free(p->tasks);
    mt_free(p->gpus);
    mt_strbuf_free(&p->tune_words);
    mt_strbuf_free(&p->check_words);
    mt_strbuf_free(&p->whole_words);
    mt_requested_shapes_free(&p->wanted);
    mt_spec_free(p->spec);
    mt_spec_free(p->as_written);
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    planning p = {.arguments = arguments, .values = arguments->values};
    if (p.values->status && arguments->operand_count) return MT_FAIL(err, MT_ERR_USAGE, "slurm: '%s': expected one folder: slurm --status DIR", arguments->operands[0]);
    if (p.values->status && p.values->space) return MT_FAIL(err, MT_ERR_USAGE, "slurm: --status DIR looks at what was written; --space writes: expected one of them");
    if (p.values->status) return mt_cluster_show(p.values->status, p.values->json, err);
    if (p.values->json) return MT_FAIL(err, MT_ERR_USAGE, "slurm: --json belongs to --status DIR");
    mt_status st = write_all(&p, err);
    free_planning(&p);
    return st;
}

const mt_command mt_cmd_slurm = {
    .name = "slurm",
    .summary = "tune on many machines: an array job for Slurm",
    .operands = "[-- OPTIONS OF TUNE]",
    .help = "Writes a folder of scripts: an array job with one task for each shape and workload (or --shards\n"
            "parts of one large space) and GPU type, a stage in front that compiles on nodes without a GPU, and a\n"
            "job behind it that merges what the tasks found and makes the report. Each task writes a database of\n"
            "its own and may be killed, requeued and moved: it goes on where it was. The same command may be\n"
            "given again; template.sh and the parts stay.\n\n"
            "  msda-tune slurm --space FILE.ini --gpu-type h100,h200 --time 2:00:00 --submit\n"
            "  msda-tune slurm --space FILE.ini --shards 16 --partition gpu -o DIR -- --strategy exhaustive\n"
            "  msda-tune slurm --status DIR",
    .options = options,
    .values_size = sizeof(mt_slurm_values),
    .run = run,
};
