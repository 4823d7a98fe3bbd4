/* The table of OpenGL ES entry points, loaded by name: nothing links to a GL library.
 *
 * Call as gl->DispatchCompute(...). Errors are drained at logical steps with gl_error, not after
 * each call.
 */
#ifndef GLCNN_GL_H
#define GLCNN_GL_H

#include <GLES3/gl31.h>
#include <GLES2/gl2ext.h>
#include <stdbool.h>

#define GL_REQUIRED(X)                                                                             \
    X(ActiveTexture, PFNGLACTIVETEXTUREPROC)                                                       \
    X(AttachShader, PFNGLATTACHSHADERPROC)                                                         \
    X(BindBuffer, PFNGLBINDBUFFERPROC)                                                             \
    X(BindBufferBase, PFNGLBINDBUFFERBASEPROC)                                                     \
    X(BindBufferRange, PFNGLBINDBUFFERRANGEPROC)                                                   \
    X(BindImageTexture, PFNGLBINDIMAGETEXTUREPROC)                                                 \
    X(BindSampler, PFNGLBINDSAMPLERPROC)                                                           \
    X(BindTexture, PFNGLBINDTEXTUREPROC)                                                           \
    X(BufferData, PFNGLBUFFERDATAPROC)                                                             \
    X(BufferSubData, PFNGLBUFFERSUBDATAPROC)                                                       \
    X(ClientWaitSync, PFNGLCLIENTWAITSYNCPROC)                                                     \
    X(CompileShader, PFNGLCOMPILESHADERPROC)                                                       \
    X(CopyBufferSubData, PFNGLCOPYBUFFERSUBDATAPROC)                                               \
    X(CreateProgram, PFNGLCREATEPROGRAMPROC)                                                       \
    X(CreateShader, PFNGLCREATESHADERPROC)                                                         \
    X(DeleteBuffers, PFNGLDELETEBUFFERSPROC)                                                       \
    X(DeleteProgram, PFNGLDELETEPROGRAMPROC)                                                       \
    X(DeleteShader, PFNGLDELETESHADERPROC)                                                         \
    X(DeleteSync, PFNGLDELETESYNCPROC)                                                             \
    X(DeleteTextures, PFNGLDELETETEXTURESPROC)                                                     \
    X(DispatchCompute, PFNGLDISPATCHCOMPUTEPROC)                                                   \
    X(Enable, PFNGLENABLEPROC)                                                                     \
    X(FenceSync, PFNGLFENCESYNCPROC)                                                               \
    X(Flush, PFNGLFLUSHPROC)                                                                       \
    X(GenBuffers, PFNGLGENBUFFERSPROC)                                                             \
    X(GenTextures, PFNGLGENTEXTURESPROC)                                                           \
    X(GetError, PFNGLGETERRORPROC)                                                                 \
    X(GetIntegeri_v, PFNGLGETINTEGERI_VPROC)                                                       \
    X(GetInteger64i_v, PFNGLGETINTEGER64I_VPROC)                                                   \
    X(GetInteger64v, PFNGLGETINTEGER64VPROC)                                                       \
    X(GetIntegerv, PFNGLGETINTEGERVPROC)                                                           \
    X(GetProgramBinary, PFNGLGETPROGRAMBINARYPROC)                                                 \
    X(GetProgramInfoLog, PFNGLGETPROGRAMINFOLOGPROC)                                               \
    X(GetProgramiv, PFNGLGETPROGRAMIVPROC)                                                         \
    X(GetShaderInfoLog, PFNGLGETSHADERINFOLOGPROC)                                                 \
    X(GetShaderiv, PFNGLGETSHADERIVPROC)                                                           \
    X(GetString, PFNGLGETSTRINGPROC)                                                               \
    X(GetStringi, PFNGLGETSTRINGIPROC)                                                             \
    X(GetTexLevelParameteriv, PFNGLGETTEXLEVELPARAMETERIVPROC)                                     \
    X(GetTexParameteriv, PFNGLGETTEXPARAMETERIVPROC)                                               \
    X(IsTexture, PFNGLISTEXTUREPROC)                                                               \
    X(LinkProgram, PFNGLLINKPROGRAMPROC)                                                           \
    X(MapBufferRange, PFNGLMAPBUFFERRANGEPROC)                                                     \
    X(MemoryBarrier, PFNGLMEMORYBARRIERPROC)                                                       \
    X(PixelStorei, PFNGLPIXELSTOREIPROC)                                                           \
    X(ProgramBinary, PFNGLPROGRAMBINARYPROC)                                                       \
    X(ProgramParameteri, PFNGLPROGRAMPARAMETERIPROC)                                               \
    X(ShaderSource, PFNGLSHADERSOURCEPROC)                                                         \
    X(TexParameteri, PFNGLTEXPARAMETERIPROC)                                                       \
    X(TexStorage3D, PFNGLTEXSTORAGE3DPROC)                                                         \
    X(TexSubImage3D, PFNGLTEXSUBIMAGE3DPROC)                                                       \
    X(Uniform1i, PFNGLUNIFORM1IPROC)                                                               \
    X(Uniform3i, PFNGLUNIFORM3IPROC)                                                               \
    X(Uniform4iv, PFNGLUNIFORM4IVPROC)                                                             \
    X(UnmapBuffer, PFNGLUNMAPBUFFERPROC)                                                           \
    X(UseProgram, PFNGLUSEPROGRAMPROC)

/* NULL where the driver has no such extension. */
#define GL_OPTIONAL(X)                                                                             \
    X(BufferStorageEXT, PFNGLBUFFERSTORAGEEXTPROC, "GL_EXT_buffer_storage")                        \
    X(DebugMessageCallbackKHR, PFNGLDEBUGMESSAGECALLBACKKHRPROC, "GL_KHR_debug")                   \
    X(EGLImageTargetTexture2DOES, PFNGLEGLIMAGETARGETTEXTURE2DOESPROC, "GL_OES_EGL_image")         \
    X(ObjectLabelKHR, PFNGLOBJECTLABELKHRPROC, "GL_KHR_debug")                                     \
    X(PushDebugGroupKHR, PFNGLPUSHDEBUGGROUPKHRPROC, "GL_KHR_debug")                               \
    X(PopDebugGroupKHR, PFNGLPOPDEBUGGROUPKHRPROC, "GL_KHR_debug")                                 \
    X(GenQueriesEXT, PFNGLGENQUERIESEXTPROC, "GL_EXT_disjoint_timer_query")                        \
    X(DeleteQueriesEXT, PFNGLDELETEQUERIESEXTPROC, "GL_EXT_disjoint_timer_query")                  \
    X(QueryCounterEXT, PFNGLQUERYCOUNTEREXTPROC, "GL_EXT_disjoint_timer_query")                    \
    X(GetQueryivEXT, PFNGLGETQUERYIVEXTPROC, "GL_EXT_disjoint_timer_query")                        \
    X(GetQueryObjectui64vEXT, PFNGLGETQUERYOBJECTUI64VEXTPROC, "GL_EXT_disjoint_timer_query")      \
    X(GetGraphicsResetStatusKHR, PFNGLGETGRAPHICSRESETSTATUSKHRPROC, "GL_KHR_robustness")          \
    X(GetGraphicsResetStatusEXT, PFNGLGETGRAPHICSRESETSTATUSEXTPROC, "GL_EXT_robustness")

struct gl {
#define GL_MEMBER(name, type, ...) type name;
    GL_REQUIRED(GL_MEMBER)
    GL_OPTIONAL(GL_MEMBER)
#undef GL_MEMBER
};

typedef void (*gl_function)(void);
typedef gl_function (*gl_loader)(const void *user, const char *name);

/* Fills the table. Returns NULL, or the name of a required entry point that is missing. */
const char *gl_load(struct gl *gl, gl_loader loader, const void *user);

bool gl_has_extension(const struct gl *gl, const char *name);

/* Drains all pending errors. Returns the first in words, or NULL when there is none. */
const char *gl_error(const struct gl *gl, GLenum *code);

#endif
