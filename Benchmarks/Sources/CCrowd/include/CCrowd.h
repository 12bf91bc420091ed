#ifndef CCROWD_H
#define CCROWD_H

#include <stddef.h>
#include <stdint.h>

/// Many WebSocket clients on one epoll descriptor: they send, and count what comes. One thread at a time.
typedef struct crowd crowd;

crowd *_Nullable crowd_create(int capacity);

/// Closes all connections.
void crowd_destroy(crowd *_Nonnull crowd);

/// Connects one more client to 127.0.0.1.
///
/// - is_websocket: sends the upgrade; otherwise frames are expected at once.
/// Returns its index, or -1 with errno.
int crowd_connect(crowd *_Nonnull crowd, int port, int is_websocket);

/// Sends a text message. Returns 0, or -1 with errno.
int crowd_send(crowd *_Nonnull crowd, int member, const char *_Nonnull text, size_t length);

/// Waits for something to read, and reads what is there.
///
/// Returns how many messages were completed, 0 after `timeout` milliseconds, -1 when a connection has ended.
int crowd_read(crowd *_Nonnull crowd, int timeout);

/// Since the beginning: messages of all members or of one, and bytes with frames' headers.
uint64_t crowd_messages(const crowd *_Nonnull crowd);
uint64_t crowd_messages_of(const crowd *_Nonnull crowd, int member);
uint64_t crowd_bytes(const crowd *_Nonnull crowd);

/// The beginning of a member's newest message, at most 256 bytes.
size_t crowd_last(const crowd *_Nonnull crowd, int member, char *_Nonnull buffer);

#endif
