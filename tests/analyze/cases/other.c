#include <stddef.h>
#include <stdint.h>

struct pair {
    int8_t first, second;
};
enum status { kDone };

void returns_void(const int8_t *a, int8_t *out);
enum status returns_enum(const int8_t *a, int8_t *out);
int16_t returns_short(const int8_t *a, int8_t *out);
int8_t *returns_pointer(const int8_t *a, int8_t *out);
int32_t no_parameters(void);
int32_t by_value(const int8_t *a, int32_t count, int8_t *out);
int32_t of_struct(const struct pair *a, int8_t *out);
int32_t of_text(const char *a, int8_t *out);
int32_t of_long(const long *a, int8_t *out);
int32_t of_pointers(const int8_t *const *a, int8_t *out);
int32_t of_function(int32_t (*f)(void), int8_t *out);
int32_t of_volatile(const volatile int8_t *a, int8_t *out);
int32_t variadic(const int8_t *a, ...);
int32_t no_prototype();
