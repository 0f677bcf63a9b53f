/* libwebp's decoders: of one picture, piece by piece, and of animations, frame by frame.
 *
 * The decoder of one picture keeps no pointer to the caller's memory that it uses in a later call; that of animations
 * has its own copy of the input, because libwebp reads it whenever it likes. */
#ifndef DUNLIN_CWEBP_H
#define DUNLIN_CWEBP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    dunlin_webp_complete = 0,
    dunlin_webp_more = 1,
    dunlin_webp_truncated = 2,
    dunlin_webp_damaged = 3,
    dunlin_webp_no_memory = 4,
};

typedef struct dunlin_webp_decoder dunlin_webp_decoder;

/* Of a picture that comes out `width` by `height`, RGBA; it is scaled if that is not its size. Null if there is no
 * memory. */
dunlin_webp_decoder *dunlin_webp_open(uint32_t width, uint32_t height, bool is_scaled, bool is_premultiplied);
void dunlin_webp_close(dunlin_webp_decoder *decoder);
/* Decodes what the first `end` of `count` bytes hold into rows of `stride` bytes; `end` never gets less from call to
 * call. What is truncated has its first rows all the same. */
int dunlin_webp_read(
    dunlin_webp_decoder *decoder, const uint8_t *input, size_t end, size_t count, uint8_t *pixels, size_t stride);

typedef struct dunlin_webp_animation dunlin_webp_animation;

typedef struct {
    uint32_t width;
    uint32_t height;
    uint32_t frames;
    /* How often it is shown; 0 is for ever. */
    uint32_t loops;
} dunlin_webp_animation_header;

/* Null if the input is no whole WebP file, or there is no memory. */
dunlin_webp_animation *dunlin_webp_animation_open(
    const uint8_t *input, size_t count, bool is_premultiplied, dunlin_webp_animation_header *header);
void dunlin_webp_animation_close(dunlin_webp_animation *animation);
/* Composes the next frame into a picture of width * height * 4 bytes: `more`, and when it ends in milliseconds from
 * the beginning; or complete, and no frame. */
int dunlin_webp_animation_next(dunlin_webp_animation *animation, uint8_t *pixels, int *end);

#endif
