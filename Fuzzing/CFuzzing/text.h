#ifndef CFUZZING_TEXT_H
#define CFUZZING_TEXT_H

#include <iconv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As the C library has it, which knows nothing of the gateway's own check. */
static inline bool text_is_utf8(const uint8_t *bytes, size_t length) {
  char out[8192], *to = out, *from = (char *)(uintptr_t)bytes;
  size_t left = length, room = sizeof out;
  iconv_t converter = iconv_open("UTF-32LE", "UTF-8");
  if (converter == (iconv_t)-1) return false;
  size_t failed = left ? iconv(converter, &from, &left, &to, &room) : 0;
  iconv_close(converter);
  return !failed && !left;
}

#endif
