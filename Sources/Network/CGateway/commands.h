/* The queue through which other threads reach the service thread. */
#ifndef CGATEWAY_COMMANDS_H
#define CGATEWAY_COMMANDS_H

#include "internal.h"

/* Any thread. Takes what the command owns, also when the service thread has ended and nothing is done. */
void commands_push(gateway *gateway, struct command command);
/* Service thread: carries out what is queued. */
void commands_run(gateway *gateway);
/* Service thread, before its end: from now on nothing wakes it, and commands are dropped. */
void commands_end(gateway *gateway);
void commands_free(gateway *gateway);

/* context.c */
void gateway_begin_stop(gateway *gateway, uint16_t code, const char *reason, int milliseconds);

#endif
