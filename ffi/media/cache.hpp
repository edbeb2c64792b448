// Caches embeddings of media for the next turn of a conversation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace media {

// The encoded form of one chunk.
using Embeddings = std::vector<float>;
using EmbeddingsPtr = std::shared_ptr<const Embeddings>;

// Identifies one chunk of a medium, which may be divided into several.
struct PartName {
    std::string medium;
    int32_t part = 0;
    // The same medium at another place in a prompt may need different padding.
    int32_t tokens = 0;
};

// Keeps the most recently used embeddings, up to a number of bytes. Any thread.
class EmbeddingCache {
  public:
    void set_limit(size_t bytes);
    void clear();

    // Returns the embeddings of a part and marks them as most recently used; null when they are not cached.
    EmbeddingsPtr find(const PartName & name);
    // Returns whether all parts of a medium are cached.
    bool has_all(const std::string & medium);
    // Adds a part. `parts`: number of parts of the medium.
    void keep(const PartName & name, int32_t parts, EmbeddingsPtr embeddings);

    // Returns the bytes of all parts.
    size_t size();

  private:
    struct Entry {
        std::string key;
        int32_t parts;
        int32_t tokens;
        EmbeddingsPtr embeddings;
    };
    using Entries = std::list<Entry>;

    void drop(Entries::iterator entry);

    std::mutex mutex;
    // Most recently used first.
    Entries entries;
    std::unordered_map<std::string, Entries::iterator> index;
    size_t limit = 0;
    size_t bytes = 0;
};

} // namespace media
