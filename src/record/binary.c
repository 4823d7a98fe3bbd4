/* Binaries of programs: what the driver makes of a source, asked for and handed back. A driver that
 * was changed refuses its older binaries by the link status, or by an error. */
#include "record/binary.h"

#include <stdlib.h>

#include "record/binary_folder.h"

GLuint binary_load(struct glcnn_device *device, const struct pass *pass, const char *source,
                   glcnn_status *status)
{
    const struct gl *gl = &device->gl;
    struct binary binary;
    if (!binary_folder_read(device->binaries, source, &binary))
        return 0;
    GLint linked = 0;
    GLuint program = gl->CreateProgram();
    if (program) {
        gl->ProgramBinary(program, binary.format, binary.bytes, (GLsizei)binary.size);
        gl->GetProgramiv(program, GL_LINK_STATUS, &linked);
    }
    free(binary.bytes);
    *status = device_clear_error(device, pass->shader);
    if (linked && *status == GLCNN_SUCCESS)
        return program;
    gl->DeleteProgram(program);
    return 0;
}

void binary_announce(struct glcnn_device *device, GLuint program)
{
    if (device->binaries)
        device->gl.ProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
}

/* False where the driver has none. */
static bool ask_for(const struct gl *gl, GLuint program, struct binary *binary)
{
    GLint size = 0;
    GLsizei length = 0;
    GLenum format = 0;
    gl->GetProgramiv(program, GL_PROGRAM_BINARY_LENGTH, &size);
    *binary = (struct binary){.bytes = size > 0 ? malloc((size_t)size) : NULL};
    if (!binary->bytes)
        return false;
    gl->GetProgramBinary(program, size, &length, &format, binary->bytes);
    binary->format = format;
    binary->size = length > 0 && length <= size ? (size_t)length : 0;
    return binary->size > 0;
}

glcnn_status binary_keep(struct glcnn_device *device, const struct pass *pass, const char *source,
                         GLuint program)
{
    struct binary binary;
    if (!device->binaries)
        return GLCNN_SUCCESS;
    if (ask_for(&device->gl, program, &binary))
        binary_folder_write(device, source, &binary);
    free(binary.bytes);
    return device_clear_error(device, pass->shader);
}
