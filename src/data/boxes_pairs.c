/* Pictures and annotations that are paired by name. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "set.h"
#include "words.h"

/* What there is of a pair of folders, and which of it was used. */
struct pairing {
    glcnn_dataset *set;
    glcnn_data_part part;
    const struct pairs *pairs;
    struct listing pictures, annotations;
    uint8_t *used; /* [annotations.count] */
    struct wanted wanted;
    struct annotation annotation;
    char *error;
};

/* ---- One picture ---- */

static void tell_unboxed(struct pairing *p, const char *picture)
{
    struct tally *unboxed = &p->set->boxes.unboxed;
    if (unboxed->count++ == 0)
        snprintf(unboxed->first, sizeof unboxed->first,
                 "%.300s: has no annotation %s, and so no boxes", picture, p->pairs->ending);
}

/* Takes the picture back that was just added. */
static glcnn_status leave_out(struct pairing *p, const char *message)
{
    set_remove_picture(p->set, p->part);
    return set_complain(p->set, 1, message, p->error);
}

static glcnn_status read(struct pairing *p, const char *path)
{
    char message[GLCNN_ERROR_LENGTH];
    struct annotation *a = &p->annotation;
    a->path = path;
    annotation_clear(a);
    a->width = a->height = 0;
    glcnn_status status = p->pairs->read(p->set, a, message);
    if (status == GLCNN_SUCCESS)
        return annotation_attach(p->set, p->part, a, p->error);
    return status == GLCNN_OUT_OF_MEMORY ? fail_with(p->error, status, "%s", message)
                                         : leave_out(p, message);
}

/* `number` is that of the annotation. */
static glcnn_status annotate(struct pairing *p, const char *picture, uint32_t number)
{
    char message[GLCNN_ERROR_LENGTH];
    const char *name = p->annotations.names[number];
    snprintf(message, sizeof message,
             "%.250s: another picture has the same annotation, %.150s; expected one picture",
             picture, name);
    if (p->used[number])
        return leave_out(p, message);
    p->used[number] = 1;
    char *path = path_join(p->pairs->annotations, name);
    glcnn_status status = path ? read(p, path) : fail_no_memory(p->error, p->pairs->annotations);
    free(path);
    return status;
}

/* What is no picture has no annotation either. */
static glcnn_status add(struct pairing *p, const char *picture, uint32_t number)
{
    const uint32_t before = p->set->file_count;
    glcnn_status status = set_add_picture(p->set, p->part, picture, 0, false, p->error);
    if (status != GLCNN_SUCCESS || p->set->file_count == before)
        return status;
    if (number != UINT32_MAX)
        return annotate(p, picture, number);
    tell_unboxed(p, picture);
    annotation_clear(&p->annotation);
    p->annotation.path = picture;
    p->annotation.width = p->annotation.height = 0;
    return annotation_attach(p->set, p->part, &p->annotation, p->error);
}

/* The annotation of a picture, whose ending may be in any case; UINT32_MAX: it has none. */
static uint32_t find_beside(const struct pairing *p, const char *picture)
{
    const struct listing *l = &p->annotations;
    const size_t stem = name_stem(picture);
    for (uint32_t i = listing_first(l, picture, stem);
         i < l->count && strncmp(l->names[i], picture, stem) == 0; i++)
        if (strcasecmp(l->names[i] + stem, p->pairs->ending) == 0)
            return i;
    return UINT32_MAX;
}

static glcnn_status add_named(struct pairing *p, const char *name)
{
    if (!wanted_has(&p->wanted, name))
        return GLCNN_SUCCESS;
    char *picture = path_join(p->pairs->pictures, name);
    if (!picture)
        return fail_no_memory(p->error, p->pairs->pictures);
    glcnn_status status = GLCNN_SUCCESS;
    if (!path_is_folder(picture))
        status = add(p, picture, find_beside(p, name));
    else if (!p->pairs->passes_folders)
        set_pass_over(p->set, picture);
    free(picture);
    return status;
}

/* ---- What is left over ---- */

static bool is_class_list(const char *name)
{
    return strcasecmp(name, "classes.txt") == 0;
}

static glcnn_status tell_unused(struct pairing *p)
{
    char message[GLCNN_ERROR_LENGTH];
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < p->annotations.count && status == GLCNN_SUCCESS; i++) {
        const char *name = p->annotations.names[i];
        if (p->used[i] || p->pairs->wanted || !word_has_ending(name, p->pairs->ending) ||
            is_class_list(name))
            continue;
        snprintf(message, sizeof message, "%.150s/%.100s: %.150s has no picture of that name",
                 p->pairs->annotations, name, p->pairs->pictures);
        status = boxes_tally(p->set, &p->set->boxes.unmatched, message, p->error);
    }
    return status;
}

/* ---- All ---- */

static glcnn_status add_all(struct pairing *p)
{
    const bool is_one_folder = strcmp(p->pairs->pictures, p->pairs->annotations) == 0;
    glcnn_status status = GLCNN_SUCCESS;
    p->set->unread = (struct unread){.count = 0};
    for (uint32_t i = 0; i < p->pictures.count && status == GLCNN_SUCCESS; i++) {
        const char *name = p->pictures.names[i];
        if (!is_one_folder || !word_has_ending(name, p->pairs->ending))
            status = add_named(p, name);
    }
    set_tell_unread(p->set, p->pairs->pictures);
    if (status == GLCNN_SUCCESS)
        status = tell_unused(p);
    return status == GLCNN_SUCCESS ? wanted_tell(&p->wanted, p->set, p->pairs->pictures, p->error)
                                   : status;
}

static glcnn_status list(struct pairing *p)
{
    glcnn_status status = listing_read(p->pairs->pictures, &p->pictures, p->error);
    if (status == GLCNN_SUCCESS)
        status = listing_read(p->pairs->annotations, &p->annotations, p->error);
    if (status != GLCNN_SUCCESS)
        return status;
    p->set->info.ignored += p->pictures.hidden;
    p->used = calloc(p->annotations.count + (size_t)1, 1);
    return p->used && wanted_begin(&p->wanted, p->pairs->wanted)
               ? GLCNN_SUCCESS
               : fail_no_memory(p->error, p->pairs->pictures);
}

glcnn_status boxes_add_pairs(glcnn_dataset *set, glcnn_data_part part, const struct pairs *pairs,
                             char *error)
{
    struct pairing p = {.set = set, .part = part, .pairs = pairs, .error = error};
    glcnn_status status = list(&p);
    if (status == GLCNN_SUCCESS)
        status = add_all(&p);
    annotation_free(&p.annotation);
    listing_free(&p.pictures);
    listing_free(&p.annotations);
    free(p.used);
    wanted_end(&p.wanted);
    return status;
}
