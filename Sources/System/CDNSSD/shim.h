#pragma once
#include <dlfcn.h>
#include <dns_sd.h>
#include <stdlib.h>

// Avahi 0.8 makes its references in memory that it does not clear, and when its daemon or the bus goes it looks there for
// callbacks of the other kinds of reference before the reference's own: a resolve then calls whatever the memory held. Its
// common library takes functions for memory, so it gets one that clears. Where there is no such library, as with Apple's,
// nothing is done.

struct kith_avahi_memory {
    void *(*allocate)(size_t);
    void (*release)(void *);
    void *(*resize)(void *, size_t);
    void *(*allocate_array)(size_t, size_t);
};

static inline void *kith_allocate_cleared(size_t size) { return calloc(1, size); }

// To be called once, before the library's first call. Returns whether there is such a library.
static inline int kith_clear_avahi_memory(void) {
    static const struct kith_avahi_memory memory = {kith_allocate_cleared, free, realloc, calloc};
    void (*set)(const struct kith_avahi_memory *);
    *(void **)&set = dlsym(NULL, "avahi_set_allocator");
    if (!set) return 0;
    set(&memory);
    return 1;
}
