/* Last-block reductions of pixels: a run to a work group, whose lanes share it, and the last group that
 * is done merges all runs of its slice. There is one pass where the portable rows have several. */
#include "kernels/pixel_reduction.h"

#define LANES 128u

/* The group that merges the runs has a lane for each. */
static const struct pixel_cut cut = {.runs = 1024, .fewest = 1, .most = LANES, .pixels = 4 * LANES};

struct form {
    uint32_t pixels; /* that a lane takes together */
    bool divides;    /* finds each pixel by divisions, in place of sums */
};
static const struct form of_one_image = {8, false}, of_two_images = {4, true};

/* Rows are dealt to runs in turn, `turn_rows` at a time: as many as fill a block of every lane. */
static void pass_turns(struct pass *pass, const struct pixel_reduction *r, uint32_t span,
                       uint32_t pixels)
{
    uint32_t rows = LANES * pixels / r->row_pixels, turns = groups_of(span, rows ? rows : 1);
    pass_int(pass, "turn_rows", (int32_t)groups_of(span, turns));
    pass_int(pass, "turns", (int32_t)turns);
}

static void pass_lanes(struct pass *pass, const struct form *form)
{
    pass_define(pass, "LANES", (int)LANES);
    pass_define(pass, "BLOCK", (int)form->pixels);
    if (form->divides)
        pass_define(pass, "DIVIDES", 1);
    pass_local(pass, LANES, 1, 1);
    pass->cooperative = true;
}

static void plan_last_block(struct plan *plan, const struct implementation *row,
                            const void *reduction)
{
    const struct pixel_reduction *r = reduction;
    const struct form *form = row->form;
    uint32_t span = pixel_reduction_span(r, &cut), runs = groups_of(r->rows, span);
    uint32_t slices = slice_count(r->source->channels);
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_grid(pass, runs * LANES, slices, r->groups);
    pass_texture(pass, "source", r->source);
    pass_runs(pass, r, span, runs);
    pass_last_block(plan, pass,
                    &(struct block_results){slices, r->groups, runs, 4 * r->kind->quantities});
    pass->work = span * r->row_pixels * 8 / LANES;
    pass_lanes(pass, form);
    if (r->read)
        r->read(pass, r->of);
    pass_turns(pass, r, span, form->pixels);
    pass_library(pass, r->kind->library);
    r->write(pass, r->of);
}

const struct implementation_list glcnn_desktop_statistics = {
    "normalization_statistics",
    (const struct implementation[]){{"statistics_last_block", "desktop/statistics_last_block.comp",
                                     32, .shared_memory = true, .plan = plan_last_block,
                                     .form = &of_one_image},
                                    {0}}};

const struct implementation_list glcnn_desktop_sums = {
    "normalization_sums",
    (const struct implementation[]){{"sums_last_block", "desktop/sums_last_block.comp", 32,
                                     .shared_memory = true, .buffers = 8, .plan = plan_last_block,
                                     .form = &of_two_images},
                                    {0}}};

const struct implementation_list glcnn_desktop_slopes = {
    "neuron_slopes", (const struct implementation[]){
                         {"slopes_last_block", "desktop/slopes_last_block.comp", 32,
                          .shared_memory = true, .plan = plan_last_block, .form = &of_two_images},
                         {0}}};
