#include <stdint.h>

/* Headers declare what is nobody's here, and helpers. */
int32_t declared_in_header(const int8_t *a, int8_t *out);
int32_t exported(const int8_t *a, int8_t *out);
static inline int32_t helper(const int8_t *a) { return a[0]; }
