/* Commands of other threads. */
#include "dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "channel.h"
#include "exchange.h"
#include "flow.h"
#include "frame.h"
#include "listener.h"
#include "loop.h"
#include "session.h"
#include "stream.h"
#include "tls.h"

static void fire_stop(gateway *gateway) { (void)gateway; /* waking up is all it is for */ }

static void begin_stop(gateway *gateway, uint16_t code, const char *reason, int milliseconds) {
  gateway->stopping = true;
  gateway->stop_code = code;
  gateway->ending.at = lws_now_usecs() + (lws_usec_t)milliseconds * LWS_US_PER_MS;
  listener_close(gateway);
  for (uint32_t i = 0; i < gateway->channels.all.count; i++) {
    struct channel *channel = gateway->channels.all.entries[i].object;
    if (channel) channel->kind->end(channel, code, reason);
  }
  timer_set(gateway, &gateway->ending.timer, (lws_usec_t)milliseconds * LWS_US_PER_MS, fire_stop);
}

void dispatch_command(gateway *gateway, struct command *command) {
  struct channel *channel;
  struct exchange *exchange;
  switch (command->kind) {
    case COMMAND_QUEUE: channels_dispatch(gateway, command->dispatch); break;
    case COMMAND_NOTIFY:
      gateway->configuration.callbacks.notified(gateway->context, command->id, command->value);
      break;
    case COMMAND_CLOSE:
      channel = channel_find(gateway, command->id);
      if (channel) channel->kind->end(channel, command->code, command->reason ? command->reason : "");
      break;
    case COMMAND_END:
      channel = channel_find(gateway, command->id);
      if (!channel || !channel->kind->is_stream) break;
      stream_end((struct stream *)channel, command->frame, command->answer);
      command->answer = NULL;
      break;
    case COMMAND_RESUME:
      channel = channel_find(gateway, command->id);
      if (channel && !channel->kind->is_stream) session_resume((struct session *)channel, PAUSED_BY_CALLBACK);
      break;
    case COMMAND_ANSWER:
      exchange = registry_find(&gateway->exchanges.all, command->id);
      if (!exchange || exchange->state != WAITING) break;
      exchange_answer(exchange, command->answer);
      command->answer = NULL;
      break;
    case COMMAND_CERTIFICATE:
      tls_renew(gateway->tls, command->certificate);
      command->certificate = NULL;
      break;
    case COMMAND_STOP_LISTENING: listener_close(gateway); break;
    case COMMAND_STOP:
      begin_stop(gateway, command->code, command->reason ? command->reason : "", command->milliseconds);
      break;
  }
}

void gateway_queue(gateway *gateway, gateway_frame *frame, const gateway_channel_id *channels, size_t count) {
  struct dispatch *dispatch = malloc(sizeof *dispatch + count * sizeof *channels);
  if (!dispatch) return;
  frame_hold(gateway, frame);
  dispatch->frame = frame;
  dispatch->count = count;
  memcpy(dispatch->channels, channels, count * sizeof *channels);
  commands_push(gateway, (struct command){.kind = COMMAND_QUEUE, .dispatch = dispatch}, false);
}

void gateway_notify(gateway *gateway, gateway_channel_id channel, uint64_t value) {
  commands_push(gateway, (struct command){.kind = COMMAND_NOTIFY, .id = channel, .value = value}, false);
}

void gateway_close(gateway *gateway, gateway_channel_id channel, uint16_t code, const char *reason) {
  commands_push(gateway,
                (struct command){.kind = COMMAND_CLOSE, .id = channel, .code = code, .reason = strdup(reason)}, true);
}

void gateway_resume(gateway *gateway, gateway_channel_id session) {
  commands_push(gateway, (struct command){.kind = COMMAND_RESUME, .id = session}, true);
}

void gateway_stop_listening(gateway *gateway) {
  commands_push(gateway, (struct command){.kind = COMMAND_STOP_LISTENING}, true);
}

/* NULL when out of memory: the connection is then closed. */
static struct answer *make_answer(gateway *gateway, int status, const char *headers, const uint8_t *body, size_t length) {
  struct answer *answer = has_room(gateway, length) ? answer_create(status, headers, body, length)
                                                            : answer_overload(gateway);
  answer_charge(gateway, answer);
  return answer;
}

void gateway_respond(gateway *gateway, gateway_request_id request, int status, const char *headers,
                     const uint8_t *body, size_t length) {
  struct answer *answer = make_answer(gateway, status, headers, body, length);
  commands_push(gateway, (struct command){.kind = COMMAND_ANSWER, .id = request, .answer = answer}, true);
}

void gateway_refuse(gateway *gateway, gateway_request_id request, gateway_fault fault, const char *headers) {
  struct answer *answer = answer_problem(gateway, fault, headers);
  answer_charge(gateway, answer);
  commands_push(gateway, (struct command){.kind = COMMAND_ANSWER, .id = request, .answer = answer}, true);
}

gateway_channel_id gateway_stream_open(gateway *gateway, gateway_request_id request, gateway_stream_kind kind,
                                       const char *head, const char *headers) {
  struct exchange *exchange = registry_find(&gateway->exchanges.all, request);
  struct stream *stream = exchange ? stream_open(exchange, kind, head, headers) : NULL;
  return stream ? stream_channel(stream) : 0;
}

void gateway_stream_end(gateway *gateway, gateway_channel_id stream, gateway_frame *frame, int status,
                        const char *headers, const uint8_t *body, size_t length) {
  struct answer *answer = make_answer(gateway, status, headers, body, length);
  if (frame) frame_hold(gateway, frame);
  commands_push(gateway, (struct command){.kind = COMMAND_END, .id = stream, .frame = frame, .answer = answer}, true);
}

void gateway_renew_certificate(gateway *gateway, const gateway_certificate *certificate) {
  gateway_certificate *copy = certificate_copy(certificate);
  if (copy) commands_push(gateway, (struct command){.kind = COMMAND_CERTIFICATE, .certificate = copy}, true);
}

void gateway_stop(gateway *gateway, uint16_t code, const char *reason, int milliseconds) {
  commands_push(gateway,
                (struct command){.kind = COMMAND_STOP, .code = code, .milliseconds = milliseconds, .reason = strdup(reason)},
                true);
}
