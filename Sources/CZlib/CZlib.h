/* zlib, and those of its functions that are macros. No logic. */
#ifndef DUNLIN_CZLIB_H
#define DUNLIN_CZLIB_H

#if !__has_include(<zlib.h>)
#error "zlib's header is missing: install zlib1g-dev (Debian, Ubuntu) or zlib-devel (Fedora, Amazon Linux)"
#endif
#include <zlib.h>

static inline int dunlin_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}

static inline int dunlin_deflate_init(z_stream *stream, int level, int window_bits) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY);
}

#endif
