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

// While an object of this class exists, llama.cpp computes a batch in the region of one of its sequences, the host, which
// also has the cells of the others: those that share pages with the host's, and copies of the rest. When it is destroyed,
// each sequence's new cells are moved to its own region. Does nothing where the cache is not paged, the region is too
// small, or much is to be copied; the batch is then computed as usual. Its rows must be sorted by sequence.
class OneRegion {
  public:
    OneRegion(llama_context * context, const llama_batch & batch);
    ~OneRegion();
    OneRegion(const OneRegion &) = delete;
    OneRegion & operator=(const OneRegion &) = delete;

  private:
    struct Member {
        int32_t sequence;
        // Cells that it held before.
        uint32_t held;
        // Its first row in the batch, and how many it has.
        uint32_t first_row;
        uint32_t rows;
        // How many of the cells that it held are in pages of the host, and where the copies of the others are.
        uint32_t shared;
        uint32_t copies_at;
    };

    llama_context * const context;
    llama_kv_cache * const cache;
    KvRegions * const regions;
    // Empty when each sequence is computed in its own region.
    std::vector<Member> members;
    int32_t host = -1;
    // Where the new cells of all begin, in the order of the batch.
    uint32_t rows_at = 0;

    llama_kv_cells & cells_in(int32_t sequence) const;
    bool find_members(const llama_batch & batch);
    bool choose_host();
    uint32_t place_copies(const Member & in);
    void join(const Member & member);
    void leave(const Member & member);
    void settle(const Member & member);
    void describe(bool as_one);
};

} // namespace svc
