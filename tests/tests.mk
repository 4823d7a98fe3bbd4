# Tests, fuzzing and the checks of whole systems: a part of the Makefile at the top of the tree.

MODULES_tests  := cunit $(MODULES_tool)
test_libs       = $(call pkg_flags,--libs cunit)

# tests/ROOM/test_*.c are programs and may use internal headers; those named test_public_*.c see what a
# user has, the public headers and the shared library. Other files in tests/ are linked into each
# of the former.
PUBLIC_TESTS   := $(patsubst %.c,$(O)/%,$(sort $(wildcard tests/*/test_public_*.c)))
UNIT_TESTS     := $(filter-out $(PUBLIC_TESTS),\
                    $(patsubst %.c,$(O)/%,$(sort $(wildcard tests/*/test_*.c))))
TEST_HELPERS   := $(sort $(wildcard tests/*.c))
# What test_faults and test_feeding are linked with: functions that are counted, and fail where a test
# wants them to.
FAULT_HELPERS  := $(sort $(wildcard tests/faults/*.c))
FAULT_WRAPS    := malloc calloc realloc free strdup strndup realpath open close fopen fclose read \
                  pread write fread ferror fsync rename eglInitialize eglBindAPI eglQueryString \
                  eglMakeCurrent eglGetError eglCreateContext eglDestroyContext eglGetProcAddress \
                  eglGetDisplay eglChooseConfig eglCreatePbufferSurface \
                  fcntl clock_gettime nanosleep time
# Programs that tests/check_drm.sh runs in its guests.
GUEST_PROGRAMS := $(patsubst %.c,$(O)/%,$(sort $(wildcard tests/drm/*.c)))
FUZZERS        := $(patsubst %.c,$(O)/%,$(sort $(wildcard tests/fuzz/*.c)))
SHELL_TESTS    := $(sort $(wildcard tests/*/test_*.sh))

HELPER_OBJECTS := $(TEST_HELPERS:%.c=$(O)/%.o)
FAULT_OBJECTS  := $(FAULT_HELPERS:%.c=$(O)/%.o)
OBJECTS        += $(HELPER_OBJECTS) $(FAULT_OBJECTS) \
                  $(addsuffix .o,$(PUBLIC_TESTS) $(UNIT_TESTS) $(FUZZERS) $(GUEST_PROGRAMS))

$(eval $(call remember,$(O)/helpers,TEST_HELPERS))
FAULT_FILES = $(FAULT_HELPERS) $(FAULT_WRAPS)
$(eval $(call remember,$(O)/fault-files,FAULT_FILES))

.PHONY: abi tests test check test-run check-all full-tests sanitized watched check-boards \
        check-boards-built check-boards-arm check-trixie check-drm fuzz fuzz-run fuzz-seeds readme

tests: $(UNIT_TESTS) $(PUBLIC_TESTS)

# ---- Programs -----------------------------------------------------------------------------------

$(HELPER_OBJECTS) $(addsuffix .o,$(PUBLIC_TESTS) $(UNIT_TESTS)): | $(O)/found/tests
$(PUBLIC_TESTS:=.o): includes = $(public_include)
# Tests that look at ONNX's messages.
ONNX_TESTS := $(filter $(O)/tests/onnx/test_onnx% $(O)/tests/tflite/test_tflite,$(UNIT_TESTS))
$(ONNX_TESTS:=.o): includes += -isystem $(O)
$(ONNX_TESTS:=.o): $(O)/onnx.pb-c.c

$(GUEST_PROGRAMS:=.o): includes = $(public_include) -iquote src -iquote examples
$(GUEST_PROGRAMS): %: %.o $(SUPPORT_OBJECTS) $(STATIC) $(O)/support
	$(call say,LD)
	$(Q)$(LINK) $< $(SUPPORT_OBJECTS) $(static_libs) $(app_libs)

COUNTING_TESTS := $(O)/tests/device/test_faults $(O)/tests/graph/test_feeding
$(COUNTING_TESTS): $(FAULT_OBJECTS) $(O)/fault-files
$(COUNTING_TESTS): faults = $(FAULT_OBJECTS) $(FAULT_WRAPS:%=-Wl,--wrap=%)

# What test_library_models counts.
$(O)/tests/task/test_library_models: faults = -Wl,--wrap=glcnn_graph_create -Wl,--wrap=detection_decode \
    -Wl,--wrap=glcnn_network_serialize

$(UNIT_TESTS): %: %.o $(HELPER_OBJECTS) $(TOOL_ARCHIVE) $(SUPPORT_OBJECTS) $(STATIC) \
    $(O)/helpers $(O)/support
	$(call say,LD)
	$(Q)$(LINK) $< $(faults) $(HELPER_OBJECTS) $(TOOL_ARCHIVE) $(SUPPORT_OBJECTS) \
	    $(static_libs) $(test_libs) $(app_libs)

$(PUBLIC_TESTS): %: %.o $(LINKS)
	$(call say,LD)
	$(Q)$(LINK) $< -L$(O) -lglcnn -Wl,-rpath,'$$ORIGIN/../..' $(test_libs) $(app_libs)

# ---- Running ------------------------------------------------------------------------------------

# 'test' is what each change has to pass, 'check' the rest of it: tests/levels divides them, and
# GLCNN_TEST_CHECK asks a program for its longer form. Neither leaves out a thing of programs that T names.
test: packages
	+@$(again) LEVEL=test test-run

check: packages
	+@GLCNN_TEST_CHECK=1 $(again) LEVEL=check test-run

# Every program is run three times: as the machine is, with all limits at the ES 3.1 minimum, and,
# where the program knows what GLCNN_TEST_QUICK asks of it, on softpipe.
T       ?= test_%
level    = $(if $(filter file,$(origin T)),$(LEVEL:%=-l %))
selected = $(foreach test,$(UNIT_TESTS) $(PUBLIC_TESTS) $(SHELL_TESTS),\
             $(if $(filter $(T),$(basename $(notdir $(test)))),$(test)))

# Programs whose files a script looks at.
names    = $(basename $(notdir $(selected)))
used     = $(if $(filter test_export_files test_export_runtime,$(names)),$(O)/tests/export/test_export) \
           $(if $(filter test_onnx_int8_numbers,$(names)),$(O)/tests/onnx/test_onnx_int8)

test-run: all examples $(filter $(O)/%,$(selected)) $(used)
	@MAKE='$(MAKE)' CC='$(CC)' CXX='$(CXX)' PKG_CONFIG='$(PKG_CONFIG)' O='$(O)' \
	    sh tests/run.sh $(level) $(selected)

# The longer tests, then again with smaller shapes under whatever looks for errors and leaks.
# tests/build/test_sanitizers.sh is some of the latter, in 'test' too.
undefined = undefined,float-cast-overflow
SANITIZE  = -O1 -g -Werror -fno-omit-frame-pointer -fsanitize=address,$(undefined) \
            -fno-sanitize-recover=$(undefined)
inspected = SHELL_TESTS= test-run

# Sanitizers do not see what is read and was never written; valgrind does, and looks for nothing else.
# Programs of code that runs on the processor, one of each kind: readers and writers of files, decoded
# pictures, what is encoded, and graphs. Code that llvmpipe makes takes it a hundred times as long.
WATCHED = test_augment_words test_checkpoint_parts test_data_loader test_data_pictures \
          test_failed_encodes test_nodes test_onnx_external test_onnx_hostile

# Seconds that one program may take here, where some take half an hour.
patience = $(or $(GLCNN_TEST_TIMEOUT),7200)

# Every check is run, whatever became of those before it: the whole takes several hours on two cores.
CHECKS = full-tests check-boards check-trixie sanitized watched

check-all: packages
	+@rm -f $(O)/skipped; failed=; for check in $(CHECKS); do \
	    $(again) $$check || { failed="$$failed $$check"; continue; }; \
	    ! grep -qs "^$$check" $(O)/skipped && echo "check-all: $$check passed" || \
	        echo "check-all: $$check was skipped, or a part of it, for the reason above"; \
	done; \
	[ -z "$$failed" ] || { echo "check-all:$$failed failed" >&2; exit 1; }

# This machine may be unable to do it, which check-all tells.
skippable = || { [ $$? = 77 ] && mkdir -p $(O) && echo $@ >>$(O)/skipped; }

full-tests:
	+@GLCNN_TEST_FULL=1 GLCNN_TEST_TIMEOUT=$(patience) $(again) test-run

watched:
	+@if command -v valgrind >/dev/null; then $(again) RUN_UNDER=valgrind T='$(WATCHED)' $(inspected); \
	else echo 'there is no valgrind'; (exit 77) $(skippable); fi

sanitized:
	+@GLCNN_TEST_TIMEOUT=$(patience) $(again) O=$(O)/asan CFLAGS='$(SANITIZE)' RUN_UNDER=sanitizers \
	    $(inspected)

# The tables that these close with are platform/README.md's. Nothing is wrong where Mesa cannot be had.
BOARDS_ARGS ?= -t

check-boards:
	+@bad=0; for part in built arm; do $(again) check-boards-$$part || bad=1; done; exit $$bad

check-boards-built: packages
	+@$(again) all $(O)/tests/encode/test_pairs
	@O='$(O)' CC='$(CC)' sh tests/check_boards.sh $(BOARDS_ARGS) $(skippable)

check-boards-arm: packages
	+@$(again) all
	@O='$(O)' CC='$(CC)' sh tests/check_boards_arm.sh $(BOARDS_ARGS) $(skippable)

check-trixie:
	@O='$(O)' sh tests/check_trixie.sh $(ROOT) $(skippable)

check-drm:
	@O='$(O)' MAKE='$(MAKE)' sh tests/check_drm.sh $(GUESTS) $(skippable)

# Readers under libFuzzer. Inputs that reach further stay in $(O)/fuzz/corpus/TARGET for the next
# run; what fails is left in $(O)/fuzz/findings. One allocation that is far above the longest input
# is a failure too; a picture's decoder, and what unpacks, may take more. READERS are letters of boxes
# and targets, in whose files they are explained: each is run by itself, on what begins with it.
FUZZ         ?= boxes deserialize onnx pictures tables targets tflite
FUZZ_SECONDS ?= 600
READERS      ?=
FUZZ_FLAGS    = -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,$(undefined) \
                -fno-sanitize-recover=$(undefined) -DFILLED_MOST=33554432

# Models of single operators, of Debian's libonnx-testdata: more to begin with.
ONNX_DATA    := /usr/lib/python3/dist-packages/onnx/backend/test/data/node

$(FUZZERS:=.o): includes = $(public_include) -iquote .
fuzz_targets := $(addprefix $(O)/tests/fuzz/,boxes deserialize onnx pictures tables targets tflite)
$(fuzz_targets): fuzz_main = -fsanitize=fuzzer
$(FUZZERS): %: %.o $(STATIC)
	$(call say,LD)
	$(Q)$(LINK) $(fuzz_main) $< $(static_libs)

fuzz: packages
	@command -v clang >/dev/null || { echo 'fuzz needs clang and its sanitizers' >&2; exit 1; }
	+@$(again) O=$(O)/fuzz CC=clang CFLAGS='$(FUZZ_FLAGS)' FUZZ_SECONDS=$(FUZZ_SECONDS) \
	    FUZZ='$(FUZZ)' READERS='$(READERS)' fuzz-run

fuzz-run: $(FUZZ:%=$(O)/tests/fuzz/%)
	@mkdir -p $(FUZZ:%=$(O)/corpus/%) $(O)/findings
	@set -e; for target in $(FUZZ); do for reader in $(or $(READERS),all); do \
	    limit=256; [ $$target != deserialize ] || limit=64; \
	    more=tests/fuzz/corpus/$$target; corpus=$(O)/corpus/$$target; \
	    [ $$target != onnx ] || [ ! -d $(ONNX_DATA) ] || more="$$more $(ONNX_DATA)"; \
	    if [ $$reader != all ]; then \
	        corpus=$$corpus-$$reader; mkdir -p $$corpus; \
	        for seed in $$more/*; do \
	            [ "$$(head -c 1 $$seed)" != $$reader ] || cp $$seed $$corpus; \
	        done; more=; \
	    fi; \
	    $(O)/tests/fuzz/$$target -max_total_time=$(FUZZ_SECONDS) -max_len=65536 -timeout=20 \
	        -malloc_limit_mb=$$limit -print_final_stats=1 -artifact_prefix=$(O)/findings/ \
	        $$corpus $$more; \
	done; done

fuzz-seeds: packages
	@mkdir -p tests/fuzz/corpus/deserialize tests/fuzz/corpus/onnx
	+@$(again) $(O)/tests/fuzz/seeds
	$(O)/tests/fuzz/seeds tests/fuzz/corpus

abi: all
	$(Q)O=$(O) sh tests/build/test_abi.sh write

# What stands between the two marks is the tool's; tests/build/test_readme.sh compares them.
readme: $(TOOL)
	$(Q)$(O)/glcnn kernels --table >$(O)/kernels.md
	$(Q)awk -v table=$(O)/kernels.md '/^<!-- end of kernels/ { inside = 0 } !inside { print } \
	    /^<!-- kernels/ { inside = 1; while ((getline line <table) > 0) print line }' \
	    include/README.md >$(O)/README.md
	$(Q)cp $(O)/README.md include/README.md
