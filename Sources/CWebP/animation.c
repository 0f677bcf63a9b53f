#include "CWebP.h"

#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>
#include <webp/demux.h>

struct dunlin_webp_animation {
    WebPAnimDecoder *decoder;
    uint8_t *input;
    size_t picture_size;
};

void dunlin_webp_animation_close(dunlin_webp_animation *animation) {
    if (!animation) return;
    WebPAnimDecoderDelete(animation->decoder);
    free(animation->input);
    free(animation);
}

static bool open_decoder(
    dunlin_webp_animation *animation, size_t count, bool is_premultiplied, dunlin_webp_animation_header *header) {
    WebPAnimDecoderOptions options;
    if (!WebPAnimDecoderOptionsInit(&options)) return false;
    options.color_mode = is_premultiplied ? MODE_rgbA : MODE_RGBA;
    options.use_threads = 0;
    const WebPData data = {animation->input, count};
    animation->decoder = WebPAnimDecoderNew(&data, &options);
    WebPAnimInfo info;
    if (!animation->decoder || !WebPAnimDecoderGetInfo(animation->decoder, &info)) return false;
    header->width = info.canvas_width;
    header->height = info.canvas_height;
    header->frames = info.frame_count;
    header->loops = info.loop_count;
    animation->picture_size = (size_t)info.canvas_width * info.canvas_height * 4;
    return true;
}

dunlin_webp_animation *dunlin_webp_animation_open(
    const uint8_t *input, size_t count, bool is_premultiplied, dunlin_webp_animation_header *header) {
    dunlin_webp_animation *animation = calloc(1, sizeof *animation);
    if (!animation) return NULL;
    animation->input = malloc(count);
    if (animation->input) {
        memcpy(animation->input, input, count);
        if (open_decoder(animation, count, is_premultiplied, header)) return animation;
    }
    dunlin_webp_animation_close(animation);
    return NULL;
}

int dunlin_webp_animation_next(dunlin_webp_animation *animation, uint8_t *pixels, int *end) {
    uint8_t *picture = NULL;
    if (!WebPAnimDecoderHasMoreFrames(animation->decoder)) return dunlin_webp_complete;
    if (!WebPAnimDecoderGetNext(animation->decoder, &picture, end)) return dunlin_webp_damaged;
    memcpy(pixels, picture, animation->picture_size);
    return dunlin_webp_more;
}
