/* Status codes and the error record that every fallible function of the tool fills.
 *
 * Three classes of failure are never mixed:
 *   - a programmer's error is an assert;
 *   - an environment's or user's error is an mt_status plus an mt_error, written once, where it happens;
 *   - a candidate kernel that fails is an mt_outcome (tuner/base/outcome.h), i.e. data.
 */
#pragma once

/* name, process exit code */
#define MT_STATUS_MAP(X)                \
    X(OK, 0)                            \
    X(ERR_NO_MEMORY, 1)                 \
    X(ERR_IO, 1)                        \
    X(ERR_SYNTAX, 1)                    \
    X(ERR_SPEC, 1)                      \
    X(ERR_DB, 1)                        \
    X(ERR_PROTOCOL, 1)                  \
    X(ERR_WORKER, 1)                    \
    X(ERR_GPU, 1)                       \
    X(ERR_COMPILE, 1)                   \
    X(ERR_NOT_FOUND, 1)                 \
    X(ERR_UNSUPPORTED, 1)               \
    X(ERR_USAGE, 2)                     \
    X(ERR_NO_GPU, 3)                    \
    X(ERR_NOTHING_VALID, 4)             \
    X(ERR_CHANGED, 5)                   \
    X(ERR_INTERRUPTED, 130)

typedef enum mt_status {
#define MT_STATUS_ENUM(name, exit_code) MT_##name,
    MT_STATUS_MAP(MT_STATUS_ENUM)
#undef MT_STATUS_ENUM
} mt_status;

/* Where an error is described. The caller owns it; a callee that fails fills it exactly once. */
typedef struct mt_error {
    mt_status status;
    char message[2048]; /* one or more lines, no trailing newline; "file:line: what, and what was expected" for text input */
} mt_error;

int mt_status_exit_code(mt_status status);

/* Fills *err (NULL is allowed) and returns `status`, so that `return MT_FAIL(…)` reads well. A message that does not fit loses its middle. */
#define MT_FAIL(err, status, ...) mt_error_set((err), (status), __VA_ARGS__)
mt_status mt_error_set(mt_error *err, mt_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* MT_ERR_NO_MEMORY, "what: out of memory". */
mt_status mt_no_memory(const char *what, mt_error *err);

/* Puts "context: " in front of a message that is already there. */
mt_status mt_error_prefix(mt_error *err, mt_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Inside a function with `mt_status st` and one `done:` label. */
#define MT_TRY(call)              \
    do {                          \
        st = (call);              \
        if (st != MT_OK) goto done; \
    } while (0)
/* In the same place: ends the function with this status. */
#define MT_LEAVE(status) do { st = (status); goto done; } while (0)
