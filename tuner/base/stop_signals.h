/* The signals that ask a program to end: Ctrl-C, SIGTERM, and SIGHUP, but where it is ignored (nohup). */
#pragma once

#include <signal.h>
#include <stddef.h>

enum { MT_STOP_SIGNALS_MAX = 3 };

/* Returns how many they are. */
size_t mt_stop_signals(int numbers[MT_STOP_SIGNALS_MAX]);

/* They wait, until mt_stop_signals_let_go. Returns a descriptor that can be read once one has come (mt_child.stop); -1: they end the program as ever. */
int mt_stop_signals_hold(sigset_t *before);
/* `fd`, `before`: as mt_stop_signals_hold left them. One that has come ends the program here. */
void mt_stop_signals_let_go(int fd, const sigset_t *before);
