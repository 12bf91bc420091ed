// A VFS around SQLite's own that ends the process inside a commit.
#ifndef FRESHET_SHIM_H
#define FRESHET_SHIM_H

// Registers the VFS as the default one.
void shim_install(void);

// Whether calls count: they do inside of commits, checkpoints and VACUUM.
extern int shim_counts;

// The process ends at the call with which this becomes 0, after half of a write; negative: it never ends.
extern long shim_calls_left;

#endif
