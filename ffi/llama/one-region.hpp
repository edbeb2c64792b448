// Computes rows of several sequences of a paged cache in one region, as if the cache were unified. llama.cpp otherwise
// computes the attention of each sequence alone, and sequences with different numbers of rows one after the other.
#pragma once

#include "llama.h"

#include <cstdint>
#include <vector>

class llama_kv_cache;
class llama_kv_cells;

namespace svc {

class KvRegions;

// While an object of this class exists, llama.cpp computes a batch in the region of its first sequence. The others'
// cells are in it too: those that share pages with the first sequence's, and copies of the rest. In the end, each
// sequence's new cells are moved to its own region. Does nothing where the cache is not paged, the region is too small,
// or more cells would be copied than rows computed. The rows of each sequence must be side by side.
class OneRegion {
  public:
    OneRegion(llama_context * context, const llama_batch & batch);
    ~OneRegion();
    OneRegion(const OneRegion &) = delete;
    OneRegion & operator=(const OneRegion &) = delete;

  private:
    struct Member {
        int32_t sequence;
        // Cells that it held before, and how many of them are in pages that it shares with the first member.
        uint32_t held;
        uint32_t shared;
        // Where the copies of the others and its new cells are.
        uint32_t copies_at;
        uint32_t rows_at;
        uint32_t rows;
    };

    llama_context * const context;
    llama_kv_cache * const cache;
    KvRegions * const regions;
    // Empty when each sequence is computed in its own region.
    std::vector<Member> members;

    llama_kv_cells & cells_in(int32_t sequence) const;
    std::vector<Member> placed(const llama_batch & batch) const;
    void join(const Member & member);
    void leave(const Member & member);
    void settle(const Member & member);
    void describe(bool as_one);
};

} // namespace svc
