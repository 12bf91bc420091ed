// Placeholder
#include "CGateway.h"
