/* Families of drivers. The numbers are those of the GPUs' register files, held against what their
 * compilers in Mesa 22.3 and 25.0 make of the library's shaders without a spill. */
#include "device/traits.h"

#include <stdio.h>
#include <string.h>

#include "device/quirks.h"

#define PASS_BYTES 262144 /* where a family says nothing */

struct family {
    const char *vendor, *renderer; /* parts of the driver's strings; NULL: any */
    struct glcnn_device_traits traits;
};

#define NOUVEAU                                                                                    \
    {                                                                                              \
        "nouveau", 14, 32, .shared_memory = true, .uniform_copies = true,                          \
                           .submits_dispatches = true                                              \
    }

/* The first row that fits is taken. Layers on top of another driver name that driver too. */
static const struct family families[] = {
    /* llvmpipe's imageLoad computes fewer addresses than its texelFetch. It stores float by float,
     * each at an address that waits for the float before. */
    {NULL,
     "llvmpipe",
     {"llvmpipe", 64, 8, .image_loads = true, .uniform_copies = true, .slow_image_stores = true,
      .recomputes_pixels = true, .stores_via_buffer = true, .subgroups_along_x = true,
      .float_division = true}},
    {NULL,
     "LLVMPIPE", /* through virgl */
     {"llvmpipe", 64, 8, .uniform_copies = true, .slow_image_stores = true,
      .recomputes_pixels = true}},
    {NULL, "softpipe", {"softpipe", 64, 4, .uniform_copies = true}},
    {NULL, "SwiftShader", {"swiftshader", 64, 4, .uniform_copies = true}},
    {NULL,
     "Mali-T",
     {"mali-midgard", 8, 1, .uniform_loads = true, .submits_dispatches = true,
      .may_skip_programs = true}},
    /* Panfrost flushes before and after each dispatch, V3D and nouveau behind each.
     * From Mesa 25 on Panfrost loads only the default block into registers: a member of another
     * is read from memory wherever it is used. On Mali-T such registers are those that a program
     * works with, and convolutions spill. */
    {NULL,
     "Mali-G",
     {"mali-bifrost", 14, 8, .plain_uniforms = true, .submits_dispatches = true,
      .may_skip_programs = true}},
    {NULL,
     "V3D",
     {"v3d", 12, 16, .shared_memory = true, .plain_uniforms = true, .uniform_loads = true,
      .submits_dispatches = true, .may_skip_programs = true}},
    /* Qualcomm's own driver multiplied wrongly in some groups of 64. */
    {"Qualcomm",
     "Adreno",
     {"adreno-qualcomm", 14, 64, .shared_memory = true, .miscomputes_8x8 = true,
      .may_skip_programs = true}},
    {NULL, "Adreno", {"adreno", 14, 64, .shared_memory = true, .may_skip_programs = true}},
    {"freedreno", NULL, {"adreno", 14, 64, .shared_memory = true, .may_skip_programs = true}},
    {"nouveau", NULL, NOUVEAU},
    /* Mesa 25 calls itself the vendor, and GPUs from Kepler on NVE.. and NV1... */
    {"Mesa", "NVE", NOUVEAU},
    {"Mesa", "NV1", NOUVEAU},
    /* NVIDIA's driver on a Tegra, whose GPU has few processors and shares the CPU's memory: like
     * nouveau's, and none of what follows, which is known of large GPUs only. */
    {"NVIDIA", "Tegra", {"tegra", 14, 32, .shared_memory = true, .uniform_copies = true}},
    /* The driver's waits spin for as long as they last. A pass that reads mapped memory takes the time
     * that the bus takes, so uploads are given to the driver to copy. */
    {"NVIDIA",
     NULL,
     {"nvidia", 60, 32, .shared_memory = true, .uniform_copies = true, .recomputes_pixels = true,
      .large_groups = true, .spin_waits = true, .float_division = true, .packs_float16 = true,
      .accurate_exp2 = true, .async_uploads = true, .pass_bytes = 16777216}},
};

static const struct glcnn_device_traits unknown = {"unknown", 8, 1, .may_skip_programs = true};

static bool has(const char *text, const char *part)
{
    return !part || (text && strstr(text, part));
}

static struct glcnn_device_traits complete(const struct glcnn_device_traits *of)
{
    struct glcnn_device_traits traits = *of;
    traits.pass_bytes = traits.pass_bytes ? traits.pass_bytes : PASS_BYTES;
    return traits;
}

static const struct glcnn_device_traits *family_of(const char *vendor, const char *renderer)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (has(vendor, families[i].vendor) && has(renderer, families[i].renderer))
            return &families[i].traits;
    return &unknown;
}

struct glcnn_device_traits traits_find(const char *vendor, const char *renderer)
{
    struct glcnn_device_traits traits = complete(family_of(vendor, renderer));
    quirks_apply(vendor, renderer, &traits);
    return traits;
}

bool traits_of_name(const char *name, struct glcnn_device_traits *traits)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(name, families[i].traits.family) == 0) {
            *traits = complete(&families[i].traits);
            return true;
        }
    *traits = traits_find(name, name);
    return strcmp(traits->family, unknown.family) != 0 || strcmp(name, unknown.family) == 0;
}

void traits_list(char *text, size_t size)
{
    const char *last = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof families / sizeof *families && used < size; i++) {
        const char *family = families[i].traits.family;
        if (strcmp(family, last) != 0)
            used += (size_t)snprintf(text + used, size - used, "%s, ", family);
        last = family;
    }
    if (used < size)
        snprintf(text + used, size - used, "%s", unknown.family);
}
