/* Records of ONNX files as JSON: tables say which field of a struct is called what. */
#include "onnx_record.h"

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT 9007199254740992.0 /* 2^53: JSON's numbers are exact up to here */

enum kind { TEXT, UNSIGNED, SIGNED, LONG, REAL, BYTES };

/* `count` numbers at an offset; 1: one that stands by itself. */
struct field {
    const char *name;
    enum kind kind;
    size_t offset, count;
};

#define IMAGE(NAME, KIND, COUNT)                                                                   \
    {                                                                                              \
#NAME, KIND, offsetof(struct glcnn_onnx_image, NAME), COUNT                                \
    }
#define PARAMETER(NAME, KIND, COUNT)                                                               \
    {                                                                                              \
#NAME, KIND, offsetof(struct glcnn_onnx_parameter, NAME), COUNT                            \
    }

static const struct field image_fields[] = {
    IMAGE(name, TEXT, 1),      IMAGE(rank, UNSIGNED, 1),   IMAGE(dimensions, LONG, GLCNN_ONNX_RANK),
    IMAGE(width, UNSIGNED, 1), IMAGE(height, UNSIGNED, 1), IMAGE(feature_channels, UNSIGNED, 1),
    IMAGE(order, BYTES, 4),    {NULL, TEXT, 0, 0}};
static const struct field frozen_fields[] = {
    {"name", TEXT, offsetof(struct glcnn_onnx_frozen, name), 1},
    {"reason", TEXT, offsetof(struct glcnn_onnx_frozen, reason), 1},
    {NULL, TEXT, 0, 0}};
static const struct field parameter_fields[] = {PARAMETER(name, TEXT, 1),
                                                PARAMETER(filter, TEXT, 1),
                                                PARAMETER(vector, TEXT, 1),
                                                PARAMETER(rank, UNSIGNED, 1),
                                                PARAMETER(dimensions, LONG, GLCNN_ONNX_RANK),
                                                PARAMETER(axes, UNSIGNED, 1),
                                                PARAMETER(size, LONG, GLCNN_ONNX_RANK),
                                                PARAMETER(stride, LONG, GLCNN_ONNX_RANK),
                                                PARAMETER(offset, LONG, 1),
                                                PARAMETER(scale, REAL, 1),
                                                PARAMETER(output_axis, SIGNED, 1),
                                                PARAMETER(output_dimension, SIGNED, 1),
                                                {NULL, TEXT, 0, 0}};

/* The lists of a record. */
static const struct list {
    const char *name;
    const struct field *fields;
    size_t at, count, element; /* offsets of the array and of its length; the size of an element */
    bool optional;             /* older files have none */
} lists[] = {
    {"inputs", image_fields, offsetof(struct glcnn_onnx_record, inputs),
     offsetof(struct glcnn_onnx_record, input_count), sizeof(struct glcnn_onnx_image)},
    {"outputs", image_fields, offsetof(struct glcnn_onnx_record, outputs),
     offsetof(struct glcnn_onnx_record, output_count), sizeof(struct glcnn_onnx_image)},
    {"parameters", parameter_fields, offsetof(struct glcnn_onnx_record, parameters),
     offsetof(struct glcnn_onnx_record, parameter_count), sizeof(struct glcnn_onnx_parameter)},
    {"frozen", frozen_fields, offsetof(struct glcnn_onnx_record, frozen),
     offsetof(struct glcnn_onnx_record, frozen_count), sizeof(struct glcnn_onnx_frozen), true}};
enum { LISTS = sizeof lists / sizeof *lists };

static char **list_at(const struct glcnn_onnx_record *record, const struct list *list)
{
    return (char **)(void *)((char *)(uintptr_t)record + list->at);
}

static size_t *count_of(const struct glcnn_onnx_record *record, const struct list *list)
{
    return (size_t *)(void *)((char *)(uintptr_t)record + list->count);
}

/* ---- Writing ---- */

static double number_at(const char *element, const struct field *f, size_t i)
{
    const void *at = element + f->offset;
    switch (f->kind) {
    case UNSIGNED:
        return ((const uint32_t *)at)[i];
    case SIGNED:
        return ((const int32_t *)at)[i];
    case LONG:
        return (double)((const int64_t *)at)[i];
    case REAL:
        return (double)((const float *)at)[i];
    default:
        return ((const uint8_t *)at)[i];
    }
}

static bool write_field(cJSON *object, const char *element, const struct field *f)
{
    if (f->kind == TEXT)
        return cJSON_AddStringToObject(object, f->name,
                                       *(const char *const *)(const void *)(element + f->offset));
    if (f->count == 1)
        return cJSON_AddNumberToObject(object, f->name, number_at(element, f, 0));
    cJSON *array = cJSON_AddArrayToObject(object, f->name);
    bool good = array;
    for (size_t i = 0; i < f->count && good; i++)
        good = cJSON_AddItemToArray(array, cJSON_CreateNumber(number_at(element, f, i)));
    return good;
}

static bool write_list(cJSON *json, const struct glcnn_onnx_record *record, const struct list *list)
{
    cJSON *array = cJSON_AddArrayToObject(json, list->name);
    bool good = array;
    for (size_t i = 0; i < *count_of(record, list) && good; i++) {
        cJSON *object = cJSON_CreateObject();
        good = cJSON_AddItemToArray(array, object);
        for (const struct field *f = list->fields; f->name && good; f++)
            good = write_field(object, *list_at(record, list) + i * list->element, f);
    }
    return good;
}

char *onnx_record_text(const struct glcnn_onnx_record *record)
{
    cJSON *json = cJSON_CreateObject();
    bool good = json;
    for (size_t i = 0; i < LISTS && good; i++)
        good = write_list(json, record, &lists[i]);
    char *text = good ? cJSON_PrintUnformatted(json) : NULL;
    cJSON_Delete(json);
    return text;
}

/* ---- Reading ---- */

static bool put_number(char *element, const struct field *f, size_t i, const cJSON *item)
{
    static const struct {
        double low, high;
    } ranges[] = {[UNSIGNED] = {0, UINT32_MAX},
                  [SIGNED] = {INT32_MIN, INT32_MAX},
                  [LONG] = {-EXACT, EXACT},
                  [REAL] = {-3e38, 3e38},
                  [BYTES] = {0, UINT8_MAX}};
    void *at = element + f->offset;
    double value = cJSON_IsNumber(item) ? item->valuedouble : EXACT * EXACT * 1e9;
    if (!(value >= ranges[f->kind].low && value <= ranges[f->kind].high))
        return false;
    switch (f->kind) {
    case UNSIGNED:
        ((uint32_t *)at)[i] = (uint32_t)value;
        break;
    case SIGNED:
        ((int32_t *)at)[i] = (int32_t)value;
        break;
    case LONG:
        ((int64_t *)at)[i] = (int64_t)value;
        break;
    case REAL:
        ((float *)at)[i] = (float)value;
        break;
    default:
        ((uint8_t *)at)[i] = (uint8_t)value;
        break;
    }
    return true;
}

static bool read_field(const cJSON *object, char *element, const struct field *f)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, f->name);
    if (f->kind == TEXT) {
        char **text = (char **)(void *)(element + f->offset);
        *text = cJSON_IsString(item) ? strdup(item->valuestring) : NULL;
        return *text;
    }
    if (f->count == 1)
        return put_number(element, f, 0, item);
    bool good = cJSON_IsArray(item) && (size_t)cJSON_GetArraySize(item) == f->count;
    const cJSON *number = good ? item->child : NULL;
    for (size_t i = 0; i < f->count && good; i++, number = number->next)
        good = put_number(element, f, i, number);
    return good;
}

static bool read_list(const cJSON *json, struct glcnn_onnx_record *record, const struct list *list)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(json, list->name), *object;
    if (!array && list->optional)
        return true;
    if (!cJSON_IsArray(array))
        return false;
    char *at = calloc((size_t)cJSON_GetArraySize(array) + 1, list->element);
    *list_at(record, list) = at;
    bool good = at;
    for (object = array->child; object && good; object = object->next, at += list->element) {
        ++*count_of(record, list);
        for (const struct field *f = list->fields; f->name && good; f++)
            good = read_field(object, at, f);
    }
    return good;
}

struct glcnn_onnx_record *onnx_record_parse(const char *text, size_t length,
                                            const uint8_t *skeleton, size_t skeleton_size)
{
    cJSON *json = cJSON_ParseWithLength(text, length);
    struct glcnn_onnx_record *record = calloc(1, sizeof *record);
    bool good = json && record;
    for (size_t i = 0; i < LISTS && good; i++)
        good = read_list(json, record, &lists[i]);
    cJSON_Delete(json);
    if (!good) {
        onnx_record_free(record);
        return NULL;
    }
    record->skeleton = skeleton;
    record->skeleton_size = skeleton_size;
    return record;
}

static void free_list(struct glcnn_onnx_record *record, const struct list *list)
{
    char *at = *list_at(record, list);
    for (size_t i = 0; i < *count_of(record, list); i++)
        for (const struct field *f = list->fields; f->name; f++)
            if (f->kind == TEXT)
                free(*(char **)(void *)(at + i * list->element + f->offset));
    free(at);
}

void onnx_record_free(struct glcnn_onnx_record *record)
{
    for (size_t i = 0; i < LISTS && record; i++)
        free_list(record, &lists[i]);
    free(record);
}
