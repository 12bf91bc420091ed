#ifndef CFUZZING_SERVED_H
#define CFUZZING_SERVED_H

#include <stdbool.h>

#include "CGateway.h"

enum { MESSAGE_LIMIT = 300, BODY_LIMIT = 2000, BIG_ANSWER = 200000 };

/* An answer that the gateway says it gave. */
struct given {
  int status;
  bool is_head; /* to a HEAD request: no body follows */
};

/* The gateway's actions for one client. */
struct record {
  char peer[32]; /* the client's address */
  struct given *answers;
  size_t answer_count;
  /* Each message as its length, 4 bytes in this machine's order, and its bytes. */
  uint8_t *messages;
  size_t messages_length;
};

/* The port of the process's one gateway, which is started by the first call. */
int served_port(void);
/* Records the gateway's actions for this address from now on. */
void served_begin(const char *peer);
/* Returns the record so far; the caller owns its memory. */
struct record served_end(void);
/* Waits until every session that was opened is closed. */
void served_wait_until_closed(void);

#endif
