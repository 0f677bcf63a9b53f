/* giflib's reader, block by block. It keeps no pointer to the caller's memory from one call to the next:
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
    dunlin_gif_paused = 5,
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
    /* Bits of a colour's number, as its codes have them: from 0 to 8. */
    uint32_t code_size;
} dunlin_gif_frame;

enum { dunlin_gif_block_size = 255 };

/* Null if there is no memory, or the input does not begin like a GIF. */
dunlin_gif_decoder *dunlin_gif_open(const uint8_t *input, size_t count, int *status);
void dunlin_gif_close(dunlin_gif_decoder *decoder);
/* What went wrong, in giflib's words. */
const char *dunlin_gif_message(const dunlin_gif_decoder *decoder);
/* Reads on to the next picture: `more`, and its blocks come next; complete, when there is none; or paused, to be called
 * again, after so many blocks that others may have to have their turn. */
int dunlin_gif_next(dunlin_gif_decoder *decoder, const uint8_t *input, size_t count, dunlin_gif_frame *frame);
/* The next block of codes of the picture: `more`, and `length` bytes from 1 to 255; or complete, at their end. */
int dunlin_gif_block(dunlin_gif_decoder *decoder, const uint8_t *input, size_t count, uint8_t *block, uint32_t *length);

#endif
