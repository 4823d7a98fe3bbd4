################################################################################
#
# glcnn
#
################################################################################

GLCNN_VERSION = 0.2.0
# The tree that this folder lies in, also where a package folder is a link to it.
GLCNN_SITE = $(realpath $(GLCNN_PKGDIR)/../../..)
GLCNN_SITE_METHOD = local
GLCNN_LICENSE = MIT
GLCNN_LICENSE_FILES = LICENSE
GLCNN_INSTALL_STAGING = YES
GLCNN_DEPENDENCIES = host-pkgconf libegl libgles
GLCNN_PARTS = core

ifeq ($(BR2_PACKAGE_GLCNN_DATA),y)
GLCNN_PARTS += data
GLCNN_DEPENDENCIES += cjson expat jpeg libpng libyaml libzip tiff webp zlib
endif

ifeq ($(BR2_PACKAGE_GLCNN_ONNX),y)
GLCNN_PARTS += onnx
GLCNN_DEPENDENCIES += host-protobuf-c protobuf-c
endif

ifeq ($(BR2_PACKAGE_GLCNN_TFLITE),y)
GLCNN_PARTS += tflite
GLCNN_DEPENDENCIES += flatbuffers host-flatbuffers host-protobuf-c protobuf-c
endif

ifeq ($(BR2_PACKAGE_GLCNN_INTERCHANGE),y)
GLCNN_PARTS += interchange
GLCNN_DEPENDENCIES += cjson libcbor xz
endif

ifeq ($(BR2_PACKAGE_GLCNN_TRAIN),y)
GLCNN_PARTS += train
endif

ifeq ($(BR2_PACKAGE_GLCNN_TOOL),y)
GLCNN_PARTS += tool
endif

# The tool of the target does not run here, so there are no manual pages; the target has no use of them.
GLCNN_MAKE_OPTS = $(TARGET_CONFIGURE_OPTS) PREFIX=/usr HOST_TOOL=false MPICC=no DESKTOP=no \
	PARTS="$(GLCNN_PARTS)"

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
