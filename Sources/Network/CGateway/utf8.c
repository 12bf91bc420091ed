/*
 * UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. Checked here, on whole messages,
 * because libwebsockets' own check (LWS_SERVER_OPTION_VALIDATE_UTF8) closes before frames on their way are flushed.
 */
#include <string.h>

#include "utf8.h"

/* How many bytes follow `lead`, with the range of the first of them; 0 when it can lead nothing. */
static size_t followers(uint8_t lead, uint8_t *low, uint8_t *high) {
  *low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  *high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) return 1;
  if (lead >= 0xE0 && lead <= 0xEF) return 2;
  if (lead >= 0xF0 && lead <= 0xF4) return 3;
  return 0;
}

bool utf8_is_valid(const uint8_t *bytes, size_t length) {
  const uint64_t high_bits = 0x8080808080808080u;
  size_t i = 0;
  while (i < length) {
    uint64_t word;
    if (length - i >= sizeof word) {
      memcpy(&word, bytes + i, sizeof word);
      if (!(word & high_bits)) {
        i += sizeof word;
        continue;
      }
    }
    uint8_t low, high, lead = bytes[i++];
    if (lead < 0x80) continue;
    size_t more = followers(lead, &low, &high);
    if (!more || length - i < more || bytes[i] < low || bytes[i] > high) return false;
    for (size_t k = 1; k < more; k++) {
      if ((bytes[i + k] & 0xC0) != 0x80) return false;
    }
    i += more;
  }
  return true;
}
