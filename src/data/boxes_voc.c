/* Boxes as Pascal VOC writes them: an XML file for each picture. */
#include <expat.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "bytes.h"
#include "columns.h"
#include "set.h"

#define MAX_BYTES ((size_t)16 << 20)

enum field { WIDTH, HEIGHT, XMIN, YMIN, XMAX, YMAX, DIFFICULT, FIELDS };

/* Where numbers stand. Parts of an object have boxes too, which are not read. */
static const char *const places[FIELDS] = {
    [WIDTH] = "/annotation/size/width",          [HEIGHT] = "/annotation/size/height",
    [XMIN] = "/annotation/object/bndbox/xmin",   [YMIN] = "/annotation/object/bndbox/ymin",
    [XMAX] = "/annotation/object/bndbox/xmax",   [YMAX] = "/annotation/object/bndbox/ymax",
    [DIFFICULT] = "/annotation/object/difficult"};
static const char root_place[] = "/annotation", object_place[] = "/annotation/object",
                  name_place[] = "/annotation/object/name";

struct voc {
    glcnn_dataset *set;
    struct annotation *annotation;
    XML_Parser parser;
    char place[128]; /* "/annotation/object": the elements that are open */
    char text[256];  /* of the element that was opened last; a 0 stands behind it */
    size_t length;   /* of all of its text */
    size_t passed;   /* elements within one whose names do not fit in, which is passed over */
    float values[FIELDS];
    bool has[FIELDS], has_label;
    struct raw_box box;
    glcnn_status status; /* of the first failure, which ends the reading */
    char *error;
};

/* ---- Failures ---- */

/* Expat 2.9 warns of the function that all versions before it have. */
static size_t current_line(const struct voc *v)
{
#if XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION < 9
    return XML_GetCurrentLineNumber(v->parser);
#else
    return (size_t)XML_GetCurrentLineNumber64(v->parser);
#endif
}

static void stop(struct voc *v, glcnn_status status)
{
    v->status = status;
    XML_StopParser(v->parser, XML_FALSE);
}

static void refuse(struct voc *v, const char *found, const char *expected)
{
    stop(v, fail_with(v->error, GLCNN_MALFORMED_DATA, "%.200s: line %zu: %.120s; expected %s",
                      v->annotation->path, current_line(v), found, expected));
}

static void refuse_text(struct voc *v, const char *expected)
{
    char found[160];
    snprintf(found, sizeof found, "%.80s is \"%.40s\"", strrchr(v->place, '/') + 1, v->text);
    refuse(v, found, expected);
}

/* ---- Elements ---- */

static void take_number(struct voc *v, enum field field)
{
    if (v->length >= sizeof v->text || !columns_number(v->text, &v->values[field]))
        refuse_text(v, "a number");
    else
        v->has[field] = true;
}

/* "Unspecified", as Make Sense writes it, an empty element and "False" say that it is not; an empty size
 * says nothing. */
static void take_field(struct voc *v, enum field field)
{
    if (field == DIFFICULT && !columns_number(v->text, &v->values[field])) {
        v->has[field] = strcasecmp(v->text, "true") == 0 || strcasecmp(v->text, "yes") == 0;
        v->values[field] = 1;
    } else if (field > HEIGHT || *v->text) {
        take_number(v, field);
    }
}

static void take_name(struct voc *v)
{
    if (v->length >= sizeof v->text || *v->text == 0) {
        refuse_text(v, "the name of a class, 1 to 255 bytes");
        return;
    }
    glcnn_status status = names_add(&v->set->names, v->text, strlen(v->text), v->annotation->path,
                                    &v->box.label, v->error);
    v->has_label = true;
    if (status != GLCNN_SUCCESS)
        stop(v, status);
}

static void begin_object(struct voc *v)
{
    for (enum field i = XMIN; i < FIELDS; i++)
        v->has[i] = false;
    v->has_label = false;
    v->box = (struct raw_box){.place = current_line(v)};
}

/* Pixels count from 1, and those from xmin to xmax are in the box. */
static void end_object(struct voc *v)
{
    bool has_all = v->has_label;
    for (enum field i = XMIN; i <= YMAX; i++)
        has_all &= v->has[i];
    if (!has_all) {
        refuse(v, "the object that ends is not whole",
               "name and bndbox with xmin, ymin, xmax, ymax");
        return;
    }
    v->box.left = (double)v->values[XMIN] - 1;
    v->box.top = (double)v->values[YMIN] - 1;
    v->box.right = (double)v->values[XMAX];
    v->box.bottom = (double)v->values[YMAX];
    v->box.is_difficult = v->has[DIFFICULT] && v->values[DIFFICULT] != 0;
    if (!annotation_add(v->annotation, &v->box))
        stop(v, fail_no_memory(v->error, v->annotation->path));
}

/* ---- Reading ---- */

static void open_element(void *user, const XML_Char *name, const XML_Char **attributes)
{
    struct voc *v = user;
    const size_t length = strlen(v->place), room = sizeof v->place - length;
    (void)attributes;
    if (v->status != GLCNN_SUCCESS)
        return;
    if (v->passed > 0 || strlen(name) + 2 > room) {
        v->passed++;
        return;
    }
    snprintf(v->place + length, room, "/%s", name);
    if (length == 0 && strcmp(v->place, root_place) != 0)
        refuse_text(v, "<annotation> as the outermost element");
    if (strcmp(v->place, object_place) == 0)
        begin_object(v);
    v->length = 0;
    *v->text = 0;
}

/* Blanks at both ends are left out. */
static void trim(struct voc *v)
{
    static const char blanks[] = " \t\r\n";
    size_t length = strlen(v->text), first = strspn(v->text, blanks);
    while (length > first && strchr(blanks, v->text[length - 1]))
        length--;
    memmove(v->text, v->text + first, length - first);
    v->text[length - first] = 0;
}

static void close_element(void *user, const XML_Char *name)
{
    struct voc *v = user;
    (void)name;
    if (v->status != GLCNN_SUCCESS)
        return;
    if (v->passed > 0) {
        v->passed--;
        return;
    }
    trim(v);
    for (enum field i = 0; i < FIELDS; i++)
        if (strcmp(v->place, places[i]) == 0)
            take_field(v, i);
    if (strcmp(v->place, name_place) == 0)
        take_name(v);
    if (strcmp(v->place, object_place) == 0)
        end_object(v);
    *strrchr(v->place, '/') = 0;
    v->length = 0;
    *v->text = 0;
}

static void take_text(void *user, const XML_Char *text, int length)
{
    struct voc *v = user;
    for (int i = 0; i < length && v->passed == 0; i++, v->length++)
        if (v->length + 1 < sizeof v->text) {
            v->text[v->length] = text[i];
            v->text[v->length + 1] = 0;
        }
}

/* What declares entities is no annotation: they may unpack to any size. */
static void refuse_doctype(void *user, const XML_Char *name, const XML_Char *system,
                           const XML_Char *public, int has_subset)
{
    (void)name, (void)system, (void)public, (void)has_subset;
    refuse(user, "has a document type", "none");
}

static glcnn_status take_size(struct voc *v)
{
    struct annotation *a = v->annotation;
    uint32_t *const sizes[] = {&a->width, &a->height};
    for (enum field i = WIDTH; i <= HEIGHT; i++) {
        if (!v->has[i])
            continue;
        if (!(v->values[i] >= 0 && v->values[i] <= GLCNN_DATA_MAX_PIXELS))
            return fail_with(v->error, GLCNN_MALFORMED_DATA,
                             "%.250s: %s is %g; expected the picture's size in pixels", a->path,
                             places[i] + 1, (double)v->values[i]);
        *sizes[i] = (uint32_t)v->values[i];
    }
    return GLCNN_SUCCESS;
}

static glcnn_status parse(struct voc *v, const struct bytes *bytes)
{
    XML_SetUserData(v->parser, v);
    XML_SetElementHandler(v->parser, open_element, close_element);
    XML_SetCharacterDataHandler(v->parser, take_text);
    XML_SetStartDoctypeDeclHandler(v->parser, refuse_doctype);
    enum XML_Status done = XML_Parse(v->parser, (const char *)bytes->data, (int)bytes->size, 1);
    if (v->status != GLCNN_SUCCESS)
        return v->status;
    enum XML_Error code = XML_GetErrorCode(v->parser);
    if (done == XML_STATUS_OK)
        return take_size(v);
    return code == XML_ERROR_NO_MEMORY
               ? fail_no_memory(v->error, v->annotation->path)
               : fail_with(v->error, GLCNN_MALFORMED_DATA,
                           "%.250s: line %zu: %.150s; expected XML with an <annotation>",
                           v->annotation->path, current_line(v), XML_ErrorString(code));
}

static glcnn_status read_bytes(glcnn_dataset *set, struct annotation *a, const struct bytes *bytes,
                               char *error)
{
    struct voc v = {.set = set, .annotation = a, .error = error, .parser = XML_ParserCreate(NULL)};
    if (!v.parser)
        return fail_no_memory(error, a->path);
    glcnn_status status = parse(&v, bytes);
    XML_ParserFree(v.parser);
    return status;
}

glcnn_status voc_read(glcnn_dataset *set, struct annotation *a, char *error)
{
    struct bytes bytes;
    a->before = "line ";
    a->behind = "";
    a->in_pixels = true;
    glcnn_status status = bytes_read_file(&bytes, a->path, MAX_BYTES, error);
    if (status == GLCNN_SUCCESS)
        status = read_bytes(set, a, &bytes, error);
    bytes_free(&bytes);
    return status;
}
