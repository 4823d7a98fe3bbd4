// The headers serve C++: functions have C linkage, structures are filled member by member (or by
// {}), and no structure shares its name with a function.
#include <glcnn/glcnn.h>

#include <cstdio>
#include <cstring>

int main()
{
    char header[32];
    std::snprintf(header, sizeof header, "%d.%d.%d", GLCNN_VERSION_MAJOR, GLCNN_VERSION_MINOR,
                  GLCNN_VERSION_PATCH);
    if (std::strcmp(header, glcnn_version()) != 0)
        return 1;

    const glcnn_kernel_info *first = glcnn_kernel_info_at(0);
    if (first == nullptr || glcnn_kernel_info_by_name(first->name) != first)
        return 2;

    // A device that cannot be: the reason comes to a lambda, as to any function.
    glcnn_device_parameters parameters = {};
    parameters.device = "no such device";
    bool told = false;
    parameters.log_user = &told;
    parameters.log = [](void *user, glcnn_log_level level, const char *) {
        if (level == GLCNN_LOG_ERROR)
            *static_cast<bool *>(user) = true;
    };
    glcnn_device *device = nullptr;
    if (glcnn_device_create(&parameters, &device) == GLCNN_SUCCESS || device != nullptr || !told)
        return 3;

    // A node of nothing is none.
    glcnn_convolution_descriptor window = {};
    window.kernel_width = window.kernel_height = 3;
    if (glcnn_pooling_max_node(glcnn_convolution_node(nullptr, &window, nullptr), 2, 2, 2, 2))
        return 4;
    return 0;
}
