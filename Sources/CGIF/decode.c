#include "CGIF.h"

#include <gif_lib.h>
#include <stdlib.h>
#include <string.h>

struct dunlin_gif_decoder {
    GifFileType *file;
    const uint8_t *input;
    size_t count;
    size_t position;
    bool has_ended;
    bool has_picture;
};

static int read_input(GifFileType *file, GifByteType *bytes, int wanted) {
    dunlin_gif_decoder *decoder = file->UserData;
    size_t left = decoder->count - decoder->position, count = wanted < 0 ? 0 : (size_t)wanted;
    if (count > left) {
        decoder->has_ended = true;
        count = left;
    }
    memcpy(bytes, decoder->input + decoder->position, count);
    decoder->position += count;
    return (int)count;
}

static void begin(dunlin_gif_decoder *decoder, const uint8_t *input, size_t count) {
    decoder->input = input;
    decoder->count = count;
}

static int failure(const dunlin_gif_decoder *decoder, int error) {
    if (error == D_GIF_ERR_NOT_ENOUGH_MEM) return dunlin_gif_no_memory;
    return decoder->has_ended ? dunlin_gif_truncated : dunlin_gif_damaged;
}

dunlin_gif_decoder *dunlin_gif_open(const uint8_t *input, size_t count, int *status) {
    dunlin_gif_decoder *decoder = calloc(1, sizeof *decoder);
    *status = dunlin_gif_no_memory;
    if (!decoder) return NULL;
    int error = 0;
    begin(decoder, input, count);
    decoder->file = DGifOpen(decoder, read_input, &error);
    if (decoder->file) {
        *status = dunlin_gif_more;
        return decoder;
    }
    *status = failure(decoder, error);
    free(decoder);
    return NULL;
}

void dunlin_gif_close(dunlin_gif_decoder *decoder) {
    if (!decoder) return;
    int error = 0;
    DGifCloseFile(decoder->file, &error);
    free(decoder);
}

const char *dunlin_gif_message(const dunlin_gif_decoder *decoder) {
    const char *message = GifErrorString(decoder->file->Error);
    return message ? message : "no reason given";
}

/* Reads an extension; one that says how the next picture is shown is kept. */
static bool read_extension(GifFileType *file, GraphicsControlBlock *control) {
    int code = 0;
    GifByteType *block = NULL;
    if (DGifGetExtension(file, &code, &block) != GIF_OK) return false;
    for (bool is_first = true; block; is_first = false) {
        if (is_first && code == GRAPHICS_EXT_FUNC_CODE && block[0] == 4)
            DGifExtensionToGCB(block[0], block + 1, control);
        if (DGifGetExtensionNext(file, &block) != GIF_OK) return false;
    }
    return true;
}

static bool set_palette(const GifFileType *file, const GraphicsControlBlock *control, dunlin_gif_frame *frame) {
    const ColorMapObject *map = file->Image.ColorMap ? file->Image.ColorMap : file->SColorMap;
    if (!map) return false;
    for (int index = 0; index < 256; index++) {
        uint8_t *entry = frame->palette + index * 4;
        if (index < map->ColorCount) {
            entry[0] = map->Colors[index].Red;
            entry[1] = map->Colors[index].Green;
            entry[2] = map->Colors[index].Blue;
        }
        entry[3] = 255;
    }
    if (control->TransparentColor >= 0 && control->TransparentColor < 256) {
        memset(frame->palette + control->TransparentColor * 4, 0, 4);
        frame->has_transparency = true;
    }
    return true;
}

static int begin_picture(dunlin_gif_decoder *decoder, const GraphicsControlBlock *control, dunlin_gif_frame *frame) {
    GifFileType *file = decoder->file;
    memset(frame, 0, sizeof *frame);
    if (DGifGetImageDesc(file) != GIF_OK) return failure(decoder, file->Error);
    frame->left = (uint32_t)file->Image.Left;
    frame->top = (uint32_t)file->Image.Top;
    frame->width = (uint32_t)file->Image.Width;
    frame->height = (uint32_t)file->Image.Height;
    frame->is_interlaced = file->Image.Interlace;
    frame->delay = (uint32_t)control->DelayTime;
    frame->disposal = (uint32_t)control->DisposalMode;
    if (!set_palette(file, control, frame)) {
        file->Error = D_GIF_ERR_NO_COLOR_MAP;
        return dunlin_gif_damaged;
    }
    decoder->has_picture = true;
    return dunlin_gif_more;
}

int dunlin_gif_next(dunlin_gif_decoder *decoder, const uint8_t *input, size_t count, dunlin_gif_frame *frame) {
    GifFileType *file = decoder->file;
    GraphicsControlBlock control = {.TransparentColor = NO_TRANSPARENT_COLOR};
    begin(decoder, input, count);
    for (;;) {
        GifRecordType type = UNDEFINED_RECORD_TYPE;
        /* Many files end without their last byte. */
        if (decoder->position == count && decoder->has_picture) return dunlin_gif_complete;
        if (DGifGetRecordType(file, &type) != GIF_OK) return failure(decoder, file->Error);
        switch (type) {
        case TERMINATE_RECORD_TYPE: return dunlin_gif_complete;
        case IMAGE_DESC_RECORD_TYPE: return begin_picture(decoder, &control, frame);
        case EXTENSION_RECORD_TYPE:
            if (!read_extension(file, &control)) return failure(decoder, file->Error);
            break;
        default: return dunlin_gif_damaged;
        }
    }
}

int dunlin_gif_row(dunlin_gif_decoder *decoder, const uint8_t *input, size_t count, uint8_t *row, uint32_t width) {
    begin(decoder, input, count);
    if (DGifGetLine(decoder->file, row, (int)width) == GIF_OK) return dunlin_gif_more;
    return failure(decoder, decoder->file->Error);
}

int dunlin_gif_skip(dunlin_gif_decoder *decoder, const uint8_t *input, size_t count) {
    int size = 0;
    GifByteType *block = NULL;
    begin(decoder, input, count);
    if (DGifGetCode(decoder->file, &size, &block) != GIF_OK) return failure(decoder, decoder->file->Error);
    while (block)
        if (DGifGetCodeNext(decoder->file, &block) != GIF_OK) return failure(decoder, decoder->file->Error);
    return dunlin_gif_more;
}
