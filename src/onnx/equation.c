/* Equations of Einsum. */
#include "onnx/equation.h"

#include <ctype.h>
#include <string.h>

bool equation_text(struct call *call, char text[EQUATION_LENGTH])
{
    const Onnx__AttributeProto *a = attribute_find(call, "equation");
    if (!a || !a->has_s || a->s.len >= EQUATION_LENGTH)
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has no equation, or one that is too long");
    memcpy(text, a->s.data, a->s.len);
    text[a->s.len] = '\0';
    return true;
}

static bool read_term(struct call *call, const char *term, size_t length, size_t rank, char *labels)
{
    size_t letters = 0, count = 0;
    for (size_t i = 0; i < length; i++)
        letters += isalpha((unsigned char)term[i]) != 0;
    const size_t more = rank > letters ? rank - letters : 0;
    for (size_t i = 0; i < length; i++) {
        if (isalpha((unsigned char)term[i]) && count < GLCNN_ONNX_RANK)
            labels[count++] = term[i];
        if (term[i] != '.')
            continue;
        for (size_t k = 0; k < more && count < GLCNN_ONNX_RANK; k++)
            labels[count++] = (char)('8' - (char)(more - k));
        i += 2;
    }
    labels[count] = '\0';
    return count == rank || op_fail(call, GLCNN_MALFORMED_DATA,
                                    "its equation has %zu axes where there are %zu", count, rank);
}

static bool appears_once(const struct equation *e, char label)
{
    size_t count = 0;
    for (size_t k = 0; k < e->operands; k++)
        for (const char *at = e->labels[k]; *at; at++)
            count += *at == label;
    return count == 1;
}

/* Without "->": all labels that appear once, in their order, digits first. */
static void imply_result(struct equation *e)
{
    size_t count = 0;
    for (int label = '0'; label <= 'z' && count < GLCNN_ONNX_RANK; label++)
        if (appears_once(e, (char)label) ||
            (isdigit(label) && (strchr(e->labels[0], label) || strchr(e->labels[1], label))))
            e->result[count++] = (char)label;
    e->result[count] = '\0';
}

bool equation_read(struct call *call, const char *text, const uint32_t ranks[2], struct equation *e)
{
    const char *arrow = strstr(text, "->");
    const char *end = arrow ? arrow : text + strlen(text);
    for (size_t k = 0; k < e->operands; k++) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const char *stop = k + 1 < e->operands && comma ? comma : end;
        if (!read_term(call, text, (size_t)(stop - text), ranks[k], e->labels[k]))
            return false;
        text = stop < end ? stop + 1 : end;
    }
    if (!arrow) {
        imply_result(e);
        return true;
    }
    size_t letters = 0, more = 0;
    for (const char *at = arrow + 2; *at; at++)
        letters += isalpha((unsigned char)*at) != 0;
    for (char digit = '0'; strchr(arrow, '.') && digit < '8'; digit++)
        more += strchr(e->labels[0], digit) || strchr(e->labels[1], digit);
    return read_term(call, arrow + 2, strlen(arrow + 2), letters + more, e->result);
}
