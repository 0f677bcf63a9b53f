#include "CPNG.h"
#include "failure.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

struct dunlin_png_decoder {
    png_structp png;
    png_infop info;
    const uint8_t *input;
    size_t count;
    size_t position;
    uint32_t height;
    uint32_t row;
    int passes;
    int pass;
    struct outcome outcome;
};

static void read_input(png_structp png, png_bytep bytes, size_t count) {
    dunlin_png_decoder *decoder = png_get_io_ptr(png);
    if (count > decoder->count - decoder->position) {
        decoder->outcome.status = dunlin_png_truncated;
        png_error(png, "the data ends early");
    }
    memcpy(bytes, decoder->input + decoder->position, count);
    decoder->position += count;
}

/* What says nothing about the pixels is passed over unread. */
static void ignore_metadata(png_structp png) {
    static const png_byte names[] =
        "bKGD\0hIST\0pHYs\0sPLT\0tEXt\0zTXt\0iTXt\0tIME\0oFFs\0pCAL\0sCAL\0sBIT\0eXIf";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, names, 13);
}

dunlin_png_decoder *dunlin_png_open(size_t metadata_limit, bool is_tolerant) {
    dunlin_png_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder->outcome, fail, warn);
    if (!decoder->png || setjmp(png_jmpbuf(decoder->png))) {
        dunlin_png_close(decoder);
        return NULL;
    }
    decoder->info = png_create_info_struct(decoder->png);
    if (!decoder->info) png_error(decoder->png, "no memory");
    png_set_read_fn(decoder->png, decoder, read_input);
    png_set_user_limits(decoder->png, 0x7fffffff, 0x7fffffff);
    png_set_chunk_malloc_max(decoder->png, metadata_limit);
    png_set_chunk_cache_max(decoder->png, 16);
    if (is_tolerant) png_set_compression_buffer_size(decoder->png, 32);
    ignore_metadata(decoder->png);
    return decoder;
}

void dunlin_png_close(dunlin_png_decoder *decoder) {
    if (!decoder) return;
    if (decoder->png) png_destroy_read_struct(&decoder->png, &decoder->info, NULL);
    free(decoder);
}

const char *dunlin_png_message(const dunlin_png_decoder *decoder) { return decoder->outcome.message; }

static void begin(dunlin_png_decoder *decoder, const uint8_t *input, size_t count) {
    decoder->input = input;
    decoder->count = count;
    decoder->outcome.status = dunlin_png_more;
}

/* Whatever the file has, what comes out is RGBA with eight bits a sample. */
static void set_transforms(png_structp png, png_infop info, bool has_alpha) {
    const png_byte color = png_get_color_type(png, info);
    if (png_get_bit_depth(png, info) == 16) png_set_scale_16(png);
    png_set_expand(png);
    if (!(color & PNG_COLOR_MASK_COLOR)) png_set_gray_to_rgb(png);
    if (!has_alpha) png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
}

static void read_profile(png_structp png, png_infop info, dunlin_png_header *header) {
    png_charp name = NULL;
    int compression = 0;
    png_bytep profile = NULL;
    png_uint_32 count = 0;
    if (png_get_iCCP(png, info, &name, &compression, &profile, &count) == PNG_INFO_iCCP) {
        header->profile = profile;
        header->profile_count = count;
    }
}

int dunlin_png_read_header(
    dunlin_png_decoder *decoder, const uint8_t *input, size_t count, dunlin_png_header *header) {
    png_structp png = decoder->png;
    memset(header, 0, sizeof *header);
    begin(decoder, input, count);
    if (setjmp(png_jmpbuf(png))) return decoder->outcome.status;
    png_read_info(png, decoder->info);
    header->width = png_get_image_width(png, decoder->info);
    header->height = png_get_image_height(png, decoder->info);
    header->has_alpha = (png_get_color_type(png, decoder->info) & PNG_COLOR_MASK_ALPHA) != 0 ||
                        png_get_valid(png, decoder->info, PNG_INFO_tRNS) != 0;
    read_profile(png, decoder->info, header);
    set_transforms(png, decoder->info, header->has_alpha);
    decoder->height = header->height;
    decoder->passes = png_set_interlace_handling(png);
    png_read_update_info(png, decoder->info);
    if (png_get_rowbytes(png, decoder->info) != (size_t)header->width * 4) png_error(png, "rows of another length");
    return dunlin_png_more;
}

int dunlin_png_read_rows(
    dunlin_png_decoder *decoder, const uint8_t *input, size_t count, uint8_t *pixels, size_t stride, uint32_t rows) {
    begin(decoder, input, count);
    if (setjmp(png_jmpbuf(decoder->png))) return decoder->outcome.status;
    for (; rows > 0 && decoder->pass < decoder->passes; rows--) {
        png_read_row(decoder->png, pixels + (size_t)decoder->row * stride, NULL);
        if (++decoder->row < decoder->height) continue;
        decoder->row = 0;
        decoder->pass++;
    }
    if (decoder->pass < decoder->passes) return dunlin_png_more;
    png_read_end(decoder->png, NULL);
    return dunlin_png_complete;
}
