/* Files of the public directory. */
#ifndef CGATEWAY_STATIC_H
#define CGATEWAY_STATIC_H

#include "answer.h"
#include "request.h"

/* The answer to a request that no dynamic route takes. NULL when out of memory. */
struct answer *answer_static(gateway *gateway, const struct request *request);

#endif
