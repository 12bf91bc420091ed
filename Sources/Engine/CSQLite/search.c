#include "search.h"

#include <string.h>

/* Returns the index before the largest suffix, in the order of bytes or in the reverse order, and sets its period. */
static int64_t largest_suffix(const unsigned char *bytes, int64_t count, int is_reverse, int64_t *period) {
  int64_t start = -1, other = 0, length = 1;
  *period = 1;
  while (other + length < count) {
    int a = bytes[other + length], b = bytes[start + length];
    if (is_reverse ? a > b : a < b) {
      other += length;
      length = 1;
      *period = other - start;
    } else if (a != b) {
      start = other;
      other = start + 1;
      length = *period = 1;
    } else if (length != *period) {
      length += 1;
    } else {
      other += *period;
      length = 1;
    }
  }
  return start;
}

needle needle_make(const unsigned char *bytes, int64_t count) {
  needle result = {bytes, count, 0, 0, 0};
  int64_t period, reverse_period;
  int64_t split = largest_suffix(bytes, count, 0, &period);
  int64_t reverse_split = largest_suffix(bytes, count, 1, &reverse_period);
  result.split = split > reverse_split ? split : reverse_split;
  result.period = split > reverse_split ? period : reverse_period;
  result.is_periodic = memcmp(bytes, bytes + result.period, (size_t)(result.split + 1)) == 0;
  if (!result.is_periodic) {
    int64_t left = result.split + 1, right = count - left;
    result.period = (left > right ? left : right) + 1;
  }
  return result;
}

int64_t needle_find(const needle *needle, const unsigned char *text, int64_t count, int64_t start) {
  const unsigned char *bytes = needle->bytes;
  if (needle->count == 1) {
    /* If the byte occurs many times in a row, a call of memchr for each would take most of the time. */
    if (start < count && text[start] == bytes[0]) return start;
    const unsigned char *found = start < count ? memchr(text + start, bytes[0], (size_t)(count - start)) : NULL;
    return found ? found - text : -1;
  }
  /* The index of the last byte of the needle that is known to match, from the previous comparison. */
  int64_t known = -1;
  while (start <= count - needle->count) {
    const unsigned char *here = text + start;
    int64_t index = (needle->split > known ? needle->split : known) + 1;
    while (index < needle->count && bytes[index] == here[index]) index += 1;
    if (index < needle->count) {
      start += index - needle->split;
      known = -1;
      continue;
    }
    index = needle->split;
    while (index > known && bytes[index] == here[index]) index -= 1;
    if (index <= known) return start;
    start += needle->period;
    known = needle->is_periodic ? needle->count - needle->period - 1 : -1;
  }
  return -1;
}
