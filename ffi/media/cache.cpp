#include "cache.hpp"

namespace media {
namespace {

size_t bytes_of(const EmbeddingsPtr & embeddings) { return embeddings->size() * sizeof(float); }

std::string key_of(const std::string & medium, int32_t part) { return std::to_string(part) + ":" + medium; }

} // namespace

void EmbeddingCache::set_limit(size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    limit = bytes;
}

void EmbeddingCache::clear() {
    std::lock_guard<std::mutex> lock(mutex);
    index.clear();
    entries.clear();
    bytes = 0;
}

EmbeddingsPtr EmbeddingCache::find(const PartName & name) {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = index.find(key_of(name.medium, name.part));
    if (found == index.end() || found->second->tokens != name.tokens) return nullptr;
    entries.splice(entries.begin(), entries, found->second);
    return found->second->embeddings;
}

bool EmbeddingCache::has_all(const std::string & medium) {
    std::lock_guard<std::mutex> lock(mutex);
    const auto first = index.find(key_of(medium, 0));
    if (first == index.end()) return false;
    for (int32_t part = 1; part < first->second->parts; part++) {
        if (!index.count(key_of(medium, part))) return false;
    }
    return true;
}

void EmbeddingCache::keep(const PartName & name, int32_t parts, EmbeddingsPtr embeddings) {
    std::lock_guard<std::mutex> lock(mutex);
    const std::string key = key_of(name.medium, name.part);
    const auto old = index.find(key);
    if (old != index.end()) drop(old->second);
    if (bytes_of(embeddings) > limit) return;
    while (bytes + bytes_of(embeddings) > limit) drop(std::prev(entries.end()));
    bytes += bytes_of(embeddings);
    entries.push_front({key, parts, name.tokens, std::move(embeddings)});
    index[key] = entries.begin();
}

size_t EmbeddingCache::size() {
    std::lock_guard<std::mutex> lock(mutex);
    return bytes;
}

void EmbeddingCache::drop(Entries::iterator entry) {
    bytes -= bytes_of(entry->embeddings);
    index.erase(entry->key);
    entries.erase(entry);
}

} // namespace media
