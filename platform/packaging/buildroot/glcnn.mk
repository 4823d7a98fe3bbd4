################################################################################
#
# glcnn
#
################################################################################

GLCNN_VERSION = 0.1.0
# The tree that this folder lies in, also where a package folder is a link to it.
GLCNN_SITE = $(realpath $(GLCNN_PKGDIR)/../../..)
GLCNN_SITE_METHOD = local
GLCNN_LICENSE = MIT
GLCNN_LICENSE_FILES = LICENSE
GLCNN_INSTALL_STAGING = YES
GLCNN_DEPENDENCIES = host-pkgconf cjson expat jpeg libcbor libegl libgles libpng libzip \
	host-protobuf-c protobuf-c tiff webp xz zlib

# The schema of ONNX models, onnx/onnx.proto of a release of ONNX, is to be put beside this file.

# The tool of the target does not run here, so there are no manual pages; the target has no use of them.
GLCNN_MAKE_OPTS = $(TARGET_CONFIGURE_OPTS) PREFIX=/usr HOST_TOOL=false MPICC=no DESKTOP=no \
	ONNX_PROTO=$(realpath $(GLCNN_PKGDIR))/onnx.proto

# Drivers of vendors may have no GBM.
ifeq ($(BR2_PACKAGE_HAS_LIBGBM),y)
GLCNN_DEPENDENCIES += libgbm
else
GLCNN_MAKE_OPTS += DRM=no
endif

define GLCNN_BUILD_CMDS
	$(TARGET_MAKE_ENV) $(MAKE) -C $(@D) $(GLCNN_MAKE_OPTS) all
endef

define GLCNN_INSTALL_STAGING_CMDS
	$(TARGET_MAKE_ENV) $(MAKE) -C $(@D) $(GLCNN_MAKE_OPTS) DESTDIR=$(STAGING_DIR) install
endef

define GLCNN_INSTALL_TARGET_CMDS
	$(TARGET_MAKE_ENV) $(MAKE) -C $(@D) $(GLCNN_MAKE_OPTS) DESTDIR=$(TARGET_DIR) install
endef

$(eval $(generic-package))
