/* The functions of glcnn/tflite.h: failures become a status and a message, bytes the caller's. */
#include <glcnn/tflite.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tflite/archive.h"
#include "tflite/failure.h"
#include "tflite/lift.h"
#include "tflite/lower.h"

using glcnn::Failure;

static glcnn_status tell(char *error, glcnn_status status, const char *text)
{
    if (error)
        std::snprintf(error, GLCNN_ERROR_LENGTH, "%s", text);
    return status;
}

static uint8_t *copy_of(const std::vector<uint8_t> &made)
{
    void *bytes = std::malloc(made.size() + 1);
    if (!bytes)
        throw std::bad_alloc();
    std::memcpy(bytes, made.data(), made.size());
    return static_cast<uint8_t *>(bytes);
}

/* Calls `convert`, which returns bytes or throws. */
template <typename Convert>
static glcnn_status give_bytes(uint8_t **bytes, size_t *size, char *error, Convert convert)
{
    if (!bytes || !size)
        return tell(error, GLCNN_INVALID_ARGUMENT, "bytes and size must not be NULL");
    *bytes = nullptr;
    *size = 0;
    if (error)
        error[0] = 0;
    try {
        const std::vector<uint8_t> made = convert();
        *bytes = copy_of(made);
        *size = made.size();
        return GLCNN_SUCCESS;
    } catch (const Failure &failure) {
        return tell(error, failure.status, failure.what());
    } catch (const std::bad_alloc &) {
        return tell(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    } catch (const std::exception &other) {
        return tell(error, GLCNN_MALFORMED_DATA, other.what());
    }
}

/* Labels are those that are given, or the model's metadata has them, in which a line break becomes a blank. */
static std::vector<std::string> labels_of(const struct glcnn_tflite_options *options,
                                          const glcnn::OnnxModel &model)
{
    std::vector<std::string> labels;
    if (options && options->label_count) {
        for (size_t i = 0; i < options->label_count; i++)
            labels.push_back(options->labels[i] ? options->labels[i] : "");
        return labels;
    }
    const auto names = model.metadata.find("names");
    if (names == model.metadata.end())
        return labels;
    labels = glcnn::names_of_dictionary(names->second);
    for (std::string &label : labels)
        for (char &c : label)
            c = c == '\n' || c == '\r' ? ' ' : c;
    return labels;
}

/* Ultralytics' loader reads the first file of the archive: its metadata. */
static void append_texts(std::vector<uint8_t> &made, const glcnn::OnnxModel &model,
                         const std::vector<std::string> &labels)
{
    std::vector<glcnn::ArchivedFile> archived;
    if (!model.metadata.empty())
        archived.push_back({"metadata.json", glcnn::json_of(model.metadata)});
    if (!labels.empty())
        archived.push_back({"labels.txt", glcnn::text_of_labels(labels)});
    if (!archived.empty())
        glcnn::append_archive(made, archived);
}

glcnn_status glcnn_tflite_from_onnx(const uint8_t *onnx, size_t onnx_size,
                                    const struct glcnn_tflite_options *options, uint8_t **bytes,
                                    size_t *size, char error[GLCNN_ERROR_LENGTH])
{
    return give_bytes(bytes, size, error, [&] {
        const glcnn::OnnxModel model = glcnn::parse_onnx(onnx, onnx_size);
        std::vector<uint8_t> made = glcnn::Lowering(model).run();
        append_texts(made, model, labels_of(options, model));
        return made;
    });
}

glcnn_status glcnn_tflite_to_onnx(const uint8_t *tflite, size_t tflite_size, uint8_t **bytes,
                                  size_t *size, char note[GLCNN_ERROR_LENGTH],
                                  char error[GLCNN_ERROR_LENGTH])
{
    if (note)
        note[0] = 0;
    return give_bytes(bytes, size, error, [&] {
        std::string said;
        std::vector<uint8_t> made = glcnn::lift(tflite, tflite_size, said);
        if (note)
            std::snprintf(note, GLCNN_ERROR_LENGTH, "%s", said.c_str());
        return made;
    });
}

void glcnn_tflite_destroy(uint8_t *bytes)
{
    std::free(bytes);
}
