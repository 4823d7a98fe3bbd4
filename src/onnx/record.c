/* What is remembered of a model beyond its network: images, vectors, and the file without the data
 * that vectors have. */
#include "onnx/record.h"

#include <stdlib.h>
#include <string.h>

#include "onnx/view.h"

struct builder {
    struct glcnn_onnx_record record; /* first: the caller's pointer is to it */
    struct glcnn_onnx_image *inputs, *outputs;
    struct glcnn_onnx_parameter *parameters;
    struct glcnn_onnx_frozen *frozen;
    struct name_table frozen_names;
    uint8_t *skeleton;
};

bool record_begin(struct reader *reader)
{
    reader->builder = calloc(1, sizeof *reader->builder);
    return reader->builder || onnx_no_memory(reader);
}

static void free_text(const char *text)
{
    free((char *)(uintptr_t)text);
}

static void free_images(struct glcnn_onnx_image *images, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free_text(images[i].name);
    free(images);
}

void record_drop(struct builder *builder)
{
    if (!builder)
        return;
    for (size_t i = 0; i < builder->record.parameter_count; i++) {
        free_text(builder->parameters[i].name);
        free_text(builder->parameters[i].filter);
        free_text(builder->parameters[i].vector);
    }
    free(builder->parameters);
    for (size_t i = 0; i < builder->record.frozen_count; i++) {
        free_text(builder->frozen[i].name);
        free_text(builder->frozen[i].reason);
    }
    free(builder->frozen);
    name_table_free(&builder->frozen_names);
    free_images(builder->inputs, builder->record.input_count);
    free_images(builder->outputs, builder->record.output_count);
    free(builder->skeleton);
    free(builder);
}

void glcnn_onnx_record_destroy(struct glcnn_onnx_record **record)
{
    if (!record)
        return;
    record_drop((struct builder *)*record);
    *record = NULL;
}

/* One element more at the end of an array, whose capacity is the power of two that its count is
 * within. */
static void *longer(void *array, size_t count, size_t size)
{
    return count & (count - 1) ? array : realloc(array, (count ? 2 * count : 1) * size);
}

bool record_note(struct call *call, const char *filter, const char *vector,
                 const struct value *value, const struct layout *layout)
{
    struct builder *b = call->reader->builder;
    size_t count = b->record.parameter_count;
    struct glcnn_onnx_parameter *p = longer(b->parameters, count, sizeof *p);
    if (!p)
        return onnx_no_memory(call->reader);
    b->parameters = p;
    p += count;
    *p = (struct glcnn_onnx_parameter){.name = strdup(value->name),
                                       .filter = strdup(filter),
                                       .vector = strdup(vector),
                                       .rank = value->shape.rank,
                                       .axes = layout->axes,
                                       .offset = layout->offset,
                                       .scale = layout->scale == 0 ? 1 : layout->scale,
                                       .output_axis = layout->output_axis,
                                       .output_dimension = layout->output_dimension};
    memcpy(p->dimensions, value->shape.dims, sizeof p->dimensions);
    memcpy(p->size, layout->size, sizeof p->size);
    memcpy(p->stride, layout->stride, sizeof p->stride);
    b->record.parameter_count++;
    return (p->name && p->filter && p->vector) || onnx_no_memory(call->reader);
}

bool record_frozen(struct reader *reader, const char *name, const char *reason)
{
    struct builder *b = reader->builder;
    size_t count = b->record.frozen_count;
    if (name_table_find(&b->frozen_names, name) != NO_NAME)
        return true;
    struct glcnn_onnx_frozen *all = longer(b->frozen, count, sizeof *all);
    if (!all)
        return onnx_no_memory(reader);
    b->frozen = all;
    all[count] = (struct glcnn_onnx_frozen){strdup(name), strdup(reason)};
    b->record.frozen_count++;
    return (all[count].name && all[count].reason &&
            name_table_add(&b->frozen_names, all[count].name, count)) ||
           onnx_no_memory(reader);
}

static struct glcnn_onnx_image describe_image(const struct value *value)
{
    const struct image *image = &value->image;
    struct glcnn_onnx_image told = {.name = strdup(value->name),
                                    .node = image->node,
                                    .rank = value->shape.rank,
                                    .width = (uint32_t)image->extent[W],
                                    .height = (uint32_t)image->extent[H],
                                    .feature_channels = (uint32_t)image->extent[C]};
    for (uint32_t i = 0; i < value->shape.rank; i++)
        told.dimensions[i] = value->shape.dims[i] == OPEN_BATCH ? -1 : value->shape.dims[i];
    view_order(image, told.order);
    return told;
}

bool record_image(struct reader *reader, bool is_output, const struct value *value)
{
    struct builder *b = reader->builder;
    struct glcnn_onnx_image **images = is_output ? &b->outputs : &b->inputs;
    size_t *count = is_output ? &b->record.output_count : &b->record.input_count;
    struct glcnn_onnx_image *all = longer(*images, *count, sizeof *all);
    if (!all)
        return onnx_no_memory(reader);
    *images = all;
    all[*count] = describe_image(value);
    return all[(*count)++].name || onnx_no_memory(reader);
}

/* ---- The skeleton ---- */

/* What is taken away here is freed with the message: its pointers stay. */
static void drop_data(Onnx__TensorProto *t)
{
    t->has_raw_data = false;
    t->n_float_data = t->n_int32_data = t->n_int64_data = 0;
    t->n_double_data = t->n_uint64_data = 0;
}

static bool note_names(const struct builder *b, struct name_table *names)
{
    for (size_t i = 0; i < b->record.parameter_count; i++)
        if (name_table_find(names, b->parameters[i].name) == NO_NAME &&
            !name_table_add(names, b->parameters[i].name, i))
            return false;
    return true;
}

/* Of a node Constant. */
static Onnx__TensorProto *constant_tensor(const Onnx__NodeProto *node)
{
    if (!node->op_type || strcmp(node->op_type, "Constant") != 0 || node->n_output != 1)
        return NULL;
    for (size_t i = 0; i < node->n_attribute; i++)
        if (node->attribute[i]->t)
            return node->attribute[i]->t;
    return NULL;
}

static void drop_all_data(Onnx__GraphProto *graph, const struct name_table *names)
{
    for (size_t i = 0; i < graph->n_initializer; i++) {
        Onnx__TensorProto *t = graph->initializer[i];
        if (t->name && name_table_find(names, t->name) != NO_NAME)
            drop_data(t);
    }
    for (size_t i = 0; i < graph->n_node; i++) {
        Onnx__TensorProto *t = constant_tensor(graph->node[i]);
        if (t && name_table_find(names, graph->node[i]->output[0]) != NO_NAME)
            drop_data(t);
    }
}

static void drop_names(char **names, size_t *count, size_t kept)
{
    while (*count > kept)
        free(names[--*count]);
}

/* A file of a training computes with the statistics of its batches, the network with those that are kept: what is
 * written computes as the network does. */
static void leave_training(Onnx__GraphProto *graph)
{
    for (size_t i = 0; i < graph->n_node; i++) {
        Onnx__NodeProto *node = graph->node[i];
        if (strcmp(text_of(node->op_type), "Dropout") == 0)
            drop_names(node->input, &node->n_input, 2);
        if (strcmp(text_of(node->op_type), "BatchNormalization") != 0)
            continue;
        drop_names(node->output, &node->n_output, 1);
        for (size_t k = 0; k < node->n_attribute; k++)
            if (strcmp(text_of(node->attribute[k]->name), "training_mode") == 0)
                node->attribute[k]->i = 0;
    }
}

bool record_finish(struct reader *reader, Onnx__ModelProto *model,
                   struct glcnn_onnx_record **record)
{
    struct builder *b = reader->builder;
    struct name_table names = {0};
    bool noted = note_names(b, &names);
    if (noted)
        drop_all_data(model->graph, &names);
    leave_training(model->graph);
    name_table_free(&names);
    b->record.skeleton_size = protobuf_c_message_get_packed_size(&model->base);
    b->skeleton = malloc(b->record.skeleton_size + 1);
    if (!noted || !b->skeleton)
        return onnx_no_memory(reader);
    protobuf_c_message_pack(&model->base, b->skeleton);
    b->record.skeleton = b->skeleton;
    b->record.inputs = b->inputs;
    b->record.outputs = b->outputs;
    b->record.parameters = b->parameters;
    b->record.frozen = b->frozen;
    *record = &b->record;
    reader->builder = NULL;
    return true;
}
