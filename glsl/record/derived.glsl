// The sizes of NAME, which is made where it is read: those of what it is made of, NAME_source.
#define NAME_width NAME_source_width
#define NAME_height NAME_source_height
#define NAME_channels NAME_source_channels
#define NAME_slices NAME_source_slices
#define NAME_images NAME_source_images
