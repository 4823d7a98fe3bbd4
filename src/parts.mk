# Parts beside libglcnn, what each needs of others, and which are built: a part of the Makefile at the top of
# the tree.

# pkg-config modules of each part. libglcnn takes those of core alone, and headers of OpenGL ES.
DRM         ?= yes
MODULES_core := egl gbm
ifeq ($(DRM),no)
MODULES_core  = egl
endif
MODULES_interchange := libcjson libcbor liblzma
MODULES_onnx := libprotobuf-c
MODULES_data := libpng libjpeg libwebp libtiff-4 libzip zlib expat libcjson yaml-0.1
APP_MODULES  := libzip libcjson
MODULES_tool := $(MODULES_interchange) $(MODULES_onnx) $(MODULES_data) $(APP_MODULES)
BUILD_MODULES = $(sort $(MODULES_core) glesv2 $(MODULES_tool))

# MPI is no module that every system names alike; its own compiler knows where it is.
MPICC     ?= $(CROSS_COMPILE)mpicc
mpi_flags := $(shell $(MPICC) -show 2>/dev/null)
HAS_MPI   := $(if $(mpi_flags),yes)

# A name that PARTS has, and this list has not, would be left out without a word.
ALL_PARTS := interchange onnx data mpi tool
comma     := ,
PARTS     ?= interchange,onnx,data,$(if $(HAS_MPI),mpi,),tool
parts     := $(filter-out core,$(subst $(comma), ,$(PARTS)))
unknown   := $(filter-out $(ALL_PARTS),$(parts))
unbuilt   := $(if $(filter tool,$(parts)),$(filter-out $(parts),interchange onnx data))
ifneq ($(unknown),)
$(error PARTS=$(PARTS) has $(unknown), and the parts are core $(ALL_PARTS))
else ifneq ($(unbuilt),)
$(error PARTS=$(PARTS) has the tool, which is built of $(unbuilt) too)
else ifneq ($(filter mpi,$(parts)),$(if $(HAS_MPI),$(filter mpi,$(parts))))
$(error PARTS=$(PARTS) has mpi, and there is no MPI: MPICC=$(MPICC) does not work)
endif

# Public headers of a part, in include/glcnn.
HEADERS_interchange := checkpoint serialize
HEADERS_onnx := onnx
HEADERS_data := data
HEADERS_mpi := mpi
