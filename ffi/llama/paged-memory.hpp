// Memory for a KV cache in which every sequence has its own region, large enough for the longest request. The address
// space is reserved; only written pages take memory, until they are given back. Two sequences with a common prefix
// share its pages. For caches in host memory, on Linux.
#pragma once

#include "llama.h"

#include <cstdint>

class llama_kv_cache;

namespace svc {

class KvRegions;

// Creates a context whose cache, in host memory, has a region for each sequence. Returns null when the context cannot
// be made, or not with such a cache. The cells of a sequence must be those of its tokens, in order.
llama_context * create_paged_context(llama_model * model, const llama_context_params & params);

// Returns a context's cache, or null if it is not a plain one: other kinds of attention have other caches.
llama_kv_cache * plain_cache(const llama_context * context);

// Returns the regions of a context's cache, or null where it is not paged.
KvRegions * regions_of(const llama_context * context);

// Makes new cells of a sequence follow those that it holds; an emptied cache might otherwise start elsewhere. Call this
// before anything is put into the cache.
void append_behind(const llama_context * context);

// Keeps a sequence's first cells and releases the memory of all others. Does nothing where the context is not paged.
void release_cells(const llama_context * context, int32_t sequence, int32_t cells);

// Makes the first `cells` cells of `from` those of `to`, which must be empty. What either writes after them is its own.
void share_cells(const llama_context * context, int32_t from, int32_t to, int32_t cells);

// Makes all cells of `from` those of `to`, which must be empty, and leaves `from` empty.
void move_cells(const llama_context * context, int32_t from, int32_t to);

// While an object of this class exists, host buffers that llama.cpp allocates on this thread are reserved address space,
// which takes memory where it is written; zeros need not be.
class Reserving {
  public:
    Reserving();
    ~Reserving();
    Reserving(const Reserving &) = delete;
    Reserving & operator=(const Reserving &) = delete;
};

// While an object of this class exists, llama.cpp copies regions without their contents.
class WithoutCopies {
  public:
    WithoutCopies();
    ~WithoutCopies();
    WithoutCopies(const WithoutCopies &) = delete;
    WithoutCopies & operator=(const WithoutCopies &) = delete;
};

} // namespace svc
