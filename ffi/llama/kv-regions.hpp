// The regions of a paged KV cache: one for each sequence, into which pages of a file without a name are mapped. Sequences with
// a common prefix have the same pages there.
#pragma once

#ifdef __linux__

#include <cstddef>
#include <cstdint>
#include <memory>
#include <sys/types.h>
#include <vector>

namespace svc {

// Maps memory that may be read and written; null where that fails.
char * map_memory(void * at, size_t size, int flags, int file = -1, off_t offset = 0);

class KvRegions {
  public:
    // The keys or values of a layer: where they are in memory, how far into the cache's buffer, and the bytes of a cell.
    struct Part {
        char * memory;
        size_t offset;
        size_t cell_bytes;
    };

    // `count` regions of `cells` cells in each part, of a buffer of `bytes`. All are empty. Null where there can be no such
    // file.
    static std::unique_ptr<KvRegions> make(std::vector<Part> parts, size_t bytes, int64_t cells, int32_t count);
    ~KvRegions();
    KvRegions(const KvRegions &) = delete;
    KvRegions & operator=(const KvRegions &) = delete;

    // All are empty, and each has a slot of its own.
    void reset();

    // A sequence keeps its first cells. It goes on in a slot that no other has beyond them.
    void keep(int32_t sequence, int64_t kept);

    // Makes the first cells of one sequence those of another, which is empty.
    void share(int32_t from, int32_t to, int64_t count);

  private:
    // From this cell on, up to the next piece or the end, a slot's pages. A sequence writes to its last piece only.
    struct Piece {
        int64_t from;
        int32_t slot;
    };
    using Pieces = std::vector<Piece>;

    const int file;
    const std::vector<Part> parts;
    // Of a region.
    const int64_t cells;
    // Cells that take whole pages in each part.
    int64_t grain = 1;
    std::vector<Pieces> sequences;
    // Sequences with a piece of the slot.
    std::vector<int32_t> uses;
    std::vector<int32_t> unused;

    KvRegions(int file, std::vector<Part> parts, int64_t cells, int32_t count);

    char * at(const Part & part, int32_t sequence, int64_t cell) const;
    off_t in_file(const Part & part, int32_t slot, int64_t cell) const;
    void place(int32_t sequence, int64_t from, int64_t to, int32_t slot);
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
