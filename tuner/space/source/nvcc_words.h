/* Options for nvcc, which starts other programs, runs what it made, and takes more options than anybody can follow: those that are known to make code and to read and write nothing are allowed by name. */
#pragma once

/* Why a plain word (option_words.h) may not reach nvcc, and what was expected; NULL: it may. */
const char *mt_nvcc_word_refusal(const char *word);
