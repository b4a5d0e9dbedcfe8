#ifndef HAND_CZLIB_SHIM_H
#define HAND_CZLIB_SHIM_H

#include <zlib.h>

// Swift does not see this macro.
static inline int hand_begin_gzip(z_stream *stream) {
    return deflateInit2(stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY);
}

#endif
