/* An archive behind a .tflite file, whose files are stored as they are: its metadata and the names of its classes. */
#include "tflite/archive.h"

#include <cstdio>
#include <cstdlib>

#include "tflite/failure.h"

namespace glcnn
{

static uint32_t checksum(const std::string &text)
{
    uint32_t sum = 0xffffffff;
    for (const char c : text) {
        sum ^= uint8_t(c);
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
    }
    return ~sum;
}

static void put(std::vector<uint8_t> &file, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        file.push_back(uint8_t(value >> 8 * i));
}

static void put(std::vector<uint8_t> &file, const std::string &text)
{
    file.insert(file.end(), text.begin(), text.end());
}

enum { DATE = 33 /* the first of January 1980 */, STORED = 0, ZIP_VERSION = 20 };

/* What the local header and the central directory have alike. */
static void put_entry(std::vector<uint8_t> &file, const ArchivedFile &archived)
{
    put(file, ZIP_VERSION, 2);
    put(file, 0x800, 2); /* names are UTF-8 */
    put(file, STORED, 2);
    put(file, 0, 2);
    put(file, DATE, 2);
    put(file, checksum(archived.text), 4);
    put(file, archived.text.size(), 4);
    put(file, archived.text.size(), 4);
    put(file, archived.name.size(), 2);
    put(file, 0, 2); /* no extra field */
}

static void put_character(std::string &text, uint32_t code)
{
    if (code < 0x80) {
        text += char(code);
        return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint32_t heads[] = {0, 0xc0, 0xe0, 0xf0};
    text += char(heads[more] | code >> 6 * more);
    for (int i = more - 1; i >= 0; i--)
        text += char(0x80 | (code >> 6 * i & 0x3f));
}

/* What follows a backslash: hexadecimal digits of a byte or a character, or the character itself. */
static size_t put_escaped(std::string &label, const std::string &text, size_t at)
{
    const char kind = at < text.size() ? text[at] : 0;
    const size_t digits = kind == 'x' ? 2 : kind == 'U' ? 8 : 0;
    if (digits == 0 || at + digits >= text.size()) {
        label += kind;
        return at + 1;
    }
    const uint32_t code = uint32_t(std::strtoul(text.substr(at + 1, digits).c_str(), nullptr, 16));
    kind == 'x' ? void(label += char(code)) : put_character(label, code);
    return at + 1 + digits;
}

std::vector<std::string> names_of_dictionary(const std::string &text)
{
    std::vector<std::string> names;
    size_t at = 0;
    while ((at = text.find('\'', at)) != std::string::npos) {
        std::string name;
        for (at++; at < text.size() && text[at] != '\'';)
            if (text[at] == '\\')
                at = put_escaped(name, text, at + 1);
            else
                name += text[at++];
        names.push_back(name);
        at++;
    }
    return names;
}

std::string text_of_labels(const std::vector<std::string> &labels)
{
    std::string text;
    for (size_t i = 0; i < labels.size(); i++) {
        if (labels[i].find_first_of("\r\n") != std::string::npos)
            throw Failure(GLCNN_INVALID_ARGUMENT, "label " + std::to_string(i) +
                                                      " has a line break; each label is one line");
        text += labels[i] + "\n";
    }
    return text;
}

static void put_json(std::string &json, const std::string &text)
{
    json += '"';
    for (const char c : text) {
        char code[8];
        std::snprintf(code, sizeof code, "\\u%04x", unsigned(uint8_t(c)));
        if (uint8_t(c) < ' ')
            json += code;
        else
            json += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
    json += '"';
}

std::string json_of(const std::map<std::string, std::string> &metadata)
{
    std::string json;
    for (const auto &[key, text] : metadata) {
        json += json.empty() ? "{" : ", ";
        put_json(json, key);
        json += ": ";
        put_json(json, text);
    }
    return json + "}";
}

void append_archive(std::vector<uint8_t> &file, const std::vector<ArchivedFile> &archived)
{
    std::vector<uint8_t> directory;
    for (const ArchivedFile &each : archived) {
        const size_t local = file.size();
        put(file, 0x04034b50, 4);
        put_entry(file, each);
        put(file, each.name);
        put(file, each.text);
        put(directory, 0x02014b50, 4);
        put(directory, ZIP_VERSION, 2);
        put_entry(directory, each);
        put(directory, 0, 2); /* no comment */
        put(directory, 0, 2); /* disk */
        put(directory, 0, 2);
        put(directory, 0, 4); /* no attributes */
        put(directory, local, 4);
        put(directory, each.name);
    }
    const size_t begin = file.size();
    file.insert(file.end(), directory.begin(), directory.end());
    put(file, 0x06054b50, 4);
    put(file, 0, 2);
    put(file, 0, 2);
    put(file, archived.size(), 2);
    put(file, archived.size(), 2);
    put(file, directory.size(), 4);
    put(file, begin, 4);
    put(file, 0, 2);
}

} // namespace glcnn
