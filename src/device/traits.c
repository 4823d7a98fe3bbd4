/* Families of drivers. The numbers are those of the GPUs' register files, held against what their
 * compilers in Mesa 22.3 and 25.0 make of the library's shaders without a spill. */
#include "device/traits.h"

#include <string.h>

#define PASS_BYTES 262144 /* where a family says nothing */

struct family {
    const char *vendor, *renderer; /* parts of the driver's strings; NULL: any */
    struct glcnn_device_traits traits;
};

/* The first row that fits is taken. Layers on top of another driver name that driver too. */
static const struct family families[] = {
    /* llvmpipe's imageLoad takes less than half of its texelFetch. It stores float by float, each
     * at an address that waits for the float before: 350 cycles for 8 texels, a load takes 20. */
    {NULL,
     "llvmpipe",
     {"llvmpipe", 64, 8, .image_loads = true, .uniform_copies = true, .dear_stores = true,
      .recomputes_pixels = true, .buffered_stores = true, .rows_in_step = true,
      .floats_divide = true, .sums_round = true}},
    {NULL,
     "LLVMPIPE", /* through virgl */
     {"llvmpipe", 64, 8, .uniform_copies = true, .dear_stores = true, .recomputes_pixels = true}},
    {NULL, "softpipe", {"softpipe", 64, 4, .uniform_copies = true}},
    {NULL, "SwiftShader", {"swiftshader", 64, 4, .uniform_copies = true}},
    {NULL, "Mali-T", {"mali-midgard", 8, 1, .may_skip_programs = false}},
    /* From Mesa 25 on Panfrost loads the default block alone into registers: a member of another
     * is read from memory wherever it is used. On Mali-T such registers are those that a program
     * works with, and convolutions spill. */
    {NULL, "Mali-G", {"mali-bifrost", 14, 8, .plain_uniforms = true, .may_skip_programs = false}},
    {NULL,
     "V3D",
     {"v3d", 12, 16, .shared_memory = true, .plain_uniforms = true, .may_skip_programs = true}},
    {NULL, "Adreno", {"adreno", 14, 64, .shared_memory = true, .may_skip_programs = true}},
    {"freedreno", NULL, {"adreno", 14, 64, .shared_memory = true, .may_skip_programs = true}},
    {"nouveau", NULL, {"nouveau", 14, 32, .shared_memory = true, .uniform_copies = true}},
    /* Up-sampling and gradients of averages side by side take 0.7 of the time, waits take as much
     * of the processor as they last, and a pass costs 2.5 to 6 us at 4 TB/s (H200). A pass that
     * reads mapped memory takes the time that the bus takes: with an upload of 12.8 MB a step of
     * 1.25 ms takes 1.54, and 1.30 where the driver copies the bytes. Halves that are packed take 0.84
     * to 0.95 of the time of those that sums round. */
    {"NVIDIA",
     NULL,
     {"nvidia", 60, 32, .shared_memory = true, .uniform_copies = true, .recomputes_pixels = true,
      .large_groups = true, .busy_waits = true, .floats_divide = true, .sums_round = true,
      .packs_halves = true, .fine_exp2 = true, .background_copies = true, .pass_bytes = 16777216}},
};

static const struct glcnn_device_traits unknown = {"unknown", 8, 1, .may_skip_programs = true};

static bool has(const char *text, const char *part)
{
    return !part || (text && strstr(text, part));
}

static const struct glcnn_device_traits *find_family(const char *vendor, const char *renderer)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (has(vendor, families[i].vendor) && has(renderer, families[i].renderer))
            return &families[i].traits;
    return &unknown;
}

struct glcnn_device_traits traits_find(const char *vendor, const char *renderer)
{
    struct glcnn_device_traits traits = *find_family(vendor, renderer);
    traits.pass_bytes = traits.pass_bytes ? traits.pass_bytes : PASS_BYTES;
    return traits;
}
