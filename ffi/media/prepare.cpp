// Turns a rendered prompt and its media into chunks with known lengths; nothing is encoded here.

#include "jobs.hpp"

#include <algorithm>

namespace media {
namespace {

// Models recognize nothing in a longer strip, and some preprocessors divide by the short side.
constexpr int32_t LARGEST_ASPECT = 200;

struct Bitmaps {
    std::vector<mtmd::bitmap_ptr> list;
    // For each medium, whether the bitmap has only its size.
    std::vector<bool> empty;

    void add(mtmd_bitmap * bitmap, bool is_empty) {
        list.emplace_back(bitmap);
        // mtmd passes this id on to the chunks of the medium.
        mtmd_bitmap_set_id(bitmap, std::to_string(list.size() - 1).c_str());
        empty.push_back(is_empty);
    }

    bool some_empty() const { return std::count(empty.begin(), empty.end(), true) > 0; }
};

// `left`: how many samples all further sounds of the job may have.
void add_audio(Bitmaps & bitmaps, const Medium & medium, size_t & left) {
    if (!state.audio) throw MediumError("this model takes no audio");
    const std::vector<float> samples = decode_audio(medium.bytes, state.sample_rate, left);
    left -= std::min(left, samples.size());
    bitmaps.add(mtmd_bitmap_init_from_audio(samples.size(), samples.data()), false);
}

// `empty`: the bitmap has only the size of the image, which is enough to find its lengths, and no pixel is resized.
void add_image(Bitmaps & bitmaps, const Medium & medium, bool empty) {
    if (!state.vision) throw MediumError("this model takes no images");
    const auto width = static_cast<uint32_t>(medium.width), height = static_cast<uint32_t>(medium.height);
    bitmaps.add(mtmd_bitmap_init(width, height, empty ? nullptr : medium.bytes.data()), empty);
}

void stop_if_released(const Job & job) {
    if (job.released) throw std::runtime_error("the job is released");
}

// `reuse`: images whose embeddings are all in the cache are only measured.
Bitmaps make_bitmaps(Job & job, bool reuse) {
    Bitmaps bitmaps;
    size_t samples_left = static_cast<size_t>(state.sample_rate) * static_cast<size_t>(state.audio_seconds);
    for (const Medium & medium : job.media) {
        stop_if_released(job);
        job.faulty++;
        if (medium.is_audio) {
            add_audio(bitmaps, medium, samples_left);
        } else {
            add_image(bitmaps, medium, reuse && state.cache.has_all(medium.key()));
        }
    }
    job.faulty = 0;
    return bitmaps;
}

// `parts` counts the chunks of each medium so far.
Chunk make_chunk(const mtmd_input_chunk * source, const Job & job, std::vector<int32_t> & parts) {
    Chunk chunk;
    chunk.type = mtmd_input_chunk_get_type(source);
    chunk.tokens = static_cast<int32_t>(mtmd_input_chunk_get_n_tokens(source));
    chunk.positions = mtmd_input_chunk_get_n_pos(source);
    if (chunk.is_text()) return chunk;
    chunk.medium = std::stoi(mtmd_input_chunk_get_id(source));
    const auto medium = static_cast<size_t>(chunk.medium);
    chunk.name = {job.media.at(medium).key(), parts.at(medium)++, chunk.tokens};
    chunk.non_causal = mtmd_decode_use_non_causal(state.context, source);
    chunk.source = source;
    chunk.shape.reset(mtmd_input_chunk_get_placeholder(source));
    if (!chunk.shape) throw std::runtime_error("a medium's shape cannot be kept");
    chunk.embeddings = state.cache.find(chunk.name);
    return chunk;
}

Prompt tokenize(const Job & job, const Bitmaps & bitmaps) {
    stop_if_released(job);
    forget_complaint();
    Prompt prompt;
    prompt.source.reset(mtmd_input_chunks_init());
    const mtmd_input_text text{job.text.data(), job.text.size(), /* add_special */ true, /* parse_special */ true};
    std::vector<const mtmd_bitmap *> list;
    for (const auto & bitmap : bitmaps.list) list.push_back(bitmap.get());
    const int32_t result = mtmd_tokenize(state.context, prompt.source.get(), &text, list.data(), list.size());
    if (result != 0) throw MediumError(with_complaint("the media cannot be prepared"));

    std::vector<int32_t> parts(job.media.size(), 0);
    for (size_t index = 0; index < mtmd_input_chunks_size(prompt.source.get()); index++) {
        const mtmd_input_chunk * source = mtmd_input_chunks_get(prompt.source.get(), index);
        prompt.chunks.push_back(make_chunk(source, job, parts));
        size_t count = 0;
        const llama_token * tokens = mtmd_input_chunk_get_tokens_text(source, &count);
        prompt.tokens.insert(prompt.tokens.end(), tokens, tokens + count);
    }
    for (Chunk & chunk : prompt.chunks) {
        if (!chunk.is_text()) chunk.parts = parts[static_cast<size_t>(chunk.medium)];
    }
    return prompt;
}

size_t count_markers(const std::string & text) {
    size_t count = 0;
    for (size_t at = text.find(state.marker); at != std::string::npos; at = text.find(state.marker, at + 1)) count++;
    return count;
}

// Returns whether the cache has everything that the bitmaps lack.
bool has_what_it_lacks(const Prompt & prompt, const Bitmaps & bitmaps) {
    return std::all_of(prompt.chunks.begin(), prompt.chunks.end(), [&](const Chunk & chunk) {
        return chunk.is_text() || chunk.embeddings || !bitmaps.empty[static_cast<size_t>(chunk.medium)];
    });
}

// Makes the prompt from only the sizes of known images. Returns false when that is not enough: a model may need pixels
// to measure an image, or the cache may have dropped parts of it, or has them only for another place in a prompt.
bool make_from_sizes(Job & job, Prompt & prompt) {
    const Bitmaps bitmaps = make_bitmaps(job, true);
    try {
        prompt = tokenize(job, bitmaps);
    } catch (const MediumError &) {
        if (!bitmaps.some_empty()) throw;
        return false;
    }
    return has_what_it_lacks(prompt, bitmaps);
}

} // namespace

Prompt make_prompt(Job & job) {
    if (count_markers(job.text) != job.media.size()) {
        throw std::runtime_error("the prompt has not one marker for each medium");
    }
    Prompt prompt;
    if (!make_from_sizes(job, prompt)) prompt = tokenize(job, make_bitmaps(job, false));
    if (prompt.is_encoded()) prompt.source.reset();
    return prompt;
}

bool Prompt::is_encoded() const {
    return std::all_of(chunks.begin(), chunks.end(),
                       [](const Chunk & chunk) { return chunk.is_text() || chunk.embeddings; });
}

} // namespace media

using namespace media;

extern "C" {

int32_t svc_media_add_image(int32_t job, const uint8_t * id, int32_t id_length, int32_t width, int32_t height,
                            const uint8_t * rgb, int32_t bytes) {
    return guarded<int32_t>(-1, [&] {
        if (width < 1 || height < 1) return fail("the image has no pixels", SVC_MEDIA_ERROR_BAD_MEDIUM);
        if (int64_t{3} * width * height != bytes) return fail("the image's bytes are not width x height x 3");
        if (width / height >= LARGEST_ASPECT || height / width >= LARGEST_ASPECT) {
            return fail("the image is " + std::to_string(LARGEST_ASPECT) + " times as long as wide", SVC_MEDIA_ERROR_BAD_MEDIUM);
        }
        Medium medium;
        medium.id = text_of(id, id_length);
        medium.bytes.assign(rgb, rgb + bytes);
        medium.width = width;
        medium.height = height;
        return add_medium(job, std::move(medium));
    });
}

int32_t svc_media_add_audio(int32_t job, const uint8_t * id, int32_t id_length, const uint8_t * file, int32_t bytes) {
    return guarded<int32_t>(-1, [&] {
        if (bytes < 1) return fail("the audio is empty", SVC_MEDIA_ERROR_BAD_MEDIUM);
        Medium medium;
        medium.is_audio = true;
        medium.id = text_of(id, id_length);
        medium.bytes.assign(file, file + bytes);
        return add_medium(job, std::move(medium));
    });
}

} // extern "C"
