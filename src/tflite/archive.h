/* An archive stands behind the tables of a .tflite file, in which loaders look for metadata and names of classes. */
#ifndef GLCNN_TFLITE_ARCHIVE_H
#define GLCNN_TFLITE_ARCHIVE_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace glcnn
{

/* The names of a dictionary as Python writes it, {0: 'a', 1: 'b'}, which loaders of Ultralytics' files want; empty:
 * it is none. */
std::vector<std::string> names_of_dictionary(const std::string &text);

/* A line for each label, as TFLite Model Metadata has them. */
std::string text_of_labels(const std::vector<std::string> &labels);

/* An object of texts. */
std::string json_of(const std::map<std::string, std::string> &metadata);

struct ArchivedFile {
    std::string name, text;
};

/* Appends a ZIP archive: a reader of the tables does not see it, and a reader of archives not the tables. */
void append_archive(std::vector<uint8_t> &file, const std::vector<ArchivedFile> &archived);

} // namespace glcnn

#endif
