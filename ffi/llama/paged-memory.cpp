#include "paged-memory.hpp"

#include "ggml-backend-impl.h"

#include <algorithm>
#include <cstring>
#include <vector>

#ifndef _WIN32
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace svc {
namespace {

// The keys or values of a layer, for all sequences: one region of so many cells after the other.
struct Regions {
    char * base;
    size_t cell_bytes;
    int64_t cells;
    int64_t count;
};

struct PagedBuffer {
    const llama_context * owner;
    char * base;
    size_t size;
    std::vector<Regions> regions;
};

std::vector<PagedBuffer *> & buffers = *new std::vector<PagedBuffer *>;
int64_t copied_cells = -1;

#ifdef _WIN32
// Memory that is reserved there must be committed before it is written: no page comes by itself.
char * reserve(size_t) { return nullptr; }
void unreserve(char *, size_t) {}
void use_small_pages(char *, size_t) {}
void empty(char *, char *) {}
#else
char * map(void * at, size_t size, int flags) {
#ifdef MAP_NORESERVE
    flags |= MAP_NORESERVE;
#endif
    void * mapped = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return mapped == MAP_FAILED ? nullptr : static_cast<char *>(mapped);
}

char * reserve(size_t size) {
    return map(nullptr, size, 0);
}

// A huge page would be more than a short request needs in a layer.
void use_small_pages([[maybe_unused]] char * base, [[maybe_unused]] size_t size) {
#ifdef MADV_NOHUGEPAGE
    madvise(base, size, MADV_NOHUGEPAGE);
#endif
}

void unreserve(char * base, size_t size) { munmap(base, size); }

// Whole pages between the two are zeros again and take no memory; what else there is stays.
void empty(char * from, char * to) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t first = (reinterpret_cast<uintptr_t>(from) + page - 1) / page * page;
    const uintptr_t end = reinterpret_cast<uintptr_t>(to) / page * page;
    if (first >= end) return;
#ifdef __linux__
    madvise(reinterpret_cast<void *>(first), end - first, MADV_DONTNEED);
#else
    map(reinterpret_cast<void *>(first), end - first, MAP_FIXED);
#endif
}
#endif

PagedBuffer & paged(ggml_backend_buffer_t buffer) { return *static_cast<PagedBuffer *>(buffer->context); }

void free_paged(ggml_backend_buffer_t buffer) {
    PagedBuffer * one = &paged(buffer);
    buffers.erase(std::remove(buffers.begin(), buffers.end(), one), buffers.end());
    unreserve(one->base, one->size);
    delete one;
}

void * base_of(ggml_backend_buffer_t buffer) { return paged(buffer).base; }

// Called for each tensor that is put into the buffer: llama.cpp names those of its caches.
ggml_status note_tensor(ggml_backend_buffer_t buffer, ggml_tensor * tensor) {
    if (!tensor->view_src && std::strncmp(tensor->name, "cache_", 6) == 0) {
        if (paged(buffer).regions.empty()) use_small_pages(paged(buffer).base, paged(buffer).size);
        paged(buffer).regions.push_back({static_cast<char *>(tensor->data), tensor->nb[1], tensor->ne[1], tensor->ne[2]});
    }
    return GGML_STATUS_SUCCESS;
}

char * at(const ggml_tensor * tensor, size_t offset) { return static_cast<char *>(tensor->data) + offset; }

void fill_tensor(ggml_backend_buffer_t, ggml_tensor * tensor, uint8_t value, size_t offset, size_t size) {
    std::memset(at(tensor, offset), value, size);
}

// llama.cpp copies whole regions, most of which nothing was written to.
void set_tensor(ggml_backend_buffer_t, ggml_tensor * tensor, const void * data, size_t offset, size_t size) {
    const bool is_region = copied_cells >= 0 && offset == 0 && size == ggml_nbytes(tensor);
    std::memcpy(at(tensor, offset), data, is_region ? std::min(size, static_cast<size_t>(copied_cells) * tensor->nb[1]) : size);
}

void get_tensor(ggml_backend_buffer_t, const ggml_tensor * tensor, void * data, size_t offset, size_t size) {
    std::memcpy(data, at(tensor, offset), size);
}

void fill(ggml_backend_buffer_t buffer, uint8_t value) {
    PagedBuffer & one = paged(buffer);
    if (value == 0) empty(one.base, one.base + one.size);
    else std::memset(one.base, value, one.size);
}

// Null, as of any allocation, where so much cannot be reserved.
ggml_backend_buffer_t allocate_paged(ggml_backend_buffer_type_t type, size_t size) {
    const size_t reserved = std::max<size_t>(size, 1);
    char * base = reserve(reserved);
    if (!base) return nullptr;
    auto * one = new PagedBuffer{nullptr, base, reserved, {}};
    buffers.push_back(one);
    ggml_backend_buffer_i calls = {};
    calls.free_buffer = free_paged;
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
class PagedAllocation {
  public:
    PagedAllocation() { allocate = allocate_paged; }
    ~PagedAllocation() { allocate = usual; }
    PagedAllocation(const PagedAllocation &) = delete;
    PagedAllocation & operator=(const PagedAllocation &) = delete;

  private:
    using Allocate = ggml_backend_buffer_t (*)(ggml_backend_buffer_type_t, size_t);
    Allocate & allocate = ggml_backend_cpu_buffer_type()->iface.alloc_buffer;
    const Allocate usual = allocate;
};

// What was allocated last is this context's. False when that is not a region for each sequence.
bool belongs_to(const llama_context * context) {
    const auto sequences = static_cast<int64_t>(llama_n_seq_max(context));
    bool found = false, fits = true;
    for (PagedBuffer * one : buffers) {
        if (one->owner) continue;
        one->owner = context;
        found |= !one->regions.empty();
        for (const Regions & regions : one->regions) fits &= regions.count == sequences;
    }
    return found && fits;
}

} // namespace

bool can_page() {
#ifdef _WIN32
    return false;
#else
    return true;
#endif
}

llama_context * create_paged_context(llama_model * model, const llama_context_params & params) {
    llama_context * context;
    {
        const PagedAllocation scope;
        context = llama_init_from_model(model, params);
    }
    if (!context || belongs_to(context)) return context;
    llama_free(context);
    return nullptr;
}

void give_back(const llama_context * context, int32_t sequence, int32_t cells) {
    for (const PagedBuffer * one : buffers) {
        if (one->owner != context) continue;
        for (const auto & [base, cell_bytes, held, count] : one->regions) {
            if (sequence >= count || cells >= held) continue;
            char * region = base + static_cast<size_t>(sequence * held) * cell_bytes;
            empty(region + static_cast<size_t>(cells) * cell_bytes, region + static_cast<size_t>(held) * cell_bytes);
        }
    }
}

CopiedCells::CopiedCells(int32_t cells) { copied_cells = cells; }
CopiedCells::~CopiedCells() { copied_cells = -1; }

} // namespace svc
