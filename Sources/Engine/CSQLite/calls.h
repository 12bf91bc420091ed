/* Shared by the functions that SQL calls. */
#ifndef FRESHET_CALLS_H
#define FRESHET_CALLS_H

#include "CSQLite.h"

/* The most steps of one call of a function that is not linear, which take about 100 ms. */
static const int64_t most_steps = 20000000;

/* Fails a call that would take too many steps, with an error message. */
void call_refuse(sqlite3_context *context, const char *message);

/* Counts the work for some bytes. Returns whether the call has failed because the budget is spent. */
int call_is_over(sqlite3_context *context, int64_t bytes);

/* LIKE, as SQLite's own function: the pattern comes first. */
void call_like(sqlite3_context *context, int count, sqlite3_value **values);

static inline int utf8_continues(unsigned char byte) { return (byte & 0xC0) == 0x80; }

/* The length of the character that begins at `text`, as SQLite steps over it. */
static inline int64_t utf8_skip(const unsigned char *text) {
  int64_t length = 1;
  if (text[0] >= 0xC0) while (utf8_continues(text[length])) length += 1;
  return length;
}

#endif
