/* Carries out a command of another thread. */
#ifndef CGATEWAY_DISPATCH_H
#define CGATEWAY_DISPATCH_H

#include "commands.h"

/* Carries out one command. */
void dispatch_command(gateway *gateway, struct command *command);

#endif
