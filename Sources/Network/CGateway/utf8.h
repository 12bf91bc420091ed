#ifndef CGATEWAY_UTF8_H
#define CGATEWAY_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As RFC 3629 has it. */
bool utf8_is_valid(const uint8_t *bytes, size_t length);

#endif
