#include "CJPEG.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

struct dunlin_jpeg_encoder {
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    jmp_buf jump;
    uint8_t *output;
    size_t count;
    size_t capacity;
    int status;
    char message[JMSG_LENGTH_MAX];
};

static void fail(j_common_ptr info) {
    dunlin_jpeg_encoder *encoder = info->client_data;
    info->err->format_message(info, encoder->message);
    encoder->status = info->err->msg_code == JERR_OUT_OF_MEMORY ? dunlin_jpeg_no_memory : dunlin_jpeg_damaged;
    longjmp(encoder->jump, 1);
}

static void be_silent(j_common_ptr info) { (void)info; }
static void pass_over(j_common_ptr info, int level) {
    (void)info;
    (void)level;
}

/* Doubles the room; what is written goes on behind what there is. */
static void grow(j_compress_ptr info) {
    dunlin_jpeg_encoder *encoder = info->client_data;
    size_t capacity = encoder->capacity * 2 + 16384;
    uint8_t *output = realloc(encoder->output, capacity);
    if (!output) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    encoder->destination.next_output_byte = output + encoder->capacity;
    encoder->destination.free_in_buffer = capacity - encoder->capacity;
    encoder->output = output;
    encoder->capacity = capacity;
}

static boolean empty_output(j_compress_ptr info) {
    grow(info);
    return TRUE;
}

static void end_output(j_compress_ptr info) {
    dunlin_jpeg_encoder *encoder = info->client_data;
    encoder->count = encoder->capacity - encoder->destination.free_in_buffer;
}

static void set_parameters(
    struct jpeg_compress_struct *info, uint32_t width, uint32_t height, int quality, bool is_fine,
    bool is_progressive) {
    info->image_width = width;
    info->image_height = height;
    info->input_components = 4;
    info->in_color_space = JCS_EXT_RGBX;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, quality, TRUE);
    if (is_fine) info->comp_info[0].h_samp_factor = info->comp_info[0].v_samp_factor = 1;
    if (is_progressive) jpeg_simple_progression(info);
}

dunlin_jpeg_encoder *dunlin_jpeg_encoder_open(
    uint32_t width, uint32_t height, int quality, bool is_fine, bool is_progressive, const uint8_t *profile,
    uint32_t profile_count) {
    dunlin_jpeg_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) return NULL;
    encoder->info.err = jpeg_std_error(&encoder->errors);
    encoder->info.client_data = encoder;
    encoder->errors.error_exit = fail;
    encoder->errors.emit_message = pass_over;
    encoder->errors.output_message = be_silent;
    if (setjmp(encoder->jump)) {
        dunlin_jpeg_encoder_close(encoder);
        return NULL;
    }
    jpeg_create_compress(&encoder->info);
    encoder->destination.init_destination = grow;
    encoder->destination.empty_output_buffer = empty_output;
    encoder->destination.term_destination = end_output;
    encoder->info.dest = &encoder->destination;
    set_parameters(&encoder->info, width, height, quality, is_fine, is_progressive);
    jpeg_start_compress(&encoder->info, TRUE);
    if (profile_count > 0) jpeg_write_icc_profile(&encoder->info, profile, profile_count);
    return encoder;
}

void dunlin_jpeg_encoder_close(dunlin_jpeg_encoder *encoder) {
    if (!encoder) return;
    if (encoder->info.mem) jpeg_destroy_compress(&encoder->info);
    free(encoder->output);
    free(encoder);
}

const char *dunlin_jpeg_encoder_message(const dunlin_jpeg_encoder *encoder) { return encoder->message; }

int dunlin_jpeg_write_rows(dunlin_jpeg_encoder *encoder, const uint8_t *pixels, size_t stride, uint32_t rows) {
    struct jpeg_compress_struct *info = &encoder->info;
    if (setjmp(encoder->jump)) return encoder->status;
    for (uint32_t row = 0; row < rows && info->next_scanline < info->image_height; row++) {
        /* The library reads through this pointer and writes nothing. */
        JSAMPROW pointer = (JSAMPROW)(uintptr_t)(pixels + (size_t)row * stride);
        jpeg_write_scanlines(info, &pointer, 1);
    }
    if (info->next_scanline < info->image_height) return dunlin_jpeg_more;
    jpeg_finish_compress(info);
    return dunlin_jpeg_complete;
}

const uint8_t *dunlin_jpeg_encoder_output(const dunlin_jpeg_encoder *encoder, size_t *count) {
    *count = encoder->count;
    return encoder->output;
}
