// Memory for a KV cache in which every sequence has a region of its own that is large enough for the longest request: address
// space is reserved, and only what was written takes memory, page by page, until it is given back. Where the cache is in
// the host's memory and the system can do it.
#pragma once

#include "llama.h"

#include <cstdint>

namespace svc {

// Whether this system can, at all.
bool can_page();

// A context whose cache, in host memory, has a region for each sequence. Null where it cannot be made, or not so.
llama_context * create_paged_context(llama_model * model, const llama_context_params & params);

// The first cells of a sequence stay, the memory of all others is given back: they read as zeros. Nothing happens where the
// context is not paged.
void give_back(const llama_context * context, int32_t sequence, int32_t cells);

// While it lives, copies of regions copy so many cells only.
class CopiedCells {
  public:
    explicit CopiedCells(int32_t cells);
    ~CopiedCells();
    CopiedCells(const CopiedCells &) = delete;
    CopiedCells & operator=(const CopiedCells &) = delete;
};

} // namespace svc
