/* ONNX files as converters write them: functions, branches, types, opsets, a batch of any size, and what
 * is computed of constants. Models are texts, a line for each part:
 *
 *   opset 21
 *   input NAME[:TYPE] SIZES      the first one is the batch; types are ONNX's numbers, float32 by default
 *   float NAME SIZES : NUMBERS   an initialiser; "whole" of int64; without sizes it is a number
 *   OPERATOR[@DOMAIN] INPUTS > OUTPUTS ATTRIBUTE=VALUE ...   an int 1, ints 1,2, a float 1.0, a text 'a',
 *                                or what a function was called with, $NAME; "=1" has no name
 *   function NAME INPUTS > OUTPUTS, then .. else .. end      nodes within; "yield" names a branch's output
 *   output NAME
 */
#include <ctype.h>

#include "onnx/build.h"
#include "tests/graphs.h"

enum { MOST = 64 };

/* ---- Models from texts ---- */

struct text {
    struct writer w;
    Onnx__ModelProto *model;
    Onnx__GraphProto *graph, *branch;
    Onnx__FunctionProto *function;
};

/* The next word of a line; NULL: there is none. */
static char *word(char **rest)
{
    return strtok_r(NULL, " ", rest);
}

static Onnx__AttributeProto *add_attribute(Onnx__NodeProto *node, const char *name,
                                           Onnx__AttributeProto__AttributeType type)
{
    Onnx__AttributeProto *a = malloc(sizeof *a);
    onnx__attribute_proto__init(a);
    a->name = strdup(name);
    a->has_type = true;
    a->type = type;
    node->attribute[node->n_attribute++] = a;
    return a;
}

static void read_attribute(struct text *t, Onnx__NodeProto *node, char *text)
{
    int64_t wholes[16];
    size_t count = 0;
    char *value = strchr(text, '='), *rest;
    *value++ = '\0';
    if (*value == '\'') {
        Onnx__AttributeProto *a =
            add_attribute(node, text, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
        a->has_s = true;
        a->s = (ProtobufCBinaryData){strlen(value) - 2, (uint8_t *)strdup(value + 1)};
    } else if (*value == '$') {
        add_attribute(node, text, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT)->ref_attr_name =
            strdup(value + 1);
    } else if (strchr(value, '.')) {
        build_float(&t->w, node, text, strtof(value, NULL));
    } else if (!strchr(value, ',')) {
        build_int(&t->w, node, text, strtoll(value, NULL, 10));
        if (!*text) {
            free(node->attribute[node->n_attribute - 1]->name);
            node->attribute[node->n_attribute - 1]->name = NULL;
        }
    } else {
        for (char *one = strtok_r(value, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
            wholes[count++] = strtoll(one, NULL, 10);
        build_ints(&t->w, node, text, wholes, count);
    }
}

static void take_node(struct text *t, Onnx__NodeProto *node)
{
    if (t->function) {
        t->function->node = realloc(t->function->node, (t->function->n_node + 1) * sizeof node);
        t->function->node[t->function->n_node++] = node;
    } else if (t->branch) {
        t->branch->node = realloc(t->branch->node, (t->branch->n_node + 1) * sizeof node);
        t->branch->node[t->branch->n_node++] = node;
    }
    t->graph->n_node -= t->function || t->branch;
}

static void read_node(struct text *t, char *operator, char * rest)
{
    const char *inputs[12] = {NULL}, *outputs[12] = {NULL};
    size_t count = 0;
    char *at, *domain = strchr(operator, '@');
    if (domain)
        *domain++ = '\0';
    while ((at = word(&rest)) && strcmp(at, ">") != 0)
        inputs[count++] = strcmp(at, "-") == 0 ? "" : at;
    for (count = 0; (at = word(&rest)) && !strchr(at, '=');)
        outputs[count++] = at;
    Onnx__NodeProto *node =
        build_node(&t->w, t->graph, operator, outputs[0] ? outputs[0] : "", inputs);
    node->domain = domain ? strdup(domain) : NULL;
    node->output = realloc(node->output, 12 * sizeof *node->output);
    while (node->n_output < count)
        node->output[node->n_output] = strdup(outputs[node->n_output]), node->n_output++;
    for (; at; at = word(&rest))
        read_attribute(t, node, at);
    take_node(t, node);
}

static void read_tensor(struct text *t, bool is_float, char *rest)
{
    int64_t dims[8], wholes[MOST];
    float floats[MOST];
    size_t rank = 0, count = 0;
    char *name = word(&rest), *at;
    while (strcmp(at = word(&rest), ":") != 0)
        dims[rank++] = strtoll(at, NULL, 10);
    for (; (at = word(&rest)); count++) {
        floats[count] = strtof(at, NULL);
        wholes[count] = strtoll(at, NULL, 10);
    }
    build_tensor(&t->w, t->graph, name, dims, rank, is_float ? floats : NULL, wholes);
}

static void read_value(struct text *t, bool is_output, char *rest)
{
    int64_t dims[8];
    size_t rank = 0;
    char *name = word(&rest), *type = strchr(name, ':'), *at;
    if (type)
        *type++ = '\0';
    while ((at = word(&rest)))
        dims[rank++] = strtoll(at, NULL, 10);
    build_value(&t->w, t->graph, is_output, name, dims, rank);
    if (type)
        t->graph->input[t->graph->n_input - 1]->type->tensor_type->elem_type =
            (int)strtol(type, NULL, 10);
}

static void read_function(struct text *t, char *rest)
{
    Onnx__ModelProto *model = t->model;
    Onnx__FunctionProto *f = malloc(sizeof *f);
    bool is_output = false;
    char *at;
    onnx__function_proto__init(f);
    model->functions = realloc(model->functions, (model->n_functions + 1) * sizeof f);
    model->functions[model->n_functions++] = t->function = f;
    f->name = strdup(word(&rest));
    f->domain = strdup("local");
    f->input = malloc(8 * sizeof *f->input);
    f->output = malloc(8 * sizeof *f->output);
    while ((at = word(&rest)))
        if (strcmp(at, ">") == 0)
            is_output = true;
        else if (is_output)
            f->output[f->n_output++] = strdup(at);
        else
            f->input[f->n_input++] = strdup(at);
}

static void begin_branch(struct text *t, const char *name)
{
    Onnx__AttributeProto *a = add_attribute(t->graph->node[t->graph->n_node - 1], name,
                                            ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH);
    a->g = t->branch = malloc(sizeof *a->g);
    onnx__graph_proto__init(t->branch);
}

static void yield(struct text *t, char *rest)
{
    Onnx__ValueInfoProto *info = malloc(sizeof *info);
    onnx__value_info_proto__init(info);
    info->name = strdup(word(&rest));
    t->branch->output = malloc(sizeof info);
    t->branch->output[t->branch->n_output++] = info;
}

static void read_line(struct text *t, char *line)
{
    char *rest, *first = strtok_r(line, " ", &rest);
    if (strcmp(first, "opset") == 0)
        t->model->opset_import[0]->version = strtoll(word(&rest), NULL, 10);
    else if (strcmp(first, "float") == 0 || strcmp(first, "whole") == 0)
        read_tensor(t, *first == 'f', rest);
    else if (strcmp(first, "input") == 0 || strcmp(first, "output") == 0)
        read_value(t, *first == 'o', rest);
    else if (strcmp(first, "function") == 0)
        read_function(t, rest);
    else if (strcmp(first, "then") == 0 || strcmp(first, "else") == 0)
        begin_branch(t, *first == 't' ? "then_branch" : "else_branch");
    else if (strcmp(first, "yield") == 0)
        yield(t, rest);
    else if (strcmp(first, "end") == 0)
        t->function = NULL, t->branch = NULL;
    else
        read_node(t, first, rest);
}

struct file {
    uint8_t *bytes;
    size_t size;
};

static struct file file_of(const char *text)
{
    struct text t = {.model = build_model()};
    struct file file = {NULL, 0};
    char *copy = strdup(text), *rest;
    t.graph = t.model->graph;
    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        read_line(&t, line);
    free(copy);
    CU_ASSERT_TRUE_FATAL(write_bytes(&t.w, t.model, &file.bytes, &file.size));
    onnx__model_proto__free_unpacked(t.model, NULL);
    return file;
}

/* ---- What they make ---- */

struct reading {
    glcnn_network *network;
    struct glcnn_onnx_record *record;
    glcnn_status status;
    char error[GLCNN_ERROR_LENGTH];
};

static struct reading read_file(const struct file *file)
{
    struct reading r = {NULL};
    r.status =
        glcnn_onnx_read(device, file->bytes, file->size, NULL, &r.network, &r.record, r.error);
    return r;
}

static void end_reading(struct reading *r)
{
    glcnn_onnx_record_destroy(&r->record);
    glcnn_network_destroy(&r->network);
}

/* One image of 1, 2, 3 .. for the only input, and what the only output is of it. */
static void expect_of(const struct reading *r, const char *text, const float *expected,
                      size_t count)
{
    float counted[MOST];
    const struct glcnn_onnx_image *x = &r->record->inputs[0];
    glcnn_image_node *result = r->record->outputs[0].node;
    for (size_t i = 0; i < MOST; i++)
        counted[i] = (float)(i + 1);
    glcnn_graph *graph = graph_of(result);
    glcnn_image *image = image_with(1, x->feature_channels, x->height, x->width, counted);
    run_graph(graph, &image);
    float *found = result_values(graph, result);
    CU_ASSERT_EQUAL_FATAL(count_of(glcnn_graph_image(graph, result)), count);
    CU_ASSERT_TRUE(arrays_near(found, expected, count, 2e-6));
    if (!arrays_near(found, expected, count, 2e-6))
        printf("\n%s\nfirst: %g, not %g\n", text, (double)found[0], (double)expected[0]);
    free(found);
    glcnn_image_destroy(&image);
    glcnn_graph_destroy(&graph);
}

/* Other programs compute with kept statistics and drop nothing, as the network does. */
static void expect_inference(const struct file *file)
{
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, file->size, file->bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(model);
    for (size_t i = 0; i < model->graph->n_node; i++) {
        const Onnx__NodeProto *node = model->graph->node[i];
        if (strcmp(node->op_type, "Dropout") == 0)
            CU_ASSERT(node->n_input <= 2);
        if (strcmp(node->op_type, "BatchNormalization") == 0)
            CU_ASSERT_EQUAL(node->n_output, 1);
        for (size_t k = 0; k < node->n_attribute; k++)
            if (strcmp(text_of(node->attribute[k]->name), "training_mode") == 0)
                CU_ASSERT_EQUAL(node->attribute[k]->i, 0);
    }
    onnx__model_proto__free_unpacked(model, NULL);
}

/* The record's file makes the same. */
static void expect_back(struct reading *r, const char *text, const float *expected, size_t count)
{
    struct file back = {NULL, 0};
    GOOD(glcnn_onnx_write(r->network, r->record, NULL, 0, &back.bytes, &back.size, NULL));
    expect_inference(&back);
    struct reading again = read_file(&back);
    CU_ASSERT_STRING_EQUAL(again.error, "");
    if (again.network)
        expect_of(&again, text, expected, count);
    end_reading(&again);
    glcnn_onnx_destroy(back.bytes);
}

static void expect(const char *text, const float *expected, size_t count)
{
    struct file file = file_of(text);
    struct reading r = read_file(&file);
    CU_ASSERT_STRING_EQUAL(r.error, "");
    if (r.error[0])
        printf("\n%s\n%s\n", text, r.error);
    if (r.network) {
        expect_of(&r, text, expected, count);
        expect_back(&r, text, expected, count);
    }
    end_reading(&r);
    glcnn_onnx_destroy(file.bytes);
}
#define EXPECT(TEXT, ...)                                                                          \
    expect(TEXT, (const float[]){__VA_ARGS__}, sizeof((float[]){__VA_ARGS__}) / sizeof(float))

static void expect_message(const char *text, glcnn_status status, const char *words)
{
    struct file file = file_of(text);
    struct reading r = read_file(&file);
    CU_ASSERT_EQUAL(r.status, status);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.error, words));
    if (r.status != status || !strstr(r.error, words))
        printf("\n%s\nstatus %d, \"%s\", not \"%s\"\n", text, r.status, r.error, words);
    end_reading(&r);
    glcnn_onnx_destroy(file.bytes);
}

/* ---- Functions ---- */

#define TWICE                                                                                      \
    "function Times x > y\n"                                                                       \
    "Constant > factor value_float=$by\n"                                                          \
    "Mul x factor > y\n"                                                                           \
    "end\n"                                                                                        \
    "function Six x > y\n"                                                                         \
    "Times@local x > t by=2.0\n"                                                                   \
    "Times@local t > y by=3.0\n"                                                                   \
    "end\n"

static void functions_are_their_nodes(void)
{
    EXPECT("input x 1 1 1 3\n" TWICE "Six@local x > once\nSix@local once > y\noutput y 1 1 1 3\n",
           36, 72, 108);
    expect_message("input x 1 1 1 3\n" TWICE "Times@local x > y\noutput y 1 1 1 3\n",
                   GLCNN_UNSUPPORTED, "needs attribute \"by\"");
}

static void functions_end(void)
{
    expect_message("input x 1 1 1 3\n"
                   "function Loops x > y\nLoops@local x > t\nLoops@local t > y\nend\n"
                   "Loops@local x > y\noutput y 1 1 1 3\n",
                   GLCNN_MALFORMED_DATA, "or themselves");
}

/* 16^8 nodes, of a few hundred bytes. */
static void functions_do_not_explode(void)
{
    char text[4000] = "input x 1 1 1 3\nfunction F0 x > y\nRelu x > y\nend\n";
    for (int level = 1; level <= 8; level++) {
        size_t at = strlen(text);
        at += (size_t)sprintf(text + at, "function F%d x > y\n", level);
        for (int k = 0; k < 16; k++)
            at += (size_t)sprintf(text + at, "F%d@local %s%d > v%d\n", level - 1, "v", k, k + 1);
        sprintf(text + at, "end\n");
    }
    strcat(text, "F8@local x > y\noutput y 1 1 1 3\n");
    expect_message(text, GLCNN_LIMIT_EXCEEDED, "functions make more than");
}

/* ---- Branches ---- */

#define BRANCHES(CONDITION)                                                                        \
    "input x 1 2 1 3\nwhole zero : 0\nwhole known : " CONDITION "\n"                               \
    "float third 1 : 3\n"                                                                          \
    "Shape x > sizes\n"                                                                            \
    "whole one : 1\nGather sizes one > channels\n"                                                 \
    "Equal channels known > is\n"                                                                  \
    "If is > y\n"                                                                                  \
    "then\nMul x third > inner\nRelu inner > result\nyield result\n"                               \
    "else\nFrobnicate x > other\nyield other\nend\n"                                               \
    "Neg y > z\noutput z 1 2 1 3\n"

static void branches_are_taken_where_they_are_known(void)
{
    EXPECT(BRANCHES("2"), -3, -6, -9, -12, -15, -18);
    expect_message(BRANCHES("5"), GLCNN_UNSUPPORTED, "Frobnicate");
}

/* What a branch gives may be a value outside of it. */
static void branches_pass_on_what_is_there(void)
{
    EXPECT("input x 1 1 1 3\nfloat no : 0\nCast no > not to=9\n"
           "If not > y\nthen\nNeg x > n\nyield n\nelse\nyield x\nend\n"
           "Neg y > z\noutput z 1 1 1 3\n",
           -1, -2, -3);
    expect_message(
        "input x 1 1 1 3\nIf x > y\nthen\nyield x\nelse\nyield x\nend\noutput y 1 1 1 3\n",
        GLCNN_MALFORMED_DATA, "its condition has Nx1x1x3 numbers; expected one");
}

#define COMPUTED(LIMIT, THEN)                                                                      \
    "input x 1 1 1 3\nReduceMean x > mean axes=1,2,3\nfloat limit : " LIMIT                        \
    "\nGreater mean limit > is\n"                                                                  \
    "float two : 2\nfloat weights 1 1 1 1 : 5\n"                                                   \
    "If is > y\nthen\n" THEN "yield a\n"                                                           \
    "else\nConv x weights > b\nyield b\nend\nNeg y > z\noutput z 1 1 1 3\n"

/* Both run where the condition is computed. */
static void branches_are_chosen_by_images(void)
{
    EXPECT(COMPUTED("1.5", "Mul x two > a\n"), -2, -4, -6);
    EXPECT(COMPUTED("2", "Mul x two > a\n"), -5, -10, -15);
    EXPECT("input x 1 1 1 2\nReduceMean x > mean axes=1,2,3\nfloat limit : 9\n"
           "Greater mean limit > is\nIf is > y\nthen\nNeg x > n\nyield n\nelse\nyield x\nend\n"
           "Neg y > z\noutput z 1 1 1 2\n",
           -1, -2);
    expect_message(COMPUTED("2", "GlobalMaxPool x > a\n"), GLCNN_UNSUPPORTED,
                   "branches give Nx1x1x1 and Nx1x1x3");
}

/* ---- Truths ---- */

#define COMPARED(OPERATOR, A, B)                                                                     \
    "input x 1 1 1 4\nfloat c 4 : 1 5 2 4\nfloat p : 2\nMul x p > twice\nSub twice c > d\n" OPERATOR \
    " " A " " B " > is\nCast is > y to=1\noutput y 1 1 1 4\n"

/* x is 1 2 3 4, c 1 5 2 4 and d 1 -1 4 4. */
static void images_are_compared(void)
{
    EXPECT(COMPARED("Equal", "x", "d"), 1, 0, 0, 1);
    EXPECT(COMPARED("Equal", "c", "x"), 1, 0, 0, 1);
    EXPECT(COMPARED("Equal", "x", "p"), 0, 1, 0, 0);
    EXPECT(COMPARED("Greater", "x", "d"), 0, 1, 0, 0);
    EXPECT(COMPARED("Greater", "c", "x"), 0, 1, 0, 0);
    EXPECT(COMPARED("Greater", "p", "x"), 1, 0, 0, 0);
    EXPECT(COMPARED("Less", "x", "d"), 0, 0, 1, 0);
    EXPECT(COMPARED("Less", "x", "p"), 1, 0, 0, 0);
    EXPECT(COMPARED("GreaterOrEqual", "x", "d"), 1, 1, 0, 1);
    EXPECT(COMPARED("GreaterOrEqual", "x", "c"), 1, 0, 1, 1);
    EXPECT(COMPARED("LessOrEqual", "x", "d"), 1, 0, 1, 1);
    EXPECT(COMPARED("LessOrEqual", "c", "x"), 1, 0, 1, 1);
}

#define TRUTHS(STEPS)                                                                              \
    "input x 1 1 1 4\nfloat two : 2\nfloat three : 3\nGreater x two > a\nLess x three > b\n"       \
    "Equal x three > c\nwhole k 4 : 1 0 1 0\nCast k > known to=9\n" STEPS                          \
    "Cast is > y to=1\noutput y 1 1 1 4\n"

/* a is 0 0 1 1, b 1 1 0 0, c 0 0 1 0. */
static void truths_are_combined(void)
{
    EXPECT(TRUTHS("And a c > is\n"), 0, 0, 1, 0);
    EXPECT(TRUTHS("Or b c > is\n"), 1, 1, 1, 0);
    EXPECT(TRUTHS("Xor a c > is\n"), 0, 0, 0, 1);
    EXPECT(TRUTHS("Not a > is\n"), 1, 1, 0, 0);
    EXPECT(TRUTHS("And a known > is\n"), 0, 0, 1, 0);
    EXPECT(TRUTHS("Or known b > is\n"), 1, 1, 1, 0);
    EXPECT(TRUTHS("Equal a b > is\n"), 0, 0, 0, 0);
    EXPECT(TRUTHS("Sub x two > d\nCast d > is to=9\n"), 1, 0, 1, 1);
    expect_message("input x 1 1 1 2\nGreater x x > a\nNeg a > y\noutput y 1 1 1 2\n",
                   GLCNN_UNSUPPORTED, "whole numbers or truths");
}

#define CHOSEN(MORE)                                                                               \
    "input x 1 1 1 4\nfloat two : 2\nfloat low : -inf\nfloat zero : 0\nGreater x two > is\n" MORE  \
    "output y 1 1 1 4\n"

/* Also where what is not chosen is infinite, as 1 / 0. */
static void truths_choose(void)
{
    EXPECT(CHOSEN("Neg x > n\nWhere is x n > y\n"), -1, -2, 3, 4);
    EXPECT(CHOSEN("Where is two x > y\n"), 1, 2, 2, 2);
    EXPECT(CHOSEN("Where is x low > m\nSoftmax m > y axis=3\n"), 0, 0, 0.26894142f, 0.73105858f);
    EXPECT(CHOSEN("Sub x two > d\nReciprocal d > r\nEqual d zero > nothing\n"
                  "Where nothing zero r > y\n"),
           -1, 0, 1, 0.5f);
    EXPECT("input x 1 1 1 4\nfloat two : 2\nwhole k 4 : 1 0 1 0\nCast k > is to=9\nSub x two > d\n"
           "Reciprocal d > r\nWhere is r x > y\noutput y 1 1 1 4\n",
           -1, 2, 1, 4);
}

/* ---- Types ---- */

static void real_types_are_float32(void)
{
    EXPECT("input x:10 1 1 1 3\nfloat two : 2\nCast two > half to=10\nMul x half > d\n"
           "Cast d > e to=16\nCast e > f to=11\nNeg f > y\noutput y 1 1 1 3\n",
           -2, -4, -6);
    EXPECT("input x:11 1 1 1 3\nNeg x > y\noutput y 1 1 1 3\n", -1, -2, -3);
    EXPECT("input x:16 1 1 1 3\nNeg x > y\noutput y 1 1 1 3\n", -1, -2, -3);
}

static void whole_images_are_cast_first(void)
{
    EXPECT("input x:2 1 2 1 2\nTranspose x > t perm=0,1,3,2\nCast t > f to=1\nNeg f > y\n"
           "output y 1 2 2 1\n",
           -1, -2, -3, -4);
    expect_message("input x:2 1 1 1 3\nNeg x > y\noutput y 1 1 1 3\n", GLCNN_UNSUPPORTED,
                   "image of whole numbers");
    expect_message("input x 1 1 1 3\nCast x > y to=7\noutput y 1 1 1 3\n", GLCNN_UNSUPPORTED,
                   "real numbers would become");
    expect_message("input x 1 1 1 3\nCast x > y to=17\noutput y 1 1 1 3\n", GLCNN_UNSUPPORTED,
                   "casts to ONNX's type 17 are not read");
    expect_message(
        "input x 1 1 1 3\nfloat c 1 : 300\nCast c > d to=22\nCast d > e to=1\nMul x e > y\n"
        "output y 1 1 1 3\n",
        GLCNN_UNSUPPORTED, "casts to ONNX's type 22 are not read");
    expect_message("input x:8 1 1 1 3\nNeg x > y\noutput y 1 1 1 3\n", GLCNN_UNSUPPORTED,
                   "not a tensor of numbers");
}

/* ---- Training ---- */

/* As where nothing trains: (x - mean) / sqrt(variance + 1). */
static void layers_in_training_are_read(void)
{
    EXPECT(
        "opset 15\ninput x 1 1 1 3\nfloat one 1 : 1\nfloat zero 1 : 0\nfloat three 1 : 3\n"
        "BatchNormalization x one zero one three > y mean variance training_mode=1 epsilon=1.0 =1\n"
        "output y 1 1 1 3\n",
        0, 0.5f, 1);
    EXPECT("opset 8\ninput x 1 1 1 3\nfloat one 1 : 1\nfloat zero 1 : 0\nfloat three 1 : 3\n"
           "BatchNormalization x one zero one three > y m v sm sv spatial=1 epsilon=1.0\n"
           "output y 1 1 1 3\n",
           0, 0.5f, 1);
    EXPECT("opset 13\ninput x 1 1 1 3\nfloat half : 0.5\nwhole on : 1\nCast on > trains to=9\n"
           "Dropout x half trains > d mask\nNeg d > y\noutput y 1 1 1 3\n",
           -1, -2, -3);
    expect_message("opset 8\ninput x 1 1 1 3\nfloat one 1 : 1\n"
                   "BatchNormalization x one one one one > y spatial=0\noutput y 1 1 1 3\n",
                   GLCNN_UNSUPPORTED, "spatial is 0");
}

/* ---- Opsets ---- */

/* Groups of two channels are -1 and 1, of which each has its own numbers. */
static void later_opsets_are_read(void)
{
    EXPECT("opset 21\ninput x 1 4 1 1\nfloat gamma 4 : 1 2 3 4\nfloat beta 4 : 0 0 1 1\n"
           "GroupNormalization x gamma beta > y num_groups=2 epsilon=0.0\noutput y 1 4 1 1\n",
           -1, 2, -2, 5);
    EXPECT("opset 20\ninput x 1 4 1 1\nfloat gamma 2 : 1 2\nfloat beta 2 : 0 1\n"
           "GroupNormalization x gamma beta > y num_groups=2 epsilon=0.0\noutput y 1 4 1 1\n",
           -1, 1, -1, 3);
    EXPECT("opset 24\ninput x 1 1 1 2\nSwish x > y\noutput y 1 1 1 2\n", 0.7310586f, 1.7615942f);
    EXPECT("opset 25\ninput x 1 1 1 2\nRelu x > r\nCast r > y to=1\noutput y 1 1 1 2\n", 1, 2);
}

/* The square root of the mean square of 1, 2 and 3 is sqrt(14 / 3); norms are 6 and sqrt(14). */
static void norms_divide(void)
{
    EXPECT("opset 23\ninput x 1 1 1 3\nfloat gamma 3 : 1 2 3\n"
           "RMSNormalization x gamma > y epsilon=0.0\noutput y 1 1 1 3\n",
           0.46291006f, 1.8516402f, 4.1661906f);
    EXPECT("input x 1 3 1 1\nLpNormalization x > y axis=1 p=1\noutput y 1 3 1 1\n", 1 / 6.0f,
           1 / 3.0f, 0.5f);
    EXPECT("input x 1 3 1 1\nLpNormalization x > y axis=1\noutput y 1 3 1 1\n", 0.26726124f,
           0.53452247f, 0.8017837f);
}

/* ---- Quantised numbers ---- */

/* Steps of 0.75 from 1, 2 and 3; steps of 1/64 up to 127; those of each row of a constant. */
static void numbers_are_rounded_to_steps(void)
{
    EXPECT("opset 13\ninput x 1 1 1 3\nfloat s : 0.75\nwhole w : 128\nCast w > z to=2\n"
           "QuantizeLinear x s z > q\nDequantizeLinear q s z > y\noutput y 1 1 1 3\n",
           0.75f, 2.25f, 3);
    EXPECT("opset 13\ninput x 1 1 1 3\nfloat s : 0.015625\nwhole w : 0\nCast w > z to=3\n"
           "QuantizeLinear x s z > q\nTranspose q > t perm=0,1,3,2\nDequantizeLinear t s z > y\n"
           "output y 1 1 3 1\n",
           1, 1.984375f, 1.984375f);
    EXPECT("opset 13\ninput x 1 1 1 2\nwhole w 2 2 : 1 2 3 4\nCast w > b to=3\nfloat s 2 : 1 10\n"
           "DequantizeLinear b s > m axis=0\nMatMul x m > y\noutput y 1 1 1 2\n",
           61, 82);
    EXPECT("opset 21\ninput x 1 1 1 4\nwhole w 4 : 1 2 3 4\nCast w > b to=3\nfloat s 2 : 1 10\n"
           "DequantizeLinear b s > m axis=0 block_size=2\nMul x m > y\noutput y 1 1 1 4\n",
           1, 4, 90, 160);
    expect_message("opset 13\ninput x 1 2 1 1\nfloat s 2 : 1 2\nQuantizeLinear x s > q\n"
                   "DequantizeLinear q s > y\noutput y 1 2 1 1\n",
                   GLCNN_UNSUPPORTED, "an image has 2 scales; one is read");
}

/* (1, 2) of step 0.5 from 1 on are 0 and 0.5; weights are 2 and 2, biases 2 and 2. */
static void products_of_whole_numbers_are_reals(void)
{
    EXPECT("opset 13\ninput x:2 1 1 1 2\nfloat half : 0.5\nwhole i : 1\nCast i > one to=2\n"
           "whole j 2 1 1 1 : 2 4\nCast j > w to=3\nfloat steps 2 : 1 0.5\nwhole k 2 : 0 0\n"
           "Cast k > zeros to=3\nwhole l : 3\nCast l > three to=2\nwhole m 2 : 4 8\n"
           "Cast m > biases to=6\n"
           "QLinearConv x half one w steps zeros half three biases > q kernel_shape=1,1\n"
           "DequantizeLinear q half three > y\noutput y 1 2 1 2\n",
           2, 3, 2, 3);
    EXPECT("opset 13\ninput x:2 1 1 1 2\nwhole i : 1\nCast i > one to=2\nCast i > first to=3\n"
           "whole j 1 1 1 1 : 3\nCast j > w to=3\nConvInteger x w one first > c\nCast c > y to=1\n"
           "output y 1 1 1 2\n",
           0, 2);
    EXPECT("opset 13\ninput x 1 1 1 3\nDynamicQuantizeLinear x > q s z\nCast q > f to=1\n"
           "Mul f s > y\noutput y 1 1 1 3\n",
           1, 2, 3);
}

/* ---- Constants ---- */

/* Whole numbers are divided towards 0 and wrap, reals are rounded to float32 after each node. */
static void constants_are_computed_by_their_types(void)
{
    EXPECT("input x 1 1 1 3\nwhole a 3 : -7 7 9223372036854775807\nwhole b 3 : 2 -2 -1\n"
           "Div a b > q\nwhole c 3 : 0 0 9223372036854775807\nAdd q c > s\nCast s > f to=1\n"
           "Mul x f > y\noutput y 1 1 1 3\n",
           -3, -6, 0);
    EXPECT("input x 1 1 1 3\nwhole a 3 : -7 7 300\nCast a > byte to=2\nCast byte > f to=1\n"
           "Mul x f > y\noutput y 1 1 1 3\n",
           249, 14, 132);
    EXPECT("input x 1 1 1 2\nfloat a 2 : 16777216 1\nfloat one : 1\nAdd a one > b\n"
           "float less 2 : 16777216 0\nSub b less > c\nMul x c > y\noutput y 1 1 1 2\n",
           0, 4);
    EXPECT("input x 1 1 1 4\nwhole a 4 : -7 7 -7 7\nwhole b 4 : 3 -3 -3 3\nMod a b > m\n"
           "Cast m > f to=1\nMul x f > y\noutput y 1 1 1 4\n",
           2, -4, -3, 4);
    expect_message("input x 1 1 1 1\nwhole a 1 : 1\nwhole b 1 : 0\nDiv a b > q\nCast q > f to=1\n"
                   "Mul x f > y\noutput y 1 1 1 1\n",
                   GLCNN_MALFORMED_DATA, "divides a whole number by 0");
}

static void constants_have_every_attribute(void)
{
    EXPECT("input x 1 1 1 2\nConstant > a value_ints=3,4\nCast a > f to=1\nMul x f > y\n"
           "output y 1 1 1 2\n",
           3, 8);
    EXPECT("input x 1 1 1 2\nConstant > a value_int=3\nCast a > f to=1\nMul x f > y\n"
           "output y 1 1 1 2\n",
           3, 6);
    expect_message(
        "input x 1 1 1 2\nConstant > a value_string='a'\nMul x a > y\noutput y 1 1 1 2\n",
        GLCNN_UNSUPPORTED, "value_string");
}

/* A weight-standardised convolution: (w - mean) / sqrt(variance + 1) of 1, 3 and 2, 6. */
static void weights_are_computed(void)
{
    EXPECT("opset 17\ninput x 1 2 1 1\nfloat w 2 2 1 1 : 1 3 2 6\nfloat one : 1\n"
           "ReduceMean w > mean axes=1,2,3\nSub w mean > d\nMul d d > s\n"
           "ReduceMean s > variance axes=1,2,3\nAdd variance one > v\nSqrt v > r\nDiv d r > n\n"
           "Conv x n > y\noutput y 1 2 1 1\n",
           0.70710678f, 0.89442719f);
}

/* As batch normalisation in training does it, of channels 1, 3 and 2, 6 by 1, by 2 and 1, and as layer
 * normalisation does: variances are 1 and 4. */
static void weights_are_normalised(void)
{
    EXPECT("opset 15\ninput x 1 2 1 1\nfloat w 1 2 2 : 1 3 2 6\nfloat g 2 : 1 2\nfloat b 2 : 0 1\n"
           "whole s 4 : 2 2 1 1\n"
           "BatchNormalization w g b b b > n mean variance training_mode=1 epsilon=0.0\n"
           "Reshape n s > m\nConv x m > y\noutput y 1 2 1 1\n",
           1, 5);
    EXPECT("opset 12\ninput x 1 2 1 1\nfloat w 1 2 2 : 1 3 2 6\nfloat g 2 : 1 2\nfloat b 2 : 0 1\n"
           "whole s 4 : 2 2 1 1\nBatchNormalization w g b b b > n mean variance m v epsilon=0.0\n"
           "Reshape n s > m2\nConv x m2 > y\noutput y 1 2 1 1\n",
           1, 5);
    EXPECT("opset 17\ninput x 1 2 1 1\nfloat w 2 2 1 1 : 1 3 2 6\nfloat g 2 1 1 : 1 2\n"
           "LayerNormalization w g > n axis=1 epsilon=0.0\nConv x n > y\noutput y 1 2 1 1\n",
           3, 3);
}

/* Chains of moves cost nothing beyond what the file has: 600 times 600 * 8 numbers. */
static void moves_of_weights_have_no_bound(void)
{
    enum { SIDE = 600, TIMES = 8 };
    static float weights[SIDE * SIDE];
    struct writer w = {0};
    struct file file = {NULL, 0};
    Onnx__ModelProto *model = build_model();
    Onnx__GraphProto *graph = model->graph;
    const int64_t dims[] = {1, SIDE}, square[] = {SIDE, SIDE};
    for (size_t i = 0; i < SIDE; i++)
        weights[i * SIDE + i] = 2;
    build_value(&w, graph, false, "x", dims, 2);
    for (int n = 0; n < 8; n++) {
        char names[TIMES + 1][20], product[20], from[20];
        snprintf(names[0], sizeof names[0], "w%d", n);
        build_tensor(&w, graph, names[0], square, 2, weights, NULL);
        for (int k = 1; k <= TIMES / 2; k++) {
            snprintf(names[k], sizeof names[k], "w%d.%d", n, k);
            build_node(&w, graph, "Transpose", names[k], (const char *[]){names[k - 1], NULL});
        }
        snprintf(from, sizeof from, n ? "y%d" : "x", n - 1);
        snprintf(product, sizeof product, "y%d", n);
        build_node(&w, graph, "MatMul", product, (const char *[]){from, names[TIMES / 2], NULL});
    }
    build_value(&w, graph, true, "y7", dims, 2);
    CU_ASSERT_TRUE_FATAL(write_bytes(&w, model, &file.bytes, &file.size));
    onnx__model_proto__free_unpacked(model, NULL);
    struct reading r = read_file(&file);
    CU_ASSERT_STRING_EQUAL(r.error, "");
    end_reading(&r);
    glcnn_onnx_destroy(file.bytes);
}

static void sums_are_bounded(void)
{
    expect_message("input x 1 1 1 1\nwhole s 2 : 2000 2000\nConstantOfShape s > a\nMatMul a a > b\n"
                   "ReduceSum b > c\nMul x c > y\noutput y 1 1 1 1\n",
                   GLCNN_LIMIT_EXCEEDED, "out of proportion");
}

/* Weights that a file has only the shape and one number of: 9 million, more than may be folded of a small
 * file, and 4 billion times a thousand, which no machine has the memory for. */
static void filled_weights_are_bounded_by_memory(void)
{
    EXPECT("input x 1 1 1 2\nwhole s 2 : 3000 3000\nConstantOfShape s > w\nwhole i 1 : 1\n"
           "Gather w i > row axis=0\nGather row i > one axis=1\nAdd x one > y\noutput y 1 1 1 2\n",
           1, 2);
    expect_message("input x 1 1 1 1\nwhole s 3 : 16384 16384 16384\nConstantOfShape s > a\n"
                   "whole i 1 : 1\nGather a i > b axis=0\nMul x b > y\noutput y 1 1 1 1\n",
                   GLCNN_LIMIT_EXCEEDED, "a quarter of the memory that was free");
}

/* ---- Products with numbers that the file gives ---- */

/* The result has its channels, rows and columns where the output has them. */
#define PLAIN "\nMaxPool r > y kernel_shape=1,1"

#define CUBIC(NUMBERS, REST)                                                                       \
    "input x 1 1 1 4\nfloat f 1 1 1 4 : 0 0 1 4\nAdd x f > z\n" NUMBERS "\nResize z - " REST       \
    " mode='cubic'" PLAIN

/* Keys' cubic of 1, 2, 4, 8, in the values of PyTorch's bicubic interpolation and ONNX's reference. */
static void cubics_are_those_of_pytorch_and_onnx(void)
{
#define TO_7   "whole n 4 : 1 1 1 7"
#define RESULT "\noutput y 1 1 1 7\n"
    EXPECT(CUBIC(TO_7, "- n > r") RESULT, 0.9007835f, 1.2177478f, 1.8504009f, 2.71875f, 4.3212464f,
           6.7600219f, 8.3968659f);
    EXPECT(CUBIC(TO_7, "- n > r cubic_coeff_a=-0.5") RESULT, 0.9338557f, 1.2423469f, 1.8954082f,
           2.8125f, 4.2336006f, 6.784621f, 8.2645773f);
    EXPECT(CUBIC(TO_7, "- n > r exclude_outside=1") RESULT, 0.8774752f, 1.1960463f, 1.8473899f,
           2.71875f, 4.3342714f, 6.8836027f, 8.490099f);
    EXPECT(CUBIC(TO_7, "- n > r coordinate_transformation_mode='align_corners'") RESULT, 1, 1.3125f,
           2, 2.71875f, 4, 6.1875f, 8);
    EXPECT(CUBIC("float n 4 : 1 1 1 1.5",
                 "n > r coordinate_transformation_mode='asymmetric'") "\noutput y 1 1 1 6\n",
           1, 1.462963f, 2.5185185f, 4, 6.8518519f, 8.4444444f);
    EXPECT(CUBIC("float n 4 : 1 1 1 0.8", "n > r exclude_outside=1") "\noutput y 1 1 1 3\n",
           1.0783599f, 2.5668945f, 6.8200616f);
}

/* One and a half columns are two. PyTorch makes one number of the first. */
static void halves_of_sizes_are_rounded_up(void)
{
    EXPECT("opset 19\ninput x 1 1 2 1\nwhole n 2 : 3 4\nResize x - - n > r axes=2,3 "
           "keep_aspect_ratio_policy='not_larger'" PLAIN "\noutput y 1 1 3 2\n",
           1, 1, 1, 1, 2, 2);
    EXPECT(
        CUBIC("whole n 4 : 1 1 1 1",
              "- n > r coordinate_transformation_mode='pytorch_half_pixel'") "\noutput y 1 1 1 1\n",
        1);
}

/* A scale that makes as many numbers moves them all the same: to 0, 0.83, 1.67 and 2.5. */
static void scales_that_keep_the_size_move_numbers(void)
{
    EXPECT(CUBIC("float n 4 : 1 1 1 1.2",
                 "n > r coordinate_transformation_mode='asymmetric'") "\noutput y 1 1 1 4\n",
           1, 1.68287f, 2.981481f, 6.1875f);
}

/* A product of a constant with a matrix that trains is folded where it is a convolution's weights. */
static void products_that_are_weights_are_folded(void)
{
    EXPECT("input x 1 1 1 2\nfloat c 1 2 : 1 2\nfloat w 2 1 : 3 4\nMatMul c w > p\n"
           "whole s 4 : 1 1 1 1\nReshape p s > k\nConv x k > y\noutput y 1 1 1 2\n",
           11, 22);
}

/* Whoever reads only its shape does not make it weights: its matrix trains, the constant does not. */
static void products_train_whose_shape_is_read(void)
{
    struct file file =
        file_of("input x 1 1 1 1\nfloat c 1 2 : 1 2\nfloat w 2 1 : 3 4\nMatMul c w > p\n"
                "Shape p > s\nExpand p s > e\nAdd x e > y\noutput y 1 1 1 1\n");
    struct reading r = read_file(&file);
    CU_ASSERT_STRING_EQUAL(r.error, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.record);
    CU_ASSERT_EQUAL_FATAL(r.record->frozen_count, 1);
    CU_ASSERT_STRING_EQUAL(r.record->frozen[0].name, "c");
    end_reading(&r);
    glcnn_onnx_destroy(file.bytes);
}

/* Constants beyond their ends, from their ends, and as truths; a vector of one number trains. */
static void constants_are_folded_as_numpy_does(void)
{
    EXPECT("input x 1 1 1 5\nfloat c 3 : 1 2 3\nwhole p 2 : 0 2\nPad c p > d mode='reflect'\n"
           "Add x d > y\noutput y 1 1 1 5\n",
           2, 4, 6, 6, 6);
    EXPECT("input x 1 1 1 1\nfloat c 3 : 10 20 30\nwhole i 1 : -1\nGather c i > g axis=0\n"
           "Add x g > y\noutput y 1 1 1 1\n",
           31);
    EXPECT("input x 1 1 1 2\nfloat c 2 : 2 0\nCast c > b to=9\nCast b > f to=1\nMul x f > y\n"
           "output y 1 1 1 2\n",
           1, 0);
}

static void vectors_of_one_number_train(void)
{
    struct file file = file_of("input x 1 1 1 1\nfloat s 1 : 2\nMul x s > y\noutput y 1 1 1 1\n");
    struct reading r = read_file(&file);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.record);
    CU_ASSERT_EQUAL(r.record->frozen_count, 0);
    end_reading(&r);
    glcnn_onnx_destroy(file.bytes);
}

static void biases_are_times_beta(void)
{
    EXPECT("input x 1 2\nfloat w 2 1 : 3 4\nfloat b 1 : 10\nGemm x w b > y beta=0.5\n"
           "output y 1 1\n",
           16);
}

/* Channels, rows and columns, by a linear scale each: no kernel resizes channels. */
static void other_axes_are_resized_linearly(void)
{
    EXPECT("input x 1 2 1 2\nfloat n 4 : 1 2 1 1\nResize x - n > r mode='linear'" PLAIN "\n"
           "output y 1 4 1 2\n",
           1, 2, 1.5f, 2.5f, 2.5f, 3.5f, 3, 4);
}

static void sums_so_far_are_of_what_comes_before(void)
{
#define SUMS(AXIS, REST)                                                                           \
    "input x 1 2 1 3\nwhole a 1 : " AXIS "\nCumSum x a > r " REST PLAIN "\noutput y 1 2 1 3\n"
    EXPECT(SUMS("3", ""), 1, 3, 6, 4, 9, 15);
    EXPECT(SUMS("-1", "exclusive=1"), 0, 1, 3, 0, 4, 9);
    EXPECT(SUMS("3", "reverse=1"), 6, 5, 3, 15, 11, 6);
    EXPECT(SUMS("-1", "reverse=1 exclusive=1"), 5, 3, 0, 11, 6, 0);
    EXPECT(SUMS("1", ""), 1, 2, 3, 5, 7, 9);
    EXPECT(SUMS("2", ""), 1, 2, 3, 4, 5, 6);
    expect_message(SUMS("0", ""), GLCNN_UNSUPPORTED, "sums over the batch");
    expect_message(SUMS("4", ""), GLCNN_MALFORMED_DATA, "not one of its input's");
}

/* A scale for each head, which is an exponential of what trains, of heads of windows that share a batch: the
 * channels are windows and heads. */
static void scales_of_heads_are_read_beside_windows(void)
{
    EXPECT("input x 1 4 1 2\nwhole w 4 : -1 2 1 2\nReshape x w > windows\n"
           "float s 2 1 1 : 0 0.6931471806\nExp s > scales\nMul windows scales > scaled\n"
           "whole b 4 : -1 4 1 2\nReshape scaled b > r" PLAIN "\noutput y 1 4 1 2\n",
           1, 2, 6, 8, 5, 6, 14, 16);
}

/* ---- A batch of any size ---- */

/* 4N rows of one image each, and back. */
static void shapes_are_computed_of_the_batch(void)
{
    EXPECT("input x 1 4 1 2\nShape x > s\nwhole zero 1 : 0\nGather s zero > n\nwhole four 1 : 4\n"
           "Mul n four > windows\nwhole rest 2 : 1 2\nConcat windows rest > shape axis=0\n"
           "Reshape x shape > w\nNeg w > v\nDiv windows four > again\nwhole back 3 : 4 1 2\n"
           "Concat again back > last axis=0\nReshape v last > y\noutput y 1 4 1 2\n",
           -1, -2, -3, -4, -5, -6, -7, -8);
    /* By way of float32, which has no 49 * 1000003. */
    EXPECT("input x 1 7 7 1\nShape x > s\nwhole zero 1 : 0\nGather s zero > n\nCast n > f to=1\n"
           "float k 1 : 49\nMul f k > w\nDiv w k > d\nCast d > again to=7\nwhole back 2 : 49 1\n"
           "Concat again back > last axis=0\nReshape x last > r\nNeg r > v\nFlatten v > y\n"
           "output y 1 49\n",
           -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15, -16, -17, -18, -19,
           -20, -21, -22, -23, -24, -25, -26, -27, -28, -29, -30, -31, -32, -33, -34, -35, -36, -37,
           -38, -39, -40, -41, -42, -43, -44, -45, -46, -47, -48, -49);
}

#define SHAPE_OF(MORE)                                                                             \
    "input x 1 2 1 3\nShape x > s\nwhole zero 1 : 0\nGather s zero > n\n" MORE "output y 1 2 1 3\n"

static void messages_name_the_batch(void)
{
    expect_message(SHAPE_OF("whole k 1 : 64\nMul n k > m\nwhole r 1 : 7\nConcat m r > t axis=0\n"
                            "Reshape x t > y\n"),
                   GLCNN_MALFORMED_DATA, "Nx2x1x3 cannot become one of 64Nx7");
    expect_message(SHAPE_OF("whole r 1 : 7\nConcat r n > t axis=0\nConstantOfShape t > c\n"
                            "Mul x c > y\n"),
                   GLCNN_UNSUPPORTED, "7xN");
    expect_message(SHAPE_OF("whole one : 1\nwhole z : 0\nSqueeze n > m\nRange z m one > c\n"
                            "Cast c > f to=1\nMul x f > y\n"),
                   GLCNN_UNSUPPORTED, "batch, which may be of any size");
}

/* A number for each image of the batch is one. */
static void constants_of_the_batch_are_one_image(void)
{
    EXPECT(SHAPE_OF("whole r 3 : 1 1 1\nConcat n r > t axis=0\nfloat two : 2\nExpand two t > c\n"
                    "Neg c > d\nMul x d > y\n"),
           -2, -4, -6, -8, -10, -12);
}

/* What is broadcast may have no numbers, or more than can be counted. */
static void results_have_numbers(void)
{
    static const char *const none = "has no numbers", *const many = "makes too many numbers";
    const glcnn_status unsupported = GLCNN_UNSUPPORTED, malformed = GLCNN_MALFORMED_DATA;
    expect_message("input x 1 1 1 3\nwhole t 4 : 1 0 1 3\nExpand x t > y\noutput y 1 0 1 3\n",
                   unsupported, none);
    expect_message("input x 1 1 1 3\nfloat e 1 0 1 3 :\nAdd x e > y\noutput y 1 0 1 3\n",
                   unsupported, none);
    expect_message("input x 1 2 1 3\nfloat e 2 3 0 :\nMatMul x e > y\noutput y 1 2 1 0\n",
                   unsupported, none);
    expect_message("input x 1 2 1 3\nfloat e 3 0 :\nEinsum x e > y equation='abcd,de->abce'\n"
                   "output y 1 2 1 0\n",
                   unsupported, none);
    expect_message("input x 1 2 1 3\nwhole c 1 : 1\nfloat e 0 3 :\nWhere c x e > y\n"
                   "output y 1 2 0 3\n",
                   unsupported, none);
    expect_message("input a 1 67108864 1 67108864\ninput b 1 1 67108864 1\nAdd a b > y\n"
                   "output y 1 1 1 1\n",
                   malformed, many);
    expect_message("input a 1 67108864 1 67108864\ninput b 1 1 67108864 67108864\n"
                   "Transpose b > t perm=0,1,3,2\nMatMul a t > y\noutput y 1 1 1 1\n",
                   malformed, many);
    expect_message("input a 1 67108864 67108864 1\nwhole t 4 : 1 1 1 67108864\n"
                   "Expand a t > y\noutput y 1 1 1 1\n",
                   malformed, many);
    expect_message("input a 1 67108864 67108864 1\nwhole t 4 : 1 1 1 67108864\n"
                   "Tile a t > y\noutput y 1 1 1 1\n",
                   malformed, many);
    expect_message("input a 1 67108864 67108864 2\nwhole t 3 : 0 0 1\n"
                   "Gather a t > y axis=3\noutput y 1 1 1 1\n",
                   malformed, many);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(results_have_numbers),
                                        UNIT_TEST(functions_are_their_nodes),
                                        UNIT_TEST(functions_end),
                                        UNIT_TEST(functions_do_not_explode),
                                        UNIT_TEST(branches_are_taken_where_they_are_known),
                                        UNIT_TEST(branches_pass_on_what_is_there),
                                        UNIT_TEST(branches_are_chosen_by_images),
                                        UNIT_TEST(images_are_compared),
                                        UNIT_TEST(truths_are_combined),
                                        UNIT_TEST(truths_choose),
                                        UNIT_TEST(real_types_are_float32),
                                        UNIT_TEST(whole_images_are_cast_first),
                                        UNIT_TEST(layers_in_training_are_read),
                                        UNIT_TEST(later_opsets_are_read),
                                        UNIT_TEST(norms_divide),
                                        UNIT_TEST(numbers_are_rounded_to_steps),
                                        UNIT_TEST(products_of_whole_numbers_are_reals),
                                        UNIT_TEST(constants_are_computed_by_their_types),
                                        UNIT_TEST(constants_have_every_attribute),
                                        UNIT_TEST(weights_are_computed),
                                        UNIT_TEST(weights_are_normalised),
                                        UNIT_TEST(moves_of_weights_have_no_bound),
                                        UNIT_TEST(sums_are_bounded),
                                        UNIT_TEST(filled_weights_are_bounded_by_memory),
                                        UNIT_TEST(cubics_are_those_of_pytorch_and_onnx),
                                        UNIT_TEST(halves_of_sizes_are_rounded_up),
                                        UNIT_TEST(scales_that_keep_the_size_move_numbers),
                                        UNIT_TEST(products_that_are_weights_are_folded),
                                        UNIT_TEST(products_train_whose_shape_is_read),
                                        UNIT_TEST(constants_are_folded_as_numpy_does),
                                        UNIT_TEST(vectors_of_one_number_train),
                                        UNIT_TEST(biases_are_times_beta),
                                        UNIT_TEST(other_axes_are_resized_linearly),
                                        UNIT_TEST(scales_of_heads_are_read_beside_windows),
                                        UNIT_TEST(sums_so_far_are_of_what_comes_before),
                                        UNIT_TEST(shapes_are_computed_of_the_batch),
                                        UNIT_TEST(messages_name_the_batch),
                                        UNIT_TEST(constants_of_the_batch_are_one_image),
                                        CU_TEST_INFO_NULL};
    return fixture_run("onnx_files", tests, argc, argv);
}
