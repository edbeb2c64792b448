#include "paged-memory.hpp"

#ifdef __linux__

#include "internals.hpp"
#include "kv-regions.hpp"

#include "ggml-backend-impl.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <typeinfo>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace svc {

namespace {

// Host memory that llama.cpp allocated for a context: reserved address space, parts of which may be a cache.
struct Buffer {
    char * base;
    size_t size;
    std::vector<const ggml_tensor *> caches;
    // Regions of this context's cache, when the cache is paged.
    std::unique_ptr<KvRegions> regions;
    const llama_context * owner = nullptr;
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

// Called for each tensor that is placed in the buffer; llama.cpp names the tensors of its caches.
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
    // New pages are zeros already: writing them would take memory for the whole reservation.
    else if (!one.is_new || value != 0) std::memset(one.base, value, one.size);
}

// Reserves address space for a buffer. Returns null, like any allocation, when that fails.
ggml_backend_buffer_t reserve(ggml_backend_buffer_type_t type, size_t size) {
    const size_t reserved = std::max<size_t>(size, 1);
    char * base = map_memory(nullptr, reserved, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (!base) return nullptr;
    auto * one = new Buffer{base, reserved};
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

// There is no public way to give a cache another kind of buffer; the type's function table is that of the libraries'
// headers. It is changed when this library is loaded, before other threads allocate.
auto & allocate() { return ggml_backend_cpu_buffer_type()->iface.alloc_buffer; }
const auto usual = allocate();
thread_local bool reserves = false;
[[maybe_unused]] const auto changed = allocate() = [](ggml_backend_buffer_type_t type, size_t size) {
    return reserves ? reserve(type, size) : usual(type, size);
};

// Replaces a buffer's caches by pages of a file. Returns false unless each cache is one region per sequence, in whole
// pages.
bool make_regions(Buffer & buffer, const llama_context * context) {
    const auto count = static_cast<int32_t>(llama_n_seq_max(context));
    const int64_t cells = buffer.caches.front()->ne[1];
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    std::vector<KvRegions::Part> parts;
    for (const ggml_tensor * tensor : buffer.caches) {
        const auto offset = static_cast<size_t>(in_tensor(tensor, 0) - buffer.base);
        if (tensor->ne[1] != cells || tensor->ne[2] != count || tensor->nb[2] % page != 0 || offset % page != 0) return false;
        parts.push_back({in_tensor(tensor, 0), offset, tensor->nb[1]});
    }
    buffer.regions = KvRegions::make(std::move(parts), buffer.size, cells, count);
    buffer.owner = context;
    return buffer.regions != nullptr;
}

// Returns whether the context's cache is a plain one, and members that are changed are where the headers say.
bool is_plain(llama_context * context) {
    llama_kv_cache * cache = plain_cache(context);
    const uint32_t count = llama_n_seq_max(context);
    if (!cache || !is_as_said(*context) || settings_of(*context).kv_unified) return false;
    if (stream_count_of(*cache) != count || heads_of(*cache).size() != count || cells_of(*cache).size() != count) return false;
    const std::vector<uint32_t> & streams = streams_of(*cache);
    if (streams.size() < count) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (streams[i] != i) return false;
    }
    llama_kv_cells & cells = cells_of(*cache).front();
    return holders_of(cells).size() == cells.size();
}

} // namespace

// The libraries export no symbol for a cast.
llama_kv_cache * plain_cache(const llama_context * context) {
    llama_memory_t memory = llama_get_memory(context);
    const bool is_plain = memory && std::strcmp(typeid(*memory).name(), typeid(llama_kv_cache).name()) == 0;
    return is_plain ? static_cast<llama_kv_cache *>(memory) : nullptr;
}

KvRegions * regions_of(const llama_context * context) {
    for (const Buffer * one : buffers) {
        if (one->owner == context) return one->regions.get();
    }
    return nullptr;
}

Reserving::Reserving() { reserves = true; }
Reserving::~Reserving() { reserves = false; }

llama_context * create_paged_context(llama_model * model, const llama_context_params & params) {
    llama_context * context;
    {
        const Reserving scope;
        context = llama_init_from_model(model, params);
    }
    if (!context) return nullptr;
    bool is_paged = false;
    for (Buffer * one : buffers) {
        if (one->is_new && !one->caches.empty()) is_paged = is_plain(context) && make_regions(*one, context);
        one->is_new = false;
    }
    if (is_paged) return context;
    llama_free(context);
    return nullptr;
}

void append_behind(const llama_context * context) {
    if (!regions_of(context)) return;
    llama_kv_cache & cache = *plain_cache(context);
    std::vector<uint32_t> & heads = heads_of(cache);
    const llama_kv_cells_vec & cells = cells_of(cache);
    for (size_t i = 0; i < heads.size(); i++) heads[i] = cells[i].get_used();
}

void release_cells(const llama_context * context, int32_t sequence, int32_t cells) {
    if (KvRegions * regions = regions_of(context)) regions->keep(sequence, cells);
}

void share_cells(const llama_context * context, int32_t from, int32_t to, int32_t cells) {
    if (KvRegions * regions = regions_of(context)) regions->share(from, to, cells);
}

void move_cells(const llama_context * context, int32_t from, int32_t to) {
    if (KvRegions * regions = regions_of(context)) regions->exchange(from, to);
}

WithoutCopies::WithoutCopies() { copies = false; }
WithoutCopies::~WithoutCopies() { copies = true; }

} // namespace svc

#else

namespace svc {

llama_context * create_paged_context(llama_model *, const llama_context_params &) { return nullptr; }
void append_behind(const llama_context *) {}
void release_cells(const llama_context *, int32_t, int32_t) {}
void share_cells(const llama_context *, int32_t, int32_t, int32_t) {}
void move_cells(const llama_context *, int32_t, int32_t) {}
Reserving::Reserving() {}
Reserving::~Reserving() {}
WithoutCopies::WithoutCopies() {}
WithoutCopies::~WithoutCopies() {}

} // namespace svc

#endif
