// Turns samples into segments: calls whisper.cpp once, and forwards what it reports on the way.

#include "state.hpp"

#include "../common/abort.hpp"
#include "inside.hpp"

#include <algorithm>
#include <cstring>

namespace whisper {
namespace {

// By how much the temperature increases each time that decoding gets stuck, as in whisper.cpp's own program.
constexpr float TEMPERATURE_STEP = 0.2f;

// Hundredths of a second that a position of the encoder stands for.
constexpr int64_t TICKS_PER_POSITION = 2;

// Bytes of a prompt that whisper.cpp tokenizes at once; its time for a word grows with the cube of the word's length.
constexpr size_t PROMPT_PIECE = 512;

// The job that this thread works on.
thread_local const Job * current = nullptr;

size_t length_of(whisper_context * context, whisper_token token) { return std::strlen(whisper_token_to_str(context, token)); }

size_t longest_token(whisper_context * context) {
    size_t longest = 1;
    for (int token = 0; token < whisper_n_vocab(context); token++) longest = std::max(longest, length_of(context, token));
    return std::min(longest, PROMPT_PIECE / 2);
}

// Returns the tokens of a prompt. Tokens near a piece's end might change if it went on, so the next piece makes them
// again.
std::vector<whisper_token> tokens_of(whisper_context * context, const std::string & prompt) {
    if (prompt.empty()) return {};
    std::vector<whisper_token> tokens;
    const size_t longest = longest_token(context);
    for (size_t from = 0; from < prompt.size();) {
        const std::string piece = prompt.substr(from, PROMPT_PIECE);
        std::vector<whisper_token> made(piece.size());
        const int count = whisper_tokenize(context, piece.c_str(), made.data(), static_cast<int>(made.size()));
        made.resize(static_cast<size_t>(std::max(count, 0)));
        const bool is_last = from + piece.size() == prompt.size();
        size_t taken = 0;
        for (const whisper_token token : made) {
            if (!is_last && taken + longest > piece.size()) break;
            tokens.push_back(token);
            taken += length_of(context, token);
        }
        from += is_last || taken == 0 ? piece.size() : taken;
    }
    return tokens;
}

} // namespace

bool is_stopping() { return current && current->released; }

Transcriber::~Transcriber() { whisper_free_state(own); }

void Transcriber::prepare() {
    forget_complaint();
    if (!own) own = make_state(state.context, should_stop, this);
    if (!own) throw std::runtime_error(with_complaint("no state can be made for a worker (is there enough memory?)"));
}

bool Transcriber::should_stop(void * transcriber) {
    // A sign of life.
    abort_requested(nullptr);
    const Job * job = static_cast<Transcriber *>(transcriber)->job;
    return job && job->released;
}

// Called before each half minute is encoded.
bool Transcriber::on_window(whisper_context *, whisper_state *, void * transcriber) {
    auto & self = *static_cast<Transcriber *>(transcriber);
    self.failures = failures_of(self.own);
    reuse_encoding(self.tell_detected());
    self.fit_encoder();
    return !self.job->released;
}

void Transcriber::on_segments(whisper_context *, whisper_state *, int count, void * transcriber) {
    auto & self = *static_cast<Transcriber *>(transcriber);
    const Options & options = self.job->options;
    const int32_t failed = failures_of(self.own) - self.failures;
    const double temperature = options.temperature + failed * TEMPERATURE_STEP;
    const int known = whisper_full_n_segments_from_state(self.own);
    for (int index = known - count; index < known; index++) {
        tell_segment(*self.job, segment_at(self.own, index, temperature, *self.job));
    }
}

void Transcriber::fit_encoder() {
    const Options & options = job->options;
    const int known = whisper_full_n_segments_from_state(own);
    if (known == 0 || options.least_audio_context == 0 || options.audio_context == 0) return;
    const int64_t done = whisper_full_get_segment_t1_from_state(own, known - 1);
    const int64_t left = options.audio_context - done / TICKS_PER_POSITION;
    use_positions(state.context, static_cast<int32_t>(std::max<int64_t>(left, options.least_audio_context)));
}

bool Transcriber::tell_detected() {
    if (!job->options.language.empty() || job->language) return false;
    const char * code = whisper_lang_str(whisper_full_lang_id_from_state(own));
    tell_language(*job, code ? code : "");
    return true;
}

whisper_full_params Transcriber::parameters(const Options & options, bool is_short) {
    whisper_full_params params = whisper_full_default_params(WHISPER_SAMPLING_GREEDY);
    // The same choice as in whisper.cpp's own program.
    params.strategy = options.beams > 1 ? WHISPER_SAMPLING_BEAM_SEARCH : WHISPER_SAMPLING_GREEDY;
    params.greedy.best_of = params.beam_search.beam_size = options.beams;
    params.n_threads = options.threads > 0 ? options.threads : state.threads;
    params.print_progress = params.print_timestamps = false;
    params.translate = options.translate;
    params.language = options.language.empty() ? "auto" : options.language.c_str();
    params.detect_language = is_short;
    prompt = tokens_of(state.context, options.prompt);
    params.prompt_tokens = prompt.data();
    params.prompt_n_tokens = static_cast<int>(prompt.size());
    params.temperature = options.temperature;
    params.temperature_inc = TEMPERATURE_STEP;
    params.token_timestamps = options.word_times;
    params.audio_ctx = std::min(options.audio_context, whisper_n_audio_ctx(state.context));
    params.encoder_begin_callback = on_window;
    params.new_segment_callback = on_segments;
    params.abort_callback = should_stop;
    params.encoder_begin_callback_user_data = params.new_segment_callback_user_data =
        params.abort_callback_user_data = this;
    return params;
}

void Transcriber::run(Job & work) {
    const bool is_short = work.samples.size() <= LEAST_SAMPLES;
    if (work.language && is_short) return;
    prepare();
    job = &work;
    current = &work;
    const int result = run_full(state.context, own, parameters(work.options, is_short), work.samples.data(),
                                static_cast<int>(work.samples.size()));
    if (result == 0 && !work.released) tell_detected();
    job = nullptr;
    current = nullptr;
    if (result != 0 && !work.released) throw std::runtime_error(with_complaint("the sound cannot be transcribed"));
}

} // namespace whisper
