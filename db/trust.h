/* Which database files are believed, by those who could have written them. The lookup library's rule and the tool's. docs/security.md gives the reasons. POSIX and libc only; any thread. */
#pragma once

#include <limits.h>
#include <stdbool.h>

typedef enum mt_trust_verdict { MT_TRUST_OK, MT_TRUST_MISSING, MT_TRUST_UNREADABLE /* the system says why */, MT_TRUST_REFUSED } mt_trust_verdict;

typedef enum mt_trust_purpose {
    MT_TRUST_TO_ACT,   /* what it says is acted upon: no link of a stranger's in a folder of everybody's leads to it; the file, what SQLite keeps beside it (-wal, -journal, -shm) and every folder above are root's or one's own, and nobody else may write them */
    MT_TRUST_TO_WRITE, /* rows are added, and what lies in a -wal or -journal becomes part of it: the same of links, the file and what lies beside it; no folder in which everybody may exchange files. Whose
                        * folder it is does not matter (its owner can exchange the file, but not for one of yours), nor, for root, whose file */
    MT_TRUST_TO_LOOK   /* rows are shown, whoever wrote them; what lies beside it is of those who may write it itself */
} mt_trust_purpose;

typedef struct mt_trust {
    char real[PATH_MAX]; /* the path, through all links */
    bool is_shared;      /* lies in a folder where strangers may add files */
    char why[PATH_MAX + 200]; /* unless OK: a sentence that names `path` */
} mt_trust;

/* Nothing is opened: closing any descriptor of a database would drop the POSIX locks that SQLite holds on it elsewhere in the process. Between this and SQLite's open the file could be exchanged
 * only by those who may write in its folders. */
mt_trust_verdict mt_trust_check(const char *path, mt_trust_purpose purpose, mt_trust *trust);

/* What is written where `path` leads: REFUSED where a stranger's link decides that. Of *trust only `why` is filled. */
mt_trust_verdict mt_trust_check_links(const char *path, mt_trust *trust);
