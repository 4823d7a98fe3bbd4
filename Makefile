## GLCNN: convolutional networks trained through OpenGL ES 3.1 compute. GNU make 4.2 or newer.
##
## Targets
##   all          libglcnn, libglcnn_interchange, libglcnn_onnx, libglcnn_data (.a, .so), where there
##                is an MPI libglcnn_mpi, and the glcnn tool (the default)
##   demo         installs what is missing, builds, trains on Fashion-MNIST; DEMO_ARGS are passed on
##   test         installs what is missing, builds, runs the tests; T='test_a test_b' only those
##   check-all    the longer tests, check-boards, check-trixie, and all again under sanitizers, and
##                some under valgrind where present
##   check-boards trains and checks on the shader compilers of embedded GPUs; builds Mesa once, in
##                $(O)/boards; BOARDS_ARGS are passed to tests/check_boards.sh
##   check-trixie demo and tests on a fresh Debian 13 in a root of its own, as root. ROOT names a
##                folder for that which is kept
##   check-drm    checks and trains in QEMU guests with real DRM nodes; as root. GUESTS names some
##   fuzz         feeds each reader of FUZZ damaged bytes for FUZZ_SECONDS; needs clang
##   fuzz-seeds   writes tests/fuzz/corpus's deserialize and onnx, what fuzz begins with, anew
##   examples     builds the example programs into $(O)/examples
##   tests        builds the test programs into $(O)/tests
##   readme       writes README.md's table of kernels anew, as "glcnn kernels --table" prints it
##   packages     installs the Debian packages that are missing for the tests; does nothing where all
##                are there
##   tool-packages   the same, of those that the tool and the demo need
##   install      headers, libraries, files for pkg-config and CMake, tool, manual pages, completion
##                for bash and documents, below $(DESTDIR)$(PREFIX)
##   uninstall    removes what install put there
##   deb          builds Debian packages into $(O)/deb; needs build-essential, debhelper, dh-python,
##                mpi-default-dev and python3-setuptools, beside tool-packages
##   clean        removes $(O)
##   help         prints this
##
## Variables, from the command line or the environment
##   PREFIX LIBDIR INCLUDEDIR BINDIR   where it is installed: /usr/local, its lib, include and bin
##   DOCDIR MANDIR COMPLETIONDIR       and its share/doc/glcnn, share/man and
##                                     share/bash-completion/completions
##   DESTDIR                           put in front of these by install and uninstall only
##   CC CXX AR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS PKG_CONFIG   the usual; CXX serves a test alone
##   CROSS_COMPILE                     prefix of CC, CXX, AR and PKG_CONFIG, as aarch64-linux-gnu-
##   MPICC                             MPI's compiler, which is asked for its flags: mpicc. "no": none
##   HOST_TOOL                         a glcnn that runs here, which writes the manual pages of one that
##                                     does not; without it there are none
##   O                                 where everything is built: build
##   ONNX_PROTO                        ONNX's schema: /usr/include/onnx/onnx.proto
##   FUZZ                              deserialize, onnx, pictures and tables, or some of them
##   FUZZ_SECONDS                      how long fuzz runs each: 600
##   V                                 1 shows the commands

# ---- Settings ------------------------------------------------------------------------------------

O            ?= build
PREFIX       ?= /usr/local
LIBDIR       ?= $(PREFIX)/lib
INCLUDEDIR   ?= $(PREFIX)/include
BINDIR       ?= $(PREFIX)/bin
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
DOCDIR       ?= $(PREFIX)/share/doc/glcnn
MANDIR       ?= $(PREFIX)/share/man
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions

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

# pkg-config modules. libglcnn takes those of LIB_MODULES alone; what needs more for its files is
# libglcnn_interchange, libglcnn_onnx and libglcnn_data.
LIB_MODULES  := egl gbm libdrm
INTERCHANGE_MODULES := libcjson libcbor liblzma
ONNX_MODULES := libprotobuf-c
DATA_MODULES := libpng libjpeg libwebp libtiff-4 libzip zlib
GL_MODULES   := glesv2
APP_MODULES  := libzip libcjson
TEST_MODULES := cunit
BUILD_MODULES = $(LIB_MODULES) $(INTERCHANGE_MODULES) $(ONNX_MODULES) $(DATA_MODULES) $(GL_MODULES) \
                $(APP_MODULES)
# Debian's packages. TOOL_PACKAGES: what is needed to build libraries and tool, to run it without a
# GPU, and its data when it is given none. libzip's .pc asks for bz2, lzma, zstd and ssl of those who
# link statically, and its package does not bring them.
TOOL_PACKAGES := pkg-config libegl-dev libgles-dev libgbm-dev libdrm-dev zlib1g-dev libpng-dev \
                libjpeg-dev libwebp-dev libtiff-dev libzip-dev libcjson-dev libcbor-dev \
                liblzma-dev libprotobuf-c-dev protobuf-c-compiler libonnx-dev libegl1 libgl1-mesa-dri \
                dataset-fashion-mnist
PACKAGES     := $(TOOL_PACKAGES) \
                libcunit1-dev glslang-tools mesa-vulkan-drivers virgl-server dpkg-dev mandoc \
                python3-numpy python3-pip python3-setuptools python3-venv python3-wheel \
                libonnx-testdata libopenmpi-dev openmpi-bin \
                libbz2-dev libzstd-dev libssl-dev

# MPI is no module that every system names alike; its own compiler knows where it is.
MPICC     ?= $(CROSS_COMPILE)mpicc
mpi_flags := $(shell $(MPICC) -show 2>/dev/null)
HAS_MPI   := $(if $(mpi_flags),yes)

# The header is the one place that states the version. Before 1.0 a minor release may change the
# binary interface, so the soname carries the minor number: a program linked with 0.1 never loads
# 0.2, and both can be installed side by side. From 1.0 on it is the major number alone.
version       := $(shell sed -n 's/^.define GLCNN_VERSION_[MP][A-Z]* *//p' include/glcnn/status.h)
VERSION_MAJOR := $(word 1,$(version))
VERSION_MINOR := $(word 2,$(version))
VERSION       := $(VERSION_MAJOR).$(VERSION_MINOR).$(word 3,$(version))
SOVERSION     := $(if $(filter 0,$(VERSION_MAJOR)),0.$(VERSION_MINOR),$(VERSION_MAJOR))

# Lists of files. A new kernel, shader, header, test or example is found here; nothing names it.
LIB_ROOMS      := platform $(addprefix src/,device record image encode kernels run graph io)
# DESKTOP=no leaves out what only a large desktop GPU can take: programs for boards are smaller so.
DESKTOP        ?= yes
DESKTOP_SOURCES := $(if $(filter no,$(DESKTOP)),,$(sort $(wildcard src/desktop/*.c)))
LIB_SOURCES    := $(sort $(wildcard $(LIB_ROOMS:%=%/*.c))) $(DESKTOP_SOURCES)
INTERCHANGE_SOURCES := $(sort $(wildcard src/interchange/*.c))
ONNX_SOURCES   := $(sort $(wildcard src/onnx/*.c))
DATA_SOURCES   := $(sort $(wildcard src/data/*.c))
MPI_SOURCES    := $(if $(HAS_MPI),$(sort $(wildcard src/mpi/*.c)))
KERNELS        := $(sort $(wildcard src/kernels/*.c))
SHADERS        := $(filter-out $(if $(filter no,$(DESKTOP)),glsl/desktop/%),\
                    $(sort $(wildcard glsl/*/*.comp glsl/*/*.glsl)))
HEADERS        := $(filter-out $(if $(HAS_MPI),,%/mpi.h),$(sort $(wildcard include/glcnn/*.h)))
KERNEL_HEADERS := $(sort $(wildcard include/glcnn/kernels/*.h))
TOOL_SOURCES   := $(sort $(wildcard src/tool/*.c))
# examples/*.c are programs; what they share is linked into each, into the tool, which trains on the
# same data, and into the tests that look at it.
SUPPORT        := $(sort $(wildcard examples/support/*.c))
EXAMPLES       := $(patsubst %.c,$(O)/%,$(sort $(wildcard examples/*.c)))
# tests/test_*.c are programs and may use internal headers; those named test_public_*.c see what a
# user has, the public headers and the shared library. Other files in tests/ are linked into each
# of the former.
PUBLIC_TESTS   := $(patsubst %.c,$(O)/%,$(sort $(wildcard tests/test_public_*.c)))
UNIT_TESTS     := $(filter-out $(PUBLIC_TESTS),\
                    $(patsubst %.c,$(O)/%,$(sort $(wildcard tests/test_*.c))))
TEST_HELPERS   := $(filter-out tests/test_%,$(sort $(wildcard tests/*.c)))
# What test_faults and test_feeding are linked with: functions that are counted, and fail where a test
# wants them to.
FAULT_HELPERS  := $(sort $(wildcard tests/faults/*.c))
FAULT_WRAPS    := malloc calloc realloc free strdup strndup realpath open close fopen fclose read \
                  pread write fread ferror fsync rename eglInitialize eglBindAPI eglQueryString \
                  eglMakeCurrent eglGetError eglCreateContext eglDestroyContext eglGetProcAddress \
                  fcntl clock_gettime nanosleep time
# Programs that tests/check_drm.sh runs in its guests.
GUEST_PROGRAMS := $(patsubst %.c,$(O)/%,$(sort $(wildcard tests/drm/*.c)))
FUZZERS        := $(patsubst %.c,$(O)/%,$(sort $(wildcard tests/fuzz/*.c)))
SHELL_TESTS    := $(sort $(wildcard tests/test_*.sh))

LIB_OBJECTS    := $(LIB_SOURCES:%.c=$(O)/%.o) $(O)/registry.o $(O)/desktop_registry.o $(O)/shaders.o
INTERCHANGE_OBJECTS := $(INTERCHANGE_SOURCES:%.c=$(O)/%.o)
ONNX_OBJECTS   := $(ONNX_SOURCES:%.c=$(O)/%.o) $(O)/onnx.pb-c.o
DATA_OBJECTS   := $(DATA_SOURCES:%.c=$(O)/%.o)
MPI_OBJECTS    := $(MPI_SOURCES:%.c=$(O)/%.o)
TOOL_OBJECTS   := $(TOOL_SOURCES:%.c=$(O)/%.o)
# The tool's networks and what is done to their pictures, which tests train.
NET_OBJECTS    := $(addprefix $(O)/src/tool/,augment.o feature_file.o input.o layers.o model.o \
                  name_map.o nets.o)
HELPER_OBJECTS := $(TEST_HELPERS:%.c=$(O)/%.o)
SUPPORT_OBJECTS := $(SUPPORT:%.c=$(O)/%.o)
FAULT_OBJECTS  := $(FAULT_HELPERS:%.c=$(O)/%.o)
PROGRAMS       := $(EXAMPLES) $(PUBLIC_TESTS) $(UNIT_TESTS)
OBJECTS        := $(LIB_OBJECTS) $(INTERCHANGE_OBJECTS) $(ONNX_OBJECTS) $(DATA_OBJECTS) \
                  $(MPI_OBJECTS) $(TOOL_OBJECTS) $(HELPER_OBJECTS) $(SUPPORT_OBJECTS) $(FAULT_OBJECTS) \
                  $(PROGRAMS:=.o) $(FUZZERS:=.o) $(GUEST_PROGRAMS:=.o)

# Static libraries stand in the order of linking: one uses those behind it.
LIBRARIES   := libglcnn_data libglcnn_onnx libglcnn_interchange libglcnn
ifeq ($(HAS_MPI),yes)
LIBRARIES   += libglcnn_mpi
endif
STATIC      := $(LIBRARIES:%=$(O)/%.a)
LINKS       := $(foreach library,$(LIBRARIES),$(O)/$(library).so.$(SOVERSION) $(O)/$(library).so)
CORE        := $(O)/libglcnn.so.$(VERSION)
INTERCHANGE := $(O)/libglcnn_interchange.so.$(VERSION)
ONNX        := $(O)/libglcnn_onnx.so.$(VERSION)
DATA        := $(O)/libglcnn_data.so.$(VERSION)
MPI         := $(if $(HAS_MPI),$(O)/libglcnn_mpi.so.$(VERSION))
SHARED      := $(CORE) $(INTERCHANGE) $(ONNX) $(DATA) $(MPI)
TOOL        := $(if $(TOOL_SOURCES),$(O)/glcnn)
HOST_TOOL   ?= $(TOOL)
MANUAL      := $(if $(TOOL),$(O)/man/made)

# What Debian's rules harden a build with, unless the user's flags say otherwise. The checks of
# _FORTIFY_SOURCE need an optimised build, and hide from sanitizers what they look for.
optimised     = $(filter-out -O0,$(lastword $(filter -O%,$(CPPFLAGS) $(CFLAGS))))
fortified     = $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS))$(findstring \
                  -fsanitize,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
hard_cflags   = -fstack-protector-strong $(if $(optimised),$(fortified))
hard_ldflags := -Wl,-z,relro -Wl,-z,now

# Our own flags are kept apart from the user's, which come after them and so have the last word.
# pkg-config may be missing now: 'packages' is what installs it, and 'demo' and 'test' start make
# anew after that.
pkg_flags       = $(shell $(PKG_CONFIG) $1 2>/dev/null)
own_cflags     := -std=c11 -fPIC -fvisibility=hidden -MMD -MP -Wall -Wextra -Wshadow -Wconversion \
                  -Wmissing-prototypes -Wstrict-prototypes -Wundef -Wno-missing-field-initializers
own_cppflags   := -D_XOPEN_SOURCE=700 $(call pkg_flags,--cflags $(BUILD_MODULES))
own_ldflags    := -Wl,--version-script,src/libglcnn.map -Wl,--no-undefined
soname          = -Wl,-soname,$(patsubst %.$(VERSION),%.$(SOVERSION),$(@F))
public_include := -Iinclude -I$(O)/include
includes        = $(public_include) -iquote src -iquote .
lib_libs       := $(call pkg_flags,--libs $(LIB_MODULES)) -lm
interchange_libs := $(call pkg_flags,--libs $(INTERCHANGE_MODULES))
onnx_libs      := $(call pkg_flags,--libs $(ONNX_MODULES)) -lm
data_libs      := $(call pkg_flags,--libs $(DATA_MODULES)) -pthread -lm
mpi_cflags     := $(filter -I% -D% -pthread,$(mpi_flags))
mpi_libs       := $(filter -L% -l% -Wl% -pthread,$(mpi_flags))
app_libs       := $(call pkg_flags,--libs $(APP_MODULES))
test_libs       = $(call pkg_flags,--libs $(TEST_MODULES))
static_libs     = $(filter-out %_mpi.a,$(STATIC)) $(lib_libs) $(interchange_libs) $(onnx_libs) $(data_libs)

# ---- Rules ---------------------------------------------------------------------------------------

.SUFFIXES:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
.PHONY: all examples objects tests demo test check-all check-boards check-drm test-run sanitized \
        check-trixie fuzz fuzz-run fuzz-seeds readme packages tool-packages deb install uninstall clean help FORCE

all: $(STATIC) $(SHARED) $(LINKS) $(TOOL) $(MANUAL)
examples: $(EXAMPLES)
objects: $(OBJECTS)
tests: $(UNIT_TESTS) $(PUBLIC_TESTS)

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

FLAGS     = $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) : $(own_cppflags) $(own_cflags) \
            $(hard_cflags) $(own_ldflags) $(hard_ldflags) : $(lib_libs) : $(interchange_libs) : \
            $(onnx_libs) : $(data_libs) : $(mpi_flags) : $(app_libs)
FILES     = $(LIB_SOURCES) $(SHADERS)
PC_VALUES = $(PREFIX) $(LIBDIR) $(INCLUDEDIR) $(VERSION) $(LIBRARIES)
$(eval $(call remember,$(O)/flags,FLAGS))
$(eval $(call remember,$(O)/files,FILES))
$(eval $(call remember,$(O)/interchange-files,INTERCHANGE_SOURCES))
$(eval $(call remember,$(O)/onnx-files,ONNX_SOURCES))
$(eval $(call remember,$(O)/data-files,DATA_SOURCES))
$(eval $(call remember,$(O)/mpi-files,MPI_SOURCES))
$(eval $(call remember,$(O)/kernel-headers,KERNEL_HEADERS))
$(eval $(call remember,$(O)/helpers,TEST_HELPERS))
$(eval $(call remember,$(O)/support,SUPPORT))
FAULT_FILES = $(FAULT_HELPERS) $(FAULT_WRAPS)
$(eval $(call remember,$(O)/fault-files,FAULT_FILES))
$(eval $(call remember,$(O)/tool-files,TOOL_SOURCES))
$(eval $(call remember,$(O)/pc-values,PC_VALUES))

# Compiling. A missing library is named here, once, before a compiler complains of its headers.
ifeq ($(CROSS_COMPILE),)
no_pkg_config = On Debian, "make packages" installs it.
no_libraries  = On Debian, "make packages" installs them.
else
no_pkg_config = For another processor set PKG_CONFIG=pkg-config, which reads the .pc files of that \
                processor'\''s libraries from PKG_CONFIG_LIBDIR and PKG_CONFIG_SYSROOT_DIR: README.md.
no_libraries  = They are those of the other processor: PKG_CONFIG_LIBDIR names the folders of their \
                .pc files: README.md.
endif
$(O)/flags: | $(O)/modules
$(O)/modules:
	@command -v $(firstword $(PKG_CONFIG)) >/dev/null || { \
	    echo '$(firstword $(PKG_CONFIG)) is missing. $(no_pkg_config)' >&2; exit 1; }
	@$(PKG_CONFIG) --print-errors --exists $(BUILD_MODULES) || { \
	    echo 'Libraries are missing. $(no_libraries)' >&2; exit 1; }
	@mkdir -p $(@D) && touch $@

COMPILE = $(CC) $(includes) $(own_cppflags) $(CPPFLAGS) $(own_cflags) $(hard_cflags) $(CFLAGS) \
          -c -o $@ $<
LINK    = $(CC) -pie $(hard_ldflags) $(CFLAGS) $(LDFLAGS) -o $@

$(INTERCHANGE_OBJECTS) $(DATA_OBJECTS) $(SUPPORT_OBJECTS) $(EXAMPLES:=.o) $(PUBLIC_TESTS:=.o): \
    includes = $(public_include)
$(MPI_OBJECTS): includes = $(public_include) $(mpi_cflags:-I%=-isystem %)
$(ONNX_OBJECTS): includes = $(public_include) -iquote src -iquote . -isystem $(O)
# Tests that look at ONNX's messages.
ONNX_TESTS := $(filter $(O)/tests/test_onnx%,$(UNIT_TESTS))
$(ONNX_TESTS:=.o): includes += -isystem $(O)
$(ONNX_OBJECTS) $(ONNX_TESTS:=.o): | $(O)/onnx.pb-c.c
$(TOOL_OBJECTS): includes = $(public_include) -iquote examples

$(O)/%.o: %.c $(O)/flags | $(O)/include/glcnn/kernels.h
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(COMPILE)

$(O)/%.o: $(O)/%.c $(O)/flags | $(O)/include/glcnn/kernels.h
	$(call say,CC)
	$(Q)$(COMPILE)

-include $(OBJECTS:.o=.d)

# Generated sources, with nothing but POSIX tools.

# Includes the header of every family of kernels.
$(O)/include/glcnn/kernels.h: $(O)/kernel-headers
	$(call say,GEN)
	@mkdir -p $(@D)
	$(Q){ echo '/* Every family of kernels. Generated. */'; \
	    for header in $(KERNEL_HEADERS:include/%=%); do echo "#include <$$header>"; done; } >$@

# Points to every descriptor, sorted by name. A table, unlike constructors or a linker section, is
# something that the linker follows into a static library.
$(O)/registry.c: $(KERNELS) $(O)/files
	$(call say,GEN)
	$(Q)sed -n 's/^const struct glcnn_descriptor \(glcnn_kernel_[a-z0-9_]*\) = {.*/\1/p' \
	    $(KERNELS) /dev/null | LC_ALL=C sort >$@.names
	$(Q){ echo '#include "encode/descriptor.h"'; \
	    sed 's/.*/extern const struct glcnn_descriptor &;/' $@.names; \
	    echo 'const struct glcnn_descriptor *const glcnn_registry[] = {'; \
	    sed 's/.*/    \&&,/' $@.names; \
	    echo '    NULL};'; } >$@

# Points to the rows of src/desktop in the same way.
$(O)/desktop_registry.c: $(DESKTOP_SOURCES) $(O)/files
	$(call say,GEN)
	$(Q)sed -n 's/^const struct implementation_list \(glcnn_desktop_[a-z0-9_]*\) = {.*/\1/p' \
	    $(DESKTOP_SOURCES) /dev/null | LC_ALL=C sort >$@.names
	$(Q){ echo '#include "encode/implementation.h"'; \
	    sed 's/.*/extern const struct implementation_list &;/' $@.names; \
	    echo 'const struct implementation_list *const glcnn_desktop_registry[] = {'; \
	    sed 's/.*/    \&&,/' $@.names; \
	    echo '    NULL};'; } >$@

# Holds the text of every shader, named by its path below glsl/. Octal characters, because a string
# literal may be too long for a compiler and the sign of a char differs between processors.
$(O)/shaders.c: $(SHADERS) $(O)/files
	$(call say,GEN)
	$(Q){ echo '#include "record/shader_source.h"'; n=0; \
	    for file in $(SHADERS); do \
	        n=$$((n + 1)); \
	        echo "static const char text_$$n[] = { /* $$file */"; \
	        od -An -v -to1 "$$file" | sed "s/ *\([0-7][0-7]*\)/'\\\\\1',/g"; \
	        echo "0};"; \
	    done; \
	    echo "const struct glcnn_shader_source glcnn_shader_sources[] = {"; n=0; \
	    for file in $(SHADERS); do \
	        n=$$((n + 1)); \
	        echo "    {\"$${file#glsl/}\", text_$$n, sizeof(text_$$n) - 1},"; \
	    done; \
	    echo "    {NULL, NULL, 0}};"; } >$@

# ONNX's messages. The schema is another package's, and so is what it is spoken of with.
ONNX_PROTO ?= /usr/include/onnx/onnx.proto

$(O)/onnx.pb-c.c: $(ONNX_PROTO) | $(O)/flags
	$(call say,GEN)
	$(Q)protoc-c --proto_path=$(dir $(ONNX_PROTO)) --c_out=$(O) $(ONNX_PROTO)
$(ONNX_PROTO):
	@echo '$@ is missing: it is ONNX'\''s schema, of Debian'\''s libonnx-dev. ONNX_PROTO names it.' >&2
	@exit 1

# Libraries and programs.

$(O)/libglcnn.a: $(LIB_OBJECTS) $(O)/files
$(O)/libglcnn_interchange.a: $(INTERCHANGE_OBJECTS) $(O)/interchange-files
$(O)/libglcnn_onnx.a: $(ONNX_OBJECTS) $(O)/onnx-files
$(O)/libglcnn_data.a: $(DATA_OBJECTS) $(O)/data-files
$(O)/libglcnn_mpi.a: $(MPI_OBJECTS) $(O)/mpi-files
$(STATIC):
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(CORE): $(LIB_OBJECTS) $(O)/files src/libglcnn.map
	$(call say,LD)
	$(Q)$(CC) -shared $(soname) $(own_ldflags) $(hard_ldflags) $(CFLAGS) $(LDFLAGS) -o $@ \
	    $(LIB_OBJECTS) $(lib_libs)

$(INTERCHANGE): $(INTERCHANGE_OBJECTS) $(O)/interchange-files
$(INTERCHANGE): libs = $(interchange_libs)
$(ONNX): $(ONNX_OBJECTS) $(O)/onnx-files
$(ONNX): libs = $(onnx_libs)
$(DATA): $(DATA_OBJECTS) $(O)/data-files
$(DATA): libs = $(data_libs)
$(INTERCHANGE) $(ONNX) $(DATA): src/libglcnn.map $(CORE)
	$(call say,LD)
	$(Q)$(CC) -shared $(soname) $(own_ldflags) $(hard_ldflags) $(CFLAGS) $(LDFLAGS) -o $@ \
	    $(filter %.o,$^) $(CORE) $(libs)

# It calls nothing of libglcnn: a program that has that linked in loads it all the same.
$(O)/libglcnn_mpi.so.$(VERSION): $(MPI_OBJECTS) $(O)/mpi-files src/libglcnn.map
	$(call say,LD)
	$(Q)$(CC) -shared $(soname) $(own_ldflags) $(hard_ldflags) $(CFLAGS) $(LDFLAGS) -o $@ \
	    $(MPI_OBJECTS) $(mpi_libs)

$(filter $(O)/libglcnn.%,$(LINKS)): $(CORE)
$(filter $(O)/libglcnn_interchange.%,$(LINKS)): $(INTERCHANGE)
$(filter $(O)/libglcnn_onnx.%,$(LINKS)): $(ONNX)
$(filter $(O)/libglcnn_data.%,$(LINKS)): $(DATA)
$(filter $(O)/libglcnn_mpi.%,$(LINKS)): $(MPI)
$(LINKS):
	$(Q)ln -sf $(<F) $@

# The tool and the unit tests take the static libraries, so that they run where they are built.
$(O)/glcnn: $(TOOL_OBJECTS) $(SUPPORT_OBJECTS) $(STATIC) $(O)/tool-files $(O)/support
	$(call say,LD)
	$(Q)$(LINK) $(TOOL_OBJECTS) $(SUPPORT_OBJECTS) $(static_libs) $(app_libs)

# The tool describes itself. One for another processor cannot, and nothing is written then.
$(MANUAL): $(TOOL) README.md src/tool/manual.sh src/tool/completion.sh
	$(call say,GEN)
	$(Q)rm -rf $(@D) && mkdir -p $(@D)
	$(Q)if $(HOST_TOOL) --version >/dev/null 2>&1; then \
	    sh src/tool/manual.sh $(HOST_TOOL) README.md $(@D) && \
	    sh src/tool/completion.sh $(HOST_TOOL) >$(@D)/glcnn.bash; \
	else echo '  $(HOST_TOOL) does not run here: no manual pages; HOST_TOOL names one that does'; fi
	$(Q)touch $@

$(GUEST_PROGRAMS:=.o): includes = $(public_include) -iquote examples
$(EXAMPLES) $(GUEST_PROGRAMS): %: %.o $(SUPPORT_OBJECTS) $(STATIC) $(O)/support
	$(call say,LD)
	$(Q)$(LINK) $< $(SUPPORT_OBJECTS) $(static_libs) $(app_libs)

COUNTING_TESTS := $(O)/tests/test_faults $(O)/tests/test_feeding
$(COUNTING_TESTS): $(FAULT_OBJECTS) $(O)/fault-files
$(COUNTING_TESTS): faults = $(FAULT_OBJECTS) $(FAULT_WRAPS:%=-Wl,--wrap=%)

$(UNIT_TESTS): %: %.o $(HELPER_OBJECTS) $(NET_OBJECTS) $(SUPPORT_OBJECTS) $(STATIC) \
    $(O)/helpers $(O)/support
	$(call say,LD)
	$(Q)$(LINK) $< $(faults) $(HELPER_OBJECTS) $(NET_OBJECTS) $(SUPPORT_OBJECTS) \
	    $(static_libs) $(test_libs) $(app_libs)

$(PUBLIC_TESTS): %: %.o $(LINKS)
	$(call say,LD)
	$(Q)$(LINK) $< -L$(O) -lglcnn -Wl,-rpath,'$$ORIGIN/..' $(test_libs) $(app_libs)

# Running. Packages are installed by one make and found by the next, which uses every core unless
# told otherwise.
jobs  = $(if $(findstring -j,$(MAKEFLAGS)),,-j$$(getconf _NPROCESSORS_ONLN))
again = $(MAKE) --no-print-directory $(jobs)

demo: tool-packages
	+@$(again) all
	@mkdir -p $(O)/demo
	$(O)/glcnn train --force --out $(O)/demo/model.safetensors --plot $(O)/demo/training.svg $(DEMO_ARGS)

test: packages
	+@$(again) test-run

# Every program is run three times: as the machine is, with all limits at the ES 3.1 minimum, and,
# where the program knows what GLCNN_TEST_QUICK asks of it, on softpipe.
T       ?= test_%
selected = $(foreach test,$(UNIT_TESTS) $(PUBLIC_TESTS) $(SHELL_TESTS),\
             $(if $(filter $(T),$(basename $(notdir $(test)))),$(test)))

test-run: all examples $(filter $(O)/%,$(selected))
	@MAKE='$(MAKE)' CC='$(CC)' CXX='$(CXX)' PKG_CONFIG='$(PKG_CONFIG)' O='$(O)' \
	    sh tests/run.sh $(selected)

# The longer tests, then again with smaller shapes under whatever looks for errors and leaks.
# tests/test_sanitizers.sh is some of the latter, in 'test' too.
undefined = undefined,float-cast-overflow
SANITIZE  = -O1 -g -Werror -fno-omit-frame-pointer -fsanitize=address,$(undefined) \
            -fno-sanitize-recover=$(undefined)
inspected = SHELL_TESTS= test-run

# Sanitizers do not see what is read and was never written; valgrind does, and looks for nothing else.
# Programs of code that runs on the processor, one of each kind: readers and writers of files, decoded
# pictures, what is encoded, and graphs. Code that llvmpipe makes takes it a hundred times as long.
WATCHED = test_augment_words test_checkpoint_parts test_data_loader test_data_pictures \
          test_failed_encodes test_nodes test_onnx_external test_onnx_hostile

check-all: packages
	+@GLCNN_TEST_FULL=1 $(again) test-run
	+@$(again) check-boards
	+@$(again) check-trixie
	+@$(again) sanitized
	+@! command -v valgrind >/dev/null || $(again) RUN_UNDER=valgrind T='$(WATCHED)' $(inspected)

sanitized:
	+@$(again) O=$(O)/asan CFLAGS='$(SANITIZE)' RUN_UNDER=sanitizers $(inspected)

# The table that it closes with is README.md's. Nothing is wrong where Mesa cannot be had.
BOARDS_ARGS ?= -t

check-boards: packages
	+@$(again) all
	@O='$(O)' CC='$(CC)' sh tests/check_boards.sh $(BOARDS_ARGS) || [ $$? = 77 ]

check-trixie:
	@O='$(O)' sh tests/check_trixie.sh $(ROOT) || [ $$? = 77 ]

check-drm:
	@O='$(O)' MAKE='$(MAKE)' sh tests/check_drm.sh $(GUESTS) || [ $$? = 77 ]

# Readers under libFuzzer. Inputs that reach further stay in $(O)/fuzz/corpus/TARGET for the next
# run; what fails is left in $(O)/fuzz/findings. One allocation that is far above the longest input
# is a failure too; a picture's decoder, and what unpacks, may take more.
FUZZ         ?= deserialize onnx pictures tables
FUZZ_SECONDS ?= 600
FUZZ_FLAGS    = -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,$(undefined) \
                -fno-sanitize-recover=$(undefined)

# Models of single operators, of Debian's libonnx-testdata: more to begin with.
ONNX_DATA    := /usr/lib/python3/dist-packages/onnx/backend/test/data/node

$(FUZZERS:=.o): includes = $(public_include) -iquote .
fuzz_targets := $(addprefix $(O)/tests/fuzz/,deserialize onnx pictures tables)
$(fuzz_targets): fuzz_main = -fsanitize=fuzzer
$(FUZZERS): %: %.o $(STATIC)
	$(call say,LD)
	$(Q)$(LINK) $(fuzz_main) $< $(static_libs)

fuzz: packages
	@command -v clang >/dev/null || { echo 'fuzz needs clang and its sanitizers' >&2; exit 1; }
	+@$(again) O=$(O)/fuzz CC=clang CFLAGS='$(FUZZ_FLAGS)' FUZZ_SECONDS=$(FUZZ_SECONDS) \
	    FUZZ='$(FUZZ)' fuzz-run

fuzz-run: $(FUZZ:%=$(O)/tests/fuzz/%)
	@mkdir -p $(FUZZ:%=$(O)/corpus/%) $(O)/findings
	@set -e; for target in $(FUZZ); do \
	    limit=256; [ $$target != deserialize ] || limit=64; \
	    more=; [ $$target != onnx ] || [ ! -d $(ONNX_DATA) ] || more=$(ONNX_DATA); \
	    $(O)/tests/fuzz/$$target -max_total_time=$(FUZZ_SECONDS) -max_len=65536 -timeout=20 \
	        -malloc_limit_mb=$$limit -print_final_stats=1 -artifact_prefix=$(O)/findings/ \
	        $(O)/corpus/$$target tests/fuzz/corpus/$$target $$more; \
	done

fuzz-seeds: packages
	@mkdir -p tests/fuzz/corpus/deserialize tests/fuzz/corpus/onnx
	+@$(again) $(O)/tests/fuzz/seeds
	$(O)/tests/fuzz/seeds tests/fuzz/corpus

# What stands between the two marks is the tool's; tests/test_readme.sh compares them.
readme: $(TOOL)
	$(Q)$(O)/glcnn kernels --table >$(O)/kernels.md
	$(Q)awk -v table=$(O)/kernels.md '/^<!-- end of kernels/ { inside = 0 } !inside { print } \
	    /^<!-- kernels/ { inside = 1; while ((getline line <table) > 0) print line }' \
	    README.md >$(O)/README.md
	$(Q)cp $(O)/README.md README.md

# What others than Debian need is named by pkg-config's modules.
define install
	@if command -v dpkg-query >/dev/null; then \
	    sh platform/packaging/install_packages.sh $1; \
	else \
	    for module in $2; do \
	        $(PKG_CONFIG) --exists $$module 2>/dev/null || missing="$$missing $$module"; \
	    done; \
	    [ -z "$$missing" ] || { \
	        echo "Not a Debian system: install the development files of$$missing by hand." >&2; \
	        exit 1; }; \
	fi
endef

packages:
	$(call install,$(PACKAGES),$(BUILD_MODULES) $(TEST_MODULES))

tool-packages:
	$(call install,$(TOOL_PACKAGES),$(BUILD_MODULES))

# Installing. The .pc file is relative to ${prefix}, so that pkg-config can move it into a sysroot.
relative = $(patsubst $(PREFIX)/%,$${prefix}/%,$1)

pc_head = 'prefix=$(PREFIX)' 'libdir=$(call relative,$(LIBDIR))' \
          'includedir=$(call relative,$(INCLUDEDIR))' '' 'Name: $(basename $(@F))' \
          'Version: $(VERSION)' 'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -l$(basename $(@F))'
PC     := $(LIBRARIES:lib%=$(O)/%.pc)

$(O)/glcnn.pc: $(O)/pc-values
	$(call say,GEN)
	$(Q)printf '%s\n' $(pc_head) \
	    'Description: Trains convolutional networks through OpenGL ES 3.1 compute' \
	    'Requires.private: $(LIB_MODULES)' 'Libs.private: -lm' >$@

$(O)/glcnn_interchange.pc: $(O)/pc-values
	$(call say,GEN)
	$(Q)printf '%s\n' $(pc_head) \
	    'Description: Checkpoints and serialised graphs of glcnn' \
	    'Requires: glcnn = $(VERSION)' 'Requires.private: $(INTERCHANGE_MODULES)' >$@

$(O)/glcnn_onnx.pc: $(O)/pc-values
	$(call say,GEN)
	$(Q)printf '%s\n' $(pc_head) \
	    'Description: ONNX models as networks of glcnn, and back' \
	    'Requires: glcnn = $(VERSION)' 'Requires.private: $(ONNX_MODULES)' \
	    'Libs.private: -lm' >$@

$(O)/glcnn_data.pc: $(O)/pc-values
	$(call say,GEN)
	$(Q)printf '%s\n' $(pc_head) \
	    'Description: Labelled images for glcnn: pictures, .npz, CSV and IDX, decoded ahead' \
	    'Requires: glcnn = $(VERSION)' 'Requires.private: $(DATA_MODULES)' \
	    'Libs.private: -pthread -lm' >$@

$(O)/glcnn_mpi.pc: $(O)/pc-values
	$(call say,GEN)
	$(Q)printf '%s\n' $(pc_head) \
	    'Description: Sums over the ranks of an MPI program, for training with glcnn' \
	    'Requires: glcnn = $(VERSION)' 'Libs.private: $(mpi_libs)' >$@

# CMake's files are below LIBDIR, and find the rest from there: a tree that is moved stays whole.
CMAKE := $(addprefix $(O)/,glcnnConfig.cmake glcnnConfigVersion.cmake)
cmake_relative = $(patsubst $(PREFIX)/%,$${_glcnn_prefix}/%,$1)
cmake_up = $(subst $( ) ,/,$(patsubst %,..,$(subst /, ,$(patsubst $(PREFIX)/%,%,$(LIBDIR))/cmake/glcnn)))
cmake_prefix = $(if $(filter $(PREFIX)/%,$(LIBDIR)),$${CMAKE_CURRENT_LIST_DIR}/$(cmake_up),$(PREFIX))

$(CMAKE): $(O)/%: platform/packaging/cmake/%.in $(O)/pc-values
	$(call say,GEN)
	$(Q)sed -e 's|@PREFIX@|$(cmake_prefix)|; s|@VERSION@|$(VERSION)|; s|@SOVERSION@|$(SOVERSION)|g' \
	    -e 's|@LIBDIR@|$(call cmake_relative,$(LIBDIR))|' \
	    -e 's|@INCLUDEDIR@|$(call cmake_relative,$(INCLUDEDIR))|' \
	    -e 's|@LIBRARIES@|$(LIBRARIES:lib%=%)|' $< >$@

dest_include := $(DESTDIR)$(INCLUDEDIR)/glcnn
dest_lib     := $(DESTDIR)$(LIBDIR)
dest_pc      := $(DESTDIR)$(PKGCONFIGDIR)
dest_bin     := $(DESTDIR)$(BINDIR)
dest_doc     := $(DESTDIR)$(DOCDIR)
dest_man     := $(DESTDIR)$(MANDIR)
dest_completion := $(DESTDIR)$(COMPLETIONDIR)
DOCUMENTS    := README.md include/specification.md

install: all $(PC) $(CMAKE) $(O)/include/glcnn/kernels.h
	install -d $(dest_include)/kernels $(dest_lib) $(dest_pc) $(dest_bin) $(dest_doc)
	install -m 644 $(DOCUMENTS) $(dest_doc)
	install -m 644 $(HEADERS) $(O)/include/glcnn/kernels.h $(dest_include)
	$(if $(KERNEL_HEADERS),install -m 644 $(KERNEL_HEADERS) $(dest_include)/kernels)
	install -m 644 $(STATIC) $(dest_lib)
	install -m 755 $(SHARED) $(dest_lib)
	for library in $(LIBRARIES); do \
	    ln -sf $$library.so.$(VERSION) $(dest_lib)/$$library.so.$(SOVERSION) && \
	    ln -sf $$library.so.$(SOVERSION) $(dest_lib)/$$library.so || exit 1; \
	done
	install -m 644 $(PC) $(dest_pc)
	install -d $(dest_lib)/cmake/glcnn
	install -m 644 $(CMAKE) $(dest_lib)/cmake/glcnn
	$(if $(TOOL),install -m 755 $(TOOL) $(dest_bin))
	if [ -e $(O)/man/glcnn.bash ]; then \
	    install -d $(dest_man)/man1 $(dest_man)/man7 $(dest_completion) && \
	    install -m 644 $(O)/man/man1/* $(dest_man)/man1 && \
	    install -m 644 $(O)/man/man7/* $(dest_man)/man7 && \
	    install -m 644 $(O)/man/glcnn.bash $(dest_completion)/glcnn; \
	fi
	[ -n '$(DESTDIR)' ] || ldconfig 2>/dev/null || true

# dpkg-buildpackage wants debian/ at the top of a tree: it gets one of its own.
deb:
	rm -rf $(O)/deb
	mkdir -p $(O)/deb/glcnn
	cp -R Makefile README.md LICENSE include src glsl platform examples tests $(O)/deb/glcnn
	cp -R platform/packaging/debian $(O)/deb/glcnn
	cd $(O)/deb/glcnn && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL dpkg-buildpackage -us -uc -b

uninstall:
	rm -f $(HEADERS:include/glcnn/%=$(dest_include)/%) $(dest_include)/kernels.h
	rm -f $(KERNEL_HEADERS:include/glcnn/%=$(dest_include)/%)
	rm -f $(addprefix $(dest_lib)/,$(notdir $(STATIC) $(SHARED) $(LINKS)))
	rm -f $(addprefix $(dest_pc)/,$(notdir $(PC))) $(dest_bin)/glcnn
	rm -f $(addprefix $(dest_lib)/cmake/glcnn/,$(notdir $(CMAKE)))
	rm -f $(addprefix $(dest_doc)/,$(notdir $(DOCUMENTS)))
	rm -f $(dest_man)/man1/glcnn.1 $(dest_man)/man1/glcnn-*.1 $(dest_man)/man7/glcnn-kernels.7 \
	    $(dest_completion)/glcnn
	rmdir $(dest_lib)/cmake/glcnn $(dest_include)/kernels $(dest_include) $(dest_doc) 2>/dev/null || true

clean:
	rm -rf $(O)

help:
	@sed -n 's/^## \{0,1\}//p' $(firstword $(MAKEFILE_LIST))
