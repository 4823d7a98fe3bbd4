/* Looking through descriptors. */
#include "encode/descriptor.h"

#include <string.h>

#include "record/plan.h"

const struct glcnn_descriptor *descriptor_find(const char *name)
{
    for (size_t i = 0; name && glcnn_registry[i]; i++)
        if (strcmp(glcnn_registry[i]->name, name) == 0)
            return glcnn_registry[i];
    return NULL;
}

/* The names do not fit: the nearest alone is told. */
void descriptor_suggest(const char *name, char text[SUGGESTION])
{
    const char *names[512];
    size_t count = 0;
    for (; glcnn_registry[count] && count < sizeof names / sizeof *names; count++)
        names[count] = glcnn_registry[count]->name;
    glcnn_suggest(name ? name : "", name ? strlen(name) : 0, names, count, text, SUGGESTION);
}

/* ---- Arguments ---- */

const struct argument descriptor_image_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {0}};

const struct argument descriptor_gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {0}};

int descriptor_argument(const struct glcnn_descriptor *descriptor, const char *name)
{
    for (int i = 0; i < MAX_ARGUMENTS && descriptor->arguments[i].name; i++)
        if (strcmp(descriptor->arguments[i].name, name) == 0)
            return i;
    return -1;
}

int descriptor_place(const struct glcnn_descriptor *descriptor, enum argument_place place)
{
    for (int i = 0; i < MAX_ARGUMENTS && descriptor->arguments[i].name; i++)
        if (descriptor->arguments[i].place == place)
            return i;
    return -1;
}

const struct argument *descriptor_argument_at(const struct glcnn_descriptor *descriptor,
                                              size_t index)
{
    const struct argument *argument = descriptor->arguments;
    while (argument->name && index-- > 0)
        argument++;
    return argument->name ? argument : NULL;
}

const char *descriptor_filler(const struct glcnn_descriptor *descriptor,
                              const struct argument *argument)
{
    return argument->forward_fills ? descriptor->forward : argument->filled_by;
}

/* ---- What graphs ask ---- */

const char *descriptor_without_gradient(const struct glcnn_descriptor *descriptor)
{
    return descriptor->forward ? "it is a gradient itself" : descriptor->without_gradient;
}

bool descriptor_always(const void *parameters)
{
    (void)parameters;
    return true;
}

void descriptor_plan(const struct operation *operation, struct plan *plan)
{
    implementation_plan(plan, operation->descriptor->implementations[0], operation);
}

struct operands operation_operands(const struct operation *operation)
{
    static const struct operands unary = {PLACE_SOURCE, PLACE_SOURCE};
    const struct glcnn_descriptor *d = operation->descriptor;
    return d->operands ? d->operands(operation->parameters) : unary;
}

void operation_retain(const struct operation *o, struct plan *plan)
{
    for (size_t i = 0; descriptor_argument_at(o->descriptor, i); i++) {
        if (o->images[i].storage)
            plan_retain_storage(plan, o->images[i].storage);
        if (o->vectors[i].buffer)
            plan_retain_buffer(plan, o->vectors[i].buffer);
    }
}
