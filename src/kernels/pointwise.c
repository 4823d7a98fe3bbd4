/* The pass of kernels whose results read one source pixel each, and its implementations. */
#include "encode/window.h"
#include "kernels/elements.h"
#include "kernels/pointwise.h"

#define COLUMNS 4u /* of an invocation, at most */

/* Several columns to an invocation save the work that they share, but a narrow region would leave
 * too few invocations side by side. */
static uint32_t columns_at_once(uint32_t width, uint32_t most)
{
    return least(width >= 12 ? 4 : width >= 6 ? 2 : 1, most);
}

/* Sources that the pass makes itself, where registers are few: each takes those of a column. */
static uint32_t sources_made(const struct plan *plan, const struct operation *o)
{
    uint32_t made = 0;
    if (plan->device->info.traits.submits_dispatches)
        for (size_t i = 0; i < MAX_ARGUMENTS; i++)
            made += o->images[i].storage && o->images[i].storage->producer;
    return made;
}

/* A loop is unrolled if the compiler knows how many columns an invocation has. */
static const bool unrolled = true, looped = false;

const struct implementation_list pointwise_rows = {
    "pointwise",
    (const struct implementation[]){{"pointwise_unrolled", .registers = 12, .form = &unrolled},
                                    {"pointwise_loop", .registers = 8, .form = &looped},
                                    {0}}};

struct pass *plan_columns(struct plan *plan, const struct operation *operation, const char *shader,
                          const struct image_view *destination, uint32_t most)
{
    uint32_t made = sources_made(plan, operation);
    uint32_t columns =
        columns_at_once(operation->region_width, most > made ? most / (1 + made) : 1);
    const struct implementation *row = implementation_choose(plan, &pointwise_rows, NULL);
    struct pass *pass = plan_pass(plan, shader);
    pass_implementation(pass, row);
    pass_grid_over(pass, groups_of(operation->region_width, columns), operation->region_height,
                   "destination", destination);
    pass_origin(pass, 0, operation->region_y, 0);
    pass_overwrites(pass, destination, operation->region_x, operation->region_y,
                    operation->region_width, operation->region_height, 1);
    (*(const bool *)row->form ? pass_define : pass_int)(pass, "PIXELS", (int)columns);
    pass_int(pass, "left", (int32_t)operation->region_x);
    pass_int(pass, "right", (int32_t)(operation->region_x + operation->region_width));
    return pass;
}

struct pass *plan_pointwise(struct plan *plan, const struct operation *operation,
                            const char *shader, const struct image_view *destination)
{
    return plan_columns(plan, operation, shader, destination, COLUMNS);
}

/* ---- Producer fusion ---- */

const struct implementation_list pointwise_pixels = {
    "pointwise_pixels",
    (const struct implementation[]){
        {"pixels_recomputed", .buffers = 16, .recomputes_pixels = true,
         .form = &fusion_forms[FUSION_PIXELS]},
        {"pixels_recomputed_once", .submits_dispatches = true, .form = &fusion_forms[FUSION_ONCE]},
        {"pixels_stored", .form = &fusion_forms[FUSION_NONE]},
        {0}}};

const struct implementation_list *const pointwise_implementations[] = {&pointwise_rows,
                                                                       &pointwise_pixels, NULL};

/* ---- Gathering ---- */

static bool stays_inside(const struct axis *axis, uint32_t size)
{
    return axis->first + axis->begin >= 0 && axis->first + axis->end <= (int32_t)size;
}

static bool is_direct(const struct axis *axis, uint32_t gradient, uint32_t source)
{
    return axis->first == 0 && axis->begin == 0 && axis->end == (int32_t)gradient &&
           gradient == source && axis->shift == 0;
}

bool pointwise_is_direct(const struct operation *operation, const struct image_view *gradient,
                         const struct image_view *source)
{
    const struct window *w = &operation->window;
    return is_direct(&w->x, gradient->width, source->width) &&
           is_direct(&w->y, gradient->height, source->height);
}

enum fusion pointwise_fusion_of(const struct operation *operation, struct plan *plan,
                                const struct image_view *source, const struct image_view *result)
{
    return pointwise_is_direct(operation, result, source)
               ? fusion_choose(plan, &pointwise_pixels, NULL)
               : FUSION_NONE;
}

void pass_gather(struct pass *pass, const struct operation *operation,
                 const struct image_view *gradient, const struct image_view *source)
{
    struct window window = operation->window;
    bool direct = pointwise_is_direct(operation, gradient, source) &&
                  operation->region_x + operation->region_width <= source->width &&
                  operation->region_y + operation->region_height <= source->height;
    if (!operation->state_driven)
        pass_define(pass, "BY_HAND", 1);
    else if (stays_inside(&window.x, source->width) && stays_inside(&window.y, source->height))
        window.edge_mode = GLCNN_EDGE_MODE_ZERO;
    pass_window(pass, &window);
    if (direct)
        pass_define(pass, "DIRECT", 1);
}

/* ---- Whole passes ---- */

struct pass *plan_pointwise_result(struct plan *plan, const struct operation *o, const char *shader)
{
    const struct image_view *result = &o->images[ELEMENT_RESULT];
    struct pass *pass = plan_pointwise(plan, o, shader, result);
    pass_texture(pass, "source", &o->images[ELEMENT_SOURCE]);
    pass_image(pass, "destination", result);
    pass_window(pass, &o->window);
    return pass;
}

struct pass *plan_pointwise_gradient(struct plan *plan, const struct operation *o,
                                     const char *shader)
{
    const struct image_view *gradient = &o->images[ELEMENT_GRADIENT];
    const struct image_view *source = &o->images[ELEMENT_IMAGE];
    const struct image_view *destination = &o->images[ELEMENT_DESTINATION];
    struct pass *pass = plan_pointwise(plan, o, shader, destination);
    pass_texture(pass, "gradient", gradient);
    pass_texture(pass, "source", source);
    pass_image(pass, "destination", destination);
    pass_gather(pass, o, gradient, source);
    return pass;
}
