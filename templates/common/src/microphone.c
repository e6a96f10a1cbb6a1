/* SPDX-License-Identifier: 0BSD */
/* Feeds frames to the model '@prefix@' as a microphone sends them: with every @macro_prefix@_STEP of them there
 * is a result, that of the last @macro_prefix@_ROWS. microphone_frame is what a microphone's driver does, with
 * what makes features of its samples; here it sends the stored inputs, one behind the other. What is
 * below @prefix@_listen compares the results with those of whole windows, and is not for an application. */
#include "@prefix@_app.h"

#define FRAMES ((uint32_t)@macro_prefix@_ROWS * @macro_prefix@_SAMPLE_COUNT)

static uint32_t frames_sent;
static uint32_t results_heard;
static uint32_t checksum_heard;

/* Puts the next frame to `frame`, @macro_prefix@_ROW_BYTES bytes, as the elements of the model's input. The
 * place is a row of the model's own window, and DMA may write it; all of it has to be there when
 * this returns. Below 0 if no more come. Yours waits for the driver of your microphone. */
static int32_t microphone_frame(void *frame)
{
    if (frames_sent == FRAMES) { return -1; }
    @prefix@_read_samples(frames_sent * @macro_prefix@_ROW_BYTES, frame, @macro_prefix@_ROW_BYTES);
    ++frames_sent;
    return 0;
}

/* There is a result: @prefix@_app_output(0) describes it. Yours does what follows from it. */
static void heard(void)
{
    checksum_heard = @prefix@_app_checksum(checksum_heard);
    ++results_heard;
}

/* Listens as long as frames come; 0, or the status of what failed. The arena is the model's all the time:
 * @macro_prefix@_KEPT_SIZE bytes of it are kept from frame to frame. */
static int32_t @prefix@_listen(void)
{
    struct @prefix@_context run;
    int32_t status = @prefix@_app_begin(&run);

    while (status >= 0 && microphone_frame(@prefix@_row(&run)) == 0) {
        status = @prefix@_feed(&run);
#ifdef @macro_prefix@_MORE
        /* Other work may be done between two slices. */
        while (status == @macro_prefix@_MORE) { status = @prefix@_step(&run); }
#endif
        if (status == @macro_prefix@_DONE) { heard(); }
    }
    return status < 0 ? status : 0;
}

int @prefix@_feed_demo(uint32_t *results)
{
    const struct @prefix@_tensor window = @prefix@_app_input(0);
    uint32_t whole = 0;
    uint32_t windows = 0;
    uint32_t first;
    int32_t status = 0;

    for (first = 0; first + @macro_prefix@_ROWS <= FRAMES && status == 0; first += @macro_prefix@_STEP) {
        @prefix@_read_samples(first * @macro_prefix@_ROW_BYTES, window.data, window.bytes);
        status = @prefix@_app_run();
        whole = @prefix@_app_checksum(whole);
        ++windows;
    }
    frames_sent = 0;
    results_heard = 0;
    checksum_heard = 0;
    if (status == 0) { status = @prefix@_listen(); }
    *results = results_heard;
    return status == 0 && results_heard == windows && checksum_heard == whole ? 0 : -1;
}
