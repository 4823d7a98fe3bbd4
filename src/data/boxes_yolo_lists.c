/* Parts of YOLO that a data.yaml lists, as Ultralytics reads it, or an obj.data, as Darknet does. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "boxes_place.h"
#include "bytes.h"
#include "data_yaml.h"
#include "words.h"

#define MAX_BYTES ((size_t)1 << 20)
#define MAX_DEPTH 16 /* of folders in the folder of a part */

/* The file that lists the parts. */
struct source {
    const struct place *place;
    const char *path;
    char *root; /* what its paths are below */
};

static const char *const part_names[GLCNN_DATA_PARTS] = {"train", "val", "test"};

/* ---- Paths ---- */

static bool is_absolute(const char *path)
{
    return *path == '/';
}

/* The path if it is there; to be released with free(). */
static char *path_if_there(const char *root, const char *name)
{
    char *path = is_absolute(name) ? strdup(name) : path_join(root, name);
    if (!path || path_exists(path))
        return path;
    free(path);
    return NULL;
}

/* Ultralytics takes "../" for nothing where the path is not there: Roboflow writes so. */
static char *find_path(const char *root, const char *name)
{
    while (strncmp(name, "./", 2) == 0)
        name += 2 + strspn(name + 2, "/");
    char *path = path_if_there(root, *name ? name : ".");
    while (!path && strncmp(name, "../", 3) == 0) {
        name += 3;
        path = path_if_there(root, name);
    }
    return path;
}

/* A path of a list may begin with folders that only its writer has, as "data/" of CVAT's or those of
 * another machine. */
static char *find_picture(const char *root, const char *name)
{
    char *path = find_path(root, name);
    const bool is_whole = is_absolute(name);
    for (const char *at = strchr(name, '/'); !path && at;
         at = is_whole ? strchr(at + 1, '/') : NULL)
        path = at[1] ? path_if_there(root, at + 1 + strspn(at + 1, "/")) : NULL;
    return path;
}

/* Where "images" is in the path "labels" takes its place, otherwise labels lie beside their pictures. */
static char *labels_of(const char *pictures)
{
    static const char images[] = "images", labels[] = "labels";
    const size_t length = sizeof images - 1;
    const char *found = NULL;
    for (const char *at = pictures; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncasecmp(at, images, length) == 0 && (at[length] == '/' || at[length] == 0))
            found = at;
    }
    char *path = strdup(pictures);
    if (path && found)
        memcpy(path + (found - pictures), labels, length);
    return path;
}

/* ---- Folders ---- */

static glcnn_status add_pair(const struct source *s, glcnn_data_part part, const char *pictures,
                             const struct listing *wanted)
{
    char *labels = labels_of(pictures);
    if (!labels)
        return fail_no_memory(s->place->error, pictures);
    const struct pairs pairs = {
        .pictures = pictures, .annotations = labels, .wanted = wanted, .passes_folders = true};
    glcnn_status status = yolo_add_pair(s->place, part, &pairs);
    free(labels);
    return status;
}

static glcnn_status add_tree(const struct source *s, glcnn_data_part part, const char *folder,
                             int depth);

/* Links are not followed: they may lead back. Labels are no pictures. */
static glcnn_status add_below(const struct source *s, glcnn_data_part part, const char *folder,
                              const char *name, int depth)
{
    struct stat info;
    char *path = path_join(folder, name);
    if (!path)
        return fail_no_memory(s->place->error, folder);
    glcnn_status status = GLCNN_SUCCESS;
    if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && strcasecmp(name, "labels") != 0)
        status = add_tree(s, part, path, depth + 1);
    free(path);
    return status;
}

static bool has_file(const char *folder, const struct listing *listing)
{
    bool found = false;
    for (uint32_t i = 0; i < listing->count && !found; i++) {
        char *path = path_join(folder, listing->names[i]);
        found = path && !path_is_folder(path);
        free(path);
    }
    return found;
}

/* The folder's pictures, and those of the folders in it. */
static glcnn_status add_tree(const struct source *s, glcnn_data_part part, const char *folder,
                             int depth)
{
    struct listing listing;
    glcnn_status status = listing_read(folder, &listing, s->place->error);
    if (status == GLCNN_SUCCESS && has_file(folder, &listing))
        status = add_pair(s, part, folder, NULL);
    for (uint32_t i = 0; i < listing.count && depth < MAX_DEPTH && status == GLCNN_SUCCESS; i++)
        status = add_below(s, part, folder, listing.names[i], depth);
    listing_free(&listing);
    return status;
}

/* ---- Lists ---- */

/* The folder of a path, and where its name begins. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

static int by_folder(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    const size_t n = folder_length(x), m = folder_length(y);
    int order = strncmp(x, y, n < m ? n : m);
    if (order == 0 && n != m)
        return n < m ? -1 : 1;
    return order ? order : strcmp(x + n, y + m);
}

/* The pictures from number `first` on that lie in its folder; *next is the first that does not. */
static glcnn_status add_group(const struct source *s, glcnn_data_part part,
                              const struct listing *paths, uint32_t first, uint32_t *next)
{
    struct listing names = {0};
    const size_t length = folder_length(paths->names[first]);
    char *folder = strndup(paths->names[first], length);
    glcnn_status status = folder ? GLCNN_SUCCESS : fail_no_memory(s->place->error, s->path);
    for (*next = first; *next < paths->count && status == GLCNN_SUCCESS; ++*next) {
        const char *path = paths->names[*next];
        if (folder_length(path) != length || strncmp(path, folder, length) != 0)
            break;
        if (!listing_add(&names, path + length + 1))
            status = fail_no_memory(s->place->error, s->path);
    }
    if (status == GLCNN_SUCCESS)
        status = add_pair(s, part, folder, &names);
    listing_free(&names);
    free(folder);
    return status;
}

static glcnn_status tell_missing(const struct source *s, const char *list, const char *name)
{
    char message[GLCNN_ERROR_LENGTH];
    snprintf(message, sizeof message, "%.250s: lists %.150s, and no picture is called so", list,
             name);
    return boxes_tally(s->place->set, &s->place->set->boxes.unmatched, message, s->place->error);
}

/* Paths begin where the list is, or where all of the data is. */
static glcnn_status find_pictures(const struct source *s, const char *list,
                                  const struct listing *names, struct listing *paths)
{
    glcnn_status status = GLCNN_SUCCESS;
    char *folder = strndup(list, folder_length(list));
    if (!folder)
        return fail_no_memory(s->place->error, list);
    for (uint32_t i = 0; i < names->count && status == GLCNN_SUCCESS; i++) {
        char *path = find_picture(*folder ? folder : ".", names->names[i]);
        path = path ? path : find_picture(s->root, names->names[i]);
        if (!path)
            status = tell_missing(s, list, names->names[i]);
        else if (!listing_add(paths, path))
            status = fail_no_memory(s->place->error, list);
        free(path);
    }
    free(folder);
    if (paths->count > 0)
        qsort(paths->names, paths->count, sizeof *paths->names, by_folder);
    return status;
}

static glcnn_status add_list(const struct source *s, glcnn_data_part part, const char *list)
{
    struct listing names, paths = {0};
    glcnn_status status = boxes_read_list(s->place->set, list, false, &names, s->place->error);
    if (status == GLCNN_SUCCESS)
        status = find_pictures(s, list, &names, &paths);
    for (uint32_t i = 0; i < paths.count && status == GLCNN_SUCCESS;)
        status = add_group(s, part, &paths, i, &i);
    listing_free(&names);
    listing_free(&paths);
    return status;
}

/* ---- Parts ---- */

static void tell(const struct source *s, glcnn_data_part part, const char *name, const char *what)
{
    char message[GLCNN_ERROR_LENGTH];
    snprintf(message, sizeof message, "%.250s: %s: \"%.150s\" %s", s->path, part_names[part], name,
             what);
    set_decide(s->place->set, message);
}

/* Pictures that are learned from do not tell how well that went. */
static bool is_repeated(const struct source *s, const struct data_yaml *yaml, glcnn_data_part part,
                        const char *path)
{
    const struct listing *training = &yaml->parts[GLCNN_DATA_PART_TRAINING];
    bool found = false;
    for (uint32_t i = 0; i < training->count && part != GLCNN_DATA_PART_TRAINING && !found; i++) {
        char *other = find_path(s->root, training->names[i]);
        found = other && strcmp(other, path) == 0;
        free(other);
    }
    return found;
}

static glcnn_status add_entry(const struct source *s, const struct data_yaml *yaml,
                              glcnn_data_part part, const char *name)
{
    glcnn_status status = GLCNN_SUCCESS;
    char *path = find_path(s->root, name);
    if (!path)
        tell(s, part, name, "is not there, and is not read");
    else if (is_repeated(s, yaml, part, path))
        tell(s, part, name, "is of the training part too, and is read for that alone");
    else if (path_is_folder(path))
        status = add_tree(s, part, path, 0);
    else
        status = add_list(s, part, path);
    free(path);
    return status;
}

static bool has_training(const struct source *s, const struct data_yaml *yaml)
{
    const struct listing *training = &yaml->parts[GLCNN_DATA_PART_TRAINING];
    bool found = false;
    for (uint32_t i = 0; i < training->count && !found; i++) {
        char *path = find_path(s->root, training->names[i]);
        found = path != NULL;
        free(path);
    }
    if (!found && training->count > 0 && s->place->set)
        tell(s, GLCNN_DATA_PART_TRAINING, training->names[0],
             "is not there, so parts are those that folders are named for");
    return found;
}

static glcnn_status add_parts(const struct source *s, struct data_yaml *yaml)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (int part = 0; part < GLCNN_DATA_PARTS; part++)
        for (uint32_t i = 0; i < yaml->parts[part].count && status == GLCNN_SUCCESS; i++)
            status = add_entry(s, yaml, (glcnn_data_part)part, yaml->parts[part].names[i]);
    return status;
}

/* ---- Files ---- */

/* The folder of the file, or one that it names; of another machine it may not be there. */
static bool find_root(struct source *s, const struct data_yaml *yaml)
{
    char message[GLCNN_ERROR_LENGTH];
    s->root = yaml->root ? find_path(s->place->folder, yaml->root) : NULL;
    if (s->root && path_is_folder(s->root))
        return true;
    snprintf(message, sizeof message,
             "%.250s: path: \"%.150s\" is no folder here, so paths begin at that of the file",
             s->path, yaml->root ? yaml->root : "");
    if (yaml->root && s->place->set)
        set_decide(s->place->set, message);
    free(s->root);
    s->root = strdup(s->place->folder);
    return s->root != NULL;
}

static glcnn_status use(const struct place *p, const char *path, struct data_yaml *yaml,
                        bool *found)
{
    struct source s = {.place = p, .path = path};
    if (p->set)
        boxes_take_classes(p->set, &yaml->names);
    if (!find_root(&s, yaml))
        return fail_no_memory(p->error, path);
    *found = has_training(&s, yaml);
    glcnn_status status = *found && p->set ? add_parts(&s, yaml) : GLCNN_SUCCESS;
    free(s.root);
    return status;
}

/* "train = data/train.txt" */
static glcnn_status read_line(char *line, struct data_yaml *data, char **names)
{
    static const char blanks[] = " \t\r";
    glcnn_data_part part;
    char *value = strchr(line, '=');
    line += strspn(line, blanks);
    const size_t length = strcspn(line, " \t\r=");
    if (!value)
        return GLCNN_SUCCESS;
    value += 1 + strspn(value + 1, blanks);
    value[strcspn(value, blanks)] = 0;
    if (length == 5 && strncmp(line, "names", length) == 0 && !*names)
        *names = strdup(value);
    if (*value && word_is_part(line, length, &part) && !listing_add(&data->parts[part], value))
        return GLCNN_OUT_OF_MEMORY;
    return GLCNN_SUCCESS;
}

/* Paths begin with the folder that darknet is run in, "data/", which an export does not have. */
static void shorten(const char *folder, char *name)
{
    const size_t length = strlen(folder);
    char *path = find_picture(folder, name);
    if (path && !is_absolute(name) && strncmp(path, folder, length) == 0) {
        const char *rest = path + length + strspn(path + length, "/");
        memmove(name, rest, strlen(rest) + 1);
    }
    free(path);
}

static glcnn_status read_darknet(const struct place *p, const char *path, struct data_yaml *data)
{
    struct bytes bytes;
    char *text, *names = NULL;
    *data = (struct data_yaml){.root = NULL};
    glcnn_status status = bytes_read_text(&bytes, path, MAX_BYTES, &text, p->error);
    for (char *line; status == GLCNN_SUCCESS && (line = bytes_line(&text)) != NULL;)
        if (read_line(line, data, &names) != GLCNN_SUCCESS)
            status = fail_no_memory(p->error, path);
    bytes_free(&bytes);
    for (int part = 0; part < GLCNN_DATA_PARTS; part++)
        for (uint32_t i = 0; i < data->parts[part].count; i++)
            shorten(p->folder, data->parts[part].names[i]);
    char *list = names ? find_picture(p->folder, names) : NULL;
    if (status == GLCNN_SUCCESS && list)
        status = class_list_read(list, &data->names, p->error);
    free(list);
    free(names);
    return status;
}

static glcnn_status use_darknet(const struct place *p, bool *found)
{
    struct data_yaml data;
    char *path = NULL;
    for (uint32_t i = 0; i < p->listing.count && !path; i++)
        if (strcasecmp(p->listing.names[i], "obj.data") == 0)
            path = path_join(p->folder, p->listing.names[i]);
    if (!path)
        return GLCNN_SUCCESS;
    glcnn_status status = read_darknet(p, path, &data);
    if (status == GLCNN_SUCCESS)
        status = use(p, path, &data, found);
    data_yaml_free(&data);
    free(path);
    return status;
}

static glcnn_status take_keypoints(const struct place *p, const char *path, struct data_yaml *yaml)
{
    glcnn_dataset *set = p->set;
    const uint32_t count = yaml->keypoint_shape[0], names = yaml->keypoints.count;
    set->boxes.keypoint_count = count;
    set->boxes.keypoint_fields = yaml->keypoint_shape[1];
    if (count > 0 && set->parameters.targets == GLCNN_DATA_TARGETS_BOXES)
        boxes_tell_points(set, path);
    if (set->parameters.targets != GLCNN_DATA_TARGETS_NUMBERS || names == 0)
        return GLCNN_SUCCESS;
    if (names != count)
        return fail_with(p->error, GLCNN_MALFORMED_DATA,
                         "%.250s: has %u kpt_names, and kpt_shape has %u points; expected a name "
                         "of each",
                         path, names, count);
    return keypoints_take_names(set, &yaml->keypoints, path, p->error);
}

static glcnn_status use_yaml(const struct place *p, const char *path, bool *found)
{
    struct data_yaml yaml;
    glcnn_status status = data_yaml_read(path, &yaml, p->error);
    if (status == GLCNN_SUCCESS && p->set)
        status = take_keypoints(p, path, &yaml);
    if (status == GLCNN_SUCCESS)
        status = use(p, path, &yaml, found);
    data_yaml_free(&yaml);
    return status;
}

glcnn_status yolo_add_lists(const struct place *p, bool *found)
{
    const char *name = NULL;
    char *path = p->yaml ? strdup(p->yaml) : NULL;
    *found = false;
    if (p->up)
        return GLCNN_SUCCESS;
    glcnn_status status = path ? GLCNN_SUCCESS : yolo_find_yaml(p, &name);
    if (status == GLCNN_SUCCESS && name)
        path = path_join(p->folder, name);
    if (status == GLCNN_SUCCESS && path)
        status = use_yaml(p, path, found);
    free(path);
    return status == GLCNN_SUCCESS && !*found ? use_darknet(p, found) : status;
}
