/* How a call ended: what libpng's errors do to it on both ways. */
#ifndef DUNLIN_CPNG_FAILURE_H
#define DUNLIN_CPNG_FAILURE_H

#include "CPNG.h"

#include <png.h>
#include <string.h>

struct outcome {
    int status;
    char message[96];
};

/* libpng's pointer for errors is to an outcome. */
static void fail(png_structp png, png_const_charp message) {
    struct outcome *outcome = png_get_error_ptr(png);
    strncpy(outcome->message, message, sizeof outcome->message - 1);
    if (outcome->status == dunlin_png_more) outcome->status = dunlin_png_damaged;
    png_longjmp(png, 1);
}

/* A warning is about something that libpng could mend or leave out. */
static void warn(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

#endif
