/* Rows whose number no tuner gives: 0, or below. What is stored finds them by what they hold, and can't refer to them. */
#pragma once

#include "db/store/store.h"

/* Gives them, and whatever refers to them, the next free number, and names them; of a store that may be written, before mt_row_scan. Where that can't be, as of a database with very many, they stay, and are left out. */
void mt_row_numbers_mend(mt_store *store);
