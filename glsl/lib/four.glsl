// The four elements of a vector that are `at` these places.
#define FOUR(VECTOR, at) vec4(VECTOR[at.x], VECTOR[at.y], VECTOR[at.z], VECTOR[at.w])
