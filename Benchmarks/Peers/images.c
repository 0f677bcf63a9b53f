/* images FILE TIMES: decodes a picture to RGBA with the library of its format, as its manual says, and prints the
 * processor time of the quickest and the median decode in microseconds, and a sum of the pixels. */
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gif_lib.h>
#include <jpeglib.h>
#include <png.h>
#include <webp/decode.h>

static const uint8_t *input;
static size_t count, position;
static uint32_t width, height;

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void read_png(png_structp png, png_bytep bytes, size_t wanted) {
    if (wanted > count - position) png_error(png, "truncated");
    memcpy(bytes, input + position, wanted);
    position += wanted;
}

static uint8_t *decode_png(void) {
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png))) fail("PNG");
    position = 0;
    png_set_read_fn(png, NULL, read_png);
    png_read_info(png, info);
    width = png_get_image_width(png, info);
    height = png_get_image_height(png, info);
    int has_alpha = (png_get_color_type(png, info) & PNG_COLOR_MASK_ALPHA) || png_get_valid(png, info, PNG_INFO_tRNS);
    png_set_scale_16(png);
    png_set_expand(png);
    png_set_gray_to_rgb(png);
    if (!has_alpha) png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    uint8_t *pixels = malloc((size_t)width * height * 4);
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t row = 0; row < height; row++) png_read_row(png, pixels + (size_t)row * width * 4, NULL);
    png_read_end(png, NULL);
    png_destroy_read_struct(&png, &info, NULL);
    return pixels;
}

static uint8_t *decode_jpeg(void) {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    info.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, input, count);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_EXT_RGBA;
    jpeg_start_decompress(&info);
    width = info.output_width;
    height = info.output_height;
    uint8_t *pixels = malloc((size_t)width * height * 4);
    while (info.output_scanline < height) {
        JSAMPROW rows[16];
        for (int index = 0; index < 16; index++)
            rows[index] = pixels + (size_t)(info.output_scanline + index < height ? info.output_scanline + index : 0) *
                                       width * 4;
        JDIMENSION left = height - info.output_scanline;
        jpeg_read_scanlines(&info, rows, left < 16 ? left : 16);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return pixels;
}

static uint8_t *decode_webp(void) {
    int wide, high;
    uint8_t *pixels = WebPDecodeRGBA(input, count, &wide, &high);
    width = (uint32_t)wide;
    height = (uint32_t)high;
    return pixels;
}

static int read_gif(GifFileType *file, GifByteType *bytes, int wanted) {
    (void)file;
    size_t left = count - position, taken = (size_t)wanted < left ? (size_t)wanted : left;
    memcpy(bytes, input + position, taken);
    position += taken;
    return (int)taken;
}

/* The first frame, which fills the screen. */
static uint8_t *decode_gif(void) {
    position = 0;
    GifFileType *file = DGifOpen(NULL, read_gif, NULL);
    GifRecordType type;
    do {
        if (!file || DGifGetRecordType(file, &type) != GIF_OK) fail("GIF");
        int code;
        GifByteType *block = NULL;
        if (type == EXTENSION_RECORD_TYPE) DGifGetExtension(file, &code, &block);
        while (block) DGifGetExtensionNext(file, &block);
    } while (type != IMAGE_DESC_RECORD_TYPE);
    if (DGifGetImageDesc(file) != GIF_OK) fail("GIF");
    width = (uint32_t)file->SWidth;
    height = (uint32_t)file->SHeight;
    const ColorMapObject *map = file->Image.ColorMap ? file->Image.ColorMap : file->SColorMap;
    uint8_t *pixels = malloc((size_t)width * height * 4), *line = malloc(width), *target = pixels;
    for (uint32_t row = 0; row < height; row++) {
        if (DGifGetLine(file, line, (int)width) != GIF_OK) fail("GIF");
        for (uint32_t column = 0; column < width; column++, target += 4) {
            const GifColorType *color = &map->Colors[line[column]];
            target[0] = color->Red;
            target[1] = color->Green;
            target[2] = color->Blue;
            target[3] = 255;
        }
    }
    free(line);
    DGifCloseFile(file, NULL);
    return pixels;
}

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return difference < 0 ? -1 : difference > 0;
}

static void *run(void *words) {
    char **argv = words;
    FILE *file = fopen(argv[1], "rb");
    if (!file) fail("no such file");
    uint8_t *bytes = malloc(1 << 28);
    count = fread(bytes, 1, 1 << 28, file);
    input = bytes;
    int times = atoi(argv[2]);
    double *taken = malloc(sizeof *taken * (size_t)times);
    uint32_t sum = 0;
    for (int index = 0; index < times; index++) {
        double start = microseconds();
        uint8_t *pixels = input[0] == 0x89   ? decode_png()
                          : input[0] == 0xff ? decode_jpeg()
                          : input[0] == 'R'  ? decode_webp()
                                             : decode_gif();
        taken[index] = microseconds() - start;
        sum = 0;
        for (size_t place = 0; place < (size_t)width * height * 4; place++) sum = sum * 31 + pixels[place];
        free(pixels);
    }
    qsort(taken, (size_t)times, sizeof *taken, compare);
    printf("%.0f %.0f %u\n", taken[0], taken[times / 2], sum);
    return NULL;
}

/* On a thread of its own, as a server's would be: glibc gives it an arena that grows and shrinks with each picture. */
int main(int argc, char **argv) {
    pthread_t thread;
    if (argc != 3) fail("images FILE TIMES");
    pthread_create(&thread, NULL, run, argv);
    pthread_join(thread, NULL);
    return 0;
}
