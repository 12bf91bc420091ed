/* Finds bytes in bytes in time O(n + m), whatever they are: the two-way algorithm of Crochemore and Perrin, "Two-way
 * string-matching", J. ACM 38 (1991). The C library's `memmem` is not linear for short needles, nor everywhere. */
#ifndef FRESHET_SEARCH_H
#define FRESHET_SEARCH_H

#include <stdint.h>

/* A pattern, divided into two parts: the right one is compared first, then the left. */
typedef struct {
  const unsigned char *bytes;
  int64_t count;
  /* Where the left part ends: the index of its last byte, or -1. */
  int64_t split;
  /* How far the needle may be moved after the right part has fitted. */
  int64_t period;
  int is_periodic;
} needle;

/* `count` must not be 0. */
needle needle_make(const unsigned char *bytes, int64_t count);

/* The first place from `start` on, or -1. */
int64_t needle_find(const needle *needle, const unsigned char *text, int64_t count, int64_t start);

#endif
