#include "inside.hpp"

#include "ggml-backend.h"

namespace whisper {
// Replaces ggml's function in whisper.cpp.
static ggml_status compute(ggml_backend_sched_t schedule, ggml_cgraph * graph);
} // namespace whisper

#define ggml_backend_sched_graph_compute whisper::compute
#include "whisper.cpp"
#undef ggml_backend_sched_graph_compute

namespace whisper {
namespace {

// What whisper_full_with_state returns when it has freed the state.
constexpr int NO_ROOM = -7;

// The computation of this thread.
thread_local whisper_context * running = nullptr;
thread_local whisper_state * computing = nullptr;
thread_local bool is_encoded = false;

// The decoder attends to some positions after those of a sound.
void forget_sound(whisper_state * used) {
    for (const whisper_kv_cache * cache : {&used->kv_cross, &used->kv_pad}) ggml_backend_buffer_clear(cache->buffer, 0);
}

bool encodes(ggml_backend_sched_t schedule) {
    return schedule == computing->sched_conv.sched || schedule == computing->sched_encode.sched ||
           schedule == computing->sched_cross.sched;
}

// Copies the scores after the token that begins a transcript to the front, where whisper.cpp looks for them.
// whisper.cpp copies only the scores of the prompt's last token.
void keep_scores_of_start(ggml_cgraph * graph) {
    const whisper_batch & batch = computing->batch;
    const whisper_token * end = batch.token + batch.n_tokens;
    const whisper_token * start = std::find(batch.token, const_cast<whisper_token *>(end), whisper_token_sot(running));
    if (batch.n_tokens == 0 || batch.logits[0] != 0 || start == end) return;
    const auto row = static_cast<size_t>(running->vocab.n_vocab);
    if (computing->logits.size() < row) computing->logits.resize(row);
    const auto offset = static_cast<size_t>(start - batch.token) * row * sizeof(float);
    ggml_backend_tensor_get(ggml_graph_node(graph, -1), computing->logits.data(), offset, row * sizeof(float));
}

} // namespace

ggml_status compute(ggml_backend_sched_t schedule, ggml_cgraph * graph) {
    if (computing && is_encoded && encodes(schedule)) return GGML_STATUS_SUCCESS;
    const ggml_status status = ggml_backend_sched_graph_compute(schedule, graph);
    const bool is_decoded = computing && schedule == computing->sched_decode.sched;
    if (is_decoded && status == GGML_STATUS_SUCCESS) keep_scores_of_start(graph);
    return status;
}

whisper_state * make_state(whisper_context * context, ggml_abort_callback stop, void * user_data) {
    whisper_state * made = whisper_init_state(context);
    if (!made) return nullptr;
    for (ggml_backend_t backend : made->backends) {
        ggml_backend_reg_t reg = ggml_backend_dev_backend_reg(ggml_backend_get_device(backend));
        void * set = ggml_backend_reg_get_proc_address(reg, "ggml_backend_set_abort_callback");
        if (set) reinterpret_cast<ggml_backend_set_abort_callback_t>(set)(backend, stop, user_data);
    }
    return made;
}

int run_full(whisper_context * context, whisper_state *& used, const whisper_full_params & params, const float * samples,
             int count) {
    // A used state would continue its random numbers, detect the language with the audio context of the previous job
    // and, where that was larger, attend to the end of its sound.
    used->decoders[0].rng = std::mt19937(0);
    used->exp_n_audio_ctx = params.audio_ctx;
    forget_sound(used);
    running = context;
    computing = used;
    is_encoded = false;
    const int result = whisper_full_with_state(context, used, params, samples, count);
    computing = nullptr;
    if (result == NO_ROOM) used = nullptr;
    return result;
}

void reuse_encoding(bool encoded) { is_encoded = encoded; }

void use_positions(whisper_context * context, int32_t positions) {
    const int32_t fitting = std::min(positions, whisper_n_audio_ctx(context));
    if (computing->exp_n_audio_ctx == fitting) return;
    computing->exp_n_audio_ctx = fitting;
    forget_sound(computing);
}

int32_t failures_of(const whisper_state * used) { return used->n_fail_p; }

int32_t window_of(const whisper_vad_context * detector) { return detector->n_window; }

int32_t memory_of(const whisper_vad_context * detector) {
    return static_cast<int32_t>(ggml_nelements(detector->h_state) + ggml_nelements(detector->c_state));
}

bool listen_on(whisper_vad_context * detector, float * memory, const float * samples, int count) {
    const auto for_each_part = [&](auto && move) {
        float * at = memory;
        for (ggml_tensor * part : {detector->h_state, detector->c_state}) {
            move(part, at, ggml_nbytes(part));
            at += ggml_nelements(part);
        }
    };
    for_each_part([](ggml_tensor * part, const float * at, size_t bytes) { ggml_backend_tensor_set(part, at, 0, bytes); });
    const bool heard = whisper_vad_detect_speech_no_reset(detector, samples, count);
    for_each_part([](ggml_tensor * part, float * at, size_t bytes) { ggml_backend_tensor_get(part, at, 0, bytes); });
    return heard;
}

int32_t language_count(const whisper_context * context) { return context->vocab.num_languages(); }

std::string device_of(const whisper_context * context) {
    for (size_t index = 0; context->params.use_gpu && index < ggml_backend_dev_count(); index++) {
        ggml_backend_dev_t device = ggml_backend_dev_get(index);
        const enum ggml_backend_dev_type type = ggml_backend_dev_type(device);
        if (type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU) return ggml_backend_dev_description(device);
    }
    return "CPU";
}

} // namespace whisper
