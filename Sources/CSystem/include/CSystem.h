/* What Swift does not see of the C library's memory allocator. */
#ifndef FRESHET_CMEMORY_H
#define FRESHET_CMEMORY_H

/* Gives memory that nobody uses back to the system, where the allocator can be told to (glibc); any thread. */
void memory_return_free(void);

#endif
