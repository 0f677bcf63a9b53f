#include "CJPEG.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

/* A progressive picture has about ten scans. Each passes over the whole picture, however few bytes it has: the larger
 * the picture, the fewer may there be. */
enum { most_scans = 100, fewest_scans = 16, scanned_pixels = 256 << 20 };

struct dunlin_jpeg_decoder {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf jump;
    const uint8_t *input;
    size_t count;
    size_t position;
    bool is_tolerant;
    bool has_ended;
    bool has_started;
    enum { reading_scans, starting_output, output } phase;
    int status;
    char message[JMSG_LENGTH_MAX];
};

static dunlin_jpeg_decoder *decoder_of(j_common_ptr info) { return info->client_data; }

static void fail(j_common_ptr info) {
    dunlin_jpeg_decoder *decoder = decoder_of(info);
    info->err->format_message(info, decoder->message);
    if (info->err->msg_code == JERR_OUT_OF_MEMORY) decoder->status = dunlin_jpeg_no_memory;
    if (decoder->status == dunlin_jpeg_more)
        decoder->status = decoder->has_ended ? dunlin_jpeg_truncated : dunlin_jpeg_damaged;
    longjmp(decoder->jump, 1);
}

/* Whether pixels are missing or wrong because of what a warning is about. */
static bool costs_pixels(int code) {
    return code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_ARITH_BAD_CODE ||
           code == JWRN_MUST_RESYNC;
}

static void warn(j_common_ptr info, int level) {
    if (level < 0 && costs_pixels(info->err->msg_code) && !decoder_of(info)->is_tolerant) fail(info);
}

static void be_silent(j_common_ptr info) { (void)info; }

static void no_source(j_decompress_ptr info) { (void)info; }

/* Where the data ends, an end of image is put in: what misses no pixel is complete without one. */
static boolean end_source(j_decompress_ptr info) {
    static const JOCTET end[] = {0xff, JPEG_EOI};
    dunlin_jpeg_decoder *decoder = info->client_data;
    decoder->has_ended = true;
    info->src->next_input_byte = end;
    info->src->bytes_in_buffer = sizeof end;
    return TRUE;
}

static void skip_source(j_decompress_ptr info, long count) {
    if (count <= 0) return;
    if ((size_t)count > info->src->bytes_in_buffer) {
        (void)end_source(info);
        return;
    }
    info->src->next_input_byte += count;
    info->src->bytes_in_buffer -= (size_t)count;
}

dunlin_jpeg_decoder *dunlin_jpeg_open(bool is_tolerant) {
    dunlin_jpeg_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->is_tolerant = is_tolerant;
    decoder->status = dunlin_jpeg_more;
    decoder->info.err = jpeg_std_error(&decoder->errors);
    decoder->info.client_data = decoder;
    decoder->errors.error_exit = fail;
    decoder->errors.emit_message = warn;
    decoder->errors.output_message = be_silent;
    if (setjmp(decoder->jump)) {
        dunlin_jpeg_close(decoder);
        return NULL;
    }
    jpeg_create_decompress(&decoder->info);
    decoder->source.init_source = no_source;
    decoder->source.fill_input_buffer = end_source;
    decoder->source.skip_input_data = skip_source;
    decoder->source.resync_to_restart = jpeg_resync_to_restart;
    decoder->source.term_source = no_source;
    decoder->info.src = &decoder->source;
    return decoder;
}

void dunlin_jpeg_close(dunlin_jpeg_decoder *decoder) {
    if (!decoder) return;
    if (decoder->info.mem) jpeg_destroy_decompress(&decoder->info);
    free(decoder);
}

const char *dunlin_jpeg_message(const dunlin_jpeg_decoder *decoder) { return decoder->message; }

/* The input may lie elsewhere than in the last call. */
static void begin(dunlin_jpeg_decoder *decoder, const uint8_t *input, size_t count) {
    decoder->input = input;
    decoder->count = count;
    decoder->status = dunlin_jpeg_more;
    if (decoder->has_ended) {
        (void)end_source(&decoder->info);
        return;
    }
    decoder->source.next_input_byte = input + decoder->position;
    decoder->source.bytes_in_buffer = count - decoder->position;
}

static void keep_position(dunlin_jpeg_decoder *decoder) {
    if (!decoder->has_ended) decoder->position = decoder->count - decoder->source.bytes_in_buffer;
}

int dunlin_jpeg_read_header(
    dunlin_jpeg_decoder *decoder, const uint8_t *input, size_t count, unsigned eighths, dunlin_jpeg_header *header) {
    struct jpeg_decompress_struct *info = &decoder->info;
    memset(header, 0, sizeof *header);
    begin(decoder, input, count);
    if (setjmp(decoder->jump)) return decoder->status;
    jpeg_read_header(info, TRUE);
    header->width = info->image_width;
    header->height = info->image_height;
    info->scale_num = eighths;
    info->scale_denom = 8;
    info->out_color_space =
        info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK ? JCS_CMYK : JCS_EXT_RGBA;
    info->buffered_image = jpeg_has_multiple_scans(info);
    decoder->phase = info->buffered_image ? reading_scans : output;
    jpeg_calc_output_dimensions(info);
    header->scaled_width = info->output_width;
    header->scaled_height = info->output_height;
    keep_position(decoder);
    return dunlin_jpeg_more;
}

static int scan_limit(const struct jpeg_decompress_struct *info) {
    uint64_t pixels = (uint64_t)info->image_width * info->image_height;
    uint64_t scans = scanned_pixels / (pixels ? pixels : 1);
    return scans > most_scans ? most_scans : scans < fewest_scans ? fewest_scans : (int)scans;
}

/* Reads `rows` rows of blocks, which takes about as long as making `rows` rows of pixels: there are several scans, and
 * each has only a part of every block. False once all scans were read. */
static bool read_scans(dunlin_jpeg_decoder *decoder, uint32_t rows) {
    struct jpeg_decompress_struct *info = &decoder->info;
    for (uint32_t read = 0; read < rows; read++) {
        if (info->input_scan_number > scan_limit(info)) ERREXIT(info, JERR_BAD_PROGRESSION);
        if (jpeg_consume_input(info) != JPEG_REACHED_EOI) continue;
        /* Scans that are missing cost pixels, and nothing tells how many there should have been. */
        if (decoder->has_ended && !decoder->is_tolerant) ERREXIT(info, JERR_INPUT_EMPTY);
        return false;
    }
    return true;
}

/* In place: four bytes of ink to RGBA. Adobe's programs write the inks inverted. */
static void convert_inks(uint8_t *pixels, size_t width, bool is_inverted) {
    for (size_t index = 0; index < width; index++, pixels += 4) {
        unsigned black = is_inverted ? pixels[3] : 255u - pixels[3];
        for (int ink = 0; ink < 3; ink++) {
            unsigned value = is_inverted ? pixels[ink] : 255u - pixels[ink];
            pixels[ink] = (uint8_t)((value * black + 127) / 255);
        }
        pixels[3] = 255;
    }
}

static void read_rows(dunlin_jpeg_decoder *decoder, uint8_t *pixels, size_t stride, uint32_t rows) {
    enum { most_rows = 16 };
    struct jpeg_decompress_struct *info = &decoder->info;
    uint32_t end = info->output_scanline + rows;
    if (end > info->output_height) end = info->output_height;
    while (info->output_scanline < end) {
        JSAMPROW row[most_rows];
        JDIMENSION first = info->output_scanline, count = end - first;
        if (count > most_rows) count = most_rows;
        for (JDIMENSION index = 0; index < count; index++) row[index] = pixels + (size_t)(first + index) * stride;
        JDIMENSION done = jpeg_read_scanlines(info, row, count);
        if (done == 0) ERREXIT(info, JERR_CANT_SUSPEND);
        if (info->out_color_space != JCS_CMYK) continue;
        for (JDIMENSION index = 0; index < done; index++)
            convert_inks(row[index], info->output_width, info->saw_Adobe_marker);
    }
}

int dunlin_jpeg_read_rows(
    dunlin_jpeg_decoder *decoder, const uint8_t *input, size_t count, uint8_t *pixels, size_t stride, uint32_t rows) {
    struct jpeg_decompress_struct *info = &decoder->info;
    begin(decoder, input, count);
    if (setjmp(decoder->jump)) return decoder->status;
    if (!decoder->has_started) {
        decoder->has_started = true;
        jpeg_start_decompress(info);
    }
    switch (decoder->phase) {
    case reading_scans:
        if (!read_scans(decoder, rows)) decoder->phase = starting_output;
        break;
    case starting_output:
        jpeg_start_output(info, info->input_scan_number);
        decoder->phase = output;
        break;
    case output: read_rows(decoder, pixels, stride, rows); break;
    }
    keep_position(decoder);
    bool is_over = decoder->phase == output && info->output_scanline >= info->output_height;
    return is_over ? dunlin_jpeg_complete : dunlin_jpeg_more;
}
