/* libjpeg-turbo behind calls that return: its errors jump, and every jump lands in the call in which it began.
 *
 * A decoder and an encoder keep no pointer to the caller's memory from one call to the next. Each call is handed the
 * whole input again and does a few rows, so that the caller may stop between two calls. */
#ifndef DUNLIN_CJPEG_H
#define DUNLIN_CJPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    dunlin_jpeg_complete = 0,
    dunlin_jpeg_more = 1,
    dunlin_jpeg_truncated = 2,
    dunlin_jpeg_damaged = 3,
    dunlin_jpeg_no_memory = 4,
};

typedef struct dunlin_jpeg_decoder dunlin_jpeg_decoder;

typedef struct {
    uint32_t width;
    uint32_t height;
    /* The size that comes out. */
    uint32_t scaled_width;
    uint32_t scaled_height;
} dunlin_jpeg_header;

/* Null if there is no memory. One that is tolerant takes what it gets of a picture that ends early or is damaged. */
dunlin_jpeg_decoder *dunlin_jpeg_open(bool is_tolerant);
void dunlin_jpeg_close(dunlin_jpeg_decoder *decoder);
/* What went wrong, in libjpeg's words; the decoder's. */
const char *dunlin_jpeg_message(const dunlin_jpeg_decoder *decoder);

/* To be called once, before the rows. `eighths` is the scale: 1, 2, 4 or 8. */
int dunlin_jpeg_read_header(
    dunlin_jpeg_decoder *decoder, const uint8_t *input, size_t count, unsigned eighths, dunlin_jpeg_header *header);
/* Decodes about `rows` rows more, RGBA, into a picture of rows of `stride` bytes. What has several scans is read to its
 * end first, and calls that only read return `more` too. */
int dunlin_jpeg_read_rows(
    dunlin_jpeg_decoder *decoder, const uint8_t *input, size_t count, uint8_t *pixels, size_t stride, uint32_t rows);

typedef struct dunlin_jpeg_encoder dunlin_jpeg_encoder;

/* `quality` is from 1 to 100; with `is_fine` the colour is stored as finely as the brightness. */
dunlin_jpeg_encoder *dunlin_jpeg_encoder_open(
    uint32_t width, uint32_t height, int quality, bool is_fine, bool is_progressive, const uint8_t *profile,
    uint32_t profile_count);
void dunlin_jpeg_encoder_close(dunlin_jpeg_encoder *encoder);
const char *dunlin_jpeg_encoder_message(const dunlin_jpeg_encoder *encoder);
/* Encodes `rows` rows of four bytes a pixel, of which the fourth is left out; complete once the last one was given. */
int dunlin_jpeg_write_rows(dunlin_jpeg_encoder *encoder, const uint8_t *pixels, size_t stride, uint32_t rows);
/* What was encoded so far; the encoder's, until the next call. */
const uint8_t *dunlin_jpeg_encoder_output(const dunlin_jpeg_encoder *encoder, size_t *count);

#endif
