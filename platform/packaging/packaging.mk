# Debian's packages that a build needs, installing, and packages of what is built: a part of the
# Makefile at the top of the tree.

# Debian's packages. TOOL_PACKAGES: what is needed to build libraries and tool, to run it without a
# GPU, and its data when it is given none. libzip's .pc asks for bz2, lzma, zstd and ssl of those who
# link statically, and its package does not bring them.
TOOL_PACKAGES := pkg-config libegl-dev libgles-dev libgbm-dev zlib1g-dev libpng-dev \
                libjpeg-dev libwebp-dev libtiff-dev libzip-dev libexpat1-dev libcjson-dev libyaml-dev \
                libcbor-dev liblzma-dev libprotobuf-c-dev protobuf-c-compiler libflatbuffers-dev flatbuffers-compiler g++ \
                libegl1 libgl1-mesa-dri \
                dataset-fashion-mnist
PACKAGES     := $(TOOL_PACKAGES) \
                libcunit1-dev abigail-tools xz-utils glslang-tools mesa-vulkan-drivers virgl-server dpkg-dev mandoc musl-tools \
                mypy python3-numpy python3-pip python3-setuptools python3-venv python3-wheel \
                libonnx-dev libonnx-testdata libopenmpi-dev openmpi-bin \
                libbz2-dev libzstd-dev libssl-dev

PREFIX       ?= /usr/local
LIBDIR       ?= $(PREFIX)/lib
INCLUDEDIR   ?= $(PREFIX)/include
BINDIR       ?= $(PREFIX)/bin
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
DOCDIR       ?= $(PREFIX)/share/doc/glcnn
MANDIR       ?= $(PREFIX)/share/man
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions

.PHONY: packages tool-packages install install-core uninstall deb

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
	$(call install,$(PACKAGES),$(BUILD_MODULES) cunit)

tool-packages:
	$(call install,$(TOOL_PACKAGES),$(BUILD_MODULES))

HOST_TOOL ?= $(TOOL)

# The tool describes itself. One for another processor cannot, and nothing is written then.
$(MANUAL): $(TOOL) platform/README.md src/tool/manual.sh src/tool/completion.sh
	$(call say,GEN)
	$(Q)rm -rf $(@D) && mkdir -p $(@D)
	$(Q)if $(HOST_TOOL) --version >/dev/null 2>&1; then \
	    sh src/tool/manual.sh $(HOST_TOOL) platform/README.md $(@D) && \
	    sh src/tool/completion.sh $(HOST_TOOL) >$(@D)/glcnn.bash; \
	else echo '  $(HOST_TOOL) does not run here: no manual pages; HOST_TOOL names one that does'; fi
	$(Q)touch $@

# Installing. The .pc file is relative to ${prefix}, so that pkg-config can move it into a sysroot.
relative = $(patsubst $(PREFIX)/%,$${prefix}/%,$1)

pc_head = 'prefix=$(PREFIX)' 'libdir=$(call relative,$(LIBDIR))' \
          'includedir=$(call relative,$(INCLUDEDIR))' '' 'Name: $(basename $(@F))' \
          'Version: $(VERSION)' 'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -l$(basename $(@F))'
pc_of   = $(1:lib%=$(O)/%.pc)

PC_VALUES = $(PREFIX) $(LIBDIR) $(INCLUDEDIR) $(VERSION) $(MODULES_core)
$(eval $(call remember,$(O)/pc-values,PC_VALUES))

$(O)/glcnn.pc: $(O)/pc-values
	$(call say,GEN)
	$(Q)printf '%s\n' $(pc_head) \
	    'Description: Trains convolutional networks through OpenGL ES 3.1 compute' \
	    'Requires.private: $(MODULES_core)' 'Libs.private: -lm' >$@

$(O)/glcnn_interchange.pc: $(O)/pc-values
	$(call say,GEN)
	$(Q)printf '%s\n' $(pc_head) \
	    'Description: Checkpoints and serialised graphs of glcnn' \
	    'Requires: glcnn = $(VERSION)' 'Requires.private: $(MODULES_interchange)' >$@

$(O)/glcnn_onnx.pc: $(O)/pc-values
	$(call say,GEN)
	$(Q)printf '%s\n' $(pc_head) \
	    'Description: ONNX models as networks of glcnn, and back' \
	    'Requires: glcnn = $(VERSION)' 'Requires.private: $(MODULES_onnx)' \
	    'Libs.private: -lm' >$@

$(O)/glcnn_tflite.pc: $(O)/pc-values
	$(call say,GEN)
	$(Q)printf '%s\n' $(pc_head) \
	    'Description: ONNX models of glcnn as .tflite files, and back' \
	    'Requires: glcnn = $(VERSION)' 'Requires.private: libprotobuf-c' \
	    'Libs.private: -lstdc++ -lm' >$@

$(O)/glcnn_data.pc: $(O)/pc-values
	$(call say,GEN)
	$(Q)printf '%s\n' $(pc_head) \
	    'Description: Labelled images for glcnn: pictures, .npz, CSV and IDX, decoded ahead' \
	    'Requires: glcnn = $(VERSION)' 'Requires.private: $(MODULES_data)' \
	    'Libs.private: -pthread -lm' >$@

$(O)/glcnn_train.pc: $(O)/pc-values
	$(call say,GEN)
	$(Q)printf '%s\n' $(pc_head) \
	    'Description: Trains, evaluates and uses networks on labelled pictures with glcnn' \
	    'Requires: glcnn = $(VERSION)' \
	    'Requires.private: glcnn_data = $(VERSION) glcnn_onnx = $(VERSION) glcnn_interchange = $(VERSION) $(MODULES_train)' \
	    'Libs.private: -lm' >$@

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
	    -e 's|@COMPONENTS@|glcnn $(filter-out tool,$(ALL_PARTS))|' $< >$@

dest_include := $(DESTDIR)$(INCLUDEDIR)/glcnn
dest_lib     := $(DESTDIR)$(LIBDIR)
dest_pc      := $(DESTDIR)$(PKGCONFIGDIR)
dest_bin     := $(DESTDIR)$(BINDIR)
dest_doc     := $(DESTDIR)$(DOCDIR)
dest_man     := $(DESTDIR)$(MANDIR)
dest_completion := $(DESTDIR)$(COMPLETIONDIR)
# The pages lie there as they do here, so that their links lead somewhere.
DOCUMENTS    := README.md $(sort $(wildcard $(foreach folder,include src src/python glsl platform platform/android tests \
                tests/bench examples,$(folder)/*.md $(folder)/*.svg)))
document_folders = $(addprefix $(dest_doc)/,$(filter-out ./,$(sort $(dir $(DOCUMENTS)))))

install: all $(call pc_of,$(LIBRARIES)) $(CMAKE) $(O)/include/glcnn/kernels.h
	install -d $(dest_include)/kernels $(dest_lib) $(dest_pc) $(document_folders)
	for page in $(DOCUMENTS); do install -m 644 $$page $(dest_doc)/$$page || exit 1; done
	install -m 644 $(HEADERS) $(O)/include/glcnn/kernels.h $(dest_include)
	$(if $(KERNEL_HEADERS),install -m 644 $(KERNEL_HEADERS) $(dest_include)/kernels)
	install -m 644 $(call static_of,$(LIBRARIES)) $(dest_lib)
	install -m 755 $(call shared_of,$(LIBRARIES)) $(dest_lib)
	for library in $(LIBRARIES); do \
	    ln -sf $$library.so.$(VERSION) $(dest_lib)/$$library.so.$(SOVERSION) && \
	    ln -sf $$library.so.$(SOVERSION) $(dest_lib)/$$library.so || exit 1; \
	done
	install -m 644 $(call pc_of,$(LIBRARIES)) $(dest_pc)
	install -d $(dest_lib)/cmake/glcnn
	install -m 644 $(CMAKE) $(dest_lib)/cmake/glcnn
	$(if $(TOOL),install -d $(dest_bin) && install -m 755 $(TOOL) $(dest_bin))
	if [ -n "$(TOOL)" ] && [ -e $(O)/man/glcnn.bash ]; then \
	    install -d $(dest_man)/man1 $(dest_man)/man7 $(dest_completion) && \
	    install -m 644 $(O)/man/man1/* $(dest_man)/man1 && \
	    install -m 644 $(O)/man/man7/* $(dest_man)/man7 && \
	    install -m 644 $(O)/man/glcnn.bash $(dest_completion)/glcnn; \
	fi
	[ -n '$(DESTDIR)' ] || ldconfig 2>/dev/null || true

install-core:
	+@$(MAKE) --no-print-directory PARTS=core install

# dpkg-buildpackage wants debian/ at the top of a tree: it gets one of its own.
deb:
	rm -rf $(O)/deb
	mkdir -p $(O)/deb/glcnn
	cp -R Makefile README.md LICENSE include src glsl platform examples tests $(O)/deb/glcnn
	cp -R platform/packaging/debian $(O)/deb/glcnn
	cd $(O)/deb/glcnn && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL dpkg-buildpackage -us -uc -b

uninstall:
	rm -f $(ALL_HEADERS:include/glcnn/%=$(dest_include)/%) $(dest_include)/kernels.h
	rm -f $(KERNEL_HEADERS:include/glcnn/%=$(dest_include)/%)
	rm -f $(addprefix $(dest_lib)/,$(notdir $(call files_of,$(ALL_LIBRARIES))))
	rm -f $(addprefix $(dest_pc)/,$(notdir $(call pc_of,$(ALL_LIBRARIES)))) $(dest_bin)/glcnn
	rm -f $(addprefix $(dest_lib)/cmake/glcnn/,$(notdir $(CMAKE)))
	rm -f $(addprefix $(dest_doc)/,$(DOCUMENTS))
	rm -f $(dest_man)/man1/glcnn.1 $(dest_man)/man1/glcnn-*.1 $(dest_man)/man7/glcnn-kernels.7 \
	    $(dest_completion)/glcnn
	cd $(dest_doc) 2>/dev/null && rmdir -p $(document_folders:$(dest_doc)/%=%) 2>/dev/null || true
	rmdir $(dest_lib)/cmake/glcnn $(dest_include)/kernels $(dest_include) $(dest_doc) 2>/dev/null || true
