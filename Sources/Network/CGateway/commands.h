/* The queue through which other threads reach the service thread. */
#ifndef CGATEWAY_COMMANDS_H
#define CGATEWAY_COMMANDS_H

#include "gateway.h"

struct answer;
struct dispatch;

enum command_kind {
  COMMAND_QUEUE,
  COMMAND_NOTIFY,
  COMMAND_CLOSE,
  COMMAND_END,
  COMMAND_RESUME,
  COMMAND_ANSWER,
  COMMAND_CERTIFICATE,
  COMMAND_STOP_LISTENING,
  COMMAND_STOP
};

struct command {
  enum command_kind kind;
  uint16_t code;
  int milliseconds;
  uint64_t id;
  uint64_t value;
  gateway_frame *frame; /* held in the budget; NULL for none */
  union {
    struct dispatch *dispatch;
    struct answer *answer;
    gateway_certificate *certificate;
    char *reason; /* owned */
  };
};

/* Any thread. Takes what the command owns, also when the service thread has ended and nothing is done. An urgent
   command wakes that thread; the others wait for gateway_flush to wake it. */
void commands_push(gateway *gateway, struct command command, bool is_urgent);
/* Service thread: carries out the queued commands, and frees them. */
void commands_run(gateway *gateway, void (*run)(struct gateway *gateway, struct command *command));
/* Service thread: whether there is something to carry out. */
bool commands_wait(gateway *gateway);
/* Service thread, before its end: from now on nothing wakes it, and commands are dropped. */
void commands_end(gateway *gateway);
void commands_free(gateway *gateway);

#endif
