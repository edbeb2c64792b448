// State that the translation units of the whisper shim share: the model, and a job from its submission to its release.
#pragma once

#include "shim.h"

#include "../common/buffers.hpp"
#include "../common/errors.hpp"
#include "../common/job-table.hpp"
#include "../common/load.hpp"
#include "../common/log.hpp"

#include "json.h"
#include "whisper.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace whisper {

using namespace svc;

constexpr int32_t SAMPLE_RATE = WHISPER_SAMPLE_RATE;
// whisper.cpp recognizes nothing in fewer samples, and reads beyond the end of far fewer.
constexpr size_t LEAST_SAMPLES = SAMPLE_RATE / 8;

struct State {
    whisper_context * context = nullptr;
    // Null without speech detection.
    whisper_vad_context * vad = nullptr;
    uint64_t bytes = 0;
    // Threads of each worker.
    int32_t threads = 1;
};

// Filled by svc_whisper_load_start; may be used once is_loaded() is true.
extern State & state;

struct Options {
    // Empty to detect it.
    std::string language;
    std::string prompt;
    float temperature = 0;
    int32_t beams = 1;
    // Encoder positions for the whole sound, 0 for as many as the model has, and the least for what is left of it.
    int32_t audio_context = 0;
    int32_t least_audio_context = 0;
    // Threads of the computation; 0 for as many as each worker has.
    int32_t threads = 0;
    bool translate = false;
    bool word_times = false;
};

struct Word {
    double start = 0, end = 0;
    std::string text;
};

struct Segment {
    double start = 0, end = 0;
    std::string text;
    std::vector<whisper_token> tokens;
    double temperature = 0;
    double avg_logprob = 0;
    double no_speech_prob = 0;
    std::optional<std::vector<Word>> words;
};

struct Job : AnyJob {
    // Constant once the job is queued, except that samples are freed when it is done. At least LEAST_SAMPLES samples.
    std::vector<float> samples;
    Options options;

    // The mutex of the table of jobs protects the fields below.
    svc_whisper_stage stage = SVC_WHISPER_STAGE_QUEUED;
    std::optional<std::string> language;
    std::vector<Segment> segments;
};

// Throw std::runtime_error about a file that whisper.cpp would fail at or could not survive.
void check_model(const std::string & path);
void check_vad(const std::string & path);

// Starts `count` workers. Throws std::runtime_error.
void start_workers(int32_t count);
// Stops all work and forgets all jobs; returns when no thread uses the model any more.
void stop_workers();

// Record what a worker finds out about its job; called on the worker's thread.
void tell_language(Job & job, const char * language);
void tell_segment(Job & job, Segment && segment);

// Works on one job at a time, with its own state, which is made for the first job.
class Transcriber {
  public:
    Transcriber() = default;
    ~Transcriber();
    Transcriber(const Transcriber &) = delete;
    // Makes the state, unless there is one. Throws std::runtime_error.
    void prepare();
    // Runs a job and reports what becomes known. Returns early when the job is released; throws std::runtime_error.
    void run(Job & job);

  private:
    static bool should_stop(void * transcriber);
    static bool on_window(whisper_context *, whisper_state *, void * transcriber);
    static void on_segments(whisper_context *, whisper_state *, int count, void * transcriber);
    whisper_full_params parameters(const Options & options, bool is_short);
    // Encodes the next half minute with as many positions as the rest of the sound needs.
    void fit_encoder();
    // Reports the language if it was detected and not reported yet; returns whether it did.
    bool tell_detected();

    whisper_state * own = nullptr;
    Job * job = nullptr;
    // Tokens of the job's prompt.
    std::vector<whisper_token> prompt;
    // Failures of the state when the current half minute began.
    int32_t failures = 0;
};

// Returns segment `index` of a state, decoded at this temperature.
Segment segment_at(whisper_state * source, int index, double temperature, const Job & job);

// Returns whether this thread's work was stopped on purpose.
bool is_stopping();

} // namespace whisper
