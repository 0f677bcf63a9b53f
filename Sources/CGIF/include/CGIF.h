/* giflib's reader, block by block and row by row. It keeps no pointer to the caller's memory from one call to the next:
 * each call is handed the whole input again. */
#ifndef DUNLIN_CGIF_H
#define DUNLIN_CGIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    dunlin_gif_complete = 0,
    dunlin_gif_more = 1,
    dunlin_gif_truncated = 2,
    dunlin_gif_damaged = 3,
    dunlin_gif_no_memory = 4,
};

typedef struct dunlin_gif_decoder dunlin_gif_decoder;

typedef struct {
    uint32_t left, top, width, height;
    bool is_interlaced;
    /* Hundredths of a second. */
    uint32_t delay;
    uint32_t disposal;
    /* RGBA; the transparent colour is all zeros, and what the palette leaves out opaque black. */
    uint8_t palette[256 * 4];
    bool has_transparency;
} dunlin_gif_frame;

/* Null if there is no memory, or the input does not begin like a GIF. */
dunlin_gif_decoder *dunlin_gif_open(const uint8_t *input, size_t count, int *status);
void dunlin_gif_close(dunlin_gif_decoder *decoder);
/* What went wrong, in giflib's words. */
const char *dunlin_gif_message(const dunlin_gif_decoder *decoder);
/* Reads on to the next picture: `more`, and its rows come next; or complete, when there is none. */
int dunlin_gif_next(dunlin_gif_decoder *decoder, const uint8_t *input, size_t count, dunlin_gif_frame *frame);
/* The indices of a row of `width` pixels, in the order in which the file has the rows: `more`. */
int dunlin_gif_row(dunlin_gif_decoder *decoder, const uint8_t *input, size_t count, uint8_t *row, uint32_t width);
/* Passes over the rows that are left of a picture. */
int dunlin_gif_skip(dunlin_gif_decoder *decoder, const uint8_t *input, size_t count);

#endif
