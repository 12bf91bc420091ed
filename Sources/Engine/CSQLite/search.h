/* Finds bytes in bytes in time O(n + m) for all inputs, with the two-way algorithm of Crochemore and Perrin, "Two-way
 * string-matching", J. ACM 38 (1991). `memmem` is not linear for short needles, and not in every C library. */
#ifndef FRESHET_SEARCH_H
#define FRESHET_SEARCH_H

#include <stdint.h>

/* A pattern, divided into two parts. The right part is compared first, then the left one. */
typedef struct {
  const unsigned char *bytes;
  int64_t count;
  /* The index of the left part's last byte, or -1 if the left part is empty. */
  int64_t split;
  /* How far the needle is moved after the right part has matched and the left part has not. */
  int64_t period;
  int is_periodic;
} needle;

/* `count` must not be 0. */
needle needle_make(const unsigned char *bytes, int64_t count);

/* The index of the first occurrence from `start` on, or -1. */
int64_t needle_find(const needle *needle, const unsigned char *text, int64_t count, int64_t start);

#endif
