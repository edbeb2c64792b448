// One prompt with its media, from the moment it is opened until it is released.
#pragma once

#include "state.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace media {

struct Medium {
    bool is_audio = false;
    std::string id;
    // Pixels, or a file; empty once the job is prepared.
    std::vector<uint8_t> bytes;
    int32_t width = 0, height = 0;

    // Name for the cache: an image and an audio file never share.
    std::string key() const { return (is_audio ? "a" : "i") + id; }
};

struct Chunk {
    mtmd_input_chunk_type type = MTMD_INPUT_CHUNK_TYPE_TEXT;
    int32_t tokens = 0;
    int32_t positions = 0;
    // The rest is of media only.
    int32_t medium = -1;
    PartName name;
    // Chunks of the whole medium.
    int32_t parts = 0;
    bool non_causal = false;
    double seconds = 0;
    // What is encoded; belongs to Prompt::source.
    const mtmd_input_chunk * source = nullptr;
    // The chunk without its samples, for the positions of its tokens.
    mtmd::input_chunk_ptr shape;
    bool cached = false;
    EmbeddingsPtr embeddings;

    bool is_text() const { return type == MTMD_INPUT_CHUNK_TYPE_TEXT; }
};

// What preparation makes.
struct Prompt {
    // Of all text chunks.
    std::vector<llama_token> tokens;
    std::vector<Chunk> chunks;
    // Preprocessed samples; freed when everything is encoded.
    mtmd::input_chunks_ptr source;

    bool is_encoded() const;
};

struct Job {
    Job(int32_t number, std::string && client);
    ~Job();

    const int32_t number;
    // Whose turns its work takes.
    const std::string client;
    // Whoever works on it stops.
    std::atomic<bool> released{false};

    // Only changed while the job is open, afterwards read by the preparing thread alone.
    std::string text;
    std::vector<Medium> media;

    // The rest is protected by `jobs_mutex`, but for what the encoding thread alone writes: it may read it without.
    svc_media_stage stage = SVC_MEDIA_STAGE_OPEN;
    std::optional<Failure> failure;
    Prompt prompt;
};

// Protects the table of jobs and what each says about itself.
extern std::mutex & jobs_mutex;

// Adds a medium to an open job. 0, or negative.
int32_t add_medium(int32_t number, Medium && medium);

// Makes the prompt of a job. Throws MediumError when a medium is at fault.
Prompt make_prompt(Job & job);

// Encodes one chunk that is not encoded yet, or stops when the job is released. Whether nothing is left to do. Throws
// std::runtime_error.
bool encode_next(Job & job);

// See svc_media_positions.
int32_t write_positions(const Chunk & chunk, int32_t first, int32_t offset, int32_t count, int32_t * out);

// mtmd's callback between graph nodes: lets the encoding of a released job end early.
bool on_node(ggml_tensor *, bool ask, void *);

// Mono samples of a WAV, MP3 or FLAC file. Throws MediumError when it is none, damaged or too long.
std::vector<float> decode_audio(const std::vector<uint8_t> & file, int32_t sample_rate, int32_t longest_seconds);

// Stops all work and forgets all jobs; returns when nobody uses the projector any more.
void forget_jobs();

} // namespace media
