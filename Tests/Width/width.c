/* How many tests run at once. Swift Testing begins them all, three thousand, and each then waits for its turn on a few
 * threads: a test that takes milliseconds by itself takes minutes, and its limits with it. Eight for each processor
 * keep the processors busy, and leave a test's time its own: on two of them 8, 16 and 32 took 172, 162 and 168 seconds
 * beside other work.
 *
 * It is said here, in a constructor, and not in a script, so that it holds for `swift test` as anyone types it. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "TestWidth.h"

enum { per_processor = 8, fewest = 8, most = 64 };

static const char variable[] = "SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH";

__attribute__((constructor)) static void limit_width(void) {
    if (getenv(variable) != NULL) return;
    long width = sysconf(_SC_NPROCESSORS_ONLN) * per_processor;
    if (width < fewest) width = fewest;
    if (width > most) width = most;
    char text[16];
    snprintf(text, sizeof text, "%ld", width);
    setenv(variable, text, 1);
}
