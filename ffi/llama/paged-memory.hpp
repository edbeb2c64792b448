// Memory for a KV cache in which every sequence has a region of its own that is large enough for the longest request: address
// space is reserved, and only what was written takes memory, page by page, until it is given back. What two sequences have in
// common lies in the same pages. Where the cache is in the host's memory, on Linux.
#pragma once

#include "llama.h"

#include <cstdint>

namespace svc {

// A context whose cache, in host memory, has a region for each sequence. Null where it cannot be made, or not so. The cells
// of a sequence must be those of its tokens, in their order.
llama_context * create_paged_context(llama_model * model, const llama_context_params & params);

// What comes next into a sequence goes behind what it holds: a cache may begin elsewhere where it was emptied. Called before
// anything is put into the cache.
void append_behind(const llama_context * context);

// A sequence keeps its first cells: the memory of all others is given back. Nothing happens where the context is not paged.
void give_back(const llama_context * context, int32_t sequence, int32_t cells);

// Makes the first cells of one sequence those of another, which is empty. What either writes behind them is its own.
void share_cells(const llama_context * context, int32_t from, int32_t to, int32_t cells);

// While it lives, llama.cpp copies regions without what is in them.
class WithoutCopies {
  public:
    WithoutCopies();
    ~WithoutCopies();
    WithoutCopies(const WithoutCopies &) = delete;
    WithoutCopies & operator=(const WithoutCopies &) = delete;
};

} // namespace svc
