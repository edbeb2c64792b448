#include "paged-memory.hpp"

#ifdef __linux__

#include "ggml-backend-impl.h"
#include "llama-kv-cache.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <typeinfo>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace svc {
namespace {

// Linux allows 65,530 mappings for each process by default. Beyond these, what sequences have in common is copied.
constexpr size_t MOST_MAPPINGS = 30'000;

// The file has so many slots for each sequence. A sequence that gives up cells which others share leaves its slot to them and
// takes another.
constexpr int32_t SLOTS = 2;

char * map(void * at, size_t size, int flags, int file, off_t offset) {
    void * mapped = mmap(at, size, PROT_READ | PROT_WRITE, flags, file, offset);
    return mapped == MAP_FAILED ? nullptr : static_cast<char *>(mapped);
}

// Of the keys or values of a layer: where they are, in memory and in the file, and the bytes of a cell.
struct Part {
    char * memory;
    off_t file;
    size_t cell_bytes;
};

// The regions of a cache, and which pages of the file lie in them.
class Regions {
  public:
    const llama_context * const owner;

    Regions(const llama_context * context, int file, std::vector<Part> parts, int64_t cells, int32_t count)
        : owner(context), file(file), parts(std::move(parts)), cells(cells), uses(static_cast<size_t>(SLOTS * count)) {
        const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        for (const Part & part : this->parts) grain = std::lcm(grain, static_cast<int64_t>(page / std::gcd(page, part.cell_bytes)));
        sequences.resize(static_cast<size_t>(count));
        reset();
    }
    ~Regions() { close(file); }
    Regions(const Regions &) = delete;
    Regions & operator=(const Regions &) = delete;

    // All are empty, and each has a slot of its own.
    void reset() {
        std::fill(uses.begin(), uses.end(), 0);
        unused.clear();
        const auto count = static_cast<int32_t>(sequences.size());
        for (int32_t slot = SLOTS * count - 1; slot >= count; slot--) unused.push_back(slot);
        for (int32_t i = 0; i < count; i++) {
            sequences[static_cast<size_t>(i)] = {{0, i}};
            uses[static_cast<size_t>(i)] = 1;
        }
        for (const Part & part : parts) {
            const size_t bytes = part.cell_bytes * static_cast<size_t>(cells) * sequences.size();
            punch_file(part.file, SLOTS * bytes);
            if (!map(part.memory, bytes, MAP_SHARED | MAP_FIXED, file, part.file)) throw std::runtime_error("memory of the KV cache cannot be mapped");
        }
    }

    // A sequence keeps its first cells. It goes on in a slot that no other has beyond them.
    void keep(int32_t sequence, int64_t kept) {
        const int64_t whole = kept / grain * grain;
        // What is beyond the whole pages, in one that others may have too.
        const std::vector<char> rest = rows(sequence, whole, kept);
        const Pieces before = sequences[static_cast<size_t>(sequence)];
        const Piece last = before.back();
        Pieces & pieces = sequences[static_cast<size_t>(sequence)];
        pieces.erase(std::find_if(pieces.begin(), pieces.end(), [&](const Piece & piece) { return piece.from >= whole; }), pieces.end());
        for (const Piece & piece : before) {
            if (piece.from >= whole && piece.slot != last.slot) leave(piece.slot);
        }
        int32_t own = last.slot;
        if (shared_end(own, sequence) > whole) {
            own = take();
            if (last.from >= whole) leave(last.slot);
            else punch(last.slot, shared_end(last.slot, sequence));
            place(sequence, whole, cells, own);
            pieces.push_back({whole, own});
        } else {
            punch(own, whole);
            if (last.from > whole) place(sequence, whole, last.from, own);
            if (last.from >= whole) pieces.push_back({whole, own});
        }
        write(sequence, whole, rest);
    }

    // Makes the first cells of one sequence those of another, which is empty.
    void share(int32_t from, int32_t to, int64_t count) {
        const Pieces source = sequences[static_cast<size_t>(from)];
        Pieces & target = sequences[static_cast<size_t>(to)];
        const int64_t whole = may_share(from) ? count / grain * grain : 0;
        if (whole > 0) {
            const int32_t own = target.back().slot;
            target.clear();
            for (size_t i = 0; i < source.size() && source[i].from < whole; i++) {
                const int64_t end = i + 1 < source.size() ? std::min(source[i + 1].from, whole) : whole;
                place(to, source[i].from, end, source[i].slot);
                target.push_back(source[i]);
                uses[static_cast<size_t>(source[i].slot)]++;
            }
            target.push_back({whole, own});
        }
        write(to, whole, rows(from, whole, count));
    }

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

    static off_t bytes_of(int64_t count, const Part & part) { return static_cast<off_t>(count) * static_cast<off_t>(part.cell_bytes); }
    char * at(const Part & part, int32_t sequence, int64_t cell) const { return part.memory + bytes_of(sequence * cells + cell, part); }

    void place(int32_t sequence, int64_t from, int64_t to, int32_t slot) {
        for (const Part & part : parts) {
            const off_t offset = part.file + bytes_of(slot * cells + from, part);
            const auto size = static_cast<size_t>(bytes_of(to - from, part));
            if (!map(at(part, sequence, from), size, MAP_SHARED | MAP_FIXED, file, offset)) throw std::runtime_error("memory of the KV cache cannot be mapped");
        }
    }

    std::vector<char> rows(int32_t sequence, int64_t from, int64_t to) const {
        std::vector<char> read;
        for (const Part & part : parts) read.insert(read.end(), at(part, sequence, from), at(part, sequence, to));
        return read;
    }

    void write(int32_t sequence, int64_t from, const std::vector<char> & read) {
        size_t cell = 0;
        for (const Part & part : parts) cell += part.cell_bytes;
        const size_t count = read.size() / cell;
        const char * next = read.data();
        for (const Part & part : parts) {
            std::memcpy(at(part, sequence, from), next, count * part.cell_bytes);
            next += count * part.cell_bytes;
        }
    }

    void punch_file(off_t offset, size_t size) {
        // Of an empty file there is nothing to free.
        (void) fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, static_cast<off_t>(size));
    }

    // A slot keeps its cells before `from`.
    void punch(int32_t slot, int64_t from) {
        for (const Part & part : parts) {
            if (from < cells) punch_file(part.file + bytes_of(slot * cells + from, part), static_cast<size_t>(bytes_of(cells - from, part)));
        }
    }

    // Where the pieces of a slot end that sequences have, other than one, which do not write to it.
    int64_t shared_end(int32_t slot, int32_t except) const {
        int64_t end = 0;
        for (size_t s = 0; s < sequences.size(); s++) {
            if (static_cast<int32_t>(s) == except) continue;
            const Pieces & pieces = sequences[s];
            for (size_t i = 0; i < pieces.size(); i++) {
                if (pieces[i].slot == slot) end = std::max(end, i + 1 < pieces.size() ? pieces[i + 1].from : cells);
            }
        }
        return end;
    }

    // One sequence fewer has a piece of the slot.
    void leave(int32_t slot) {
        if (--uses[static_cast<size_t>(slot)] > 0) return punch(slot, shared_end(slot, -1));
        punch(slot, 0);
        unused.push_back(slot);
    }

    int32_t take() {
        if (unused.empty()) throw std::runtime_error("no slot of the KV cache is free");
        const int32_t slot = unused.back();
        unused.pop_back();
        uses[static_cast<size_t>(slot)] = 1;
        return slot;
    }

    // Every slot that is shared may be left to others, and its sequence then needs another one.
    bool may_share(int32_t from) const {
        const size_t count = sequences.size();
        const size_t left = count - unused.size();
        size_t shared = 0, pieces = 0;
        for (size_t s = 0; s < count; s++) {
            const int32_t own = sequences[s].back().slot;
            shared += uses[static_cast<size_t>(own)] > 1 || static_cast<int32_t>(s) == from;
            pieces += sequences[s].size();
        }
        const size_t mappings = (pieces + sequences[static_cast<size_t>(from)].size() + 1) * parts.size();
        return left + shared <= count && mappings <= MOST_MAPPINGS;
    }
};

// Host memory that llama.cpp allocated for a context: address space, some of which may be a cache's.
struct Buffer {
    char * base;
    size_t size;
    std::vector<const ggml_tensor *> caches;
    std::unique_ptr<Regions> regions;
    bool is_new = true;
};

std::vector<Buffer *> & buffers = *new std::vector<Buffer *>;
bool copies = true;

Buffer & paged(ggml_backend_buffer_t buffer) { return *static_cast<Buffer *>(buffer->context); }

void free_buffer(ggml_backend_buffer_t buffer) {
    Buffer * one = &paged(buffer);
    buffers.erase(std::remove(buffers.begin(), buffers.end(), one), buffers.end());
    munmap(one->base, one->size);
    delete one;
}

void * base_of(ggml_backend_buffer_t buffer) { return paged(buffer).base; }

// Called for each tensor that is put into the buffer: llama.cpp names those of its caches.
ggml_status note_tensor(ggml_backend_buffer_t buffer, ggml_tensor * tensor) {
    if (!tensor->view_src && std::strncmp(tensor->name, "cache_", 6) == 0) paged(buffer).caches.push_back(tensor);
    return GGML_STATUS_SUCCESS;
}

char * in_tensor(const ggml_tensor * tensor, size_t offset) { return static_cast<char *>(tensor->data) + offset; }

void fill_tensor(ggml_backend_buffer_t, ggml_tensor * tensor, uint8_t value, size_t offset, size_t size) {
    std::memset(in_tensor(tensor, offset), value, size);
}

void set_tensor(ggml_backend_buffer_t, ggml_tensor * tensor, const void * data, size_t offset, size_t size) {
    if (copies) std::memcpy(in_tensor(tensor, offset), data, size);
}

void get_tensor(ggml_backend_buffer_t, const ggml_tensor * tensor, void * data, size_t offset, size_t size) {
    std::memcpy(data, in_tensor(tensor, offset), size);
}

void fill(ggml_backend_buffer_t buffer, uint8_t value) {
    Buffer & one = paged(buffer);
    if (one.regions && value == 0) one.regions->reset();
    // New pages are zeros: writing them would take all the memory there is.
    else if (!one.is_new || value != 0) std::memset(one.base, value, one.size);
}

// Null, as of any allocation, where so much cannot be reserved.
ggml_backend_buffer_t reserve(ggml_backend_buffer_type_t type, size_t size) {
    const size_t reserved = std::max<size_t>(size, 1);
    char * base = map(nullptr, reserved, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!base) return nullptr;
    auto * one = new Buffer{base, reserved, {}, nullptr};
    buffers.push_back(one);
    ggml_backend_buffer_i calls = {};
    calls.free_buffer = free_buffer;
    calls.get_base = base_of;
    calls.init_tensor = note_tensor;
    calls.memset_tensor = fill_tensor;
    calls.set_tensor = set_tensor;
    calls.get_tensor = get_tensor;
    calls.clear = fill;
    return ggml_backend_buffer_init(type, calls, one, size);
}

// While it lives, the buffers in host memory that llama.cpp allocates are reserved address space. There is no public way to
// give a cache another kind of buffer; the type's table of functions is that of the headers that the libraries were built
// from.
class Reserving {
  public:
    Reserving() { allocate = reserve; }
    ~Reserving() { allocate = usual; }
    Reserving(const Reserving &) = delete;
    Reserving & operator=(const Reserving &) = delete;

  private:
    using Allocate = ggml_backend_buffer_t (*)(ggml_backend_buffer_type_t, size_t);
    Allocate & allocate = ggml_backend_cpu_buffer_type()->iface.alloc_buffer;
    const Allocate usual = allocate;
};

// Puts pages of a file in place of a buffer's caches. False when those are not a region for each sequence, in whole pages.
bool make_regions(Buffer & buffer, const llama_context * context) {
    const auto count = static_cast<int32_t>(llama_n_seq_max(context));
    const int64_t cells = buffer.caches.front()->ne[1];
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    std::vector<Part> parts;
    for (const ggml_tensor * tensor : buffer.caches) {
        const auto offset = static_cast<size_t>(in_tensor(tensor, 0) - buffer.base);
        if (tensor->ne[1] != cells || tensor->ne[2] != count || tensor->nb[2] % page != 0 || offset % page != 0) return false;
        parts.push_back({in_tensor(tensor, 0), static_cast<off_t>(SLOTS * offset), tensor->nb[1]});
    }
    const int file = memfd_create("svc-kv-cache", MFD_CLOEXEC);
    if (file < 0) return false;
    if (ftruncate(file, static_cast<off_t>(SLOTS * buffer.size)) != 0) {
        close(file);
        return false;
    }
    buffer.regions = std::make_unique<Regions>(context, file, std::move(parts), cells, count);
    return true;
}

// llama.cpp keeps to itself where it puts the next cells. These reach the members in the headers that the libraries were built
// from.
template <typename Member, Member member> struct ReachCache {
    friend Member reach(Member) { return member; }
};
using HeadsMember = std::vector<uint32_t> llama_kv_cache::*;
using CellsMember = std::shared_ptr<llama_kv_cells_vec> llama_kv_cache::*;
HeadsMember reach(HeadsMember);
CellsMember reach(CellsMember);
template struct ReachCache<HeadsMember, &llama_kv_cache::v_heads>;
template struct ReachCache<CellsMember, &llama_kv_cache::v_cells_impl>;

// The plain cache, or null: there are others, for other kinds of attention. No symbol for a cast is exported.
llama_kv_cache * plain_cache(const llama_context * context) {
    llama_memory_t memory = llama_get_memory(context);
    const bool is_plain = memory && std::strcmp(typeid(*memory).name(), typeid(llama_kv_cache).name()) == 0;
    return is_plain ? static_cast<llama_kv_cache *>(memory) : nullptr;
}

Regions * regions_of(const llama_context * context) {
    for (const Buffer * one : buffers) {
        if (one->regions && one->regions->owner == context) return one->regions.get();
    }
    return nullptr;
}

} // namespace

llama_context * create_paged_context(llama_model * model, const llama_context_params & params) {
    llama_context * context;
    {
        const Reserving scope;
        context = llama_init_from_model(model, params);
    }
    if (!context) return nullptr;
    bool is_paged = false;
    for (Buffer * one : buffers) {
        if (one->is_new && !one->caches.empty()) is_paged = plain_cache(context) && make_regions(*one, context);
        one->is_new = false;
    }
    if (is_paged) return context;
    llama_free(context);
    return nullptr;
}

void append_behind(const llama_context * context) {
    if (!regions_of(context)) return;
    llama_kv_cache & cache = *plain_cache(context);
    std::vector<uint32_t> & heads = cache.*reach(HeadsMember{});
    const llama_kv_cells_vec & cells = *(cache.*reach(CellsMember{}));
    for (size_t i = 0; i < heads.size(); i++) heads[i] = cells[i].get_used();
}

void give_back(const llama_context * context, int32_t sequence, int32_t cells) {
    if (Regions * regions = regions_of(context)) regions->keep(sequence, cells);
}

void share_cells(const llama_context * context, int32_t from, int32_t to, int32_t cells) {
    if (Regions * regions = regions_of(context)) regions->share(from, to, cells);
}

WithoutCopies::WithoutCopies() { copies = false; }
WithoutCopies::~WithoutCopies() { copies = true; }

} // namespace svc

#else

namespace svc {

llama_context * create_paged_context(llama_model *, const llama_context_params &) { return nullptr; }
void append_behind(const llama_context *) {}
void give_back(const llama_context *, int32_t, int32_t) {}
void share_cells(const llama_context *, int32_t, int32_t, int32_t) {}
WithoutCopies::WithoutCopies() {}
WithoutCopies::~WithoutCopies() {}

} // namespace svc

#endif
