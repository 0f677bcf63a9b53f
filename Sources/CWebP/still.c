#include "CWebP.h"

#include <stdlib.h>
#include <webp/decode.h>

struct dunlin_webp_decoder {
    WebPDecoderConfig config;
    WebPIDecoder *incremental;
    uint32_t width;
    uint32_t height;
};

dunlin_webp_decoder *dunlin_webp_open(uint32_t width, uint32_t height, bool is_scaled, bool is_premultiplied) {
    dunlin_webp_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    if (!WebPInitDecoderConfig(&decoder->config)) {
        free(decoder);
        return NULL;
    }
    decoder->width = width;
    decoder->height = height;
    decoder->config.options.use_scaling = is_scaled;
    decoder->config.options.scaled_width = (int)width;
    decoder->config.options.scaled_height = (int)height;
    decoder->config.output.colorspace = is_premultiplied ? MODE_rgbA : MODE_RGBA;
    decoder->config.output.is_external_memory = 1;
    return decoder;
}

void dunlin_webp_close(dunlin_webp_decoder *decoder) {
    if (!decoder) return;
    WebPIDelete(decoder->incremental);
    WebPFreeDecBuffer(&decoder->config.output);
    free(decoder);
}

static int status_of(VP8StatusCode code, bool is_whole) {
    switch (code) {
    case VP8_STATUS_OK: return dunlin_webp_complete;
    case VP8_STATUS_SUSPENDED: return is_whole ? dunlin_webp_truncated : dunlin_webp_more;
    case VP8_STATUS_NOT_ENOUGH_DATA: return dunlin_webp_truncated;
    case VP8_STATUS_OUT_OF_MEMORY: return dunlin_webp_no_memory;
    default: return dunlin_webp_damaged;
    }
}

int dunlin_webp_read(
    dunlin_webp_decoder *decoder, const uint8_t *input, size_t end, size_t count, uint8_t *pixels, size_t stride) {
    /* The picture may lie elsewhere than in the last call. libwebp looks it up here each time it writes. */
    WebPRGBABuffer *buffer = &decoder->config.output.u.RGBA;
    buffer->rgba = pixels;
    buffer->stride = (int)stride;
    buffer->size = stride * decoder->height;
    if (!decoder->incremental) {
        decoder->incremental = WebPIDecode(NULL, 0, &decoder->config);
        if (!decoder->incremental) return dunlin_webp_no_memory;
    }
    VP8StatusCode code = WebPIUpdate(decoder->incremental, input, end);
    /* What libwebp takes for the picture may be another than the one whose header was read: then pixels are missing. */
    if (code == VP8_STATUS_OK
        && ((uint32_t)decoder->config.output.width != decoder->width
            || (uint32_t)decoder->config.output.height != decoder->height))
        return dunlin_webp_damaged;
    return status_of(code, end == count);
}
