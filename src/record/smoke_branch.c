/* The branch of main that smoke tests take. */
#include "record/smoke_branch.h"

int smoke_branch_buffer(const struct pass *pass)
{
    for (uint32_t i = 0; i < pass->buffer_count; i++)
        if (pass->buffers[i].access & VECTOR_WRITE)
            return (int)i;
    return -1;
}

void smoke_branch_add(struct text *source, const struct pass *pass)
{
    int buffer = smoke_branch_buffer(pass);
    text_format(source, "    if (grid_base.x < 0) {\n");
    if (buffer >= 0)
        text_format(source, "        %s[0] = %s(grid_base.y);\n", pass->buffers[buffer].name,
                    pass->buffers[buffer].type);
    else
        text_format(source, "        imageStore(%s_image, ivec3(0), %s(vec4(grid_base.y)%s));\n",
                    pass->images[0].name,
                    pass_packs(pass, pass->images[0].view.storage) ? "float16_bits" : "",
                    is_unorm8(&pass->images[0]) ? " / 255.0" : "");
    text_format(source, "        return;\n    }\n");
}
