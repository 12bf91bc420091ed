/*
 * Where libFuzzer is not linked: its driver for what `freshet-corpora` needs, which is each file of the folders given,
 * once. An input that breaks a property ends the process, and its name is what was printed last.
 */
#ifdef FRESHET_CORPORA
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CFuzzing.h"

static int run_file(const char *path, fuzz_target target) {
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  fseek(file, 0, SEEK_END);
  long length = ftell(file);
  rewind(file);
  /* As libFuzzer gives it: exactly as long as the input. */
  uint8_t *bytes = malloc(length > 0 ? (size_t)length : 1);
  size_t count = bytes && length > 0 ? fread(bytes, 1, (size_t)length, file) : 0;
  fclose(file);
  fprintf(stderr, "\r%s", path);
  target(bytes, count);
  free(bytes);
  return 1;
}

int LLVMFuzzerRunDriver(int *count, char ***arguments, fuzz_target target) {
  int files = 0;
  for (int index = 1; index < *count; index++) {
    DIR *folder = opendir((*arguments)[index]);
    if (!folder) return 1;
    for (struct dirent *entry; (entry = readdir(folder));) {
      char path[4096];
      if (entry->d_name[0] == '.') continue;
      snprintf(path, sizeof path, "%s/%s", (*arguments)[index], entry->d_name);
      files += run_file(path, target);
    }
    closedir(folder);
  }
  fprintf(stderr, "\n");
  printf("%d inputs\n", files);
  return files ? 0 : 1;
}

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t length, size_t capacity) {
  (void)bytes;
  (void)capacity;
  return length;
}
#endif
