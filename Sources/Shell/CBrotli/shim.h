#ifndef HAND_CBROTLI_SHIM_H
#define HAND_CBROTLI_SHIM_H

#include <brotli/encode.h>

#endif
