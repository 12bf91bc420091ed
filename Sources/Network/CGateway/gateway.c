/* The gateway of the current service thread. */
#include <stdarg.h>
#include <stdio.h>

#include "gateway.h"

/* libwebsockets' log function is one for the process and gets no context. */
static _Thread_local gateway *current_gateway;

gateway *gateway_of_thread(void) { return current_gateway; }

void gateway_enter_thread(gateway *gateway) { current_gateway = gateway; }

bool on_service_thread(const gateway *gateway) { return current_gateway == gateway; }

lws_usec_t gateway_now(const gateway *gateway) {
  const gateway_callbacks *callbacks = &gateway->configuration.callbacks;
  return callbacks->now ? callbacks->now(gateway->context) : lws_now_usecs();
}

void gateway_log(gateway *gateway, int level, const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  gateway->configuration.callbacks.logged(gateway->context, level, line);
}

lws_usec_t read_patience(const gateway *gateway) {
  const lws_usec_t day = 86400 * (lws_usec_t)LWS_US_PER_SEC;
  int milliseconds = gateway->configuration.read_timeout;
  return milliseconds > 0 ? (lws_usec_t)milliseconds * LWS_US_PER_MS : day;
}
