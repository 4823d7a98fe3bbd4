/* The data.yaml of YOLO, by libyaml. */
#include "data_yaml.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "base/fail.h"
#include "bytes.h"
#include "words.h"

#define MAX_BYTES ((size_t)16 << 20)

struct reading_yaml {
    const char *path;
    struct data_yaml *yaml;
    yaml_document_t document;
    char **names; /* by number; NULL: there is none yet */
    uint32_t count, capacity;
    char *error;
};

bool data_yaml_is(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcasecmp(dot, ".yaml") == 0 || strcasecmp(dot, ".yml") == 0);
}

/* ---- Nodes ---- */

static yaml_node_t *node_of(struct reading_yaml *y, int number)
{
    return yaml_document_get_node(&y->document, number);
}

/* The text of a scalar; NULL: it is none. */
static const char *text_of(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

static glcnn_status refuse(const struct reading_yaml *y, const yaml_node_t *node, const char *key,
                           const char *expected)
{
    static const char *const kinds[] = {
        [YAML_NO_NODE] = "nothing", [YAML_SEQUENCE_NODE] = "a list", [YAML_MAPPING_NODE] = "a map"};
    const char *text = text_of(node);
    return fail_with(y->error, GLCNN_MALFORMED_DATA,
                     "%.200s: line %zu, of %.20s: %s%.40s%s; expected %s", y->path,
                     node->start_mark.line + 1, key, text ? "\"" : "",
                     text ? text : kinds[node->type], text ? "\"" : "", expected);
}

/* ---- Names ---- */

static bool make_room(struct reading_yaml *y, uint32_t count)
{
    uint32_t capacity = y->capacity ? y->capacity : 64;
    while (capacity < count)
        capacity *= 2;
    if (capacity == y->capacity)
        return true;
    char **names = realloc(y->names, capacity * sizeof *names);
    if (!names)
        return false;
    memset(names + y->capacity, 0, (capacity - y->capacity) * sizeof *names);
    y->names = names;
    y->capacity = capacity;
    return true;
}

static glcnn_status put_name(struct reading_yaml *y, uint32_t number, const yaml_node_t *node)
{
    const char *name = text_of(node);
    if (!name || *name == 0)
        return refuse(y, node, "names", "a name");
    if (number >= GLCNN_DATA_MAX_CLASSES)
        return refuse(y, node, "names", "at most 65536 classes");
    if (!make_room(y, number + 1))
        return fail_no_memory(y->error, y->path);
    if (y->names[number])
        return fail_with(y->error, GLCNN_MALFORMED_DATA,
                         "%.200s: line %zu: class %u is named twice; the first is \"%.80s\"",
                         y->path, node->start_mark.line + 1, number, y->names[number]);
    y->names[number] = strdup(name);
    y->count = number >= y->count ? number + 1 : y->count;
    return y->names[number] ? GLCNN_SUCCESS : fail_no_memory(y->error, y->path);
}

/* - cat */
static glcnn_status put_list(struct reading_yaml *y, const yaml_node_t *list)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (const yaml_node_item_t *item = list->data.sequence.items.start;
         item < list->data.sequence.items.top && status == GLCNN_SUCCESS; item++)
        status = put_name(y, y->count, node_of(y, *item));
    return status;
}

/* 0: cat */
static glcnn_status put_map(struct reading_yaml *y, const yaml_node_t *map)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (const yaml_node_pair_t *pair = map->data.mapping.pairs.start;
         pair < map->data.mapping.pairs.top && status == GLCNN_SUCCESS; pair++) {
        const yaml_node_t *key = node_of(y, pair->key);
        const char *text = text_of(key);
        const size_t length = text ? strlen(text) : 0;
        if (length == 0 || length > 6 || strspn(text, "0123456789") != length)
            return refuse(y, key, "names", "the number of a class and a colon");
        status = put_name(y, (uint32_t)strtoul(text, NULL, 10), node_of(y, pair->value));
    }
    return status;
}

static glcnn_status take_names(struct reading_yaml *y)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < y->count && status == GLCNN_SUCCESS; i++) {
        uint32_t number;
        if (!y->names[i])
            return fail_with(y->error, GLCNN_MALFORMED_DATA,
                             "%.300s: names has class %u and none of number %u; expected all "
                             "numbers from 0 on",
                             y->path, y->count - 1, i);
        status = names_add(&y->yaml->names, y->names[i], strlen(y->names[i]), y->path, &number,
                           y->error);
        if (status == GLCNN_SUCCESS && number != i)
            status = fail_with(y->error, GLCNN_MALFORMED_DATA,
                               "%.250s: classes %u and %u are both \"%.100s\"; expected each name "
                               "once",
                               y->path, number, i, y->names[i]);
    }
    return status;
}

static glcnn_status read_names(struct reading_yaml *y, const yaml_node_t *value)
{
    glcnn_status status;
    if (value->type == YAML_SEQUENCE_NODE)
        status = put_list(y, value);
    else if (value->type == YAML_MAPPING_NODE)
        status = put_map(y, value);
    else
        status = refuse(y, value, "names", "a list of the classes, or a map of them by number");
    if (status == GLCNN_SUCCESS && y->count == 0)
        status = fail_with(y->error, GLCNN_MALFORMED_DATA,
                           "%.300s: lists no class; expected the name of each", y->path);
    return status == GLCNN_SUCCESS ? take_names(y) : status;
}

/* ---- Parts ---- */

static glcnn_status add_part(struct reading_yaml *y, const yaml_node_t *node, glcnn_data_part part)
{
    const char *text = text_of(node);
    if (!text)
        return refuse(y, node, "a part", "a folder, a list of pictures, or several of these");
    if (*text == 0 || strcmp(text, "~") == 0 || strcasecmp(text, "null") == 0)
        return GLCNN_SUCCESS;
    return listing_add(&y->yaml->parts[part], text) ? GLCNN_SUCCESS
                                                    : fail_no_memory(y->error, y->path);
}

static glcnn_status read_part(struct reading_yaml *y, const yaml_node_t *value,
                              glcnn_data_part part)
{
    glcnn_status status = GLCNN_SUCCESS;
    if (value->type != YAML_SEQUENCE_NODE)
        return add_part(y, value, part);
    for (const yaml_node_item_t *item = value->data.sequence.items.start;
         item < value->data.sequence.items.top && status == GLCNN_SUCCESS; item++)
        status = add_part(y, node_of(y, *item), part);
    return status;
}

/* ---- Keypoints ---- */

/* [17, 3] */
static glcnn_status read_keypoint_shape(struct reading_yaml *y, const yaml_node_t *value)
{
    static const char expected[] = "[points, 2 or 3]";
    const bool is_list = value->type == YAML_SEQUENCE_NODE &&
                         value->data.sequence.items.top - value->data.sequence.items.start == 2;
    if (!is_list)
        return refuse(y, value, "kpt_shape", expected);
    for (int i = 0; i < 2; i++) {
        const char *text = text_of(node_of(y, value->data.sequence.items.start[i]));
        const size_t length = text ? strlen(text) : 0;
        if (length == 0 || length > 4 || strspn(text, "0123456789") != length)
            return refuse(y, value, "kpt_shape", expected);
        y->yaml->keypoint_shape[i] = (uint32_t)strtoul(text, NULL, 10);
    }
    const uint32_t *shape = y->yaml->keypoint_shape;
    return shape[0] > 0 && shape[0] <= GLCNN_DATA_MAX_NUMBERS / 2 &&
                   (shape[1] == 2 || shape[1] == 3)
               ? GLCNN_SUCCESS
               : refuse(y, value, "kpt_shape", expected);
}

/* A list, or a map of lists by class, of which the first is that of all. */
static glcnn_status read_keypoint_names(struct reading_yaml *y, const yaml_node_t *value)
{
    glcnn_status status = GLCNN_SUCCESS;
    uint32_t number;
    if (value->type == YAML_MAPPING_NODE &&
        value->data.mapping.pairs.start < value->data.mapping.pairs.top)
        value = node_of(y, value->data.mapping.pairs.start->value);
    if (value->type != YAML_SEQUENCE_NODE)
        return refuse(y, value, "kpt_names", "a list of names");
    for (const yaml_node_item_t *item = value->data.sequence.items.start;
         item < value->data.sequence.items.top && status == GLCNN_SUCCESS; item++) {
        const char *text = text_of(node_of(y, *item));
        status = text && *text ? names_add(&y->yaml->keypoints, text, strlen(text), y->path,
                                           &number, y->error)
                               : refuse(y, node_of(y, *item), "kpt_names", "a name");
    }
    return status;
}

/* ---- All ---- */

static glcnn_status read_entry(struct reading_yaml *y, const char *key, const yaml_node_t *value)
{
    glcnn_data_part part;
    const char *text = text_of(value);
    if (strcmp(key, "names") == 0 && y->count == 0)
        return read_names(y, value);
    if (word_is_part(key, strlen(key), &part))
        return read_part(y, value, part);
    if (strcmp(key, "kpt_shape") == 0)
        return read_keypoint_shape(y, value);
    if (strcmp(key, "kpt_names") == 0 && y->yaml->keypoints.count == 0)
        return read_keypoint_names(y, value);
    if (strcmp(key, "path") == 0 && text && *text && !y->yaml->root) {
        y->yaml->root = strdup(text);
        return y->yaml->root ? GLCNN_SUCCESS : fail_no_memory(y->error, y->path);
    }
    return GLCNN_SUCCESS;
}

static glcnn_status read_document(struct reading_yaml *y)
{
    const yaml_node_t *root = yaml_document_get_root_node(&y->document);
    glcnn_status status = GLCNN_SUCCESS;
    if (!root || root->type != YAML_MAPPING_NODE)
        return fail_with(y->error, GLCNN_MALFORMED_DATA,
                         "%.300s: is no map; expected \"names:\" and a list of the classes",
                         y->path);
    for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
         pair < root->data.mapping.pairs.top && status == GLCNN_SUCCESS; pair++) {
        const char *key = text_of(node_of(y, pair->key));
        if (key)
            status = read_entry(y, key, node_of(y, pair->value));
    }
    return status;
}

static glcnn_status refuse_syntax(const struct reading_yaml *y, const yaml_parser_t *parser,
                                  const char *text)
{
    size_t line = parser->problem_mark.line + 1;
    if (parser->error == YAML_MEMORY_ERROR)
        return fail_no_memory(y->error, y->path);
    if (parser->error == YAML_READER_ERROR) {
        line = 1;
        for (size_t i = 0; i < parser->problem_offset; i++)
            line += text[i] == '\n';
    }
    return fail_with(y->error, GLCNN_MALFORMED_DATA, "%.250s: line %zu: %.150s; expected YAML",
                     y->path, line, parser->problem ? parser->problem : "is not understood");
}

static glcnn_status read_text(struct reading_yaml *y, const char *text)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return fail_no_memory(y->error, y->path);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    glcnn_status status = GLCNN_SUCCESS;
    if (!yaml_parser_load(&parser, &y->document)) {
        status = refuse_syntax(y, &parser, text);
    } else {
        status = read_document(y);
        yaml_document_delete(&y->document);
    }
    yaml_parser_delete(&parser);
    for (uint32_t i = 0; i < y->count; i++)
        free(y->names[i]);
    free(y->names);
    return status;
}

glcnn_status data_yaml_read(const char *path, struct data_yaml *yaml, char *error)
{
    struct bytes bytes;
    char *text;
    struct reading_yaml y = {.path = path, .yaml = yaml, .error = error};
    *yaml = (struct data_yaml){.root = NULL};
    glcnn_status status = bytes_read_text(&bytes, path, MAX_BYTES, &text, error);
    if (status == GLCNN_SUCCESS)
        status = read_text(&y, text);
    bytes_free(&bytes);
    return status;
}

void data_yaml_free(struct data_yaml *yaml)
{
    names_free(&yaml->names);
    names_free(&yaml->keypoints);
    free(yaml->root);
    for (int i = 0; i < GLCNN_DATA_PARTS; i++)
        listing_free(&yaml->parts[i]);
    *yaml = (struct data_yaml){.root = NULL};
}
