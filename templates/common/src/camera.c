/* SPDX-License-Identifier: 0BSD */
/* Feeds images to the model '@prefix@' line by line, as a camera sends them: no image is in RAM as a
 * whole. camera_line is what a camera's driver does; here it sends the stored inputs. What is below
 * @prefix@_see compares the results with those of whole images, and is not for an application. */
#include "@prefix@_app.h"

/* Puts a line of an image to `line`, @macro_prefix@_ROW_BYTES bytes, as the elements of the model's
 * input. The place is a row of the model's own window, and DMA may write it; all of it has to be
 * there when this returns. Below 0 if no line comes. Yours asks the driver of your camera. */
static int32_t camera_line(uint32_t image, uint32_t number, void *line)
{
    @prefix@_read_samples(image * @prefix@_app_input(0).bytes + number * @macro_prefix@_ROW_BYTES, line,
                          @macro_prefix@_ROW_BYTES);
    return 0;
}

/* One image, from its first line to the result, which @prefix@_app_output(0) describes; 0, or the status
 * of what failed. A camera that does not wait needs a buffer for the lines that come while
 * @prefix@_feed computes. */
static int32_t @prefix@_see(uint32_t image)
{
    struct @prefix@_context run;
    uint32_t number = 0;
    int32_t status = @prefix@_app_begin(&run);

    while (status == @macro_prefix@_NEXT_ROW) {
        status = camera_line(image, number, @prefix@_row(&run));
        ++number;
        if (status == 0) { status = @prefix@_feed(&run); }
#ifdef @macro_prefix@_MORE
        /* Other work may be done between two slices. */
        while (status == @macro_prefix@_MORE) { status = @prefix@_step(&run); }
#endif
    }
    return status == @macro_prefix@_DONE ? 0 : status;
}

int @prefix@_feed_demo(uint32_t *results)
{
    uint32_t whole = 0;
    uint32_t fed = 0;
    uint32_t image;
    int32_t status = 0;

    for (image = 0; image < @macro_prefix@_SAMPLE_COUNT && status == 0; ++image) {
        @prefix@_load_sample(image);
        status = @prefix@_app_run();
        whole = @prefix@_app_checksum(whole);
    }
    for (image = 0; image < @macro_prefix@_SAMPLE_COUNT && status == 0; ++image) {
        status = @prefix@_see(image);
        fed = @prefix@_app_checksum(fed);
    }
    *results = image;
    return status == 0 && fed == whole ? 0 : -1;
}
