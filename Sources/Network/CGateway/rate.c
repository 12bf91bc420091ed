/* How often something may happen. */
#include <libwebsockets.h>

#include "CGateway.h"

static int64_t interval(int per_second) {
  int64_t interval = LWS_US_PER_SEC / per_second;
  return interval > 1 ? interval : 1;
}

int64_t gateway_rate_wait(int64_t paid_until, int64_t now, int per_second, int burst) {
  int64_t ahead = paid_until > now ? paid_until - now : 0;
  return ahead - ((burst > 1 ? burst : 1) - 1) * interval(per_second);
}

int64_t gateway_rate_pay(int64_t paid_until, int64_t now, int per_second) {
  return (paid_until > now ? paid_until : now) + interval(per_second);
}
