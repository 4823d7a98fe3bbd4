/* A .tflite file whose operators become ONNX nodes, one after the other.
 *
 * A tensor of four axes that is computed is a value N,H,W,C, as the file has it, or N,C,H,W, as
 * ONNX's operators want pictures; each is made of the other where an operator asks for it. */
#ifndef GLCNN_TFLITE_LIFTING_H
#define GLCNN_TFLITE_LIFTING_H

#include <map>
#include <set>
#include <string>
#include <vector>

#include <tflite_schema.h>

#include "tflite/model.h"

namespace glcnn
{

class Lifting
{
  public:
    Lifting(const uint8_t *bytes, size_t size);
    OnnxModel run();
    std::string note() const;

    /* ---- The operator that is being lifted ---- */

    const tflite::Operator *made = nullptr;
    std::string label; /* of its node: the name of its first output */
    [[noreturn]] void refuse(const std::string &why) const;
    [[noreturn]] void damaged(const std::string &why) const;
    size_t input_count() const;
    bool has_input(size_t k) const;
    int input(size_t k) const; /* a tensor */
    int output(size_t k = 0) const;

    /* ---- Tensors ---- */

    const Shape &shape(int tensor) const;
    size_t rank(int tensor) const
    {
        return shape(tensor).size();
    }
    bool is_constant(int tensor) const;
    /* The numbers of a constant come in the file's order. */
    std::vector<float> reals(int tensor);
    std::vector<int64_t> wholes(int tensor, const char *what);
    /* What another tensor holds, with nothing lost but a rounding. */
    void alias(int of, int from);

    /* ---- Values: names of ONNX's ---- */

    std::string plain(int tensor);   /* the file's axes */
    std::string picture(int tensor); /* N,C,H,W */
    /* The numbers in the file's order, of whatever axes: nothing moves where a picture has one pixel or channel. */
    std::string row(int tensor);
    /* Picture of four axes, else plain. */
    std::string usual(int tensor)
    {
        return rank(tensor) == 4 ? picture(tensor) : plain(tensor);
    }
    /* The place of an axis of the file in such a value. */
    int64_t usual_axis(int64_t axis, size_t of_rank) const;
    std::string initialiser(int tensor, const std::string &form, const Shape &shape,
                            std::vector<float> values);
    std::string sizes(const std::vector<int64_t> &values);
    std::string number(float value);
    std::string scales(float rows, float columns); /* of a picture */

    /* ---- Nodes ---- */

    std::string add(const std::string &op, const std::vector<std::string> &inputs,
                    std::map<std::string, Attribute> attributes = {});
    void give_plain(const std::string &value, size_t k = 0);
    void give_picture(const std::string &value, size_t k = 0);
    void give_usual(const std::string &value, size_t k = 0)
    {
        rank(output(k)) == 4 ? give_picture(value, k) : give_plain(value, k);
    }
    /* The value behind the operator's rectifier. */
    std::string activated(const std::string &value, tflite::Activation activation);

    bool drops_roundings = false;

  private:
    void check_tensors();
    int constant_source(int tensor) const;
    std::vector<float> stored_reals(const tflite::Tensor &t);
    std::vector<float> dense(const tflite::Tensor &t, const std::vector<float> &values);
    std::string unique(const std::string &name);
    std::string unique_node(const std::string &name);
    void make_known(int tensor, const std::string &value, bool is_picture);
    void name_results();
    void take_metadata();
    std::string tensor_name(int tensor) const;
    void lift_operator(const tflite::Operator &each);
    void spend(size_t numbers);

    const uint8_t *bytes;
    size_t size;
    const tflite::Model *file = nullptr;
    const tflite::SubGraph *graph = nullptr;
    std::vector<Shape> shapes;
    std::map<int, int> aliases;
    std::map<int, std::string> plains, pictures;
    std::set<int> is_made;
    std::map<std::pair<int, std::string>, std::string> initialisers;
    std::map<std::string, int> names, node_names;
    std::map<std::string, int> results; /* values, and the tensors of operators that they are */
    bool drops_metadata = false;
    size_t budget = 0; /* of numbers that constants may still have */
    OnnxModel out;
};

Attribute whole_attribute(int64_t value);
Attribute real_attribute(float value);
Attribute wholes_attribute(const std::vector<int64_t> &values);
Attribute text_attribute(const std::string &value);

/* An operation and what lifts it. */
struct LiftingRow {
    tflite::Operation operation;
    void (*lift)(Lifting &lifting);
};

/* The last row has no function. */
extern const LiftingRow lift_arithmetic[], lift_windows[], lift_shaping[];

/* MediaPipe's custom operator. */
void lift_transposed_bias(Lifting &lifting);

} // namespace glcnn

#endif
