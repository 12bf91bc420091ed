/* Answers that go on until one side ends them (server-sent events). */
#ifndef CGATEWAY_STREAM_H
#define CGATEWAY_STREAM_H

#include "exchange.h"

struct stream *stream_open(struct exchange *exchange, const char *type, const char *headers); /* NULL when out of memory, and for HEAD */
gateway_channel_id stream_channel(const struct stream *stream);
/* Takes the answer, which is sent when the stream has not begun; otherwise the frame ends it. */
void stream_end(struct stream *stream, gateway_frame *frame, struct answer *answer);

#endif
