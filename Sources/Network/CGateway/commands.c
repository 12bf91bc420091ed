/*
 * The queue through which other threads reach the service thread: two arrays that change places, so that queueing
 * costs no allocation, and one wake however many commands are waiting.
 */
#include <stdlib.h>
#include <string.h>

#include "commands.h"

/* Lets go of what a command owns. */
static void discard(gateway *gateway, const struct command *command) {
  if (command->frame) frame_let_go(gateway, command->frame);
  switch (command->kind) {
    case COMMAND_QUEUE:
      frame_let_go(gateway, command->dispatch->frame);
      free(command->dispatch);
      break;
    case COMMAND_ANSWER:
    case COMMAND_END: answer_free(command->answer); break;
    case COMMAND_CLOSE:
    case COMMAND_STOP: free(command->reason); break;
    case COMMAND_CERTIFICATE: pair_free(command->pair); break;
    case COMMAND_BROADCAST:
    case COMMAND_NOTIFY:
    case COMMAND_RESUME:
    case COMMAND_STOP_LISTENING: break;
  }
}

static bool append(struct command_list *list, const struct command *command) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? list->capacity * 2 : 64;
    struct command *items = realloc(list->items, capacity * sizeof *items);
    if (!items) return false;
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->count++] = *command;
  return true;
}

/* With the lock held. */
static void wake(gateway *gateway) {
  if (gateway->state != RUNNING || gateway->wake_pending || !gateway->inbox.count) return;
  /* The service thread takes the inbox after every turn. A wake that fails is tried again with the next command, and the thread looks
     by itself every WATCH_INTERVAL_US. */
  gateway->wake_pending = on_service_thread(gateway) || loop_wake(gateway);
}

static void push(gateway *gateway, struct command command, bool is_urgent) {
  pthread_mutex_lock(&gateway->lock);
  bool queued = gateway->state != ENDED && append(&gateway->inbox, &command);
  if (queued && command.kind == COMMAND_QUEUE) {
    channels_load(gateway, command.dispatch->channels, command.dispatch->count);
  }
  if (is_urgent) wake(gateway);
  pthread_mutex_unlock(&gateway->lock);
  if (!queued) discard(gateway, &command);
}

void commands_push(gateway *gateway, struct command command) { push(gateway, command, true); }

void gateway_flush(gateway *gateway) {
  pthread_mutex_lock(&gateway->lock);
  wake(gateway);
  pthread_mutex_unlock(&gateway->lock);
}

static void run(gateway *gateway, struct command *command) {
  struct channel *channel;
  struct exchange *exchange;
  switch (command->kind) {
    case COMMAND_QUEUE: channels_dispatch(gateway, command->dispatch); break;
    case COMMAND_BROADCAST: channels_broadcast(gateway, command->frame); break;
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
      exchange = registry_find(&gateway->exchanges, command->id);
      if (!exchange || exchange->state != WAITING) break;
      exchange_answer(exchange, command->answer);
      command->answer = NULL;
      break;
    case COMMAND_CERTIFICATE:
      tls_renew(gateway->tls, command->pair);
      command->pair = NULL;
      break;
    case COMMAND_STOP_LISTENING: listener_close(gateway); break;
    case COMMAND_STOP:
      gateway_begin_stop(gateway, command->code, command->reason ? command->reason : "", command->milliseconds);
      break;
  }
  discard(gateway, command);
}

void commands_run(gateway *gateway) {
  pthread_mutex_lock(&gateway->lock);
  struct command_list list = gateway->inbox;
  gateway->inbox = gateway->taken;
  gateway->wake_pending = false;
  pthread_mutex_unlock(&gateway->lock);
  gateway->taken = (struct command_list){0};
  for (size_t i = 0; i < list.count; i++) run(gateway, &list.items[i]);
  list.count = 0;
  gateway->taken = list;
}

void commands_end(gateway *gateway) {
  pthread_mutex_lock(&gateway->lock);
  gateway->state = ENDED;
  pthread_mutex_unlock(&gateway->lock);
}

void commands_free(gateway *gateway) {
  for (size_t i = 0; i < gateway->inbox.count; i++) discard(gateway, &gateway->inbox.items[i]);
  free(gateway->inbox.items);
  free(gateway->taken.items);
}

void gateway_queue(gateway *gateway, gateway_frame *frame, const gateway_channel_id *channels, size_t count) {
  struct dispatch *dispatch = malloc(sizeof *dispatch + count * sizeof *channels);
  if (!dispatch) return;
  frame_hold(gateway, frame);
  dispatch->frame = frame;
  dispatch->count = count;
  memcpy(dispatch->channels, channels, count * sizeof *channels);
  push(gateway, (struct command){.kind = COMMAND_QUEUE, .dispatch = dispatch}, false);
}

void gateway_broadcast(gateway *gateway, gateway_frame *frame) {
  frame_hold(gateway, frame);
  push(gateway, (struct command){.kind = COMMAND_BROADCAST, .frame = frame}, false);
}

void gateway_notify(gateway *gateway, gateway_channel_id channel, uint64_t value) {
  push(gateway, (struct command){.kind = COMMAND_NOTIFY, .id = channel, .value = value}, false);
}

void gateway_close(gateway *gateway, gateway_channel_id channel, uint16_t code, const char *reason) {
  commands_push(gateway,
                (struct command){.kind = COMMAND_CLOSE, .id = channel, .code = code, .reason = strdup(reason)});
}

void gateway_resume(gateway *gateway, gateway_channel_id session) {
  commands_push(gateway, (struct command){.kind = COMMAND_RESUME, .id = session});
}

void gateway_stop_listening(gateway *gateway) {
  commands_push(gateway, (struct command){.kind = COMMAND_STOP_LISTENING});
}

/* NULL when out of memory: the connection is then closed. */
static struct answer *make_answer(gateway *gateway, int status, const char *headers, const uint8_t *body, size_t length) {
  struct answer *answer = gateway_has_room(gateway, length) ? answer_create(status, headers, body, length)
                                                            : outgoing_refusal(gateway);
  outgoing_charge(gateway, answer);
  return answer;
}

void gateway_respond(gateway *gateway, gateway_request_id request, int status, const char *headers,
                     const uint8_t *body, size_t length) {
  struct answer *answer = make_answer(gateway, status, headers, body, length);
  commands_push(gateway, (struct command){.kind = COMMAND_ANSWER, .id = request, .answer = answer});
}

gateway_channel_id gateway_stream_open(gateway *gateway, gateway_request_id request, const char *headers) {
  struct exchange *exchange = registry_find(&gateway->exchanges, request);
  struct stream *stream = exchange ? stream_open(exchange, headers) : NULL;
  return stream ? ((struct channel *)stream)->id : 0;
}

void gateway_stream_end(gateway *gateway, gateway_channel_id stream, gateway_frame *frame, int status,
                        const char *headers, const uint8_t *body, size_t length) {
  struct answer *answer = make_answer(gateway, status, headers, body, length);
  frame_hold(gateway, frame);
  commands_push(gateway, (struct command){.kind = COMMAND_END, .id = stream, .frame = frame, .answer = answer});
}
