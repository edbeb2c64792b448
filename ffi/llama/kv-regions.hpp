// The regions of a paged KV cache, one for each sequence. Pages of an unnamed file are mapped into them; sequences with
// a common prefix map the same pages.
#pragma once

#ifdef __linux__

#include <cstddef>
#include <cstdint>
#include <memory>
#include <sys/types.h>
#include <vector>

namespace svc {

// Maps readable and writable memory; returns null on failure.
char * map_memory(void * at, size_t size, int flags, int file = -1, off_t offset = 0);

class KvRegions {
  public:
    // The keys or values of a layer: their address, their offset in the cache's buffer, and the bytes of a cell.
    struct Part {
        char * memory;
        size_t offset;
        size_t cell_bytes;
    };

    // Makes `count` empty regions of `cells` cells in each part, of a buffer of `bytes`. Null without such a file.
    static std::unique_ptr<KvRegions> make(std::vector<Part> parts, size_t bytes, int64_t cells, int32_t count);
    ~KvRegions();
    KvRegions(const KvRegions &) = delete;
    KvRegions & operator=(const KvRegions &) = delete;

    // Empties all regions and gives each its own slot.
    void reset();

    // Keeps a sequence's first cells. After them it continues in a slot that no other sequence uses there.
    void keep(int32_t sequence, int64_t kept);

    // Makes the first `count` cells of `from` those of `to`, which must be empty.
    void share(int32_t from, int32_t to, int64_t count);

    // Exchanges the cells of two sequences.
    void exchange(int32_t a, int32_t b);

    // Returns how many of the first cells of two regions are in the same pages, whether there is something in them or not.
    int64_t common(int32_t a, int32_t b) const;

    // Smallest number of cells that fill whole pages.
    int64_t cells_of_page() const { return grain; }

    // Copies what is in `count` cells, to cells that only `to` writes.
    void copy(int32_t from, int64_t first, int64_t count, int32_t to, int64_t at);

  private:
    // A slot's pages, from this cell to the next piece or the end. A sequence writes to its last piece only.
    struct Piece {
        int64_t from;
        int32_t slot;
    };
    using Pieces = std::vector<Piece>;

    const int file;
    const std::vector<Part> parts;
    // Cells of a region.
    const int64_t cells;
    // Smallest number of cells that fill whole pages in every part.
    int64_t grain = 1;
    std::vector<Pieces> sequences;
    // Number of sequences with a piece of each slot.
    std::vector<int32_t> uses;
    std::vector<int32_t> unused;

    KvRegions(int file, std::vector<Part> parts, int64_t cells, int32_t count);

    char * at(const Part & part, int32_t sequence, int64_t cell) const;
    off_t in_file(const Part & part, int32_t slot, int64_t cell) const;
    void place(int32_t sequence, int64_t from, int64_t to, int32_t slot);
    void place(int32_t sequence);
    std::vector<char> rows(int32_t sequence, int64_t from, int64_t to) const;
    void write(int32_t sequence, int64_t from, const std::vector<char> & read);
    void punch_file(off_t offset, size_t size);
    void punch(int32_t slot, int64_t from);
    int64_t shared_end(int32_t slot, int32_t except) const;
    void release(int32_t slot);
    int32_t take();
    bool may_share(int32_t from) const;
};

} // namespace svc

#endif
