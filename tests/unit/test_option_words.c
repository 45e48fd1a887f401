#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/source/option_words.h"

/* One line a word: the kind's letter and the text. */
static void words_are(const char *text, const char *expected)
{
    static const char letters[] = {[MT_WORD_PLAIN] = 'p', [MT_WORD_FOLDER] = 'I', [MT_WORD_HEADER] = 'h', [MT_WORD_FILE] = 'f', [MT_WORD_OUTPUT] = 'o', [MT_WORD_TARGET] = 't', [MT_WORD_LINKED] = 'l'};
    mt_strbuf all = {0};
    mt_word word;
    mt_error err = {0};
    const char *at = text;
    for (;;) {
        ck_assert_int_eq(mt_word_next(&at, &word, &err), MT_OK);
        if (word.kind == MT_WORD_END) break;
        mt_strbuf_addf(&all, "%c:%s\n", letters[word.kind], word.text);
        mt_free(word.text);
    }
    ck_assert_msg(strcmp(mt_strbuf_text(&all), expected) == 0, "%s: %s", text, mt_strbuf_text(&all));
    mt_strbuf_free(&all);
}

START_TEST(words_and_quotes)
{
    words_are("", "");
    words_are(" \t-a\t -b ", "p:-a\np:-b\n");
    words_are("\"-a b\" '-c d'", "p:-a b\np:-c d\n");
    words_are("-DT=\"a b\" -DS='c d'", "p:-DT=\"a b\"\np:-DS='c d'\n");
    words_are("-DT=don't -a", "p:-DT=don't\np:-a\n"); /* no quote without its partner */
    words_are("-D A=1 -U B", "p:-DA=1\np:-UB\n");
    words_are("-D", "p:-D\n");
    words_are("--define-macro A=1 --undefine-macro B --define-macro", "p:--define-macro=A=1\np:--undefine-macro=B\np:--define-macro\n");
}
END_TEST

START_TEST(words_that_name_files)
{
    words_are("-Ia -I=b -I c --include-path=d --include-path e", "I:a\nI:b\nI:c\nI:d\nI:e\n");
    words_are("-I\"a b\" \"-Ic d\" -I 'e f'", "I:a b\nI:c d\nI:e f\n");
    words_are("-include=a --pre-include=b -include c", "h:a\nh:b\nh:c\n");
    words_are("-Xptxas=-optf=f -Xptxas=--apply-controls=f --fdevice-time-trace=f -time=f --ptxas-options=-v", "f:-Xptxas=-optf=f\nf:-Xptxas=--apply-controls=f\no:--fdevice-time-trace=f\no:-time=f\np:--ptxas-options=-v\n");
    words_are("@f --options-file=f -optf f --use-pch=f -pch -Xcudafe=--preinclude=f", "f:@f\nf:--options-file=f\nf:-optf\np:f\nf:--use-pch=f\no:-pch\nf:-Xcudafe=--preinclude=f\n");
    words_are("-Xcudafe -Ia -Xcudafe=-Ia -Xcudafe --include_directory=a -Xcudafe --error_output=f -Xcudafe=--no_trace_includes", "f:-Xcudafe=-Ia\nf:-Xcudafe=-Ia\nf:-Xcudafe=--include_directory=a\nf:-Xcudafe=--error_output=f\nf:-Xcudafe=--no_trace_includes\n");
    words_are("-Xptxas -optf=f -Xptxas @f -Xptxas /f --ptxas-options --output-file=f -Xnvvm=-load=x.so -Xopt -load=/x -Xnvvm x", "f:-Xptxas=-optf=f\nf:-Xptxas=@f\nf:-Xptxas=/f\no:--ptxas-options=--output-file=f\nf:-Xnvvm=-load=x.so\nf:-Xopt=-load=/x\nf:-Xnvvm=x\n");
    words_are("-Xptxas x.opt -Xptxas=x.opt -Xptxas -maxrregcount -Xptxas 32", "f:-Xptxas=x.opt\nf:-Xptxas=x.opt\np:-Xptxas=-maxrregcount\np:-Xptxas=32\n");
    words_are("-Xptxas", "f:-Xptxas\n");
    words_are("-Xptxas=-o,x -Xptxas -o,x --ptxas-options=-v,-o=x -Xptxas -o -Xptxas=-ox -Xptxas=-v,--output-file,x", "o:-Xptxas=-o,x\no:-Xptxas=-o,x\no:--ptxas-options=-v,-o=x\no:-Xptxas=-o\no:-Xptxas=-ox\no:-Xptxas=-v,--output-file,x\n");
    words_are("-Xptxas=-arch,sm_80 -Xptxas -arch=sm_80 --ptxas-options=-v,--gpu-name=sm_80 -Xptxas=-gpu-name,sm_80", "t:-Xptxas=-arch,sm_80\nt:-Xptxas=-arch=sm_80\nt:--ptxas-options=-v,--gpu-name=sm_80\nt:-Xptxas=-gpu-name,sm_80\n");
    words_are("-Xptxas=-v,x.ptx -Xptxas=-v,-optf,x -Xptxas=-v,/x -Xptxas=", "f:-Xptxas=-v,x.ptx\nf:-Xptxas=-v,-optf,x\nf:-Xptxas=-v,/x\nf:-Xptxas=\n");
    words_are("-Xptxas=-O3,-v -Xptxas=-maxrregcount,32 -Xptxas=-opt-fp-atomics -Xptxas=-dlcm=ca,-v", "p:-Xptxas=-O3,-v\np:-Xptxas=-maxrregcount,32\np:-Xptxas=-opt-fp-atomics\np:-Xptxas=-dlcm=ca,-v\n");
    words_are("-isystem a -iquote=b --time f -time f", "f:-isystem\np:a\nf:-iquote=b\no:--time\np:f\no:-time\np:f\n");
    words_are("-Xcudafe=--diag_suppress=177 -Xcudafe --display_error_number -Xptxas -O3 -Xptxas --def-load-cache=ca -Xnvvm=-unroll-threshold=400 -Xopt -enable-x=false --no-source-include", "p:-Xcudafe=--diag_suppress=177\np:-Xcudafe=--display_error_number\np:-Xptxas=-O3\np:-Xptxas=--def-load-cache=ca\np:-Xnvvm=-unroll-threshold=400\np:-Xopt=-enable-x=false\np:--no-source-include\n");
    words_are("--pch --pch-dir=d --create-pch=f --instantiate-templates-in-pch=true -o f --stats-file=f -times", "o:--pch\no:--pch-dir=d\no:--create-pch=f\no:--instantiate-templates-in-pch=true\no:-o\np:f\no:--stats-file=f\np:-times\n");
    words_are("-arch=sm_80 --gpu-architecture sm_80 -fdevice-syntax-only -archaic", "t:-arch=sm_80\nt:--gpu-architecture\np:sm_80\nt:-fdevice-syntax-only\np:-archaic\n");
    words_are("-rdc=true -rdc=false --relocatable-device-code=true -dc --device-c -dlto -optix-ir -rdcx", "l:-rdc=true\np:-rdc=false\nl:--relocatable-device-code=true\nl:-dc\nl:--device-c\nl:-dlto\nl:-optix-ir\np:-rdcx\n");
    words_are("-Dinclude=1 --define-macro=include=1 -O3 -I", "p:-Dinclude=1\np:--define-macro=include=1\np:-O3\nI:\n");
}
END_TEST

START_TEST(without_files_a_text_stays)
{
    static const struct { const char *text, *expected; } cases[] = {{"  -a   -b ", "  -a   -b "}, {"-a -Ix  -b", "-a -b"}, {"-include=x", ""}, {"", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = mt_words_without_files(cases[i].text);
        ck_assert_str_eq(text, cases[i].expected);
        mt_free(text);
    }
}
END_TEST

START_TEST(macros_of_options)
{
    static const struct { const char *option, *name, *value; } cases[] = {
        {"-DA=1", "A", "1"}, {"-DA", "A", ""}, {"-DA(x)=x", "A", "(x)=x"}, {"--define-macro=B_2=\"x\"", "B_2", "\"x\""}, {"-UA", "A", NULL}, {"--undefine-macro=A", "A", NULL}, {"-D", NULL, NULL}, {"-Ix", NULL, NULL}, {"-default-device", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = 0;
        const char *value = NULL, *name = mt_word_macro(cases[i].option, &length, &value);
        ck_assert_msg(!name == !cases[i].name, "%s", cases[i].option);
        if (!name) continue;
        ck_assert_msg(strlen(cases[i].name) == length && strncmp(name, cases[i].name, length) == 0, "%s", cases[i].option);
        ck_assert_msg(!value == !cases[i].value && (!value || strcmp(value, cases[i].value) == 0), "%s", cases[i].option);
    }
}
END_TEST

UNIT_MAIN("option_words", words_and_quotes, words_that_name_files, without_files_a_text_stays, macros_of_options)
