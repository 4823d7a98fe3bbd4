## GLCNN: convolutional networks trained through OpenGL ES 3.1 compute. GNU make 4.2 or newer.
##
## Targets
##   all            libraries (.a, .so; libglcnn_mpi where there is an MPI) and the glcnn tool: the default
##   core           libglcnn alone, which needs EGL, OpenGL ES and GBM; with DRM=no no GBM
##   demo           installs what is missing, builds, trains on Fashion-MNIST; DEMO_ARGS are passed on
##   test           installs what is missing, builds, runs the tests; T='test_a test_b' only those
##   check          the same, of what test leaves out because it takes long
##   check-all      the longer tests, check-boards, check-trixie, all under sanitizers, some under valgrind
##   check-boards   trains and checks on the shader compilers of embedded GPUs; BOARDS_ARGS are passed to
##                  tests/check_boards.sh, which builds Mesa once, in $(O)/boards
##   check-trixie   demo and tests on a fresh Debian 13, as root, in a root of its own that ROOT may name
##   check-drm      checks and trains in QEMU guests with real DRM nodes, as root; GUESTS names some
##   fuzz           feeds each reader of FUZZ damaged bytes for FUZZ_SECONDS; needs clang
##   fuzz-seeds     writes the files of tests/fuzz/corpus that fuzz begins with
##   examples       builds the example programs; tests: the test programs
##   abi            describes the binary interface in tests/abi, once the SONAME was raised; needs abigail-tools
##   readme         writes the table of kernels in include/README.md
##   packages       installs the Debian packages that the tests need and that are missing
##   tool-packages  the same, of those that the tool and the demo need
##   install        headers, libraries, files for pkg-config and CMake, tool, manual pages, completion
##                  for bash and documents, below $(DESTDIR)$(PREFIX)
##   install-core   the same of libglcnn alone
##   uninstall      removes what install put there
##   deb            builds Debian packages into $(O)/deb; needs build-essential, debhelper, dh-python,
##                  mpi-default-dev and python3-setuptools, beside tool-packages
##   clean          removes $(O)
##   help           prints this
##
## Variables, from the command line or the environment
##   PREFIX LIBDIR INCLUDEDIR BINDIR   where it is installed: /usr/local, its lib, include and bin
##   DOCDIR MANDIR COMPLETIONDIR       and its share/doc/glcnn, share/man and
##                                     share/bash-completion/completions
##   DESTDIR         put in front of these by install and uninstall only
##   CC CXX AR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS PKG_CONFIG   the usual; CXX serves the part tflite and a test
##   CROSS_COMPILE   prefix of CC, CXX, AR and PKG_CONFIG, as aarch64-linux-gnu-
##   MPICC           MPI's compiler, which is asked for its flags: mpicc. "no": none
##   HOST_TOOL       a glcnn that runs here, to write the manual pages of one that does not
##   PARTS           what all and install make beside libglcnn: interchange,onnx,data,tflite,mpi,train,tool, or some
##                   of these; train is built of interchange, onnx and data, the tool of tflite and train too
##   DESKTOP         no: without what only a large desktop GPU takes, as boards want it
##   DRM             no: without GBM, for systems whose drivers have only EGL and OpenGL ES
##   O               where everything is built: build
##   FUZZ            boxes, deserialize, onnx, pictures, tables, targets and tflite, or some of them
##   READERS         letters of fuzz's boxes or targets, each of which is run by itself: all at once
##   FUZZ_SECONDS    how long fuzz runs each: 600
##   V               1 shows the commands

# ---- Settings ------------------------------------------------------------------------------------

O            ?= build

# make gives CC, CXX and AR values of its own, so ?= would never see them unset.
ifeq ($(origin CC),default)
CC := $(if $(CROSS_COMPILE),$(CROSS_COMPILE)gcc,cc)
endif
ifeq ($(origin CXX),default)
CXX := $(CROSS_COMPILE)g++
endif
ifeq ($(origin AR),default)
AR := $(CROSS_COMPILE)ar
endif
PKG_CONFIG ?= $(CROSS_COMPILE)pkg-config
CFLAGS     ?= -O2 -g
CXXFLAGS   ?= -O2 -g

include src/parts.mk

# The header is the one place that states the version. Before 1.0 a minor release may change the
# binary interface, so the soname carries the minor number: a program linked with 0.1 never loads
# 0.2, and both can be installed side by side. From 1.0 on it is the major number alone.
version       := $(shell sed -n 's/^.define GLCNN_VERSION_[MP][A-Z]* *//p' include/glcnn/status.h)
VERSION_MAJOR := $(word 1,$(version))
VERSION_MINOR := $(word 2,$(version))
VERSION       := $(VERSION_MAJOR).$(VERSION_MINOR).$(word 3,$(version))
SOVERSION     := $(if $(filter 0,$(VERSION_MAJOR)),0.$(VERSION_MINOR),$(VERSION_MAJOR))

# Lists of files. A new kernel, shader, header, test or example is found here; nothing names it.
LIB_ROOMS      := platform $(addprefix src/,base device record image encode kernels reference run graph io)
# DESKTOP=no leaves out what only a large desktop GPU can take: programs for boards are smaller so.
DESKTOP        ?= yes
DESKTOP_SOURCES := $(if $(filter no,$(DESKTOP)),,$(sort $(wildcard src/desktop/*.c)))
# With DRM=no the nodes are listed, and say that they need GBM.
NO_SOURCES     := $(if $(filter no,$(DRM)),platform/gbm_device.c,platform/no_gbm_device.c)
LIB_SOURCES    := $(filter-out $(NO_SOURCES),$(sort $(wildcard $(LIB_ROOMS:%=%/*.c)))) \
                  $(DESKTOP_SOURCES)
INTERCHANGE_SOURCES := $(sort $(wildcard src/interchange/*.c))
ONNX_SOURCES   := $(sort $(wildcard src/onnx/*.c))
DATA_SOURCES   := $(sort $(wildcard src/data/*.c))
TFLITE_SOURCES := $(sort $(wildcard src/tflite/*.cpp))
MPI_SOURCES    := $(if $(HAS_MPI),$(sort $(wildcard src/mpi/*.c)))
KERNELS        := $(sort $(wildcard src/kernels/*.c))
SHADERS        := $(filter-out $(if $(filter no,$(DESKTOP)),glsl/desktop/%),\
                    $(sort $(wildcard glsl/*/*.comp glsl/*/*.glsl)))
# Headers of a part that is not built are not installed.
ALL_HEADERS    := $(sort $(wildcard include/glcnn/*.h))
HEADERS        := $(filter-out $(foreach part,$(filter-out $(parts),$(ALL_PARTS)),\
                    $(HEADERS_$(part):%=include/glcnn/%.h)),$(ALL_HEADERS))
KERNEL_HEADERS := $(sort $(wildcard include/glcnn/kernels/*.h))
BASE_SOURCES   := $(sort $(wildcard src/base/*.c))
# Rooms that share what is no user's are one library.
TRAIN_ROOMS    := $(addprefix src/,task train export report bench)
TRAIN_SOURCES  := $(sort $(wildcard $(TRAIN_ROOMS:%=%/*.c)))
TASK_SOURCES   := $(sort $(wildcard src/task/task_*.c))
TOOL_SOURCES   := $(sort $(wildcard src/tool/*.c))
# What the programs of examples/*.c share is linked into each, into the tool and into tests.
SUPPORT        := $(sort $(wildcard examples/support/*.c))
EXAMPLES       := $(patsubst %.c,$(O)/%,$(sort $(wildcard examples/*.c)))

GENERATED      := registry desktop_registry shaders constructors nodes
LIB_OBJECTS    := $(LIB_SOURCES:%.c=$(O)/%.o) $(GENERATED:%=$(O)/%.o)
INTERCHANGE_OBJECTS := $(INTERCHANGE_SOURCES:%.c=$(O)/%.o)
ONNX_OBJECTS   := $(ONNX_SOURCES:%.c=$(O)/%.o) $(O)/onnx.pb-c.o
DATA_OBJECTS   := $(DATA_SOURCES:%.c=$(O)/%.o)
TFLITE_OBJECTS := $(TFLITE_SOURCES:%.cpp=$(O)/%.o) $(O)/exchange.pb-c.o
MPI_OBJECTS    := $(MPI_SOURCES:%.c=$(O)/%.o)
BASE_OBJECTS   := $(BASE_SOURCES:%.c=$(O)/%.o)
TRAIN_OBJECTS  := $(TRAIN_SOURCES:%.c=$(O)/%.o) $(O)/events.pb-c.o $(O)/tasks.o
TOOL_OBJECTS   := $(TOOL_SOURCES:%.c=$(O)/%.o)
SUPPORT_OBJECTS := $(SUPPORT:%.c=$(O)/%.o)
OBJECTS        := $(LIB_OBJECTS) $(INTERCHANGE_OBJECTS) $(ONNX_OBJECTS) $(DATA_OBJECTS) \
                  $(TFLITE_OBJECTS) $(MPI_OBJECTS) $(TRAIN_OBJECTS) $(TOOL_OBJECTS) $(SUPPORT_OBJECTS) $(EXAMPLES:=.o)

# Static libraries stand in the order of linking: one uses those behind it.
ALL_LIBRARIES := libglcnn_train libglcnn_data libglcnn_tflite libglcnn_onnx libglcnn_interchange libglcnn
ifeq ($(HAS_MPI),yes)
ALL_LIBRARIES += libglcnn_mpi
endif
LIBRARIES   := $(filter libglcnn $(parts:%=libglcnn_%),$(ALL_LIBRARIES))
static_of    = $(1:%=$(O)/%.a)
shared_of    = $(1:%=$(O)/%.so.$(VERSION))
links_of     = $(foreach library,$1,$(O)/$(library).so.$(SOVERSION) $(O)/$(library).so)
files_of     = $(call static_of,$1) $(call shared_of,$1) $(call links_of,$1)
STATIC      := $(call static_of,$(ALL_LIBRARIES))
LINKS       := $(call links_of,$(ALL_LIBRARIES))
CORE        := $(O)/libglcnn.so.$(VERSION)
INTERCHANGE := $(O)/libglcnn_interchange.so.$(VERSION)
ONNX        := $(O)/libglcnn_onnx.so.$(VERSION)
DATA        := $(O)/libglcnn_data.so.$(VERSION)
TFLITE      := $(O)/libglcnn_tflite.so.$(VERSION)
TRAIN       := $(O)/libglcnn_train.so.$(VERSION)
# Each shared library takes what it uses of src/base; of static ones libglcnn.a has it for all.
BASE        := $(O)/base.a
# The tool without its commands' table: tests take what they use of it.
TOOL_ARCHIVE := $(O)/tool.a
TOOL        := $(if $(filter tool,$(parts)),$(O)/glcnn)
MANUAL      := $(if $(TOOL),$(O)/man/made)

# Debian's hardening, unless the user's flags say otherwise. The checks of _FORTIFY_SOURCE need an
# optimised build, and hide from sanitizers what they look for.
optimised     = $(filter-out -O0,$(lastword $(filter -O%,$(CPPFLAGS) $(CFLAGS))))
fortified     = $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS))$(findstring -fsanitize,$(CFLAGS)),,\
                  -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
hard_cflags   = -fstack-protector-strong $(if $(optimised),$(fortified))
hard_ldflags := -Wl,-z,relro -Wl,-z,now

# Our own flags are kept apart from the user's, which come after them and so have the last word.
# pkg-config may be missing now: 'packages' installs it, and 'demo' and 'test' start make again then.
pkg_flags       = $(shell $(PKG_CONFIG) $1 2>/dev/null)
own_cflags     := -std=c11 -fPIC -fvisibility=hidden -MMD -MP -Wall -Wextra -Wshadow -Wconversion \
                  -Wmissing-prototypes -Wstrict-prototypes -Wundef -Wno-missing-field-initializers
# C++ has no prototypes to miss.
own_cxxflags    = -std=c++17 $(filter-out -std=c11 -Wmissing-prototypes -Wstrict-prototypes,$(own_cflags))
own_cppflags   := -D_XOPEN_SOURCE=700 $(foreach part,core interchange onnx data tflite train,\
                    $(call pkg_flags,--cflags $(MODULES_$(part)))) $(call pkg_flags,--cflags glesv2)
own_ldflags    := -Wl,--version-script,src/libglcnn.map -Wl,--no-undefined
soname          = -Wl,-soname,$(patsubst %.$(VERSION),%.$(SOVERSION),$(@F))
public_include := -Iinclude -I$(O)/include
includes        = $(public_include) -iquote src -iquote .
lib_libs       := $(call pkg_flags,--libs $(MODULES_core)) -lm
interchange_libs := $(call pkg_flags,--libs $(MODULES_interchange))
onnx_libs      := $(call pkg_flags,--libs $(MODULES_onnx)) -lm
# Of flatbuffers headers alone are used.
tflite_libs    := $(call pkg_flags,--libs libprotobuf-c) -lstdc++ -lm
data_libs      := $(call pkg_flags,--libs $(MODULES_data)) -pthread -lm
train_libs     := $(call pkg_flags,--libs $(MODULES_train)) -lm
mpi_cflags     := $(filter -I% -D% -pthread,$(mpi_flags))
mpi_libs       := $(filter -L% -l% -Wl% -pthread,$(mpi_flags))
app_libs       := $(call pkg_flags,--libs $(APP_MODULES))
static_libs     = $(filter-out %_mpi.a,$(STATIC)) $(lib_libs) $(interchange_libs) $(onnx_libs) $(tflite_libs) $(data_libs) $(train_libs)

# ---- Rules ---------------------------------------------------------------------------------------

.SUFFIXES:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
.PHONY: all core examples objects demo clean help FORCE

all: $(call files_of,$(LIBRARIES)) $(TOOL) $(MANUAL)
core: $(call files_of,libglcnn)
examples: $(EXAMPLES)

# $(call say,WORD) starts a recipe: a short line, or with V=1 the commands themselves.
ifeq ($(V),1)
Q   :=
say  =
else
Q   := @
say  = @printf '  %-8s%s\n' $1 $(patsubst $(O)/%,%,$@)
endif
quote = '$(subst ','\'',$(strip $1))'

# $(eval $(call remember,FILE,VARIABLE)): FILE holds the value of VARIABLE and is written again only
# when that has changed: what depends on FILE is remade then, and a second make does nothing.
define remember
ifneq ($$(strip $$(file <$1)),$$(strip $$($2)))
$1: FORCE
endif
$1:
	@mkdir -p $$(@D)
	@printf '%s\n' $$(call quote,$$($2)) >$$@
endef

FLAGS     = $(CC) $(CXX) $(CPPFLAGS) $(CFLAGS) $(CXXFLAGS) $(LDFLAGS) : $(own_cppflags) $(own_cflags) \
            $(hard_cflags) $(own_ldflags) $(hard_ldflags) : $(lib_libs) : $(interchange_libs) : \
            $(onnx_libs) : $(tflite_libs) : $(data_libs) : $(train_libs) : $(mpi_flags) : $(app_libs)
FILES     = $(LIB_SOURCES) $(SHADERS)
$(eval $(call remember,$(O)/flags,FLAGS))
$(eval $(call remember,$(O)/files,FILES))
$(eval $(call remember,$(O)/interchange-files,INTERCHANGE_SOURCES))
$(eval $(call remember,$(O)/onnx-files,ONNX_SOURCES))
$(eval $(call remember,$(O)/data-files,DATA_SOURCES))
$(eval $(call remember,$(O)/tflite-files,TFLITE_SOURCES))
$(eval $(call remember,$(O)/mpi-files,MPI_SOURCES))
$(eval $(call remember,$(O)/train-files,TRAIN_SOURCES))
$(eval $(call remember,$(O)/kernel-headers,KERNEL_HEADERS))
$(eval $(call remember,$(O)/support,SUPPORT))
$(eval $(call remember,$(O)/tool-files,TOOL_SOURCES))
$(eval $(call remember,$(O)/base-files,BASE_SOURCES))

# Compiling. What a part lacks is named here, before a compiler complains of its headers.
needed = $(if $(CROSS_COMPILE),Of the other processor: PKG_CONFIG=pkg-config reads its .pc files from \
         PKG_CONFIG_LIBDIR and PKG_CONFIG_SYSROOT_DIR: platform/README.md.,On Debian "make packages" \
         installs what is needed. "make core" builds libglcnn alone, and PARTS some parts: make help.)
$(O)/found/%:
	@command -v $(firstword $(PKG_CONFIG)) >/dev/null || { \
	    echo '$(firstword $(PKG_CONFIG)) is missing. $(needed)' >&2; exit 1; }
	@$(PKG_CONFIG) --print-errors --exists $(MODULES_$*) || { \
	    echo 'Libraries of the part $* are missing. $(needed)' >&2; exit 1; }
	@mkdir -p $(@D) && touch $@

$(O)/found/core: | $(O)/found/gles
$(O)/found/onnx $(O)/found/tflite $(O)/found/train: | $(O)/found/protoc-c
$(O)/found/tflite: | $(O)/found/flatc
$(O)/found/gles:
	@echo '#include <GLES3/gl31.h>' | $(CC) $(own_cppflags) $(CPPFLAGS) $(CFLAGS) -x c -fsyntax-only - || { \
	    echo 'The headers of OpenGL ES 3.1 are missing. $(needed)' >&2; exit 1; }
	@mkdir -p $(@D) && touch $@
$(O)/found/protoc-c:
	@protoc-c --version >/dev/null 2>&1 || { \
	    echo 'protoc-c is missing, which compiles messages of protobuf. $(needed)' >&2; exit 1; }
	@mkdir -p $(@D) && touch $@

$(O)/found/flatc:
	@flatc --version >/dev/null 2>&1 || { \
	    echo 'flatc is missing, which compiles schemas of flatbuffers. $(needed)' >&2; exit 1; }
	@mkdir -p $(@D) && touch $@

$(LIB_OBJECTS): | $(O)/found/core
$(INTERCHANGE_OBJECTS): | $(O)/found/interchange
$(ONNX_OBJECTS): | $(O)/found/onnx
$(DATA_OBJECTS): | $(O)/found/data
$(TFLITE_OBJECTS): | $(O)/found/tflite
$(TRAIN_OBJECTS): | $(O)/found/train
$(TOOL_OBJECTS) $(SUPPORT_OBJECTS) $(EXAMPLES:=.o): | $(O)/found/tool

COMPILE = $(CC) $(includes) $(own_cppflags) $(CPPFLAGS) $(own_cflags) $(hard_cflags) $(CFLAGS) \
          -c -o $@ $<
COMPILE_CXX = $(CXX) $(includes) $(own_cppflags) $(CPPFLAGS) $(own_cxxflags) $(hard_cflags) $(CXXFLAGS) \
          -c -o $@ $<
LINK    = $(CC) -pie $(hard_ldflags) $(CFLAGS) $(LDFLAGS) -o $@

$(INTERCHANGE_OBJECTS) $(DATA_OBJECTS): includes = $(public_include) -iquote src
$(SUPPORT_OBJECTS) $(EXAMPLES:=.o): includes = $(public_include) -iquote src
$(MPI_OBJECTS): includes = $(public_include) -iquote src $(mpi_cflags:-I%=-isystem %)
$(ONNX_OBJECTS): includes = $(public_include) -iquote src -iquote . -isystem $(O)
# Dependencies leave out what -isystem finds.
$(ONNX_OBJECTS): $(O)/onnx.pb-c.c
$(TFLITE_OBJECTS): includes = $(public_include) -iquote src -isystem $(O)
$(TFLITE_OBJECTS): $(O)/exchange.pb-c.c $(O)/tflite_schema.h
$(TRAIN_OBJECTS): includes = $(public_include) -iquote src -isystem $(O)
$(TOOL_OBJECTS): includes = $(public_include) -iquote src -iquote examples
$(O)/src/report/event_file.o: $(O)/events.pb-c.c

$(O)/%.o: %.c $(O)/flags | $(O)/include/glcnn/kernels.h
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(COMPILE)

$(O)/%.o: %.cpp $(O)/flags
	$(call say,CXX)
	@mkdir -p $(@D)
	$(Q)$(COMPILE_CXX)

$(O)/%.o: $(O)/%.c $(O)/flags | $(O)/include/glcnn/kernels.h
	$(call say,CC)
	$(Q)$(COMPILE)

# Libraries and programs.

$(O)/libglcnn.a: $(LIB_OBJECTS) $(O)/files
$(O)/libglcnn_interchange.a: $(INTERCHANGE_OBJECTS) $(O)/interchange-files
$(O)/libglcnn_onnx.a: $(ONNX_OBJECTS) $(O)/onnx-files
$(O)/libglcnn_data.a: $(DATA_OBJECTS) $(O)/data-files
$(O)/libglcnn_tflite.a: $(TFLITE_OBJECTS) $(O)/tflite-files
$(O)/libglcnn_mpi.a: $(MPI_OBJECTS) $(O)/mpi-files
$(O)/libglcnn_train.a: $(TRAIN_OBJECTS) $(O)/train-files
$(BASE): $(BASE_OBJECTS) $(O)/base-files
$(TOOL_ARCHIVE): $(filter-out %/main.o,$(TOOL_OBJECTS)) $(O)/tool-files
$(STATIC) $(BASE) $(TOOL_ARCHIVE):
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(CORE): $(LIB_OBJECTS) $(BASE) $(O)/files src/libglcnn.map
	$(call say,LD)
	$(Q)$(CC) -shared $(soname) $(own_ldflags) $(hard_ldflags) $(CFLAGS) $(LDFLAGS) -o $@ \
	    $(filter-out $(BASE_OBJECTS),$(LIB_OBJECTS)) $(BASE) $(lib_libs)

$(INTERCHANGE): $(INTERCHANGE_OBJECTS) $(O)/interchange-files
$(INTERCHANGE): libs = $(interchange_libs)
$(ONNX): $(ONNX_OBJECTS) $(O)/onnx-files
$(ONNX): libs = $(onnx_libs)
$(DATA): $(DATA_OBJECTS) $(O)/data-files
$(DATA): libs = $(data_libs)
$(TRAIN): $(TRAIN_OBJECTS) $(O)/train-files $(DATA) $(ONNX) $(INTERCHANGE)
$(TRAIN): libs = $(DATA) $(ONNX) $(INTERCHANGE) $(train_libs)
$(INTERCHANGE) $(ONNX) $(DATA) $(TRAIN): src/libglcnn.map $(BASE) $(CORE)
	$(call say,LD)
	$(Q)$(CC) -shared $(soname) $(own_ldflags) $(hard_ldflags) $(CFLAGS) $(LDFLAGS) -o $@ \
	    $(filter %.o,$^) $(BASE) $(CORE) $(libs)

# They call nothing of libglcnn: a program that has that linked in loads them all the same.
$(O)/libglcnn_mpi.so.$(VERSION): $(MPI_OBJECTS) $(O)/mpi-files src/libglcnn.map
	$(call say,LD)
	$(Q)$(CC) -shared $(soname) $(own_ldflags) $(hard_ldflags) $(CFLAGS) $(LDFLAGS) -o $@ \
	    $(MPI_OBJECTS) $(mpi_libs)

$(TFLITE): $(TFLITE_OBJECTS) $(O)/tflite-files src/libglcnn.map
	$(call say,LD)
	$(Q)$(CC) -shared $(soname) $(own_ldflags) $(hard_ldflags) $(CFLAGS) $(LDFLAGS) -o $@ \
	    $(TFLITE_OBJECTS) $(tflite_libs)

$(foreach library,$(ALL_LIBRARIES),\
    $(eval $(filter $(O)/$(library).%,$(LINKS)): $(O)/$(library).so.$(VERSION)))
$(LINKS):
	$(Q)ln -sf $(<F) $@

# The tool and the unit tests take the static libraries, so that they run where they are built.
$(O)/glcnn: $(TOOL_OBJECTS) $(SUPPORT_OBJECTS) $(STATIC) $(O)/tool-files $(O)/support
	$(call say,LD)
	$(Q)$(LINK) $(TOOL_OBJECTS) $(SUPPORT_OBJECTS) $(static_libs) $(app_libs)

$(EXAMPLES): %: %.o $(SUPPORT_OBJECTS) $(TOOL_ARCHIVE) $(STATIC) $(O)/support
	$(call say,LD)
	$(Q)$(LINK) $< $(SUPPORT_OBJECTS) $(TOOL_ARCHIVE) $(static_libs) $(app_libs)

# Running. Packages are installed by one make and found by the next, which uses every core unless
# told otherwise.
jobs  = $(if $(findstring -j,$(MAKEFLAGS)),,-j$$(getconf _NPROCESSORS_ONLN))
again = $(MAKE) --no-print-directory $(jobs)

demo: tool-packages
	+@$(again) all
	@mkdir -p $(O)/demo
	$(O)/glcnn train --force --epochs 1 --out $(O)/demo/model.safetensors --plot $(O)/demo/training.svg $(DEMO_ARGS)
	@printf '%s\n' '' 'The network is $(O)/demo/model.best.safetensors. Next, with pictures of your own in fruit/apple, fruit/banana, ...:' \
		'  $(O)/glcnn look fruit' \
		'  $(O)/glcnn train --data fruit --out fruit.safetensors' \
		'  $(O)/glcnn predict fruit.safetensors fruit'

clean:
	rm -rf $(O)

help:
	@sed -n 's/^## \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

include src/generated.mk tests/tests.mk platform/packaging/packaging.mk

objects: $(OBJECTS)
-include $(OBJECTS:.o=.d)
