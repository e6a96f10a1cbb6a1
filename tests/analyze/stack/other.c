// SPDX-License-Identifier: Apache-2.0
// More of programs.c: what has a name from there.
#define APART __attribute__((noinline, noclone))

APART static void use(volatile char* bytes, int count) {
    int i;
    for (i = 0; i < count; ++i) { bytes[i] = (char)-i; }
}

// root: other_named_alike = other_named_alike + alike + use; proven
APART static int alike(int a) { volatile char bytes[160]; use(bytes, 160); return bytes[a]; }
int other_named_alike(int a) { return alike(a) - 1; }
