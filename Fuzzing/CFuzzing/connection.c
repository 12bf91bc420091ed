#include "CFuzzing.h"
int fuzz_head(const uint8_t *bytes, size_t length) { (void)bytes, (void)length; return 0; }
int fuzz_frames(const uint8_t *bytes, size_t length) { (void)bytes, (void)length; return 0; }
