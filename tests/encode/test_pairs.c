/* What can be composed compiles: networks convolution, producer, kernel, producer are trained with each
 * implementation of the kernel and of the producer forced, for each kernel whose passes make what is not
 * stored, and each producer that they make. Kernels, producers, implementations and parameters come
 * from the registry and from the cases of the self-check, so that a new one is tried without an edit
 * here. GLCNN_TEST_CHECK=1 tries all pairs, and else each kernel, each producer and each implementation
 * is in one.
 *
 * Kernels that read what is stored are checked by themselves, with each of their implementations forced:
 * a case each, where it has a shader body that none before has had, or for every kernel.
 *
 * GLCNN_TEST_BOARDS leaves out the rows of src/desktop, which no board takes: compilers of its GPU need more
 * than the gate's time for the largest of them.
 *
 * Producers are those that make pixels forward (the one before the kernel) and those whose gradient
 * does (the one behind it, whose gradient the kernel's reads). */
#include "tests/fixture.h"
#include "tests/graphs.h"

#include "device/device.h"
#include "encode/reference.h"
#include "graph/compile.h"
#include "record/program.h"
#include "run/check.h"

#define MOST_CASES     64
#define FEW_CASES      2 /* of a kernel, of those that suit, where not all are tried */
#define MOST_ROWS      256
#define MOST_PRODUCERS 64
#define SETTINGS       512
#define MOST_PROGRAMS  400 /* that a device keeps before it is opened anew: each takes memory */

/* ---- Rows of lists ---- */

struct rows {
    const char *names[MOST_ROWS], *lists[MOST_ROWS]; /* and of which list each is */
    size_t count;
};

static bool has_row(const struct rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->names[i], name) == 0)
            return true;
    return false;
}

static void add_row(struct rows *rows, const char *name, const char *list)
{
    CU_ASSERT_TRUE_FATAL(rows->count < MOST_ROWS);
    if (has_row(rows, name))
        return;
    rows->names[rows->count] = name;
    rows->lists[rows->count++] = list;
}

typedef bool (*choice)(const struct implementation *row);

static void add_rows_of(struct rows *rows, const struct glcnn_descriptor *d, choice wanted)
{
    const struct implementation *row;
    for (const struct implementation_list *const *list = d ? d->implementations : NULL;
         list && *list; list++) {
        struct implementation_walk walk = implementation_walk_of(*list);
        if (getenv("GLCNN_TEST_BOARDS") && walk.then)
            walk = (struct implementation_walk){walk.then, NULL};
        while ((row = implementation_next(&walk)))
            if (!wanted || wanted(row))
                add_row(rows, row->name, (*list)->name);
    }
}

/* A GPU of few storage blocks stores what readers would need more of. */
static bool has_many_buffers(void)
{
    return device->info.limits.storage_blocks >= 16;
}

static const struct glcnn_descriptor *gradient_of(const struct glcnn_descriptor *d)
{
    return d->gradient ? descriptor_find(d->gradient) : NULL;
}

static struct rows rows_of(const struct glcnn_descriptor *d)
{
    struct rows rows = {.count = 0};
    add_rows_of(&rows, d, NULL);
    add_rows_of(&rows, gradient_of(d), NULL);
    return rows;
}

/* `form` of a row that chooses how a result is made points to one of fusion_forms. */
static bool fuses_as(const struct implementation *row, enum fusion fusion)
{
    return row->form == &fusion_forms[fusion];
}

static bool has_room(const struct implementation *row)
{
    return row->buffers <= device->info.limits.storage_blocks;
}

static bool fuses_pixels(const struct implementation *row)
{
    return fuses_as(row, FUSION_PIXELS) && has_room(row);
}

static bool fuses_once(const struct implementation *row)
{
    return fuses_as(row, FUSION_ONCE) && has_room(row);
}

/* ---- Which rows are taken, as the log tells ---- */

#define MOST_LISTS 64

static const char *awaited;
static bool was_taken;
static char lists[MOST_LISTS][48]; /* that a plan has asked since they were forgotten */
static size_t list_count;

static bool was_asked(const char *list)
{
    for (size_t i = 0; i < list_count; i++)
        if (strcmp(lists[i], list) == 0)
            return true;
    return false;
}

static void hear(void *user, glcnn_log_level level, const char *text)
{
    (void)user;
    (void)level;
    char list[48];
    const char *told = strstr(text, ": list "), *takes = strstr(text, " takes ");
    if (!told || !takes || sscanf(told, ": list %47s", list) != 1)
        return;
    was_taken |= awaited && strcmp(takes + strlen(" takes "), awaited) == 0;
    if (!was_asked(list) && list_count < MOST_LISTS)
        strcpy(lists[list_count++], list);
}

/* `row` before all rows that fuse: of two rows of a list the first that is forced is taken, and so
 * those of the row's own lists are left out. NULL: none. */
static void force(const char *row, const struct rows *fusing)
{
    char text[1024] = "";
    bool is_fusing = row && (strstr(row, "_recomputed") || strstr(row, "_stored"));
    if (row)
        strcat(text, row);
    for (size_t i = 0; i < fusing->count && !is_fusing; i++) {
        CU_ASSERT_TRUE_FATAL(strlen(text) + strlen(fusing->names[i]) + 2 < sizeof text);
        strcat(strcat(text, ","), fusing->names[i]);
    }
    free(device->forced_implementations);
    device->forced_implementations = strdup(text);
    awaited = row;
    was_taken = false;
}

/* ---- Networks ---- */

/* A kernel by the parameters and sizes of a case. */
struct member {
    const struct glcnn_descriptor *d;
    const struct check_case *c;
    char settings[SETTINGS]; /* those words of the case that a node has */
};

struct pair {
    const struct member *before, *kernel, *behind;
    glcnn_channel_format format;
    glcnn_network *net;
    glcnn_image_node *image, *second, *gradient, *made, *result, *last;
};

static bool has_node(const struct glcnn_descriptor *d)
{
    return !(d->flags & (IS_GRADIENT | WITHOUT_PIXELS)) &&
           descriptor_place(d, PLACE_DESTINATION) >= 0;
}

/* Offsets and clip rectangles are what a graph finds by itself. */
static bool is_for_nodes(const char *word)
{
    static const char *const parts[] = {"offset",       "clip_",       "max_count",
                                        "destination_", "align",       "remainder",
                                        "exclude",      "source_size", "is_secondary"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(word, parts[i]))
            return false;
    return true;
}

static struct member member_of(const struct glcnn_descriptor *d, const struct check_case *c)
{
    struct member m = {.d = d, .c = c};
    char copy[SETTINGS], *rest = NULL;
    double value;
    struct operation *o = calloc(1, sizeof *o);
    CU_ASSERT_PTR_NOT_NULL_FATAL(o);
    snprintf(copy, sizeof copy, "%s", c->settings);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (is_for_nodes(word) && strlen(m.settings) + strlen(word) + 2 < sizeof m.settings)
            strcat(strcat(m.settings, word), " ");
    double *parameters = calloc(1, MAX_PARAMETER_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(parameters);
    if (parameter_get(d, &o->properties, parameters, "input_feature_channels", &value))
        snprintf(m.settings + strlen(m.settings), sizeof m.settings - strlen(m.settings),
                 "input_feature_channels=%u ", c->shape[1]);
    free(parameters);
    free(o);
    return m;
}

/* The kernel's node: further sources are `second`. */
static glcnn_image_node *apply(const struct member *m, glcnn_image_node *x,
                               glcnn_image_node *second)
{
    bool more = m->d->flags & (IS_BINARY | GATHERS) ||
                descriptor_place(m->d, PLACE_SECONDARY) >= 0 ||
                descriptor_place(m->d, PLACE_LABELS) >= 0;
    glcnn_image_node *sources[2] = {x, second};
    glcnn_filter_node *node =
        x ? glcnn_filter_node_create(x->network, m->d->name, m->settings, sources, more ? 2 : 1)
          : NULL;
    return glcnn_filter_node_result(node);
}

static glcnn_image_node *convolve(glcnn_image_node *x, uint32_t channels)
{
    return glcnn_convolution_node(
        x,
        &(struct glcnn_convolution_descriptor){.kernel_width = 1,
                                               .kernel_height = 1,
                                               .input_feature_channels = channels,
                                               .output_feature_channels = channels},
        NULL);
}

/* False: the case is none for a graph. */
static bool make_pair(struct pair *p)
{
    uint32_t channels = p->kernel->c->shape[1];
    p->net = make_network();
    p->image = make_input(p->net, "image");
    p->second = make_input(p->net, "second");
    p->gradient = make_input(p->net, "gradient");
    p->made = apply(p->before, convolve(p->image, channels), p->image);
    p->result = apply(p->kernel, p->made, p->second);
    p->last = p->behind ? apply(p->behind, p->result, p->result) : p->result;
    if (!p->last || glcnn_network_status(p->net) != GLCNN_SUCCESS)
        return false;
    set_weights(p->net, 3);
    train_network(p->net, false);
    return true;
}

static struct glcnn_image_descriptor shape_of(const struct pair *p, const uint32_t shape[4])
{
    return (struct glcnn_image_descriptor){.width = shape[3],
                                           .height = shape[2],
                                           .feature_channels = shape[1],
                                           .number_of_images = shape[0],
                                           .channel_format = p->format};
}

/* Of a source of the graph; that of the gradient is what the graph itself makes forward. */
static struct glcnn_image_descriptor source_of(const struct pair *p, const glcnn_image_node *node,
                                               const struct glcnn_image_descriptor *result)
{
    const struct check_case *c = p->kernel->c;
    if (node == p->gradient)
        return *result;
    return shape_of(p, node == p->second && c->secondary[0] ? c->secondary : c->shape);
}

/* A graph with its sources' sizes. */
struct planned {
    glcnn_graph *graph;
    struct glcnn_image_descriptor sources[4];
};

/* Plans it for these; compiles nothing. */
static bool plan_graph(const struct pair *p, const struct glcnn_image_descriptor *result,
                       struct planned *g)
{
    struct glcnn_memory_plan memory;
    size_t count = glcnn_graph_source_count(g->graph);
    for (size_t i = 0; i < count; i++)
        g->sources[i] = source_of(p, glcnn_graph_source(g->graph, i), result);
    return glcnn_graph_memory(g->graph, g->sources, &memory) == GLCNN_SUCCESS;
}

static bool forward_graph(const struct pair *p, struct planned *g)
{
    const struct glcnn_graph_descriptor wanted = {
        .results = (glcnn_image_node *[]){p->last}, .result_count = 1, .format = p->format};
    return glcnn_graph_create(p->net, &wanted, &g->graph) == GLCNN_SUCCESS &&
           plan_graph(p, NULL, g);
}

/* What the forward graph makes. */
static struct glcnn_image_descriptor result_of_graph(const struct pair *p, const struct planned *g)
{
    return g->graph->compiled->recording.images[p->last->index]->descriptor;
}

static bool training_graph_of(const struct pair *p, const struct glcnn_image_descriptor *result,
                              struct planned *g)
{
    glcnn_filter_node *nodes[MOST_ENDS];
    glcnn_image_node *results[MOST_ENDS];
    bool needed[MOST_ENDS] = {false};
    size_t count = glcnn_training_graph_with_source_gradient(filter_of(p->last), p->gradient, NULL,
                                                             NULL, nodes, MOST_ENDS);
    for (size_t i = 0; i < count; i++)
        results[i] = glcnn_filter_node_result(nodes[i]);
    const struct glcnn_graph_descriptor wanted = {
        .results = results, .result_is_needed = needed, .result_count = count, .format = p->format};
    return count > 0 && glcnn_graph_create(p->net, &wanted, &g->graph) == GLCNN_SUCCESS &&
           plan_graph(p, result, g);
}

/* Does the kernel or its gradient make what is not stored? */
static bool is_fused(const struct pair *p, const struct planned *g)
{
    const struct glcnn_filter_node *own = filter_of(p->result);
    for (size_t i = 0; i < g->graph->filter_count; i++) {
        const struct glcnn_filter_node *n = g->graph->filters[i].node;
        for (size_t s = 0; (n == own || n->forward == own) && s < n->source_count; s++)
            if (g->graph->compiled->recording.made[n->sources[s]->index].fused)
                return true;
    }
    return false;
}

static glcnn_status execute(const struct planned *g)
{
    glcnn_image *images[4] = {NULL};
    glcnn_status status = GLCNN_SUCCESS;
    size_t count = glcnn_graph_source_count(g->graph);
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        status = glcnn_image_create(device, &g->sources[i], &images[i]);
    if (status == GLCNN_SUCCESS)
        status = glcnn_graph_execute(g->graph, images, NULL, NULL);
    if (status == GLCNN_SUCCESS)
        status = glcnn_graph_wait(g->graph);
    destroy_images(images, count);
    return status;
}

/* ---- Trying ---- */

/* What has been tried. */
static size_t tried;

static void count_program(void *user, const struct program *program)
{
    (void)program;
    ++*(size_t *)user;
}

/* Keeps memory: a program of llvmpipe takes megabytes. */
static void open_anew_if_full(void)
{
    size_t count = 0;
    program_cache_each(device->programs, count_program, &count);
    if (count <= MOST_PROGRAMS)
        return;
    fixture_close();
    CU_ASSERT_TRUE_FATAL(fixture_open());
    device->log = hear;
}

static void expect_to_run(const struct pair *p, const char *row, const struct planned *g)
{
    glcnn_status status = execute(g);
    tried++;
    if (status == GLCNN_SUCCESS)
        return;
    CU_FAIL("a pair does not run");
    fprintf(stderr, "\n  %s, %s %s, %s; %s forced, %s: %s\n", p->before->d->name,
            p->kernel->d->name, p->kernel->settings, p->behind ? p->behind->d->name : "nothing",
            row ? row : "no row", p->format == GLCNN_CHANNEL_FORMAT_FLOAT16 ? "float16" : "float32",
            glcnn_device_error(device));
}

/* Plans the pair with the row forced, `row` NULL: none, and runs it where the row is taken and the
 * kernel makes what is not stored. `result`: of the last node; without sizes until the first plan that
 * succeeds finds it. */
static bool try_pair(struct pair p, const char *row, const struct rows *fusing,
                     struct glcnn_image_descriptor *result, bool runs)
{
    struct planned forward = {.graph = NULL}, training = {.graph = NULL};
    bool good = false;
    force(row, fusing);
    if (make_pair(&p) && (result->width || forward_graph(&p, &forward))) {
        if (!result->width)
            *result = result_of_graph(&p, &forward);
        bool trains = training_graph_of(&p, result, &training);
        bool plans = trains || forward.graph || forward_graph(&p, &forward);
        const struct planned *g = trains ? &training : &forward;
        good = plans && (!row || was_taken) && is_fused(&p, g);
        if (good && runs)
            expect_to_run(&p, row, g);
    }
    glcnn_graph_destroy(&forward.graph);
    glcnn_graph_destroy(&training.graph);
    glcnn_network_destroy(&p.net);
    open_anew_if_full();
    return good;
}

/* ---- Producers ---- */

struct producers {
    struct member members[MOST_PRODUCERS];
    size_t count;
};

/* Has a neuron, before which it stands, make it? */
static bool makes_pixels(const struct member *m, const struct rows *fusing)
{
    static const struct check_case c = {"neuron_type=gelu", {2, 5, 4, 4}, {0}, false};
    const struct member neuron = member_of(descriptor_find("neuron"), &c);
    struct glcnn_image_descriptor result = {.width = 0};
    return try_pair((struct pair){.before = m, .kernel = &neuron, .behind = m}, NULL, fusing,
                    &result, false);
}

static bool has_rows(const struct glcnn_descriptor *d, choice wanted)
{
    struct rows rows = {.count = 0};
    if (d && d->fusion)
        add_rows_of(&rows, d, wanted);
    return rows.count > 0;
}

/* Each kernel that, or whose gradient, may be made by its readers, with the first parameters of its
 * cases by which it is. */
static struct producers find_producers(choice fuses, const struct rows *fusing)
{
    struct producers found = {.count = 0};
    for (const struct glcnn_descriptor *const *d = glcnn_registry; *d; d++) {
        const struct check_case *c = reference_of(*d)->cases;
        bool may = has_node(*d) && (has_rows(*d, fuses) || has_rows(gradient_of(*d), fuses));
        bool made = false;
        CU_ASSERT_TRUE_FATAL(found.count < MOST_PRODUCERS);
        for (; may && !made && c->settings; c++) {
            struct member m = member_of(*d, c);
            if ((made = makes_pixels(&m, fusing)))
                found.members[found.count++] = m;
        }
        if (may && !made && has_many_buffers()) {
            CU_FAIL("a kernel that its readers may make is made by none");
            fprintf(stderr, "\n  %s\n", (*d)->name);
        }
    }
    return found;
}

/* ---- Pairs ---- */

/* A case in which a kernel makes what is not stored, with what its last node makes. */
struct fused_case {
    struct pair pair;
    struct glcnn_image_descriptor result;
};

/* Of a kernel and a producer. */
struct fused_cases {
    struct member members[MOST_CASES];
    struct fused_case cases[MOST_CASES];
    size_t count;
};

/* Those of the small cases; the first is run as it is, in float16. The producer stands behind the
 * kernel too, unless the sizes that this leaves suit it not. */
static void find_cases(const struct glcnn_descriptor *d, const struct member *producer,
                       const struct rows *fusing, struct fused_cases *found)
{
    size_t most = unit_is_check() ? MOST_CASES : FEW_CASES;
    found->count = 0;
    list_count = 0;
    for (const struct check_case *c = reference_of(d)->cases; c->settings; c++) {
        if (c->large || found->count == most)
            continue;
        bool fuses = false;
        found->members[found->count] = member_of(d, c);
        for (int behind = 1; behind >= 0 && !fuses; behind--) {
            struct fused_case one = {.pair = {.before = producer,
                                              .kernel = &found->members[found->count],
                                              .behind = behind ? producer : NULL,
                                              .format = GLCNN_CHANNEL_FORMAT_FLOAT16}};
            fuses = try_pair(one.pair, NULL, fusing, &one.result, found->count == 0);
            found->cases[found->count] = one;
        }
        found->count += fuses;
    }
}

static bool try_cases(struct fused_cases *cases, const char *row, const struct rows *fusing)
{
    for (size_t i = 0; i < cases->count; i++) {
        struct fused_case *one = &cases->cases[i];
        one->pair.format = one->result.channel_format = GLCNN_CHANNEL_FORMAT_FLOAT32;
        if (try_pair(one->pair, row, fusing, &one->result, true))
            return true;
    }
    return false;
}

/* Each row that the kernel or the producer has, but those that another pair has had. A list that no
 * plan of the pair has asked so far may be asked once another row is taken: the rows come twice. */
static void try_rows(struct fused_cases *cases, struct rows *had, const struct rows *fusing)
{
    const struct pair *p = &cases->cases[0].pair;
    struct rows rows = rows_of(p->kernel->d);
    bool seen[MOST_ROWS] = {false};
    add_rows_of(&rows, p->before->d, NULL);
    add_rows_of(&rows, gradient_of(p->before->d), NULL);
    for (size_t i = 0; i < 2 * rows.count; i++) {
        size_t at = i % rows.count;
        const char *row = rows.names[at];
        if (seen[at] || (had && has_row(had, row)) || !was_asked(rows.lists[at]))
            continue;
        seen[at] = true;
        if (try_cases(cases, row, fusing) && had)
            add_row(had, row, rows.lists[at]);
    }
}

static bool reads_made(const struct glcnn_descriptor *d, unsigned flags)
{
    const struct glcnn_descriptor *gradient = gradient_of(d);
    return has_node(d) && (d->flags | (gradient ? gradient->flags : 0)) & flags;
}

/* Producers that are tried with a kernel until one suits it: within the minimum limits few do. */
static size_t most_producers(const struct producers *producers)
{
    bool clamped = glcnn_device_info(device)->limits_clamped;
    return clamped && !unit_is_check() && producers->count > 2 ? 2 : producers->count;
}

/* The kernel with all producers, or with one: the first from number `first` on whose result it makes.
 * How many there are of these. */
static size_t try_kernel(const struct glcnn_descriptor *d, const struct producers *producers,
                         size_t first, struct rows *had, const struct rows *fusing)
{
    static struct fused_cases cases;
    size_t count = 0;
    for (size_t i = 0; i < most_producers(producers) && (unit_is_check() || count == 0); i++) {
        find_cases(d, &producers->members[(first + i) % producers->count], fusing, &cases);
        if (cases.count == 0)
            continue;
        try_rows(&cases, unit_is_check() ? NULL : had, fusing);
        count++;
    }
    return count;
}

/* All kernels of these flags, which may make what is not stored, with the producers that rows of this
 * kind fuse. */
static void try_kernels(choice fuses, unsigned readers, struct rows *had)
{
    struct rows fusing = {.count = 0};
    size_t number = 0, without = 0;
    device->log = hear;
    for (const struct glcnn_descriptor *const *d = glcnn_registry; *d; d++)
        add_rows_of(&fusing, *d, fuses);
    const struct producers producers = find_producers(fuses, &fusing);
    CU_ASSERT_FATAL(producers.count > 0);
    tried = 0;
    for (const struct glcnn_descriptor *const *d = glcnn_registry; *d; d++) {
        if (!reads_made(*d, readers) || try_kernel(*d, &producers, number++, had, &fusing) > 0)
            continue;
        without++;
        if (has_many_buffers()) {
            CU_FAIL("a kernel that may make what is not stored makes nothing");
            fprintf(stderr, "\n  %s\n", (*d)->name);
        }
    }
    CU_ASSERT(tried >= number - without);
    printf("%zu pairs ", tried);
}

static struct rows had; /* by a pair of one of the tests */

static void test_pixels_that_all_readers_make(void)
{
    try_kernels(fuses_pixels, READS_FUSED | READS_NEURONS, &had);
}

static void test_pixels_that_are_read_once(void)
{
    try_kernels(fuses_once, READS_FUSED, &had);
}

/* ---- Kernels by themselves ---- */

#define MOST_BODIES 1024

/* Shader bodies by the row that planned them. */
struct bodies {
    struct body {
        const char *row, *shader;
    } items[MOST_BODIES];
    size_t count;
};

/* What a dry run plans by the row that is forced. */
struct planned_bodies {
    struct bodies *known;
    bool taken, new; /* a pass of it; one with a body that was not known */
};

static void take_pass(void *user, const struct pass *pass)
{
    struct planned_bodies *planned = user;
    struct bodies *known = planned->known;
    const char *row = pass->owner.implementation;
    if (!pass->shader || !row || !awaited || strcmp(row, awaited) != 0)
        return;
    planned->taken = true;
    for (size_t i = 0; i < known->count; i++)
        if (strcmp(known->items[i].row, row) == 0 &&
            strcmp(known->items[i].shader, pass->shader) == 0)
            return;
    CU_ASSERT_TRUE_FATAL(known->count < MOST_BODIES);
    known->items[known->count++] = (struct body){row, pass->shader};
    planned->new = true;
}

/* Plans the case as glcnn_check would run it. */
static struct planned_bodies plan_dry(const struct glcnn_descriptor *d, size_t index,
                                      struct bodies *known)
{
    struct planned_bodies planned = {.known = known};
    struct argument_map map = {.shapes_only = true};
    struct glcnn_setting settings[CHECK_SETTINGS];
    char error[GLCNN_ERROR_LENGTH] = "";
    struct run run = {.format = GLCNN_CHANNEL_FORMAT_FLOAT32,
                      .map = &map,
                      .explain = take_pass,
                      .explain_user = &planned,
                      .validation = {error, sizeof error}};
    if (check_inputs(&run, d, &reference_of(d)->cases[index], index, settings)) {
        run.device = device;
        run_kernel(&run, d);
    }
    argument_map_free(&map);
    return planned;
}

static void expect_case(const struct glcnn_descriptor *d, size_t index, const char *row)
{
    char message[GLCNN_ERROR_LENGTH];
    double error;
    check_case_run(device, d, index, GLCNN_CHANNEL_FORMAT_FLOAT32, &error, message);
    tried++;
    if (error <= 1)
        return;
    CU_FAIL("an implementation does not compile, or disagrees with the reference");
    fprintf(stderr, "\n  %s of %s: error %g; %s\n", row, d->name, error, message);
}

/* A case that takes the row. */
static void try_row(const struct glcnn_descriptor *d, const char *row, struct bodies *known)
{
    static const struct rows none;
    const struct check_case *cases = reference_of(d)->cases;
    force(row, &none);
    for (size_t i = 0; cases[i].settings; i++) {
        if (cases[i].large)
            continue;
        struct planned_bodies planned = plan_dry(d, i, known);
        if (planned.new || (planned.taken && unit_is_check()))
            expect_case(d, i, row);
        if (planned.taken)
            return;
    }
}

/* Rows of lists that a plan of the kernel asks, also those that only another row asks. */
static void try_rows_of(const struct glcnn_descriptor *d, struct bodies *known)
{
    static const struct rows none;
    const struct check_case *cases = reference_of(d)->cases;
    struct rows rows = {.count = 0};
    bool seen[MOST_ROWS] = {false};
    add_rows_of(&rows, d, NULL);
    force(NULL, &none);
    list_count = 0;
    for (size_t i = 0; rows.count > 0 && cases[i].settings; i++)
        if (!cases[i].large)
            plan_dry(d, i, known);
    for (size_t i = 0; i < 2 * rows.count; i++) {
        size_t at = i % rows.count;
        if (seen[at] || !was_asked(rows.lists[at]))
            continue;
        seen[at] = true;
        try_row(d, rows.names[at], known);
    }
    open_anew_if_full();
}

static void test_kernels_by_each_implementation(void)
{
    static struct bodies known;
    if (glcnn_device_info(device)->limits_clamped && !unit_is_check())
        return; /* those of smaller work groups are few */
    device->log = hear;
    tried = 0;
    for (const struct glcnn_descriptor *const *d = glcnn_registry; *d; d++)
        try_rows_of(*d, &known);
    CU_ASSERT(tried > 0);
    printf("%zu implementations ", tried);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_pixels_that_all_readers_make), UNIT_TEST(test_pixels_that_are_read_once),
        UNIT_TEST(test_kernels_by_each_implementation), CU_TEST_INFO_NULL};
    return fixture_run("pairs", tests, argc, argv);
}
