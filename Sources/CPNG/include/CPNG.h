/* libpng behind calls that return: png_error jumps, and every jump lands in the call in which it began.
 *
 * A decoder and an encoder keep no pointer to the caller's memory from one call to the next. Each call is handed the
 * whole input and the whole picture again, and does a few rows, so that the caller may stop between two calls. */
#ifndef DUNLIN_CPNG_H
#define DUNLIN_CPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    dunlin_png_complete = 0,
    dunlin_png_more = 1,
    dunlin_png_truncated = 2,
    dunlin_png_damaged = 3,
    dunlin_png_no_memory = 4,
};

typedef struct dunlin_png_decoder dunlin_png_decoder;

typedef struct {
    uint32_t width;
    uint32_t height;
    bool has_alpha;
    /* The ICC profile, which is the decoder's; null if there is none. */
    const uint8_t *profile;
    uint32_t profile_count;
} dunlin_png_header;

/* Null if there is no memory. No chunk takes more memory than `metadata_limit`. One that is tolerant reads in small
 * steps, so that what there is of a picture that ends early gets as far as its pixels. */
dunlin_png_decoder *dunlin_png_open(size_t metadata_limit, bool is_tolerant);
void dunlin_png_close(dunlin_png_decoder *decoder);
/* What went wrong, in libpng's words; the decoder's. */
const char *dunlin_png_message(const dunlin_png_decoder *decoder);

/* To be called once, before the rows. */
int dunlin_png_read_header(
    dunlin_png_decoder *decoder, const uint8_t *input, size_t count, dunlin_png_header *header);
/* Decodes up to `rows` rows more, RGBA with eight bits a sample, into a picture of `height` rows of `stride` bytes.
 * An interlaced picture is passed over several times, so that it has more rows to decode than it is high. */
int dunlin_png_read_rows(
    dunlin_png_decoder *decoder, const uint8_t *input, size_t count, uint8_t *pixels, size_t stride, uint32_t rows);

typedef struct dunlin_png_encoder dunlin_png_encoder;

/* `level` is zlib's, from 0 to 9. Without `has_alpha` the fourth of the four bytes of each pixel is left out. */
dunlin_png_encoder *dunlin_png_encoder_open(
    uint32_t width, uint32_t height, bool has_alpha, int level, const uint8_t *profile, uint32_t profile_count);
void dunlin_png_encoder_close(dunlin_png_encoder *encoder);
const char *dunlin_png_encoder_message(const dunlin_png_encoder *encoder);
/* Encodes `rows` rows, RGBA; complete once the last one was given. */
int dunlin_png_write_rows(dunlin_png_encoder *encoder, const uint8_t *pixels, size_t stride, uint32_t rows);
/* What was encoded so far; the encoder's, until the next call. */
const uint8_t *dunlin_png_encoder_output(const dunlin_png_encoder *encoder, size_t *count);

#endif
