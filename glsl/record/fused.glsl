// The sizes of NAME, which is fused into its readers: those of what it is made of, NAME_source.
#define NAME_width NAME_source_width
#define NAME_height NAME_source_height
#define NAME_channels NAME_source_channels
#define NAME_slices NAME_source_slices
#define NAME_images NAME_source_images

vec4 NAME(int x, int y, int slice, int image);

// As a float16 image would have it: a plan that stores NAME gives the same values.
#ifdef NAME_float16
#define NAME_stored(v) round_to_float16(v)
#else
#define NAME_stored(v) v
#endif

// As record/view.glsl and record/texture.glsl have them, for bodies that keep a row's place.
ivec3 NAME_place(int slice, int image) { return ivec3(0, 0, image); }

vec4 NAME_at(ivec3 place, int x, int y, int slice) {
    return NAME(place.x + x, place.y + y, slice, place.z);
}
