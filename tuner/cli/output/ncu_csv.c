#include "tuner/cli/output/ncu_csv.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tuner/base/text.h"

enum { MAX_CELLS = 32, MAX_CELL = 256, MAX_LAUNCHES = 64 };

typedef struct line_cells {
    char text[MAX_CELLS][MAX_CELL];
    int count;
} line_cells;

static const char *const metric_names[] = {
#define NAME(name, metric) metric,
    MT_NCU_MAP(NAME)
#undef NAME
};
enum { METRIC_COUNT = sizeof metric_names / sizeof metric_names[0], DURATION = METRIC_COUNT - 1 };

const char *mt_ncu_metrics(void)
{
#define JOIN(name, metric) "," metric
    static const char joined[] = MT_NCU_MAP(JOIN);
#undef JOIN
    return joined + 1;
}

/* One CSV line: cells in quotes, "" for a quote. Long cells (kernels' names) are cut. */
static void split(const char *line, size_t length, line_cells *cells)
{
    const char *end = line + length;
    cells->count = 0;
    while (line < end && cells->count < MAX_CELLS) {
        char *out = cells->text[cells->count++];
        size_t used = 0;
        bool quoted = *line == '"';
        if (quoted) line++;
        while (line < end && (quoted || *line != ',')) {
            if (quoted && *line == '"') {
                if (line + 1 < end && line[1] == '"') {
                    line++;
                } else {
                    line++;
                    quoted = false;
                    continue;
                }
            }
            if (used + 1 < MAX_CELL) out[used++] = *line;
            line++;
        }
        out[used] = '\0';
        if (line < end) line++; /* the comma */
    }
}

static int find_cell(const line_cells *cells, const char *name)
{
    for (int i = 0; i < cells->count; i++)
        if (strcmp(cells->text[i], name) == 0) return i;
    return -1;
}

/* "1,234.5" too. */
static double number(const char *text)
{
    char plain[64];
    size_t used = 0;
    double value;
    for (; *text && used + 1 < sizeof plain; text++)
        if (*text != ',') plain[used++] = *text;
    plain[used] = '\0';
    return mt_text_double(plain, &value) ? value : NAN;
}

/* ---- gathering ---- */

typedef struct launch {
    char id[32];
    double values[METRIC_COUNT];
} launch;

typedef struct gathered {
    launch launches[MAX_LAUNCHES];
    int count;
} gathered;

static launch *launch_of(gathered *all, const char *id)
{
    for (int i = 0; i < all->count; i++)
        if (strncmp(all->launches[i].id, id, sizeof all->launches[i].id - 1) == 0) return &all->launches[i];
    if (all->count == MAX_LAUNCHES) return NULL;
    launch *made = &all->launches[all->count++];
    strncpy(made->id, id, sizeof made->id - 1);
    made->id[sizeof made->id - 1] = '\0';
    for (int i = 0; i < METRIC_COUNT; i++) made->values[i] = NAN;
    return made;
}

static void gather(const char *text, gathered *all)
{
    static _Thread_local line_cells cells;
    int id = -1, name = -1, value = -1;
    all->count = 0;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        if (*line == '"') {
            split(line, length && line[length - 1] == '\r' ? length - 1 : length, &cells);
            if (find_cell(&cells, "Metric Name") >= 0) {
                id = find_cell(&cells, "ID");
                name = find_cell(&cells, "Metric Name");
                value = find_cell(&cells, "Metric Value");
            } else if (id >= 0 && name >= 0 && value >= 0 && value < cells.count && name < cells.count && id < cells.count) {
                launch *at = launch_of(all, cells.text[id]);
                for (int i = 0; at && i < METRIC_COUNT; i++)
                    if (strcmp(cells.text[name], metric_names[i]) == 0) at->values[i] = number(cells.text[value]);
            }
        }
        line += length + (line[length] == '\n');
    }
}

static double combine(const gathered *all, int metric)
{
    double sum = 0, weights = 0;
    for (int i = 0; i < all->count; i++) {
        double weight = metric == DURATION || isnan(all->launches[i].values[DURATION]) ? 1 : all->launches[i].values[DURATION];
        if (isnan(all->launches[i].values[metric])) continue;
        sum += weight * all->launches[i].values[metric];
        weights += weight;
    }
    if (weights <= 0) return NAN;
    return metric == DURATION ? sum : sum / weights;
}

mt_status mt_ncu_parse(const char *text, mt_ncu *result, mt_error *err)
{
    static _Thread_local gathered all;
    if (strstr(text, "ERR_NVGPUCTRPERM"))
        return MT_FAIL(err, MT_ERR_UNSUPPORTED, "ncu may not read the GPU's performance counters (ERR_NVGPUCTRPERM): it needs root or CAP_SYS_ADMIN, or the driver's module loaded with "
                       "NVreg_RestrictProfilingToAdminUsers=0");
    gather(text, &all);
    result->launches = all.count;
    int at = 0;
#define TAKE(name, metric) result->name = combine(&all, at++);
    MT_NCU_MAP(TAKE)
#undef TAKE
    if (all.count > 0 && !isnan(result->duration_ns)) return MT_OK;
    const char *word = strstr(text, "==ERROR==");
    if (!word) word = strstr(text, "==WARNING==");
    if (!word) word = text;
    return MT_FAIL(err, MT_ERR_NOT_FOUND, "ncu profiled nothing: %.*s", (int)(strcspn(word, "\n") < 300 ? strcspn(word, "\n") : 300), word);
}
