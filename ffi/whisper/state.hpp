// What the translation units of the whisper shim share: the one model, and what a job is from its submission to its release.
#pragma once

#include "shim.h"

#include "../common/buffers.hpp"
#include "../common/errors.hpp"
#include "../common/load.hpp"
#include "../common/log.hpp"

#include "json.h"
#include "whisper.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace whisper {

using namespace svc;

constexpr int32_t SAMPLE_RATE = WHISPER_SAMPLE_RATE;
// whisper.cpp recognizes nothing in less, and reads beyond the end of much less.
constexpr size_t LEAST_SAMPLES = SAMPLE_RATE / 8;

struct State {
    whisper_context * context = nullptr;
    // Null: without speech detection.
    whisper_vad_context * vad = nullptr;
    uint64_t bytes = 0;
    // Of each worker.
    int32_t threads = 1;
};

// Filled by svc_whisper_load_start; whoever sees is_loaded() may use it.
extern State & state;

struct Options {
    // Empty: is detected.
    std::string language;
    std::string prompt;
    float temperature = 0;
    int32_t beams = 1;
    int32_t audio_context = 0;
    // Of the computation; 0: as many as every worker has.
    int32_t threads = 0;
    bool translate = false;
    bool word_times = false;
};

struct Word {
    double start = 0, end = 0;
    std::string text;
    double probability = 0;
    int32_t tokens = 0;
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

struct Language {
    std::string code;
    std::optional<double> probability;
};

struct Job {
    int32_t number = 0;
    // Whoever works on it stops.
    std::atomic<bool> released{false};

    // Never change once it is queued, but that samples are freed when it is done. There are LEAST_SAMPLES at least.
    std::vector<float> samples;
    Options options;

    // The rest is protected by the mutex of the table of jobs.
    svc_whisper_stage stage = SVC_WHISPER_STAGE_QUEUED;
    std::optional<Failure> failure;
    std::optional<Language> language;
    std::vector<Segment> segments;
    // Somebody is to look at it.
    bool has_news = false;
};

// Throws std::runtime_error about a file that whisper.cpp would fail at or could not survive.
void check_model(const std::string & path);
void check_vad(const std::string & path);

// Starts that many workers. Throws std::runtime_error.
void start_workers(int32_t count);
// Stops all work and forgets all jobs; returns when nobody uses the model any more.
void stop_workers();

// What a worker finds out about its job, from the worker's thread.
void tell_language(Job & job, Language && language);
void tell_segment(Job & job, Segment && segment);

// Works on one job at a time, with a state of its own, which is made for the first one.
class Transcriber {
  public:
    Transcriber() = default;
    ~Transcriber();
    Transcriber(const Transcriber &) = delete;
    // Makes the state, unless there is one. Throws std::runtime_error.
    void prepare();
    // Tells what becomes known. Returns early when the job is released; throws std::runtime_error.
    void run(Job & job);

  private:
    static bool should_stop(void * transcriber);
    static bool on_window(whisper_context *, whisper_state *, void * transcriber);
    static void on_segments(whisper_context *, whisper_state *, int count, void * transcriber);
    whisper_full_params parameters(const Options & options, bool is_short);
    // Whether the language was detected, and not reported yet.
    bool tell_detected();

    whisper_state * own = nullptr;
    Job * job = nullptr;
    // Of the job.
    std::vector<whisper_token> prompt;
    // Of the state, when the current half minute began.
    int32_t failures = 0;
};

// Segment `index` of a state, decoded at that temperature.
Segment segment_at(whisper_state * source, int index, double temperature, const Job & job);

// Whether what this thread does was stopped on purpose.
bool is_stopping();

} // namespace whisper
