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
    /* Where it paused, and what was learned of the next picture until then. */
    bool is_paused;
    bool is_in_extension;
    GraphicsControlBlock control;
};

/* A millisecond's worth. */
static const int blocks_of_a_call = 4096;
static const GraphicsControlBlock no_control = {.TransparentColor = NO_TRANSPARENT_COLOR};

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

/* Begins an extension, or reads on in one; what says how the next picture is shown is kept. */
static int read_extension(dunlin_gif_decoder *decoder, int *blocks) {
    GifFileType *file = decoder->file;
    GifByteType *block = NULL;
    if (!decoder->is_in_extension) {
        int code = 0;
        if (DGifGetExtension(file, &code, &block) != GIF_OK) return failure(decoder, file->Error);
        if (block && code == GRAPHICS_EXT_FUNC_CODE && block[0] == 4)
            DGifExtensionToGCB(block[0], block + 1, &decoder->control);
        if (!block) return dunlin_gif_more;
        decoder->is_in_extension = true;
    }
    do {
        /* The caller pauses in the middle of it. */
        if (--*blocks <= 0) return dunlin_gif_more;
        if (DGifGetExtensionNext(file, &block) != GIF_OK) return failure(decoder, file->Error);
    } while (block);
    decoder->is_in_extension = false;
    return dunlin_gif_more;
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

static int begin_picture(dunlin_gif_decoder *decoder, dunlin_gif_frame *frame) {
    GifFileType *file = decoder->file;
    const GraphicsControlBlock *control = &decoder->control;
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
    /* What was read last: the blocks come next. */
    frame->code_size = decoder->input[decoder->position - 1];
    decoder->has_picture = true;
    return dunlin_gif_more;
}

int dunlin_gif_next(dunlin_gif_decoder *decoder, const uint8_t *input, size_t count, dunlin_gif_frame *frame) {
    GifFileType *file = decoder->file;
    begin(decoder, input, count);
    if (!decoder->is_paused) decoder->control = no_control;
    decoder->is_paused = false;
    for (int blocks = blocks_of_a_call; blocks > 0; blocks--) {
        GifRecordType type = EXTENSION_RECORD_TYPE;
        if (!decoder->is_in_extension) {
            /* Many files end without their last byte. */
            if (decoder->position == count && decoder->has_picture) return dunlin_gif_complete;
            if (DGifGetRecordType(file, &type) != GIF_OK) return failure(decoder, file->Error);
        }
        switch (type) {
        case TERMINATE_RECORD_TYPE: return dunlin_gif_complete;
        case IMAGE_DESC_RECORD_TYPE: return begin_picture(decoder, frame);
        case EXTENSION_RECORD_TYPE: {
            int status = read_extension(decoder, &blocks);
            if (status != dunlin_gif_more) return status;
            break;
        }
        default: return dunlin_gif_damaged;
        }
    }
    decoder->is_paused = true;
    return dunlin_gif_paused;
}

int dunlin_gif_block(
    dunlin_gif_decoder *decoder, const uint8_t *input, size_t count, uint8_t *block, uint32_t *length) {
    GifByteType *found = NULL;
    begin(decoder, input, count);
    if (DGifGetCodeNext(decoder->file, &found) != GIF_OK) return failure(decoder, decoder->file->Error);
    if (!found) return dunlin_gif_complete;
    *length = found[0];
    memcpy(block, found + 1, found[0]);
    return dunlin_gif_more;
}
