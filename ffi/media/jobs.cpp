// Queues jobs, and runs the two threads that work on them.

#include "jobs.hpp"

#include "../common/threads.hpp"

namespace media {
namespace {

using JobPtr = std::shared_ptr<Job>;
// Clients make up names, so beyond this number only those of waiting clients are kept.
constexpr size_t MOST_CLIENTS = 256;

// Jobs that wait for one kind of work, and the thread that does this work.
struct Lane {
    // Does one turn's work on a job and returns whether it was the last; `next` is the stage that follows.
    bool (*work)(Job &);
    svc_media_stage next;
    std::deque<JobPtr> queue;
    // The latest turn that began, and for each client its latest turn, or when it arrived.
    uint64_t turn = 0;
    std::map<std::string, uint64_t> turns;
    std::condition_variable submitted;
    bool started = false;
    bool busy = false;
};

bool prepare_job(Job & job) {
    Prompt prompt = make_prompt(job);
    for (Medium & medium : job.media) std::vector<uint8_t>().swap(medium.bytes);
    std::lock_guard<std::mutex> lock(table.mutex);
    job.prompt = std::move(prompt);
    return true;
}

Lane & to_prepare = *new Lane{prepare_job, SVC_MEDIA_STAGE_PREPARED};
Lane & to_encode = *new Lane{encode_next, SVC_MEDIA_STAGE_ENCODED};

std::atomic<int32_t> & living = *new std::atomic<int32_t>(0);

// The next five functions require the mutex.
void wait_for_turn(Lane & lane, const JobPtr & job) {
    lane.turns.emplace(job->client, ++lane.turn);
    lane.queue.push_back(job);
}

// Returns the first job of the client whose latest turn is the oldest.
JobPtr take_next(Lane & lane) {
    const auto next = std::min_element(lane.queue.begin(), lane.queue.end(), [&](const JobPtr & one, const JobPtr & other) {
        return lane.turns[one->client] < lane.turns[other->client];
    });
    JobPtr job = std::move(*next);
    lane.queue.erase(next);
    lane.turns[job->client] = ++lane.turn;
    return job;
}

void leave(Lane & lane, const JobPtr & job) {
    lane.queue.erase(std::remove(lane.queue.begin(), lane.queue.end(), job), lane.queue.end());
}

void forget_turns(Lane & lane) {
    if (!lane.queue.empty() && lane.turns.size() <= MOST_CLIENTS) return;
    std::map<std::string, uint64_t> kept;
    for (const JobPtr & job : lane.queue) kept[job->client] = lane.turns[job->client];
    lane.turns = std::move(kept);
}

void settle(const Lane & lane, Job & job, const std::optional<Failure> & failure) {
    job.failure = failure;
    job.stage = job.prompt.is_encoded() ? SVC_MEDIA_STAGE_ENCODED : lane.next;
    if (job.stage == SVC_MEDIA_STAGE_ENCODED || failure) job.prompt.source.reset();
    table.report(job);
}

void serve(Lane & lane) {
    std::unique_lock<std::mutex> lock(table.mutex);
    for (;;) {
        lane.submitted.wait(lock, [&] { return !lane.queue.empty(); });
        JobPtr job = take_next(lane);
        lane.busy = true;
        lock.unlock();
        bool done = true;
        const std::optional<Failure> failure = attempt([&] { done = job->released || lane.work(*job); });
        lock.lock();
        if (!done && !job->released) wait_for_turn(lane, job);
        else settle(lane, *job, failure);
        forget_turns(lane);
        // The last holder of a released job frees megabytes; other threads should not wait for that.
        lock.unlock();
        job.reset();
        lock.lock();
        lane.busy = false;
        table.changed.notify_all();
    }
}

// Requires the mutex.
void enqueue(Lane & lane, const JobPtr & job, svc_media_stage stage) {
    if (!lane.started) start_thread([&lane] { serve(lane); });
    lane.started = true;
    job->stage = stage;
    wait_for_turn(lane, job);
    lane.submitted.notify_one();
}

// Returns the prompt of a job; throws when the job is not prepared. Requires the mutex.
const Prompt & prompt_of(const Job & job) {
    if (job.failure || job.stage < SVC_MEDIA_STAGE_PREPARED) throw std::runtime_error("the job is not prepared");
    return job.prompt;
}

const Chunk & chunk_of(const Job & job, int32_t index) {
    return prompt_of(job).chunks.at(static_cast<size_t>(index));
}

common_json describe(const Chunk & chunk, const Job & job) {
    if (chunk.is_text()) return {{"kind", "text"}, {"tokens", chunk.tokens}};
    const Medium & medium = job.media[static_cast<size_t>(chunk.medium)];
    return {
        {"kind", medium.is_audio ? "audio" : "image"},
        {"part", chunk.name.part},
        {"id", medium.id},
        {"tokens", chunk.tokens},
        {"positions", chunk.positions},
        {"nonCausal", chunk.non_causal},
    };
}

} // namespace

JobTable<Job> & table = *new JobTable<Job>;

Job::Job(std::string && client) : client(std::move(client)) { living++; }

Job::~Job() { living--; }

int32_t add_medium(int32_t number, Medium && medium) {
    return table.with(number, [&](const JobPtr & job) {
        if (job->stage != SVC_MEDIA_STAGE_OPEN) return fail("the job takes no more media");
        job->media.push_back(std::move(medium));
        return 0;
    });
}

void forget_jobs() {
    std::unique_lock<std::mutex> lock(table.mutex);
    table.clear();
    to_prepare.queue.clear();
    to_encode.queue.clear();
    table.changed.wait(lock, [] { return !to_prepare.busy && !to_encode.busy; });
}

} // namespace media

using namespace media;

extern "C" {

int32_t svc_media_open(const uint8_t * client, int32_t client_length) {
    return guarded<int32_t>(-1, [&] {
        std::lock_guard<std::mutex> lock(table.mutex);
        if (!is_loaded()) return fail("no projector is loaded");
        return table.add(std::make_shared<Job>(text_of(client, client_length)));
    });
}

int32_t svc_media_prepare(int32_t number, const uint8_t * text, int32_t text_length) {
    return table.with(number, [&](const JobPtr & job) {
        if (job->stage != SVC_MEDIA_STAGE_OPEN) return fail("the job has been prepared already");
        job->text = text_of(text, text_length);
        enqueue(to_prepare, job, SVC_MEDIA_STAGE_PREPARING);
        return 0;
    });
}

int32_t svc_media_encode(int32_t number) {
    return table.with(number, [](const JobPtr & job) {
        prompt_of(*job);
        if (job->stage == SVC_MEDIA_STAGE_ENCODED) return 0;
        if (job->stage != SVC_MEDIA_STAGE_PREPARED) return fail("the job is being encoded already");
        enqueue(to_encode, job, SVC_MEDIA_STAGE_ENCODING);
        return 1;
    });
}

int32_t svc_media_wait(int32_t timeout_ms) { return table.wait(timeout_ms); }

int32_t svc_media_state(int32_t number) {
    return table.with(number, [](const JobPtr & job) {
        return job->failure ? fail(*job->failure) - job->faulty : static_cast<int32_t>(job->stage);
    });
}

void svc_media_release(int32_t number) {
    table.release(number, [](const JobPtr & job) {
        leave(to_prepare, job);
        leave(to_encode, job);
    });
}

int32_t svc_media_describe(int32_t number, uint8_t * out, int32_t capacity) {
    return table.with(number, [&](const JobPtr & job) {
        common_json chunks = common_json::array();
        for (const Chunk & chunk : prompt_of(*job).chunks) chunks.push_back(describe(chunk, *job));
        common_json description = common_json::object();
        description["chunks"] = chunks;
        return copy_out(description.dump_safe(), out, capacity);
    });
}

int32_t svc_media_tokens(int32_t number, int32_t * out, int32_t capacity) {
    return table.with(number, [&](const JobPtr & job) {
        const std::vector<llama_token> & tokens = prompt_of(*job).tokens;
        if (static_cast<int32_t>(tokens.size()) > capacity) return fail("the token buffer is too small");
        std::copy(tokens.begin(), tokens.end(), out);
        return static_cast<int32_t>(tokens.size());
    });
}

uint64_t svc_media_embeddings(int32_t number, int32_t chunk, int32_t offset) {
    const auto address = [&](const JobPtr & job) {
        const EmbeddingsPtr & embeddings = chunk_of(*job, chunk).embeddings;
        return embeddings ? reinterpret_cast<uint64_t>(embeddings->data() + offset * state.width) : uint64_t{0};
    };
    return table.with(number, address, uint64_t{0});
}

int32_t svc_media_positions(int32_t number, int32_t chunk, int32_t first, int32_t offset, int32_t count,
                            int32_t * out) {
    return table.with(number, [&](const JobPtr & job) {
        return write_positions(chunk_of(*job, chunk), first, offset, count, out);
    });
}

int32_t svc_media_stats(uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(-1, [&] {
        const common_json stats = {
            {"jobs", living.load()},
            {"cachedBytes", state.cache.size()},
        };
        return copy_out(stats.dump_safe(), out, capacity);
    });
}

} // extern "C"
