// Embeddings of media, kept for the next turn of a conversation.
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

// The encoded form of one chunk; counted while it lives, in the cache or outside.
class Embeddings {
  public:
    Embeddings(const float * values, size_t count);
    ~Embeddings();
    Embeddings(const Embeddings &) = delete;
    Embeddings & operator=(const Embeddings &) = delete;

    const float * data() const { return values.data(); }
    size_t bytes() const { return values.size() * sizeof(float); }

    // Bytes of all that live.
    static int64_t held_bytes();

  private:
    std::vector<float> values;
};
using EmbeddingsPtr = std::shared_ptr<const Embeddings>;

// A medium may be cut into several chunks; this names one of them.
struct PartName {
    std::string medium;
    int32_t part = 0;
    // The same medium at another place of a prompt may need other padding.
    int32_t tokens = 0;
};

// Keeps the embeddings used last, up to a number of bytes. Any thread.
class EmbeddingCache {
  public:
    void set_limit(size_t bytes);
    void clear();

    // The embeddings of a part, which become the ones used last; null when they are not here.
    EmbeddingsPtr find(const PartName & name);
    // Whether all parts of a medium are here.
    bool has_all(const std::string & medium);
    // `parts`: how many the medium has.
    void keep(const PartName & name, int32_t parts, EmbeddingsPtr embeddings);

    struct Size {
        size_t bytes, chunks;
    };
    Size size();

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
    // The one used last is in front.
    Entries entries;
    std::unordered_map<std::string, Entries::iterator> index;
    size_t limit = 0;
    size_t bytes = 0;
};

} // namespace media
