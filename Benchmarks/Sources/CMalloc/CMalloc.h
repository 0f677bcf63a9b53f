/* What glibc tells of its heap. No logic. */
#include <malloc.h>
