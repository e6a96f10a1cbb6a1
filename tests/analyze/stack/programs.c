// SPDX-License-Identifier: Apache-2.0
// Small programs whose stack is known: a line `root: NAME = F + G` says that the bound of NAME is the sum of
// what gcc says of these functions (-fstack-usage); `|` is the larger one. Then come the state and the kinds
// of problems.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))

volatile int sink;
volatile int source;

APART static void use(volatile char* bytes, int count) {
    int i;
    for (i = 0; i < count; ++i) { bytes[i] = (char)i; }
}

// root: nothing = nothing; proven
void nothing(void) { sink = 1; }

APART static int third(int a) {
    volatile char bytes[40];
    use(bytes, 40);
    return a + bytes[3];
}

APART static int second(int a) {
    volatile char bytes[20];
    use(bytes, 20);
    return third(a) + bytes[2];
}

// root: chain = chain + second + third + use; proven
int chain(int a) { return second(a) + 1; }

// root: recursive; unbounded recursion
APART int recursive(int a) {
    if (a < 2) { return a; }
    return recursive(a - 1) + recursive(a - 2);
}

int mutual_second(int a);
// root: mutual; unbounded recursion
APART int mutual(int a) { return a > 0 ? mutual_second(a - 1) + 1 : 0; }
APART int mutual_second(int a) { return a > 0 ? mutual(a - 2) * 3 : 1; }

// root: variable; unbounded stack-pointer
int variable(int count) {
    volatile char bytes[count];
    use(bytes, count);
    return bytes[count / 2];
}

// root: alloca_of; unbounded stack-pointer
int alloca_of(int count) {
    volatile char* bytes = __builtin_alloca((size_t)count);
    use(bytes, count);
    return bytes[0] + third(count);
}

// root: switched = switched + (second + third | third) + use; proven
int switched(int a) {
    switch (a) {
        case 0: return third(a) + 1;
        case 1: return second(a) * 2;
        case 2: sink = 7; return third(9);
        case 3: sink = 8; return second(7) - 1;
        case 4: return third(3) ^ 55;
        case 5: sink = 9; return second(4);
        case 6: return third(2) + 80;
        case 7: sink = 10; return third(1) - 5;
        case 8: return second(2) & 12;
        default: return 0;
    }
}

typedef int (*function)(int);
APART static int of_table_a(int a) { volatile char bytes[64]; use(bytes, 64); return bytes[a]; }
APART static int of_table_b(int a) { volatile char bytes[100]; use(bytes, 100); return bytes[a]; }
APART static int of_table_c(int a) { return a + source; }
static const function table[3] = {of_table_a, of_table_b, of_table_c};

// root: through_table >= through_table + of_table_b + use; assumed indirect-call
int through_table(int a) { return table[a](a) + 1; }

// root: through_parameter >= through_parameter + of_table_b + use; assumed indirect-call
int through_parameter(function f) { return f(1) * 3; }

// root: tail_pointer >= of_table_b + use; assumed indirect-call
int tail_pointer(function f) { return f(1); }

APART static int large(int a) { volatile char bytes[200]; use(bytes, 200); return bytes[a]; }
// v6-M makes no jump of it.
// root: tail = (tail + third | large) + use or tail + (third | large) + use; proven
int tail(int a) { int b = third(a); return large(b); }

// root: huge = huge + use; proven
int huge(int a) { volatile char bytes[5000]; use(bytes, 5000); return bytes[a]; }

// root: variadic >= 0; proven
APART static int sum_of(int count, ...) {
    va_list list;
    int sum = 0;
    va_start(list, count);
    while (count-- > 0) { sum += va_arg(list, int); }
    va_end(list);
    return sum;
}
int variadic(int a) { return sum_of(5, a, a + 1, a + 2, a + 3, a + 4); }

__attribute__((noreturn)) APART static void never(int a) {
    volatile char bytes[64];
    use(bytes, 64);
    for (;;) { sink = a; }
}
// root: gives_up = gives_up + (never | third) + use; proven
int gives_up(int a) {
    if (a < 0) { never(a); }
    return third(a) * 2;
}

// root: doubles >= doubles; proven
double doubles(double a, double b) { return a * b + a / b; }
// root: longs >= longs; proven
int64_t longs(int64_t a, int64_t b) { return a / (b | 1) + a * b; }

// root: copies >= copies; proven
int copies(const char* from, unsigned count) {
    char bytes[48];
    memcpy(bytes, from, count % 48);
    return bytes[count % 48] + (int)strlen(from);
}

// The same name in another file, with another frame.
// root: named_alike = named_alike + alike + use; proven
APART static int alike(int a) { volatile char bytes[16]; use(bytes, 16); return bytes[a]; }
int named_alike(int a) { return alike(a) + 1; }

#ifndef __AVR__
// root: aligned <= aligned + use; proven
int aligned(int a) {
    volatile char bytes[32] __attribute__((aligned(64)));
    use(bytes, 32);
    return bytes[a];
}
#endif

// A range that is larger than the table behind it.
// root: ranged = ranged + (second + third | third) + use; proven
int ranged(int a) {
    unsigned b = (unsigned)(a & 15) - 4u;
    if (b > 4u) { return 1; }
    sink = a;
    switch (b) {
        case 0: return third(a) + 1;
        case 1: return second(a) * 2;
        case 2: sink = 7; return third(9);
        case 3: sink = 8; return second(7) - 1;
        default: return third(3) ^ 55;
    }
}

// A pointer that another function may change is no constant.
APART static void changes(function* f) { if (source) { *f = of_table_b; } }
// root: changed >= changed + of_table_b + use; assumed indirect-call
int changed(int a) {
    function f = of_table_a;
    changes(&f);
    return f(a) + 1;
}

#ifndef __AVR__
extern void absent(void) __attribute__((weak));
// root: calls_absent = calls_absent + third + use; proven
int calls_absent(int a) {
    if (absent != 0) { absent(); }
    return third(a) + 1;
}
#endif

void start(void) { sink = source; }
