#ifndef CFUZZING_CHECK_H
#define CFUZZING_CHECK_H

#include <stdio.h>
#include <stdlib.h>

/* A property of the target: libFuzzer keeps the input that breaks it. */
#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      abort(); \
    } \
  } while (0)

#endif
