/* Layers that train. Filters are numbered as the network has them, sources before readers. */
#include "layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Output channels that train. */
struct range {
    uint32_t first, count; /* 0: all */
};

/* What is known of each filter. */
struct mark {
    glcnn_filter_node *filter;
    bool counts; /* the scores depend on it */
    bool layer;  /* it has weights, a normalisation's factors or a neuron's slopes */
    bool chosen; /* to train */
    bool live;   /* its result changes while the picture stays */
    struct range channels;
};

struct choosing {
    struct model *model;
    struct mark *marks;
    size_t count;
};

static struct mark *mark_of(const struct choosing *c, const glcnn_image_node *image)
{
    const glcnn_filter_node *filter = glcnn_image_node_filter(image);
    for (size_t i = 0; filter && i < c->count; i++)
        if (c->marks[i].filter == filter)
            return &c->marks[i];
    return NULL;
}

static struct mark *source_of(const struct choosing *c, const struct mark *mark, size_t source)
{
    return mark_of(c, glcnn_filter_node_source(mark->filter, source));
}

static size_t sources(const struct mark *mark)
{
    return glcnn_filter_node_source_count(mark->filter);
}

static bool is_kernel(const struct mark *mark, const char *name)
{
    return strcmp(glcnn_kernel_name(glcnn_filter_node_kernel(mark->filter)), name) == 0;
}

/* One that "last:N" counts. */
static bool is_main(const struct mark *mark)
{
    return is_kernel(mark, "convolution") || is_kernel(mark, "fully_connected") ||
           is_kernel(mark, "convolution_transpose");
}

static bool begin(struct choosing *c)
{
    glcnn_network *network = c->model->network;
    c->count = model_filter_count(network);
    c->marks = calloc(c->count + 1, sizeof *c->marks);
    if (!c->marks)
        return false;
    for (size_t i = 0; i < c->count; i++) {
        c->marks[i].filter = glcnn_network_filter(network, i);
        c->marks[i].layer = model_filter_has_weights(c->marks[i].filter) &&
                            glcnn_filter_node_training_style(c->marks[i].filter) !=
                                GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE;
    }
    struct mark *last = mark_of(c, c->model->scores), *source;
    if (last)
        last->counts = true;
    for (size_t i = c->count; i-- > 0;)
        for (size_t s = 0; c->marks[i].counts && s < sources(&c->marks[i]); s++)
            if ((source = source_of(c, &c->marks[i], s)) != NULL)
                source->counts = true;
    return true;
}

/* ---- Words ---- */

static bool choose_last(struct choosing *c, uint64_t wanted, char error[GLCNN_ERROR_LENGTH])
{
    uint64_t seen = 0;
    for (size_t i = c->count; i-- > 0 && seen < wanted;) {
        struct mark *m = &c->marks[i];
        m->chosen = m->counts && m->layer;
        seen += m->chosen && is_main(m);
    }
    if (seen == wanted && wanted > 0)
        return true;
    snprintf(
        error, GLCNN_ERROR_LENGTH,
        "--train: \"last:%llu\" asks for more layers than the %llu that there are, or for none",
        (unsigned long long)wanted, (unsigned long long)seen);
    return false;
}

static bool refuse_label(const struct choosing *c, const char *word, size_t length,
                         char error[GLCNN_ERROR_LENGTH])
{
    char text[GLCNN_ERROR_LENGTH / 2];
    size_t known = 0;
    const char **names = calloc(c->count + 3, sizeof *names);
    for (size_t i = 0; names && i < c->count; i++)
        if (c->marks[i].counts && c->marks[i].layer)
            names[known++] = glcnn_filter_node_label(c->marks[i].filter);
    if (names) {
        names[known++] = "all";
        names[known++] = "last";
        glcnn_suggest(word, length, names, known, text, sizeof text);
    }
    snprintf(error, GLCNN_ERROR_LENGTH, "--train: there is no layer \"%.*s\"%s",
             length < 100 ? (int)length : 100, word, names ? text : "");
    free(names);
    return false;
}

/* Chooses what has that label, or begins so; how many there are. */
static size_t choose_named(struct choosing *c, const char *word, size_t length,
                           struct range channels)
{
    bool is_beginning = length > 0 && word[length - 1] == '*';
    size_t compared = is_beginning ? length - 1 : length, found = 0;
    for (size_t i = 0; i < c->count; i++) {
        struct mark *m = &c->marks[i];
        const char *label = glcnn_filter_node_label(m->filter);
        if (!m->counts || !m->layer || strncmp(label, word, compared) != 0 ||
            (!is_beginning && label[compared]))
            continue;
        m->chosen = true;
        m->channels = channels;
        found++;
    }
    return found;
}

/* The length of NAME of "NAME:FIRST-LAST", and the channels; all, where the word is only a name. */
static size_t read_channels(const char *word, size_t length, struct range *channels)
{
    unsigned first, last;
    int read = 0;
    size_t name = length;
    while (name > 0 && word[name - 1] != ':')
        name--;
    *channels = (struct range){0, 0};
    if (name < 2 || sscanf(word + name, "%5u-%5u%n", &first, &last, &read) != 2 ||
        name + (size_t)read != length || last < first)
        return length;
    *channels = (struct range){first, last - first + 1};
    return name - 1;
}

/* A label may have a colon, too. */
static bool choose_label(struct choosing *c, const char *word, size_t length,
                         char error[GLCNN_ERROR_LENGTH])
{
    struct range channels;
    if (choose_named(c, word, length, (struct range){0, 0}))
        return true;
    size_t name = read_channels(word, length, &channels);
    return (name < length && choose_named(c, word, name, channels)) ||
           refuse_label(c, word, name, error);
}

/* The head that a task has put on the network. */
static bool choose_head(struct choosing *c)
{
    char word[64];
    const char *beginning = task_of(&c->model->form)->head;
    if (!beginning)
        return false;
    snprintf(word, sizeof word, "%s*", beginning);
    return choose_named(c, word, strlen(word), (struct range){0, 0}) > 0;
}

static bool choose(struct choosing *c, const char *words, char error[GLCNN_ERROR_LENGTH])
{
    if (strcmp(words, "last") == 0)
        return choose_head(c) || choose_last(c, 1, error);
    if (strncmp(words, "last:", 5) == 0 && words[5] &&
        strspn(words + 5, "0123456789") == strlen(words + 5))
        return choose_last(c, strtoull(words + 5, NULL, 10), error);
    bool all = strcmp(words, "all") == 0, good = true;
    for (size_t i = 0; all && i < c->count; i++)
        c->marks[i].chosen = c->marks[i].counts && c->marks[i].layer;
    for (const char *word = words; !all && good; word += strcspn(word, ",") + 1) {
        good = choose_label(c, word, strcspn(word, ","), error);
        if (!word[strcspn(word, ",")])
            break;
    }
    return good;
}

/* ---- What follows ---- */

static void spread(struct choosing *c)
{
    for (size_t i = 0; i < c->count; i++) {
        struct mark *m = &c->marks[i];
        m->live = m->counts && (m->live || m->chosen);
        for (size_t s = 0; m->counts && s < sources(m); s++) {
            const struct mark *source = source_of(c, m, s);
            m->live = m->live || (source && source->live);
        }
    }
}

/* Is there nothing with weights that is frozen behind the dropout? Then it drops as for the layers
 * that train, and all behind it changes from step to step. */
static bool drops_for_live(const struct choosing *c, size_t dropout, bool *behind)
{
    memset(behind, 0, c->count * sizeof *behind);
    behind[dropout] = true;
    for (size_t i = dropout + 1; i < c->count; i++) {
        const struct mark *m = &c->marks[i];
        for (size_t s = 0; s < sources(m); s++) {
            const struct mark *source = source_of(c, m, s);
            behind[i] = behind[i] || (m->counts && source && behind[source - c->marks]);
        }
        if (behind[i] && m->layer && !m->live)
            return false;
    }
    return true;
}

static bool keep_dropouts(struct choosing *c)
{
    bool *behind = calloc(c->count + 1, sizeof *behind);
    for (size_t i = 0; behind && i < c->count; i++) {
        struct mark *m = &c->marks[i];
        m->live =
            m->live || (m->counts && model_filter_drops(m->filter) && drops_for_live(c, i, behind));
    }
    bool good = behind;
    free(behind);
    spread(c);
    return good;
}

/* Channels that a filter without an image of its own is to have: those of the layer before it. */
static uint32_t channels_before(const struct choosing *c, const struct mark *mark)
{
    const struct glcnn_convolution_parameters *layer = NULL;
    while (!layer && sources(mark) > 0 && (mark = source_of(c, mark, 0)) != NULL)
        layer = glcnn_convolution(glcnn_filter_node_kernel(mark->filter));
    if (layer)
        return layer->output_feature_channels;
    return c->model->form.channels;
}

/* A normalisation that nothing was read for gets neutral vectors: what never trains would not know
 * how long they are. */
static bool fill(const struct choosing *c, const struct mark *mark)
{
    static const struct {
        const char *name;
        float neutral;
    } vectors[] = {{"gamma", 1}, {"beta", 0}, {"mean", 0}, {"variance", 1}};
    const uint32_t count = channels_before(c, mark);
    glcnn_kernel *kernel = glcnn_filter_node_kernel(mark->filter);
    float *values = calloc((size_t)count + 1, sizeof *values);
    bool good = values;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors && good; i++) {
        for (uint32_t k = 0; k < count; k++)
            values[k] = vectors[i].neutral;
        good =
            glcnn_kernel_vector_length(kernel, vectors[i].name) > 0
                ? glcnn_kernel_vector(kernel, vectors[i].name) != NULL
                : glcnn_kernel_set_vector(kernel, vectors[i].name, values, count) == GLCNN_SUCCESS;
    }
    free(values);
    return good;
}

static bool freeze(const struct choosing *c, const struct mark *mark)
{
    glcnn_filter_node_set_training_style(mark->filter, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE);
    if (!is_kernel(mark, "batch_normalization"))
        return true;
    glcnn_batch_normalization(glcnn_filter_node_kernel(mark->filter))->flags =
        GLCNN_BATCH_NORMALIZATION_CALCULATE_STATISTICS_NEVER;
    return fill(c, mark);
}

/* False: there are too many. */
static bool add_cut(struct features *cut, glcnn_image_node *image)
{
    uint32_t i = 0;
    while (i < cut->count && cut->at[i].image != image)
        i++;
    if (i == FEATURES_MAX)
        return false;
    cut->at[i].image = image;
    cut->count += i == cut->count;
    return true;
}

/* Gradients end where nothing before changes. */
static void stop_gradients(struct choosing *c, struct layers *layers)
{
    bool is_cut = true;
    for (size_t i = 0; i < c->count; i++)
        for (size_t s = 0; c->marks[i].live && s < sources(&c->marks[i]); s++) {
            glcnn_image_node *image = glcnn_filter_node_source(c->marks[i].filter, s);
            const struct mark *source = source_of(c, &c->marks[i], s);
            if (source && source->live)
                continue;
            is_cut = is_cut && source && add_cut(&layers->cut, image);
            glcnn_image_node_set_stop_gradient(image, source != NULL);
        }
    if (!is_cut)
        layers->cut.count = 0;
}

static bool train_channels(const struct choosing *c, const struct mark *mark,
                           char error[GLCNN_ERROR_LENGTH])
{
    if (!mark->channels.count || glcnn_kernel_set_training_channels(
                                     glcnn_filter_node_kernel(mark->filter), mark->channels.first,
                                     mark->channels.count) == GLCNN_SUCCESS)
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH, "--train: %s", glcnn_device_error(c->model->device));
    return false;
}

static bool settle(struct choosing *c, size_t head, struct layers *layers,
                   char error[GLCNN_ERROR_LENGTH])
{
    bool good = true;
    *layers = (struct layers){.head = head};
    for (size_t i = 0; i < c->count && good; i++) {
        const struct mark *m = &c->marks[i];
        if (m->counts && m->layer && !m->chosen)
            good = freeze(c, m);
        if (m->chosen && good)
            good = train_channels(c, m, error);
        layers->count += m->counts && m->layer;
        layers->trained += m->chosen;
        layers->backbone += m->chosen && i < head;
    }
    stop_gradients(c, layers);
    return good;
}

/* *head is the number of the first filter that "last" chooses, or behind all of them where it chooses none. False:
 * not enough memory. */
static bool find_head(const struct choosing *c, size_t *head)
{
    struct choosing last = *c;
    char unused[GLCNN_ERROR_LENGTH];
    *head = c->count;
    last.marks = malloc((c->count + 1) * sizeof *last.marks);
    if (!last.marks)
        return false;
    memcpy(last.marks, c->marks, c->count * sizeof *last.marks);
    choose(&last, "last", unused);
    for (size_t i = c->count; i-- > 0;)
        *head = last.marks[i].chosen ? i : *head;
    free(last.marks);
    return true;
}

bool layers_choose(struct model *model, const char *words, struct layers *layers,
                   char error[GLCNN_ERROR_LENGTH])
{
    struct choosing c = {.model = model};
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    size_t head;
    bool good = begin(&c) && find_head(&c, &head) && choose(&c, words, error);
    if (good) {
        spread(&c);
        good = keep_dropouts(&c);
    }
    if (good)
        good = settle(&c, head, layers, error);
    free(c.marks);
    return good;
}
