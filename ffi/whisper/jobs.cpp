// Queues jobs, and runs the workers that take them from the queue.

#include "state.hpp"

#include "../common/abort.hpp"
#include "../common/threads.hpp"
#include "inside.hpp"

#include <cmath>

namespace whisper {
namespace {

using JobPtr = std::shared_ptr<Job>;
constexpr int32_t MOST_BEAMS = 8;

struct Table : JobTable<Job> {
    std::deque<JobPtr> queue;
    // One for each idle worker; the one that worked last is at the end.
    std::vector<std::unique_ptr<Transcriber>> idle;
    std::condition_variable submitted;
    int32_t workers = 0;
    int32_t busy = 0;
    bool stopping = false;
    // Exists while any worker is busy.
    std::optional<AbortScope> scope;
};
Table & table = *new Table;

// The functions below require the mutex.

// Several updates of a job are one report.
void note(const Job & job) {
    const auto & reports = table.reports;
    if (std::find(reports.begin(), reports.end(), job.number) == reports.end()) table.report(job);
}

void count_busy(int32_t change) {
    table.busy += change;
    if (table.busy == 0) table.scope.reset();
    else if (!table.scope) table.scope.emplace(0, "recognizing speech");
}

// Must be called without the mutex.
void serve() {
    std::unique_lock<std::mutex> lock(table.mutex);
    for (;;) {
        table.submitted.wait(lock, [] { return table.stopping || !table.queue.empty(); });
        if (table.stopping) return;
        JobPtr job = std::move(table.queue.front());
        table.queue.pop_front();
        auto transcriber = std::move(table.idle.back());
        table.idle.pop_back();
        job->stage = SVC_WHISPER_STAGE_RUNNING;
        count_busy(1);
        lock.unlock();
        const std::optional<Failure> failure = attempt([&] { transcriber->run(*job); });
        std::vector<float>().swap(job->samples);
        lock.lock();
        count_busy(-1);
        table.idle.push_back(std::move(transcriber));
        job->failure = failure;
        job->stage = SVC_WHISPER_STAGE_DONE;
        note(*job);
    }
}

common_json to_json(const Segment & segment) {
    common_json out = {
        {"start", segment.start},
        {"end", segment.end},
        {"text", segment.text},
        {"tokens", segment.tokens},
        {"temperature", segment.temperature},
        {"avgLogprob", segment.avg_logprob},
        {"noSpeechProb", segment.no_speech_prob},
    };
    if (!segment.words) return out;
    common_json words = common_json::array();
    for (const Word & word : *segment.words) {
        words.push_back({{"start", word.start}, {"end", word.end}, {"text", word.text}});
    }
    out["words"] = words;
    return out;
}

bool knows(const std::string & language) {
    for (int32_t id = 0; id < language_count(state.context); id++) {
        if (language == whisper_lang_str(id)) return true;
    }
    return false;
}

Options options_from(const common_json & json) {
    Options options;
    if (json.contains("language")) options.language = json.at("language").get<std::string>();
    // A model that is not multilingual has no language tokens, so it cannot detect a language.
    if (!whisper_is_multilingual(state.context)) options.language = "en";
    if (!options.language.empty() && !knows(options.language)) throw std::runtime_error("the model knows no such language");
    options.prompt = json.at("prompt").get<std::string>();
    options.temperature = json.at("temperature").get<float>();
    options.beams = json.at("beams").get<int>();
    options.audio_context = json.at("audioContext").get<int>();
    options.least_audio_context = json.at("leastAudioContext").get<int>();
    options.threads = json.at("threads").get<int>();
    options.translate = json.at("translate").get<bool>();
    options.word_times = json.at("wordTimes").get<bool>();
    if (options.beams < 1 || options.beams > MOST_BEAMS) throw std::runtime_error("beams are not from 1 to 8");
    if (options.audio_context < 0 || options.least_audio_context < 0) throw std::runtime_error("an audio context is negative");
    return options;
}

// Copies the samples without NaN and infinity, which would spread over the whole spectrogram.
std::vector<float> copy_of(const float * samples, int32_t count) {
    std::vector<float> copy(std::max(static_cast<size_t>(count), LEAST_SAMPLES), 0.0f);
    std::transform(samples, samples + count, copy.begin(),
                   [](float sample) { return std::isfinite(sample) ? std::clamp(sample, -1.0f, 1.0f) : 0.0f; });
    return copy;
}

} // namespace

void start_workers(int32_t count) {
    std::vector<std::unique_ptr<Transcriber>> idle;
    for (int32_t index = 0; index < count; index++) idle.push_back(std::make_unique<Transcriber>());
    // Makes one state now, so that a lack of memory shows here and not at the first job.
    idle.back()->prepare();
    {
        std::lock_guard<std::mutex> lock(table.mutex);
        table.idle = std::move(idle);
        table.workers = count;
    }
    for (int32_t index = 0; index < count; index++) {
        start_thread([] {
            serve();
            std::lock_guard<std::mutex> lock(table.mutex);
            table.workers--;
            table.changed.notify_all();
        });
    }
}

void stop_workers() {
    std::unique_lock<std::mutex> lock(table.mutex);
    table.clear();
    table.queue.clear();
    table.stopping = true;
    table.submitted.notify_all();
    table.changed.wait(lock, [] { return table.workers == 0; });
    table.stopping = false;
    table.idle.clear();
}

void tell_language(Job & job, const char * language) {
    std::lock_guard<std::mutex> lock(table.mutex);
    job.language = language;
    note(job);
}

void tell_segment(Job & job, Segment && segment) {
    std::lock_guard<std::mutex> lock(table.mutex);
    job.segments.push_back(std::move(segment));
    note(job);
}

} // namespace whisper

using namespace whisper;

extern "C" {

int32_t svc_whisper_submit(const float * samples, int32_t count, const uint8_t * options, int32_t options_length) {
    return guarded<int32_t>(-1, [&] {
        if (!is_loaded()) return fail("no model is loaded");
        const auto job = std::make_shared<Job>();
        job->options = options_from(common_json::parse(text_of(options, options_length)));
        job->samples = copy_of(samples, count);
        if (!job->options.language.empty()) job->language = job->options.language;
        std::lock_guard<std::mutex> lock(table.mutex);
        const int32_t number = table.add(job);
        table.queue.push_back(job);
        table.submitted.notify_one();
        return number;
    });
}

int32_t svc_whisper_wait(int32_t timeout_ms) { return table.wait(timeout_ms); }

int32_t svc_whisper_state(int32_t number) {
    return table.with(number, [](const JobPtr & job) {
        return job->failure ? fail(*job->failure) : static_cast<int32_t>(job->stage);
    });
}

int32_t svc_whisper_segments(int32_t number, int32_t from, uint8_t * out, int32_t capacity) {
    return table.with(number, [&](const JobPtr & job) {
        common_json segments = common_json::array();
        for (auto index = static_cast<size_t>(std::max(0, from)); index < job->segments.size(); index++) {
            segments.push_back(to_json(job->segments[index]));
        }
        return copy_out(segments.dump_safe(), out, capacity);
    });
}

int32_t svc_whisper_language(int32_t number, uint8_t * out, int32_t capacity) {
    return table.with(number, [&](const JobPtr & job) { return copy_out(job->language.value_or(""), out, capacity); });
}

void svc_whisper_release(int32_t number) {
    table.release(number, [](const JobPtr & job) {
        table.queue.erase(std::remove(table.queue.begin(), table.queue.end(), job), table.queue.end());
    });
}

} // extern "C"
