#include "tuner/cluster/scripts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/job.h"

const char mt_cluster_template[] =
    "# Yours: stands in every script, behind the #SBATCH lines that msda-tune writes and before anything runs. It is never overwritten;\n"
    "# give the same `msda-tune slurm` again to bring a change into the scripts.\n"
    "#\n"
    "# Lines for sbatch, which the scripts repeat at their top (what the command line names goes before them):\n"
    "##SBATCH --mail-type=END,FAIL\n"
    "##SBATCH --exclusive\n"
    "#\n"
    "# What a node needs first:\n"
    "# module load cuda/13.0\n"
    "#\n"
    "# Where compiled kernels are kept; must be one folder for all nodes (default: ~/.cache):\n"
    "# export XDG_CACHE_HOME=/shared/cache\n"
    "#\n"
    "# What the tool is started through, and another tool:\n"
    "# launch=(srun --container-image=/shared/cuda.sqsh --container-mounts=/shared:/shared)\n"
    "# tool=/usr/bin/msda-tune\n";

/* Runs "$@" as a child that hears SIGTERM once. The variant that runs is finished and committed, and the exit code is the tool's, 130. Slurm signals the script alone or all
 * processes: the tool takes both for one. srun kills what it has started when it is told itself: there the step is told. Near the time limit (USR1) the job goes back into the queue
 * and goes on from there. The traps come before the child: what is heard while it starts is passed on as soon as its number is known. */
static const char run_function[] =
    "again=no early=no\n"
    "tell() {\n"
    "  if [ -z \"${pid-}\" ]; then early=yes; return; fi\n"
    "  case \" ${launch[*]} \" in\n"
    "    *[\\ /]srun\\ *) scancel --signal=TERM \"$SLURM_JOB_ID\" ;;\n"
    "    *) kill -TERM \"$pid\" ;;\n"
    "  esac 2>/dev/null\n"
    "}\n"
    "run() {\n"
    "  local pid= code\n"
    "  trap tell TERM\n"
    "  trap 'again=yes; tell' USR1\n"
    "  \"${launch[@]}\" \"$@\" &\n"
    "  pid=$!\n"
    "  if [ $early = yes ]; then early=no; tell; fi\n"
    "  while wait \"$pid\"; code=$?; [ $code -gt 128 ] && kill -0 \"$pid\" 2>/dev/null; do :; done\n"
    "  wait \"$pid\" 2>/dev/null\n"
    "  code=$?\n"
    "  if [ $again = yes ] && [ $code = 130 ]; then scontrol requeue \"${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}\"; fi\n"
    "  return $code\n"
    "}\n\n";

/* ---- pieces ---- */

bool mt_cluster_time(const char *text, long long *seconds)
{
    static const struct { char separators[4]; int unit_s[4]; } forms[] = {
        {"", {60}}, {":", {60, 1}}, {"::", {3600, 60, 1}}, {"-", {86400, 3600}}, {"-:", {86400, 3600, 60}}, {"-::", {86400, 3600, 60, 1}}};
    long long fields[4];
    char separators[4];
    size_t count = 0;
    *seconds = 0;
    if (strcasecmp(text, "UNLIMITED") == 0 || strcasecmp(text, "INFINITE") == 0) return true;
    do {
        size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 7 || count == 4) return false;
        fields[count] = strtoll(text, NULL, 10);
        text += digits;
        separators[count++] = *text;
    } while (*text++);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].separators, separators) != 0) continue;
        for (size_t k = 0; k < count; k++) *seconds += fields[k] * forms[i].unit_s[k];
        return true;
    }
    return false;
}

/* "part-h100-3.sqlite", or "part-3.sqlite" without a type. */
static void part_name(mt_strbuf *out, const char *gpu_type, size_t task)
{
    mt_strbuf_addf(out, "part-%s%s%zu.sqlite", gpu_type, *gpu_type ? "-" : "", task);
}

/* "tune-h100", or "tune" without a type. */
static void job_name(mt_strbuf *out, const char *stage, const char *gpu_type)
{
    mt_strbuf_addf(out, "%s%s%s", stage, *gpu_type ? "-" : "", gpu_type);
}

/* sbatch reads its lines up to the first command only: those of the template go before ours, wherever they stand in it. */
static void add_sbatch_lines(const char *text, mt_strbuf *out)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
        if (strncmp(text, "#SBATCH", 7) == 0) mt_strbuf_addf(out, "%.*s\n", (int)strcspn(text, "\n"), text);
}

/* The folder: beside the script where it is run by hand; Slurm runs a copy from elsewhere, and says where it was submitted, which may be the folder of another plan. */
static void add_folder(const mt_cluster_plan *plan, mt_strbuf *out)
{
    mt_strbuf_addf(out, "plan='%s'\nholds_plan() { # whether the folder is that of this script's plan\n  local line=\n  { IFS= read -r line <\"$1/plan.tsv\"; } 2>/dev/null\n"
                        "  [ \"$line\" = $'#\\tplan\\t'\"$plan\" ]\n}\n", plan->id);
    mt_strbuf_add(out, "for folder in \"$(dirname -- \"${BASH_SOURCE[0]}\")\" \"${SLURM_SUBMIT_DIR:-.}\" ");
    mt_strbuf_add_quoted(out, plan->folder);
    mt_strbuf_add(out, "; do if holds_plan \"$folder\"; then break; fi; done\n"
                       "if ! holds_plan \"$folder\"; then echo \"$folder: its plan.tsv is not there or is of another plan, expected plan $plan; give the same msda-tune slurm again\" >&2; exit 1; fi\n"
                       "cd -- \"$folder\" || exit 1\n");
}

static void add_head(const mt_cluster_plan *plan, const char *stage, const char *gpu_type, mt_strbuf *out)
{
    mt_strbuf_add(out, "#!/bin/bash\n#SBATCH --job-name=msda-tune-");
    job_name(out, stage, gpu_type);
    mt_strbuf_addf(out, "\n#SBATCH --open-mode=append\n#SBATCH --requeue\n#SBATCH --signal=B:USR1@%d\n", MT_CLUSTER_SIGNAL_S);
    add_sbatch_lines(plan->template_text, out);
    mt_strbuf_add(out, "launch=()\ntool=");
    mt_strbuf_add_quoted(out, plan->tool);
    mt_strbuf_add(out, "\nif [ -n \"${SLURM_CPUS_PER_TASK:-}\" ]; then export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK; fi # srun does not ask for them of its own\n");
    mt_strbuf_addf(out, "\n# ---- template.sh ----\n%s\n# ---- end of template.sh ----\n\n", plan->template_text);
    add_folder(plan, out);
    mt_strbuf_add(out, run_function);
}

static void add_space(const mt_cluster_plan *plan, mt_strbuf *out)
{
    mt_strbuf_add(out, " --space ");
    mt_strbuf_add_quoted(out, plan->space);
}

/* ---- scripts ---- */

static void compile_script(const mt_cluster_plan *plan, const mt_cluster_gpu *gpu, mt_strbuf *out)
{
    add_head(plan, "compile", gpu->type, out);
    mt_strbuf_add(out, "run \"$tool\" check --gpu ");
    mt_strbuf_add_quoted(out, gpu->type);
    add_space(plan, out);
    mt_strbuf_addf(out, "%s\n", plan->check_words);
}

static void add_tasks(const mt_cluster_plan *plan, mt_strbuf *out)
{
    mt_strbuf_add(out, "case $index in\n");
    for (size_t i = 0; i < plan->task_count; i++) mt_strbuf_addf(out, "  %zu) task=(%s) ;;\n", i + 1, plan->tasks[i].words);
    mt_strbuf_add(out, "esac\n");
}

static void tune_script(const mt_cluster_plan *plan, const mt_cluster_gpu *gpu, mt_strbuf *out)
{
    add_head(plan, "tune", gpu->type, out);
    mt_strbuf_addf(out, "given=${SLURM_ARRAY_TASK_ID:-} before=${1:-0} index=0 # before: tasks of the arrays before this one\n"
                        "if [[ $given =~ ^[0-9]{1,9}$ && $before =~ ^[0-9]{1,9}$ ]]; then index=$((10#$before + 10#$given)); fi # 02 is the second\n"
                        "if [ $index -lt 1 ] || [ $index -gt %zu ]; then\n"
                        "  echo \"no task '$given'${1:+ behind '$1'}; expected SLURM_ARRAY_TASK_ID from 1 to %zu\" >&2\n  exit 2\nfi\n", plan->task_count, plan->task_count);
    if (plan->is_sharded) mt_strbuf_addf(out, "task=(%s --shard \"$index/%zu\")\n", plan->whole_words, plan->task_count); /* one line: sbatch takes scripts of 4 MiB at most */
    else add_tasks(plan, out);
    mt_strbuf_add(out, "run \"$tool\" tune");
    add_space(plan, out);
    mt_strbuf_addf(out, " --db \"" MT_JOB_PART "%s%s$index.sqlite\" --plan \"$plan:%s%s$index\" --known merged.sqlite --resume --quiet%s \"${task[@]}\"\n", gpu->type, *gpu->type ? "-" : "", gpu->type, *gpu->type ? "-" : "", plan->tune_words);
}

static void add_report(mt_strbuf *out)
{
    mt_strbuf_add(out, "run \"$tool\" report --db merged.sqlite -o report.html || exit\n");
}

static void merge_script(const mt_cluster_plan *plan, mt_strbuf *out)
{
    add_head(plan, "merge", "", out);
    mt_strbuf_add(out, "list=$(mktemp parts.XXXXXX) || exit # more may be there than fit onto a command line\n"
                       "for part in part-*.sqlite; do if [ -s \"$part\" ]; then printf '%s\\n' \"$part\"; fi; done >\"$list\" # an empty one is of a task that was killed at once\n"
                       "mv -f -- \"$list\" parts.txt || exit\n"
                       "if [ ! -s parts.txt ]; then echo \"no part-*.sqlite in $PWD: no task has begun\" >&2; exit 1; fi\n"
                       "run \"$tool\" merge --files-from parts.txt --into merged.sqlite --plan \"$plan\" --same-kernel\ncode=$?\n"
                       "if [ $code -gt 1 ]; then exit $code; fi # 1: some of them are damaged, or of another plan or task, and left out\n");
    add_report(out);
    mt_strbuf_add(out, "exit $code\n");
}

/* Parts were measured on different boards: their near-ties are timed in turns on one. */
static void final_script(const mt_cluster_plan *plan, const mt_cluster_gpu *gpu, mt_strbuf *out)
{
    add_head(plan, "final", gpu->type, out);
    mt_strbuf_add(out, "run \"$tool\" tune");
    add_space(plan, out);
    mt_strbuf_addf(out, " --db merged.sqlite --quiet%s%s || exit\n", plan->tune_words, plan->whole_words);
    add_report(out);
}

/* ---- submit.sh ---- */

static void add_option(mt_strbuf *out, const char *option, const char *value)
{
    if (!value) return;
    mt_strbuf_addf(out, " %s=", option);
    mt_strbuf_add_quoted(out, value);
}

static void add_common(const mt_cluster_plan *plan, const char *partition, mt_strbuf *out)
{
    add_option(out, "--partition", partition);
    add_option(out, "--account", plan->account);
    add_option(out, "--qos", plan->qos);
    add_option(out, "--time", plan->time);
    if (plan->cpus) mt_strbuf_addf(out, " --cpus-per-task=%lld", plan->cpus);
}

/* "gpu:TYPE:1" with the type in the place of the word. */
static void add_gres(const mt_cluster_plan *plan, const char *gpu_type, mt_strbuf *out)
{
    const char *gres = plan->gres ? plan->gres : *gpu_type ? "gpu:TYPE:1" : "gpu:1", *at = strstr(gres, "TYPE");
    mt_strbuf text = {0};
    if (strcmp(gres, "none") == 0) return;
    mt_strbuf_add_bytes(&text, gres, at ? (size_t)(at - gres) : strlen(gres));
    if (at) mt_strbuf_addf(&text, "%s%s", gpu_type, at + strlen("TYPE"));
    add_option(out, "--gres", mt_strbuf_text(&text));
    out->failed |= text.failed;
    mt_strbuf_free(&text);
}

static void submit_line(const char *stage, const char *gpu_type, const char *dependency, const char *output, mt_strbuf *out)
{
    mt_strbuf_add(out, "submit ");
    job_name(out, stage, gpu_type);
    if (dependency && *dependency) mt_strbuf_addf(out, " --dependency=\"afterany%s\"", dependency);
    mt_strbuf_add(out, " --output=log/");
    job_name(out, stage, gpu_type);
    mt_strbuf_add(out, output);
}

static void add_id(mt_strbuf *list, const char *stage, const char *gpu_type)
{
    mt_strbuf_add(list, ":${id[");
    job_name(list, stage, gpu_type);
    mt_strbuf_add(list, "]}");
}

static void script_name(mt_strbuf *out, const char *stage, const char *gpu_type)
{
    mt_strbuf_add_char(out, ' ');
    job_name(out, stage, gpu_type);
    mt_strbuf_add(out, ".sh\n");
}

static void submit_arrays(const mt_cluster_plan *plan, mt_strbuf *all, mt_strbuf *out)
{
    for (size_t i = 0; i < plan->gpu_count; i++) {
        const mt_cluster_gpu *gpu = &plan->gpus[i];
        mt_strbuf compiled = {0};
        if (gpu->is_compiled) {
            submit_line("compile", gpu->type, NULL, ".txt", out);
            add_common(plan, plan->compile_partition ? plan->compile_partition : plan->partition, out);
            script_name(out, "compile", gpu->type);
            add_id(&compiled, "compile", gpu->type);
        }
        mt_strbuf_add(out, "submit_array ");
        job_name(out, "tune", gpu->type);
        mt_strbuf_addf(out, " %zu \"%s\" \"", plan->task_count, mt_strbuf_text(&compiled));
        if (plan->at_once) mt_strbuf_addf(out, "%%%lld", plan->at_once);
        mt_strbuf_add_char(out, '"');
        add_common(plan, plan->partition, out);
        add_gres(plan, gpu->type, out);
        script_name(out, "tune", gpu->type);
        add_id(all, "tune", gpu->type);
        mt_strbuf_free(&compiled);
    }
}

/* A cluster takes indices below MaxArraySize: more tasks become several arrays, each of which is told how many came before. With a limit on what runs at once one array waits for the other. */
static const char submit_functions[] =
    "before= # tasks of the arrays before this one\n"
    "submit() { # name, words for sbatch\n"
    "  local name=$1\n"
    "  shift\n"
    "  id[$name]=$(sbatch --parsable ${extra[@]+\"${extra[@]}\"} \"$@\")\n"
    "  id[$name]=${id[$name]%%;*}\n"
    "  printf '%s\\t%s%s\\n' \"$name\" \"${id[$name]}\" \"${before:+$'\\t'$before}\" | tee -a jobs.tsv\n"
    "}\n"
    "submit_array() { # name, number of tasks, jobs that it waits for, \"%\" and how many run at once, words for sbatch\n"
    "  local name=$1 count=$2 behind=$3 at_once=$4 size all=\n"
    "  shift 4\n"
    "  while [ $((count - before)) -gt 0 ]; do\n"
    "    size=$((count - before))\n"
    "    if [ -n \"$most\" ] && [ $size -ge \"$most\" ]; then size=$((most - 1)); fi\n"
    "    submit \"$name\" ${behind:+\"--dependency=afterany$behind\"} --output=\"log/$name${before:++$before}-%a.txt\" --array=\"1-$size$at_once\" \"$@\" $before\n"
    "    all+=:${id[$name]} before=$((before + size))\n"
    "    if [ -n \"$at_once\" ]; then behind=:${id[$name]}; fi\n"
    "  done\n"
    "  id[$name]=${all#:} before=\n"
    "}\n";

static void submit_script(const mt_cluster_plan *plan, mt_strbuf *out)
{
    mt_strbuf all = {0};
    mt_strbuf_add(out, "#!/bin/bash\n# Submits the jobs of this folder; words given to it go to every sbatch. Giving it again goes on from what the parts hold.\nset -eu\n"
                       "cd -- \"$(dirname -- \"${BASH_SOURCE[0]}\")\"\nmkdir -p log\ndeclare -A id\nextra=(\"$@\")\n");
    mt_strbuf_add(out, submit_functions);
    mt_strbuf_add(out, "most=$(scontrol show config 2>/dev/null | sed -n 's/^MaxArraySize *= *\\([0-9]*\\)$/\\1/p')\n"
                       "if [ -n \"$most\" ] && [ \"$most\" -lt 2 ]; then echo \"this cluster takes no arrays of jobs (its MaxArraySize is $most)\" >&2; exit 1; fi\n"
                       "earlier=$(cut -f2 jobs.tsv 2>/dev/null | paste -sd, -)\n"
                       "if [ -n \"$earlier\" ] && [ -n \"$(squeue --noheader --jobs=\"$earlier\" 2>/dev/null)\" ]; then\n"
                       "  echo \"jobs of this folder wait or run; expected their end first, or: scancel ${earlier//,/ }\" >&2\n  exit 1\nfi\n"
                       ": >jobs.tsv\n");
    submit_arrays(plan, &all, out);
    submit_line("merge", "", mt_strbuf_text(&all), ".txt", out);
    add_common(plan, plan->compile_partition ? plan->compile_partition : plan->partition, out);
    script_name(out, "merge", "");
    mt_strbuf_clear(&all);
    add_id(&all, "merge", "");
    for (size_t i = 0; plan->is_sharded && i < plan->gpu_count; i++) { /* one after the other: they write one file */
        const char *type = plan->gpus[i].type;
        submit_line("final", type, mt_strbuf_text(&all), ".txt", out);
        add_common(plan, plan->partition, out);
        add_gres(plan, type, out);
        script_name(out, "final", type);
        mt_strbuf_clear(&all);
        add_id(&all, "final", type);
    }
    out->failed |= all.failed;
    mt_strbuf_free(&all);
}

void mt_cluster_plan_table(const mt_cluster_plan *plan, mt_strbuf *out)
{
    if (*plan->id) mt_strbuf_addf(out, "#\tplan\t%s\n", plan->id);
    mt_strbuf_addf(out, "#\tspace\t%s\n", plan->space_key);
    for (size_t i = 0; i < plan->gpu_count; i++) {
        for (size_t k = 0; k < plan->task_count; k++) {
            part_name(out, plan->gpus[i].type, k + 1);
            mt_strbuf_add_char(out, '\t');
            job_name(out, "tune", plan->gpus[i].type);
            mt_strbuf_addf(out, "\t%zu\t%s\n", k + 1, plan->tasks[k].label);
        }
    }
}

/* ---- the folder ---- */

/* Whoever may read it may run it: what the umask left of reading decides, as it does for programs that a compiler writes. */
static int make_executable(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) return -1;
    return chmod(path, (info.st_mode & 0777) | (info.st_mode & 0444) >> 2);
}

static mt_status write_file(const char *folder, const char *name, mt_strbuf *text, bool is_script, mt_error *err)
{
    char *path = mt_path_join(folder, name);
    mt_status st = path && !text->failed ? mt_file_write_atomic(path, mt_strbuf_text(text), text->length, err) : MT_FAIL(err, MT_ERR_NO_MEMORY, "slurm: out of memory");
    if (st == MT_OK && is_script && make_executable(path) != 0) st = MT_FAIL(err, MT_ERR_IO, "%s: cannot be made executable", path);
    mt_free(path);
    mt_strbuf_free(text);
    return st;
}

static mt_status write_stage(const mt_cluster_plan *plan, const char *folder, const char *stage, const mt_cluster_gpu *gpu, void (*make)(const mt_cluster_plan *, const mt_cluster_gpu *, mt_strbuf *),
                             mt_error *err)
{
    mt_strbuf text = {0}, name = {0};
    job_name(&name, stage, gpu->type);
    mt_strbuf_add(&name, ".sh");
    make(plan, gpu, &text);
    text.failed |= name.failed;
    mt_status st = write_file(folder, mt_strbuf_text(&name), &text, true, err);
    mt_strbuf_free(&name);
    return st;
}

mt_status mt_cluster_write(const mt_cluster_plan *plan, mt_error *err)
{
    const char *folder = plan->folder;
    mt_status st = MT_OK;
    mt_strbuf text = {0};
    for (size_t i = 0; i < plan->gpu_count; i++) {
        if (plan->gpus[i].is_compiled) MT_TRY(write_stage(plan, folder, "compile", &plan->gpus[i], compile_script, err));
        MT_TRY(write_stage(plan, folder, "tune", &plan->gpus[i], tune_script, err));
        if (plan->is_sharded) MT_TRY(write_stage(plan, folder, "final", &plan->gpus[i], final_script, err));
    }
    merge_script(plan, &text);
    MT_TRY(write_file(folder, "merge.sh", &text, true, err));
    submit_script(plan, &text);
    MT_TRY(write_file(folder, "submit.sh", &text, true, err));
    mt_cluster_plan_table(plan, &text);
    st = write_file(folder, "plan.tsv", &text, false, err);
done:
    return st;
}
