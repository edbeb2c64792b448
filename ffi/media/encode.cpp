// Encodes prepared chunks to embeddings, and computes the positions of embeddings in a sequence.

#include "jobs.hpp"

namespace media {
namespace {

// Graph nodes computed between two checks whether the result is still needed; a layer has about twenty. Each check
// makes the backend wait for its threads.
constexpr int NODES_BETWEEN_LOOKS = 16;

// The job that this thread is encoding.
thread_local const Job * encoding = nullptr;
thread_local int nodes = 0;

// Returns null when the job was released meanwhile; the partial result is then worthless.
EmbeddingsPtr encode_chunk(const Job & job, const Chunk & chunk) {
    forget_complaint();
    encoding = &job;
    const int32_t result = mtmd_encode_chunk(state.context, chunk.source);
    encoding = nullptr;
    if (job.released) return nullptr;
    if (result != 0) throw std::runtime_error(with_complaint("a medium cannot be encoded"));
    const auto count = static_cast<size_t>(chunk.tokens) * static_cast<size_t>(state.width);
    const float * values = mtmd_get_output_embd(state.context);
    return std::make_shared<Embeddings>(values, values + count);
}

// The position of one token; only M-RoPE uses more than the first number.
struct Position {
    int32_t sections[4];
};

// Same values as in mtmd_helper_decode_image_chunk: time, row, column and one of the model's own.
Position position_of(const Chunk & chunk, int32_t first, int32_t token) {
    const int32_t next = first + token;
    const mtmd_image_tokens * image = mtmd_input_chunk_get_tokens_image(chunk.shape.get());
    if (!state.mrope || !image) return {{next, next, next, next}};
    const mtmd_decoder_pos at = mtmd_image_tokens_get_decoder_pos(image, first, static_cast<size_t>(token));
    return {{static_cast<int32_t>(at.t), static_cast<int32_t>(at.y), static_cast<int32_t>(at.x),
             static_cast<int32_t>(at.z)}};
}

} // namespace

bool on_node(ggml_tensor *, bool ask, void *) {
    if (ask) return ++nodes % NODES_BETWEEN_LOOKS == 0;
    return !(encoding && encoding->released);
}

bool encode_next(Job & job) {
    bool encoded = false;
    for (Chunk & chunk : job.prompt.chunks) {
        if (chunk.is_text() || chunk.embeddings) continue;
        if (encoded) return false;
        // Another job may have encoded the chunk meanwhile, or this job at another place in the prompt.
        EmbeddingsPtr embeddings = state.cache.find(chunk.name);
        if (!embeddings) {
            embeddings = encode_chunk(job, chunk);
            if (!embeddings) return true;
            encoded = true;
            state.cache.keep(chunk.name, chunk.parts, embeddings);
        }
        std::lock_guard<std::mutex> lock(table.mutex);
        chunk.embeddings = std::move(embeddings);
    }
    return true;
}

int32_t write_positions(const Chunk & chunk, int32_t first, int32_t offset, int32_t count, int32_t * out) {
    if (chunk.is_text()) return fail("text has no positions of its own");
    if (offset < 0 || count < 0 || offset > chunk.tokens - count) return fail("the chunk has no such tokens");
    const int32_t sections = state.mrope ? 4 : 1;
    for (int32_t index = 0; index < count; index++) {
        const Position position = position_of(chunk, first, offset + index);
        for (int32_t section = 0; section < sections; section++) {
            out[section * count + index] = position.sections[section];
        }
    }
    return sections * count;
}

} // namespace media
