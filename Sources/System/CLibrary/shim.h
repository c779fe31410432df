#pragma once
#ifdef __linux__
#include <malloc.h>
#include <sys/vfs.h>

// `f_type` of statfs(2), which Swift imports as another type on each architecture; 0 where the system does not say.
static inline unsigned int kith_filesystem_magic(const char *path) {
    struct statfs status;
    return statfs(path, &status) == 0 ? (unsigned int)status.f_type : 0;
}
#endif
