/* Answers that go on until one side ends them, such as server-sent events. */
#ifndef CGATEWAY_STREAM_H
#define CGATEWAY_STREAM_H

#include "exchange.h"

/* NULL when out of memory, and for HEAD. */
struct stream *stream_open(struct exchange *exchange, gateway_stream_kind kind, const char *head, const char *headers);
gateway_channel_id stream_channel(const struct stream *stream);
/* Takes the answer, which is sent when the stream has not begun; otherwise the frame ends it, or NULL cuts it off. */
void stream_end(struct stream *stream, gateway_frame *frame, struct answer *answer);

#endif
