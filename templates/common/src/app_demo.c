/* SPDX-License-Identifier: 0BSD */
/* Prints what the model '@prefix@' does on this board: is it bit-exact, how long does each layer
 * take, what does it say of the stored inputs. Lines that begin with "@aotc" are for programs. */
#include "@prefix@_app.h"

#if defined(__AVR__)
#include <avr/pgmspace.h>
#define SAY(text) say_from_flash(PSTR(text))

static void say_from_flash(const char *text)
{
    char c;
    while ((c = (char)pgm_read_byte(text++)) != 0) { @prefix@_port_write(&c, 1); }
}
#else
#define SAY(text) say(text)
#endif

static void say(const char *text)
{
    uint32_t length = 0;
    while (text[length] != 0) { ++length; }
    @prefix@_port_write(text, length);
}

static void say_number(uint64_t value)
{
    char digits[21];
    uint32_t at = (uint32_t)sizeof digits - 1u;
    digits[at] = 0;
    do {
        digits[--at] = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0u);
    say(digits + at);
}

static void say_integer(int32_t value)
{
    if (value < 0) { SAY("-"); }
    say_number(value < 0 ? (uint64_t)0 - (uint64_t)(int64_t)value : (uint64_t)value);
}

/* With four digits behind the point. */
static void say_float(float value)
{
    uint32_t part;
    if (value != value) {
        SAY("nan");
        return;
    }
    if (value < 0.0f) {
        SAY("-");
        value = -value;
    }
    if (value > 4e9f) {
        SAY("over 4000000000");
        return;
    }
    part = (uint32_t)((value - (float)(uint32_t)value) * 10000.0f + 0.5f);
    say_number((uint64_t)(uint32_t)value + (part >= 10000u ? 1u : 0u));
    if (part >= 10000u) { part = 0; }
    SAY(".");
    if (part < 1000u) { SAY("0"); }
    if (part < 100u) { SAY("0"); }
    if (part < 10u) { SAY("0"); }
    say_number(part);
}

#if @macro_prefix@_SELF_TEST

static int say_self_test(void)
{
    struct @prefix@_self_test_result result;
    const int failed = @prefix@_self_test(&result);
#ifdef @macro_prefix@_KERNEL_COUNT
    SAY("kernels: ");
    say_number(@macro_prefix@_KERNELS);
    SAY(" of ");
    say_number(@macro_prefix@_KERNEL_COUNT);
    SAY(" in assembly\n");
#endif
    SAY("self test: ");
    if (failed == 0 && result.layers == 0u) {
        SAY("nothing stored to compare with\n");
    } else if (failed == 0) {
        if (result.exact == result.layers) {
            SAY("bit-exact, ");
        } else if (result.exact == 0u) {
            SAY("float results within tolerance, ");
        } else {
            SAY("floats within tolerance, all others bit-exact, ");
        }
        say_number(result.layers);
        SAY(" results of layers\n");
    } else if (result.status != 0) {
        SAY("FAILED: the model returned status ");
        say_integer(result.status);
        SAY("\n");
    } else if (result.layer >= 0) {
        char name[64];
        @prefix@_layer_name(result.layer, name, (uint32_t)sizeof name);
        SAY("FAILED: the first layer that differs is ");
        say_integer(result.layer);
        SAY(", ");
        say(name);
        SAY("\n");
    } else {
        SAY("FAILED: a layer did not report its result\n");
    }
    SAY("@aotc self_test=");
    say_integer(failed);
    SAY(" layers=");
    say_number(result.layers);
    SAY(" exact=");
    say_number(result.exact);
    SAY(" first_difference=");
    say_integer(result.layer);
    SAY("\n");
    return failed;
}

static int32_t say_times(void)
{
    static uint64_t times[@macro_prefix@_CALL_COUNT + 1];
    uint64_t sum = 0;
    int32_t layer;
    const int32_t status = @prefix@_profile(times);
    for (layer = 0; layer < @macro_prefix@_CALL_COUNT; ++layer) {
        char name[64];
        @prefix@_layer_name(layer, name, (uint32_t)sizeof name);
        SAY("layer ");
        say_integer(layer);
        SAY(": ");
        say_number(times[layer]);
        SAY(" ");
        say(@prefix@_port_unit());
        SAY("  ");
        say(name);
        SAY("\n");
        sum += times[layer];
    }
    SAY("all layers: ");
    say_number(sum);
    SAY(" ");
    say(@prefix@_port_unit());
    SAY("\n");
    return status;
}

#endif

#define LABEL_COUNT @label_count@u

#if LABEL_COUNT
/* Each name ends with a null. */
#if defined(__AVR__)
#define READ_CHARACTER(at) ((char)pgm_read_byte(at))
static const char labels[] PROGMEM =
#else
#define READ_CHARACTER(at) (*(at))
static const char labels[] =
#endif
@label_names@;

static void say_label(uint32_t index)
{
    const char *at = labels;
    char c;
    for (; index > 0u; ++at) {
        if (READ_CHARACTER(at) == 0) { --index; }
    }
    for (; (c = READ_CHARACTER(at)) != 0; ++at) { @prefix@_port_write(&c, 1); }
}
#endif

/* The largest element of the first output, as an answer; all elements if they are few. */
static int32_t say_sample(uint32_t index)
{
    struct @prefix@_tensor tensor;
    uint64_t begin;
    uint64_t end;
    uint32_t element;
    uint32_t largest = 0;
    int32_t status;
    @prefix@_load_sample(index);
    begin = @prefix@_port_now();
    status = @prefix@_app_run();
    end = @prefix@_port_now();
    if (status != 0) { return status; }
    tensor = @prefix@_app_output(0);
    for (element = 1; element < tensor.elements; ++element) {
        if (@prefix@_app_value(&tensor, element) > @prefix@_app_value(&tensor, largest)) {
            largest = element;
        }
    }
    SAY("input ");
    say_number(index);
    SAY(": element ");
    say_number(largest);
    SAY(" of ");
    say_number(tensor.elements);
    SAY(" is the largest, ");
#if LABEL_COUNT
    if (tensor.elements == LABEL_COUNT) {
        SAY("'");
        say_label(largest);
        SAY("', ");
    }
#endif
    say_float(@prefix@_app_value(&tensor, largest));
    SAY("; ");
    say_number(end - begin);
    SAY(" ");
    say(@prefix@_port_unit());
    SAY("\n@aotc sample=");
    say_number(index);
    SAY(" largest=");
    say_number(largest);
    SAY(" ");
    say(@prefix@_port_unit());
    SAY("=");
    say_number(end - begin);
    SAY("\n");
    return 0;
}

/* All but the last line. */
static int say_all(void)
{
    int failed = 0;
    uint32_t sample;
    SAY("@prefix@: arena ");
    say_number(@macro_prefix@_ARENA_SIZE);
    SAY(" bytes\n");
#if @macro_prefix@_SELF_TEST
    failed = say_self_test();
    if (failed == 0 && say_times() != 0) { failed = -1; }
#endif
    for (sample = 0; sample < @macro_prefix@_SAMPLE_COUNT && failed == 0; ++sample) {
        const int32_t status = say_sample(sample);
        if (status == 0) { continue; }
        SAY("the model returned status ");
        say_integer(status);
        SAY("\n");
        failed = -1;
    }
    return failed;
}

static int say_done(int failed)
{
    SAY("@aotc done status=");
    say_integer(failed);
    SAY("\n");
    return failed;
}

int @prefix@_demo(void)
{
    return say_done(say_all());
}

#ifdef @macro_prefix@_ROWS
int @prefix@_demo_with(int (*feed)(uint32_t *results))
{
    int failed = say_all();
    uint32_t results = 0;
    const int differs = feed(&results);
    SAY("fed row by row: ");
    if (differs == 0) {
        say_number(results);
        SAY(" results, the same as those of @prefix@_run\n");
    } else {
        SAY("FAILED: not the results of @prefix@_run\n");
        failed = -1;
    }
    SAY("@aotc fed=");
    say_integer(differs);
    SAY(" results=");
    say_number(results);
    SAY("\n");
    return say_done(failed);
}
#endif
