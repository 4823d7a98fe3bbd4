/* Sections of the page on data. */
#include "look_page.h"

#include <glcnn/io.h>
#include <inttypes.h>
#include <stdlib.h>

#include "report_collect.h"
#include "report_page.h"
#include "svg.h"

#define CLASSES_MAX  1000 /* rows */
#define PICTURES_MAX 24   /* of a part */

/* ---- Lists ---- */

static void print_item(FILE *f, const char *text)
{
    fprintf(f, "<li>");
    svg_escape(f, text);
    fprintf(f, "</li>\n");
}

/* The messages of a data set, under a heading; nothing where it has none. */
static void print_messages(FILE *f, const struct look_page *p, const char *heading,
                           const char *(*message)(const glcnn_dataset *, uint32_t))
{
    const char *text = message(p->pictures->set, 0);
    if (!text)
        return;
    fprintf(f, "<h2>%s</h2>\n<ul>\n", heading);
    for (uint32_t i = 0; (text = message(p->pictures->set, i)) != NULL; i++)
        print_item(f, text);
    fprintf(f, "</ul>\n");
}

static void print_suspicions(FILE *f, const struct look_page *p)
{
    const struct glcnn_data_look *look = p->look;
    fprintf(f, "<h2>What is suspicious</h2>\n");
    if (look->suspicion_count == 0) {
        fprintf(f, "<p>Nothing was found.</p>\n");
        return;
    }
    fprintf(f, "<ul>\n");
    for (uint32_t i = 0; i < look->suspicion_count; i++)
        print_item(f, look->suspicions[i].text);
    fprintf(f, "</ul>\n");
}

/* ---- Numbers ---- */

static void print_tile(FILE *f, const char *name, uint64_t number, const char *note)
{
    fprintf(f, "<div class=\"tile\"><span>%s</span><b>%" PRIu64 "</b><small>%s</small></div>\n",
            name, number, note);
}

static void print_tiles(FILE *f, const struct look_page *p)
{
    const struct glcnn_data_info *info = p->pictures->info;
    const char *validation = info->is_split ? "set aside of the training images" : "images";
    fprintf(f, "<div class=\"tiles\">\n");
    print_tile(f, "training", info->counts[GLCNN_DATA_PART_TRAINING], "images");
    print_tile(f, "validation", info->counts[GLCNN_DATA_PART_VALIDATION], validation);
    print_tile(f, "test", info->counts[GLCNN_DATA_PART_TEST], "images");
    print_tile(f, p->task->classes, info->class_count, "");
    print_tile(f, "suspicious", p->look->suspicion_count, "sentences below");
    print_tile(f, "left out", glcnn_dataset_skipped(p->pictures->set), "images");
    fprintf(f, "</div>\n");
}

static void print_range(FILE *f, const char *what, const struct glcnn_data_range *r)
{
    if (r->most > 0)
        fprintf(
            f,
            "<tr><td>%s</td><td class=\"n\">%.4g</td><td class=\"n\">%.4g</td><td class=\"n\">%.4g</td>"
            "</tr>\n",
            what, r->least, r->median, r->most);
}

static void print_sizes(FILE *f, const struct look_page *p)
{
    fprintf(
        f, "<h2>Sizes in pixels</h2>\n<div class=\"wide\"><table>\n<tr><th></th>"
           "<th class=\"n\">least</th><th class=\"n\">median</th><th class=\"n\">most</th></tr>\n");
    print_range(f, "width of pictures", &p->look->widths);
    print_range(f, "height of pictures", &p->look->heights);
    print_range(f, "boxes across", &p->look->sides);
    fprintf(f, "</table></div>\n");
}

static void print_class(FILE *f, const struct glcnn_data_class_look *c)
{
    fprintf(f, "<tr><td>");
    svg_escape(f, c->name);
    fprintf(f, "</td>");
    for (int part = 0; part < GLCNN_DATA_PARTS; part++)
        fprintf(f, "<td class=\"n\">%u</td><td class=\"n\">%" PRIu64 "</td>", c->images[part],
                c->objects[part]);
    fprintf(f, "</tr>\n");
}

static void print_classes(FILE *f, const struct look_page *p)
{
    const struct glcnn_data_look *look = p->look;
    const char *objects = look_page_objects(p->task);
    fprintf(f, "<h2>Each of the %s</h2>\n<div class=\"wide\"><table>\n<tr><th></th>",
            p->task->classes);
    for (int part = 0; part < GLCNN_DATA_PARTS; part++)
        fprintf(f, "<th class=\"n\">%s images</th><th class=\"n\">%s</th>",
                glcnn_data_part_name((glcnn_data_part)part), objects);
    fprintf(f, "</tr>\n");
    for (uint32_t k = 0; k < look->class_count && k < CLASSES_MAX; k++)
        print_class(f, &look->classes[k]);
    fprintf(f, "</table></div>\n");
    if (look->class_count > CLASSES_MAX)
        fprintf(f, "<p class=\"faint\">%u more are not listed.</p>\n",
                look->class_count - CLASSES_MAX);
}

/* ---- Pictures ---- */

/* What a picture has, in words: the class of one that has a class. */
static const char *label_of(const struct look_page *p, glcnn_data_part part, uint32_t index)
{
    const uint32_t label = glcnn_dataset_label(p->pictures->set, part, index);
    return label < p->look->class_count ? p->look->classes[label].name : "";
}

static bool print_one(FILE *f, const struct look_page *p, glcnn_data_part part, uint32_t index,
                      const char *text, char error[GLCNN_ERROR_LENGTH])
{
    struct shown shown;
    char name[1024];
    *error = 0;
    if (!report_draw_truth(p->pictures, part, index, p->pictures->info->class_names, &shown, error))
        return false;
    glcnn_dataset_name(p->pictures->set, part, index, name, sizeof name);
    fprintf(f, "<figure>");
    report_print_picture(f, &shown, "Picture ", name);
    fprintf(f, "<figcaption>");
    if (!shown.bytes && *error) {
        svg_escape(f, error);
        fprintf(f, "<br/>");
    }
    svg_escape(f, text);
    fprintf(f, "<small>%s: ", glcnn_data_part_name(part));
    svg_escape(f, name);
    fprintf(f, "</small></figcaption></figure>\n");
    shown_free(&shown);
    return true;
}

static bool print_doubted(FILE *f, const struct look_page *p, char error[GLCNN_ERROR_LENGTH])
{
    bool good = true, any = false;
    for (uint32_t i = 0; i < p->look->suspicion_count && good; i++) {
        const struct glcnn_data_suspicion *s = &p->look->suspicions[i];
        if (!s->has_image)
            continue;
        if (!any)
            fprintf(f, "<h2>The first of each suspicion</h2>\n<div class=\"pictures one\">\n");
        any = true;
        good = print_one(f, p, s->part, s->index, s->text, error);
    }
    fprintf(f, any ? "</div>\n" : "");
    return good;
}

/* Evenly spread over the part. */
static bool print_part(FILE *f, const struct look_page *p, glcnn_data_part part,
                       char error[GLCNN_ERROR_LENGTH])
{
    const uint32_t all = p->pictures->info->counts[part],
                   count = all < PICTURES_MAX ? all : PICTURES_MAX;
    bool good = true;
    if (count == 0)
        return true;
    fprintf(f,
            "<h2>Pictures of the %s part</h2>\n<p>%u of %u, evenly spread over the part.</p>\n"
            "<div class=\"pictures one\">\n",
            glcnn_data_part_name(part), count, all);
    for (uint32_t i = 0; i < count && good; i++) {
        const uint32_t index = (uint32_t)((uint64_t)i * all / count);
        good = print_one(f, p, part, index, label_of(p, part, index), error);
    }
    fprintf(f, "</div>\n");
    return good;
}

/* ---- All ---- */

static bool print_open(FILE *f, const struct look_page *p, char error[GLCNN_ERROR_LENGTH])
{
    bool good = true;
    print_tiles(f, p);
    print_suspicions(f, p);
    print_messages(f, p, "How it was understood", glcnn_dataset_decision);
    print_messages(f, p, "What was left out", glcnn_dataset_note);
    print_classes(f, p);
    print_sizes(f, p);
    good = print_doubted(f, p, error);
    for (int part = 0; part < GLCNN_DATA_PARTS && good; part++)
        good = print_part(f, p, (glcnn_data_part)part, error);
    return good;
}

static bool print_page(FILE *f, const struct look_page *p, char error[GLCNN_ERROR_LENGTH])
{
    char title[512], state[512];
    snprintf(title, sizeof title, "A look at %s", report_name_of(p->data));
    if (p->refused)
        snprintf(state, sizeof state, "%.400s cannot be opened.", p->data);
    else
        snprintf(state, sizeof state, "%.300s, read as %s for the task %s: %s.", p->data,
                 p->pictures->info->format, p->task->name, p->task->text);
    report_print_head(f, title, state);
    bool good = true;
    if (p->refused) {
        fprintf(f, "<h2>Why it is refused</h2>\n<p>");
        svg_escape(f, p->refused);
        fprintf(f, "</p>\n");
    } else
        good = print_open(f, p, error);
    report_print_foot(f);
    return good;
}

const char *look_page_objects(const struct task *task)
{
    switch (task->targets) {
    case GLCNN_DATA_TARGETS_BOXES:
        return "boxes";
    case GLCNN_DATA_TARGETS_MASKS:
        return "pixels";
    default:
        return "labels";
    }
}

bool look_page_write(const struct look_page *page, const char *path, char error[GLCNN_ERROR_LENGTH])
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: cannot be written: not enough memory", path);
    bool good = f && print_page(f, page, error);
    good = f && !ferror(f) && good;
    good = f && fclose(f) == 0 && good;
    good = good && glcnn_file_save(path, text, size, error) == GLCNN_SUCCESS;
    free(text);
    return good;
}
