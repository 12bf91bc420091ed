#ifndef CFUZZING_ANSWERS_H
#define CFUZZING_ANSWERS_H

#include "served.h"

/* The bytes that a client has read from a connection. */
struct reply {
  const uint8_t *bytes;
  size_t length;
  bool is_whole; /* to its end, and no reset took anything away */
};

/* Answers to requests, one after the other; behind a 101 come frames. */
void check_answers(struct reply reply, const struct record *record);
/* The frames of a session. */
void check_frames(struct reply reply, const struct record *record);

#endif
