#include "CPNG.h"
#include "failure.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

struct dunlin_png_encoder {
    png_structp png;
    png_infop info;
    uint8_t *output;
    size_t count;
    size_t capacity;
    uint32_t height;
    uint32_t row;
    struct outcome outcome;
};

static void write_output(png_structp png, png_bytep bytes, size_t count) {
    dunlin_png_encoder *encoder = png_get_io_ptr(png);
    if (count > encoder->capacity - encoder->count) {
        size_t capacity = encoder->capacity * 2 + count;
        uint8_t *output = realloc(encoder->output, capacity);
        if (!output) {
            encoder->outcome.status = dunlin_png_no_memory;
            png_error(png, "no memory");
        }
        encoder->output = output;
        encoder->capacity = capacity;
    }
    memcpy(encoder->output + encoder->count, bytes, count);
    encoder->count += count;
}

static void flush_output(png_structp png) { (void)png; }

dunlin_png_encoder *dunlin_png_encoder_open(
    uint32_t width, uint32_t height, bool has_alpha, int level, const uint8_t *profile, uint32_t profile_count) {
    dunlin_png_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) return NULL;
    encoder->height = height;
    encoder->outcome.status = dunlin_png_more;
    encoder->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder->outcome, fail, warn);
    if (!encoder->png || setjmp(png_jmpbuf(encoder->png))) {
        dunlin_png_encoder_close(encoder);
        return NULL;
    }
    encoder->info = png_create_info_struct(encoder->png);
    if (!encoder->info) png_error(encoder->png, "no memory");
    png_set_write_fn(encoder->png, encoder, write_output, flush_output);
    png_set_user_limits(encoder->png, 0x7fffffff, 0x7fffffff);
    png_set_compression_level(encoder->png, level);
    png_set_IHDR(
        encoder->png, encoder->info, width, height, 8, has_alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB,
        PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    /* With this libpng leaves out a profile that it does not believe in, or that is for other colours. */
    png_set_benign_errors(encoder->png, 1);
    if (profile_count > 0)
        png_set_iCCP(encoder->png, encoder->info, "icc", PNG_COMPRESSION_TYPE_BASE, profile, profile_count);
    png_write_info(encoder->png, encoder->info);
    if (!has_alpha) png_set_filler(encoder->png, 0, PNG_FILLER_AFTER);
    return encoder;
}

void dunlin_png_encoder_close(dunlin_png_encoder *encoder) {
    if (!encoder) return;
    if (encoder->png) png_destroy_write_struct(&encoder->png, &encoder->info);
    free(encoder->output);
    free(encoder);
}

const char *dunlin_png_encoder_message(const dunlin_png_encoder *encoder) { return encoder->outcome.message; }

int dunlin_png_write_rows(dunlin_png_encoder *encoder, const uint8_t *pixels, size_t stride, uint32_t rows) {
    encoder->outcome.status = dunlin_png_more;
    if (setjmp(png_jmpbuf(encoder->png))) return encoder->outcome.status;
    for (uint32_t row = 0; row < rows && encoder->row < encoder->height; row++, encoder->row++)
        png_write_row(encoder->png, pixels + (size_t)row * stride);
    if (encoder->row < encoder->height) return dunlin_png_more;
    png_write_end(encoder->png, encoder->info);
    return dunlin_png_complete;
}

const uint8_t *dunlin_png_encoder_output(const dunlin_png_encoder *encoder, size_t *count) {
    *count = encoder->count;
    return encoder->output;
}
