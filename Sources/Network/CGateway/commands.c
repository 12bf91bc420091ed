/*
 * The queue through which other threads reach the service thread: two arrays that change places, so that queueing
 * costs no allocation, and one wake however many commands are waiting.
 */
#include "commands.h"

#include <stdlib.h>

#include "answer.h"
#include "channel.h"
#include "frame.h"
#include "loop.h"
#include "tls.h"

/* Frees the members of a command. */
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
    case COMMAND_CERTIFICATE: gateway_certificate_free(command->certificate); break;
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
  if (gateway->commands.state != RUNNING || gateway->commands.wake_pending || !gateway->commands.waiting.count) return;
  /* The service thread takes the inbox after every turn. A wake that fails is tried again with the next command, and
     the thread looks by itself every WATCH_INTERVAL_US. */
  gateway->commands.wake_pending = on_service_thread(gateway) || loop_wake(gateway);
}

void commands_push(gateway *gateway, struct command command, bool is_urgent) {
  pthread_mutex_lock(&gateway->lock);
  bool queued = gateway->commands.state != ENDED && append(&gateway->commands.waiting, &command);
  if (queued && command.kind == COMMAND_QUEUE) {
    channels_load(gateway, command.dispatch->channels, command.dispatch->count);
  }
  if (is_urgent) wake(gateway);
  pthread_mutex_unlock(&gateway->lock);
  if (!queued) discard(gateway, &command);
}

void gateway_flush(gateway *gateway) {
  pthread_mutex_lock(&gateway->lock);
  wake(gateway);
  pthread_mutex_unlock(&gateway->lock);
}

void commands_run(gateway *gateway, void (*run)(struct gateway *gateway, struct command *command)) {
  pthread_mutex_lock(&gateway->lock);
  struct command_list list = gateway->commands.waiting;
  gateway->commands.waiting = gateway->commands.taken;
  gateway->commands.wake_pending = false;
  pthread_mutex_unlock(&gateway->lock);
  gateway->commands.taken = (struct command_list){0};
  for (size_t i = 0; i < list.count; i++) {
    run(gateway, &list.items[i]);
    discard(gateway, &list.items[i]);
  }
  list.count = 0;
  gateway->commands.taken = list;
}

void commands_end(gateway *gateway) {
  pthread_mutex_lock(&gateway->lock);
  gateway->commands.state = ENDED;
  pthread_mutex_unlock(&gateway->lock);
}

void commands_free(gateway *gateway) {
  for (size_t i = 0; i < gateway->commands.waiting.count; i++) discard(gateway, &gateway->commands.waiting.items[i]);
  free(gateway->commands.waiting.items);
  free(gateway->commands.taken.items);
}

/* Callbacks may have filled the inbox again since it was taken. */
bool commands_wait(gateway *gateway) {
  pthread_mutex_lock(&gateway->lock);
  bool is_empty = !gateway->commands.waiting.count;
  pthread_mutex_unlock(&gateway->lock);
  return !is_empty;
}
