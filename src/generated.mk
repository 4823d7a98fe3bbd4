# Sources that are generated, with nothing but POSIX tools: a part of the Makefile at the top of the
# tree.

# Includes the header of every family of kernels.
$(O)/include/glcnn/kernels.h: $(O)/kernel-headers
	$(call say,GEN)
	@mkdir -p $(@D)
	$(Q){ echo '/* Every family of kernels. Generated. */'; \
	    for header in $(KERNEL_HEADERS:include/%=%); do echo "#include <$$header>"; done; } >$@

# Points to every descriptor and its reference, sorted by name. A table, unlike constructors or a
# linker section, is something that the linker follows into a static library.
$(O)/registry.c: $(KERNELS) $(O)/files
	$(call say,GEN)
	$(Q)sed -n 's/^const struct glcnn_descriptor glcnn_kernel_\([a-z0-9_]*\) = {.*/\1/p' \
	    $(KERNELS) /dev/null | LC_ALL=C sort >$@.names
	$(Q){ echo '#include "encode/reference.h"'; \
	    sed 's/.*/extern const struct glcnn_descriptor glcnn_kernel_&;/' $@.names; \
	    sed 's/.*/extern const struct glcnn_reference glcnn_reference_&;/' $@.names; \
	    echo 'const struct glcnn_descriptor *const glcnn_registry[] = {'; \
	    sed 's/.*/    \&glcnn_kernel_&,/' $@.names; \
	    echo '    NULL};'; \
	    echo 'const struct glcnn_reference *const glcnn_references[] = {'; \
	    sed 's/.*/    \&glcnn_reference_&,/' $@.names; \
	    echo '    NULL};'; } >$@

# Points to the row of every task in the same way, sorted by name.
$(O)/tasks.c: $(TASK_SOURCES) $(O)/train-files
	$(call say,GEN)
	$(Q)sed -n 's/^const struct task \(task_[a-z0-9_]*\) = {.*/\1/p' $(TASK_SOURCES) /dev/null | LC_ALL=C sort >$@.names
	$(Q){ echo '#include "task/task.h"'; \
	    sed 's/.*/extern const struct task &;/' $@.names; \
	    echo 'const struct task *const task_registry[] = {'; \
	    sed 's/.*/    \&&,/' $@.names; \
	    echo '    NULL};'; } >$@

# What the headers of kernels declare, in lines.
$(O)/declarations: src/python/declarations.awk $(KERNEL_HEADERS) $(O)/kernel-headers
	$(call say,GEN)
	$(Q)awk -f $< $(KERNEL_HEADERS) >$@

# Constructors of kernels, and nodes of them, but those that a source defines.
NODE_SOURCES := $(sort $(wildcard src/graph/nodes_*.c))
$(O)/constructors.c $(O)/nodes.c: src/kernels/constructors.awk $(KERNELS) $(NODE_SOURCES) $(O)/declarations $(O)/files
	$(call say,GEN)
	$(Q)awk -f $< -v nodes=$(if $(filter %/nodes.c,$@),1,0) $(KERNELS) $(NODE_SOURCES) $(O)/declarations >$@

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

# ONNX's messages.
$(O)/onnx.pb-c.c: src/onnx/onnx.proto | $(O)/found/onnx
	$(call say,GEN)
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(O) $<

# Those that become a .tflite file, and its tables.
$(O)/exchange.pb-c.c: src/tflite/exchange.proto | $(O)/found/tflite
	$(call say,GEN)
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(O) $<

$(O)/tflite_schema.h: src/tflite/schema.fbs | $(O)/found/tflite
	$(call say,GEN)
	$(Q)mkdir -p $(O)/schema && flatc --cpp --scoped-enums --gen-object-api -o $(O)/schema $< && \
	    mv $(O)/schema/schema_generated.h $@

# TensorBoard's messages, as far as a training writes them.
$(O)/events.pb-c.c: src/report/events.proto | $(O)/found/tool
	$(call say,GEN)
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(O) $<
