/* The nodes of DRM: which there are, whose driver, and whether this user may open them.
 *
 * Render nodes are what is wanted; a card node is looked at without being opened, since the first
 * to open one becomes DRM master.
 */
#ifndef GLCNN_PLATFORM_DRM_H
#define GLCNN_PLATFORM_DRM_H

#include "platform/platform.h"

#define DRM_NODES_MAX                                                                              \
    256 /* DRM's minor numbers: 64 cards and 64 render nodes, more when extended */

struct drm_node {
    char path[sizeof((struct platform_candidate *)0)->node];
    bool render;
    unsigned number;
};

/* Render nodes, then card nodes, each by number. A folder that is not there has none. */
size_t drm_scan(const char *folder, struct drm_node *nodes, size_t capacity);

/* Name of the kernel driver, "" where it cannot be told. */
void drm_driver_name(const char *path, char *name, size_t size);

/* Whether this user may not open the node; `text` then says whose group to join. */
bool drm_denied(const char *path, char text[PLATFORM_TEXT]);

/* Whether both paths lead to one device node, symbolic links followed. */
bool drm_same_node(const char *a, const char *b);

/* Opens a node, and gives DRM master back at once where opening it took that. -1 on failure. */
int drm_open(const char *path);

#endif
