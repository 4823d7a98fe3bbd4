SUMMARY = "Convolutional networks trained through OpenGL ES 3.1 compute"
LICENSE = "MIT"
LIC_FILES_CHKSUM = "file://LICENSE;md5=a04f25f975f9a97185079297414fd521"

# The recipe builds the tree that it lies in. A layer of its own sets SRC_URI and SRCREV, or takes
# externalsrc as here.
inherit externalsrc pkgconfig features_check
EXTERNALSRC = "${@os.path.realpath(d.getVar('THISDIR') + '/../../..')}"
EXTERNALSRC_BUILD = "${WORKDIR}/build"
REQUIRED_DISTRO_FEATURES = "opengl"

DEPENDS = "virtual/egl virtual/libgles2 virtual/libgbm"

# The parts that are built beside libglcnn; train is built of data, interchange and onnx, the
# tool of all, tflite too. These recipes, but for
# those of openembedded-core, are meta-oe's.
PACKAGECONFIG ??= ""
PACKAGECONFIG[data] = ",,cjson expat jpeg libpng libwebp libyaml libzip tiff zlib"
PACKAGECONFIG[interchange] = ",,cjson libcbor xz"
PACKAGECONFIG[onnx] = ",,protobuf-c protobuf-c-native"
PACKAGECONFIG[tflite] = ",,flatbuffers flatbuffers-native protobuf-c protobuf-c-native"
PACKAGECONFIG[train] = ",,"
PACKAGECONFIG[tool] = ",,"

PACKAGES =+ "${PN}-interchange ${PN}-onnx ${PN}-data ${PN}-tflite ${PN}-train ${PN}-tool"
FILES:${PN}-interchange = "${libdir}/libglcnn_interchange${SOLIBS}"
FILES:${PN}-onnx = "${libdir}/libglcnn_onnx${SOLIBS}"
FILES:${PN}-data = "${libdir}/libglcnn_data${SOLIBS}"
FILES:${PN}-tflite = "${libdir}/libglcnn_tflite${SOLIBS}"
FILES:${PN}-train = "${libdir}/libglcnn_train${SOLIBS}"
FILES:${PN}-tool = "${bindir} ${datadir}/bash-completion"
FILES:${PN}-dev += "${libdir}/cmake"

# The tool of the target does not run here: it has no manual pages.
EXTRA_OEMAKE = "-C ${S} O=${B} PREFIX=${prefix} LIBDIR=${libdir} INCLUDEDIR=${includedir} \
    BINDIR=${bindir} HOST_TOOL=false MPICC=no DESKTOP=no PARTS='core ${PACKAGECONFIG}'"

do_compile() {
    oe_runmake all
}

do_install() {
    oe_runmake install DESTDIR=${D}
}
