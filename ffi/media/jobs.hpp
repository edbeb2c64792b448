// One prompt with its media, from the moment it is opened until it is released.
#pragma once

#include "state.hpp"

#include "../common/job-table.hpp"

#include <string>
#include <vector>

namespace media {

struct Medium {
    bool is_audio = false;
    std::string id;
    // Pixels, or an audio file; empty once the job is prepared.
    std::vector<uint8_t> bytes;
    int32_t width = 0, height = 0;

    // Key for the cache: an image and an audio file never share one.
    std::string key() const { return (is_audio ? "a" : "i") + id; }
};

struct Chunk {
    mtmd_input_chunk_type type = MTMD_INPUT_CHUNK_TYPE_TEXT;
    int32_t tokens = 0;
    int32_t positions = 0;
    // The fields below apply to media only.
    int32_t medium = -1;
    PartName name;
    // Number of chunks of the whole medium.
    int32_t parts = 0;
    bool non_causal = false;
    // The input of encoding; owned by Prompt::source.
    const mtmd_input_chunk * source = nullptr;
    // The chunk without its samples, for the positions of its tokens.
    mtmd::input_chunk_ptr shape;
    EmbeddingsPtr embeddings;

    bool is_text() const { return type == MTMD_INPUT_CHUNK_TYPE_TEXT; }
};

// The result of preparing a job.
struct Prompt {
    // Tokens of all text chunks.
    std::vector<llama_token> tokens;
    std::vector<Chunk> chunks;
    // Preprocessed samples; freed when everything is encoded.
    mtmd::input_chunks_ptr source;

    bool is_encoded() const;
};

struct Job : AnyJob {
    explicit Job(std::string && client);
    ~Job();

    // The client whose turns this job uses.
    const std::string client;

    // Changed only while the job is open; afterwards read only by the preparing thread.
    std::string text;
    std::vector<Medium> media;
    // The number of the medium at fault, from 1; 0 when it is not known. Written by the preparing thread, and read once
    // there is a failure.
    int32_t faulty = 0;

    // The mutex of the table protects the fields below, but the encoding thread may read what it alone writes without it.
    svc_media_stage stage = SVC_MEDIA_STAGE_OPEN;
    Prompt prompt;
};

extern JobTable<Job> & table;

// Adds a medium to an open job. Returns 0, or a negative number.
int32_t add_medium(int32_t number, Medium && medium);

// Makes the prompt of a job. Throws MediumError when a medium is at fault.
Prompt make_prompt(Job & job);

// Encodes one chunk that is not encoded yet, or stops when the job is released. Returns whether nothing is left to do.
// Throws std::runtime_error.
bool encode_next(Job & job);

// See svc_media_positions.
int32_t write_positions(const Chunk & chunk, int32_t first, int32_t offset, int32_t count, int32_t * out);

// mtmd's callback between graph nodes: lets the encoding of a released job end early.
bool on_node(ggml_tensor *, bool ask, void *);

// Decodes a WAV, MP3 or FLAC file to mono samples. Throws MediumError when the file is of another kind, damaged or
// longer than `most_samples`, which are what the other sounds of the job leave of the limit.
std::vector<float> decode_audio(const std::vector<uint8_t> & file, int32_t sample_rate, size_t most_samples);

// Stops all work and forgets all jobs; returns when no thread uses the projector any more.
void forget_jobs();

} // namespace media
