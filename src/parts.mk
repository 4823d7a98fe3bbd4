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
MODULES_tflite := libprotobuf-c flatbuffers
MODULES_data := libpng libjpeg libwebp libtiff-4 libzip zlib expat libcjson yaml-0.1
MODULES_train := libcjson libpng libprotobuf-c
APP_MODULES  := libzip libcjson
MODULES_tool := $(MODULES_interchange) $(MODULES_onnx) $(MODULES_tflite) $(MODULES_data) $(MODULES_train) $(APP_MODULES)
BUILD_MODULES = $(sort $(MODULES_core) glesv2 $(MODULES_tool))

# MPI is no module that every system names alike; its own compiler knows where it is.
MPICC     ?= $(CROSS_COMPILE)mpicc
mpi_flags := $(shell $(MPICC) -show 2>/dev/null)
HAS_MPI   := $(if $(mpi_flags),yes)

# A name that PARTS has, and this list has not, would be left out without a word.
ALL_PARTS := interchange onnx data tflite mpi train tool
comma     := ,
PARTS     ?= interchange,onnx,data,tflite,$(if $(HAS_MPI),mpi,),train,tool
parts     := $(filter-out core,$(subst $(comma), ,$(PARTS)))
unknown   := $(filter-out $(ALL_PARTS),$(parts))
# What a part is built of.
NEEDS_train := interchange onnx data
NEEDS_tool  := $(NEEDS_train) tflite train
unbuilt   := $(strip $(foreach part,$(filter train tool,$(parts)),\
                 $(if $(filter-out $(parts),$(NEEDS_$(part))),$(part))))
ifneq ($(unknown),)
$(error PARTS=$(PARTS) has $(unknown), and the parts are core $(ALL_PARTS))
else ifneq ($(unbuilt),)
$(error PARTS=$(PARTS) has the part $(lastword $(unbuilt)), which is built of $(filter-out $(parts),$(NEEDS_$(lastword $(unbuilt)))) too)
else ifneq ($(filter mpi,$(parts)),$(if $(HAS_MPI),$(filter mpi,$(parts))))
$(error PARTS=$(PARTS) has mpi, and there is no MPI: MPICC=$(MPICC) does not work)
endif

# Public headers of a part, in include/glcnn.
HEADERS_interchange := checkpoint serialize
HEADERS_onnx := onnx
HEADERS_data := data
HEADERS_tflite := tflite
HEADERS_mpi := mpi
HEADERS_train := $(patsubst include/glcnn/%.h,%,$(wildcard $(foreach header,task detection metrics anomaly train report export bench,\
                     include/glcnn/$(header).h)))
