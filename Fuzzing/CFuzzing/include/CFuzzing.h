/* C functions of freshet-fuzz: libFuzzer, and the targets that reach into the gateway. */
#ifndef CFUZZING_H
#define CFUZZING_H

#include <stddef.h>
#include <stdint.h>

typedef int (*fuzz_target)(const uint8_t *bytes, size_t length);

/* libFuzzer: reads its options from the arguments, and calls `target` until it is done or something fails. */
int LLVMFuzzerRunDriver(int *count, char ***arguments, fuzz_target target);

/* libFuzzer's own mutations of `bytes`: `length` bytes are in use, `capacity` may be. Returns the new length. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t length, size_t capacity);

/* A client's bytes on a connection: requests, a handshake, frames. */
int fuzz_connection(const uint8_t *bytes, size_t length);
#endif
