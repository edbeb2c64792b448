// Draws images from descriptions, each on its own thread. One image is computed at a time; the others pause between two
// steps and resume later with the same result.

#include "state.hpp"

#include "../common/abort.hpp"
#include "../common/job-table.hpp"
#include "../common/threads.hpp"

#include <cstdlib>
#include <functional>
#include <new>

namespace image {
namespace {

constexpr int32_t LARGEST_SIDE = 16384;
constexpr int32_t MOST_STEPS = 1000;
// Text encoders attend from each token to all others: this many take 0.7 GB, four times as many 9 GB.
constexpr size_t MOST_TOKENS = 2048;
// A language model may be shown references, as about 400 tokens each.
constexpr size_t REFERENCE_TOKENS = 512;

struct Picture {
    std::string use;
    uint32_t width = 0, height = 0;
    std::vector<uint8_t> pixels;

    uint32_t channels() const { return use == "mask" ? 1 : 3; }
    sd_image_t as_image() { return {width, height, channels(), pixels.data()}; }
};

struct Adapter {
    std::string path;
    float scale = 1;
};

// Its number is that of its owner.
struct Drawing : AnyJob {
    // Constant once drawing has begun, except `threads`, which svc_image_resume sets while the image is paused.
    std::string prompt, negative_prompt;
    std::vector<Adapter> adapters;
    std::vector<Picture> pictures;
    sd_img_gen_params_t params = {};
    int32_t threads = 1;
    int32_t previews = 0;

    // Marks the running computation; used only by the drawing's thread.
    std::optional<AbortScope> scope;

    // The mutex protects the fields below.
    // Whether the image must pause after the current step because another image goes first, and whether it has paused.
    bool is_to_pause = false, is_paused = false;
    int32_t step = 0, steps = 0;
    // Number of the last step that had a preview.
    int32_t shown_step = 0;
    int32_t shown = 0;
    Picture preview;
    std::vector<uint8_t> pixels;
    bool ended = false;
};

using DrawingPtr = std::shared_ptr<Drawing>;

// Has images from their start until they are taken or stopped.
struct Board : JobTable<Drawing> {
    Board() : JobTable("no image is drawn") {}

    // The image whose turn it is: being computed, or next to be computed.
    DrawingPtr turn;
    // The image being computed, even after it was stopped.
    DrawingPtr busy;
    // Number of threads whose images have not ended.
    int threads = 0;
};
Board & board = *new Board;
std::atomic<Drawing *> current{nullptr};

// The next three functions require the mutex.
void end_turn(const DrawingPtr & drawing) {
    if (board.turn == drawing) board.turn.reset();
}

void become_busy(const DrawingPtr & drawing) {
    board.busy = drawing;
    current = drawing.get();
}

void become_idle() {
    board.busy.reset();
    current = nullptr;
    board.changed.notify_all();
}

int32_t number_of(const std::vector<std::string> & names, const std::string & name, int32_t found) {
    if (std::find(names.begin(), names.end(), name) == names.end()) throw std::runtime_error("nothing is called " + name);
    return found;
}

void take_pictures(const Json & list, const uint8_t * pixels, size_t length, Drawing & drawing) {
    for (const Json & one : list) {
        Picture picture{one.at("use").get<std::string>(), one.at("width").get<uint32_t>(), one.at("height").get<uint32_t>(), {}};
        if (picture.width > LARGEST_SIDE || picture.height > LARGEST_SIDE) throw std::runtime_error("a picture is too large");
        const size_t size = static_cast<size_t>(picture.width) * picture.height * picture.channels();
        if (size == 0 || size > length) throw std::runtime_error("the pixels of a picture are missing");
        picture.pixels.assign(pixels, pixels + size);
        pixels += size;
        length -= size;
        drawing.pictures.push_back(std::move(picture));
    }
}

void check(const sd_img_gen_params_t & params) {
    for (const int side : {params.width, params.height}) {
        if (side < 1 || side > LARGEST_SIDE || side % state.traits.multiple != 0) {
            throw std::runtime_error("the sides are not multiples of " + std::to_string(state.traits.multiple));
        }
    }
    const int steps = params.sample_params.sample_steps;
    if (steps < 1 || steps > MOST_STEPS) throw std::runtime_error("the steps are not from 1 to 1000");
}

DrawingPtr drawing_from(const Json & json, const uint8_t * pixels, size_t length) {
    const auto drawing = std::make_shared<Drawing>();
    drawing->number = json.at("owner").get<int32_t>();
    drawing->prompt = json.at("prompt").get<std::string>();
    drawing->negative_prompt = json.at("negativePrompt").get<std::string>();
    drawing->threads = std::max(1, json.at("threads").get<int32_t>());
    drawing->previews = json.at("previews").get<int32_t>();
    for (const Json & one : json.at("adapters")) {
        drawing->adapters.push_back({one.at("path").get<std::string>(), one.at("scale").get<float>()});
    }
    take_pictures(json.at("pictures"), pixels, length, *drawing);
    if (is_upscaler()) {
        if (drawing->pictures.size() != 1 || drawing->pictures[0].channels() != 3) throw std::runtime_error("one picture is made larger");
        return drawing;
    }
    sd_img_gen_params_t & params = drawing->params;
    sd_img_gen_params_init(&params);
    params.width = json.at("width").get<int>();
    params.height = json.at("height").get<int>();
    params.seed = json.at("seed").get<int64_t>();
    params.strength = json.at("strength").get<float>();
    params.sample_params.sample_steps = json.at("steps").get<int>();
    params.sample_params.guidance.txt_cfg = json.at("guidance").get<float>();
    const auto sampler = json.at("sampler").get<std::string>();
    const auto scheduler = json.at("scheduler").get<std::string>();
    params.sample_params.sample_method = static_cast<sample_method_t>(number_of(sampler_names(), sampler, str_to_sample_method(sampler.c_str())));
    params.sample_params.scheduler = static_cast<scheduler_t>(number_of(scheduler_names(), scheduler, str_to_scheduler(scheduler.c_str())));
    params.vae_tiling_params.enabled = json.at("tiles").get<bool>();
    params.auto_resize_ref_image = true;
    check(params);
    return drawing;
}

// The functions from here to `pause` run on the drawing's thread.

std::vector<uint8_t> pixels_of(const sd_image_t & image) {
    if (!image.data || image.channel != 3) throw std::runtime_error("the library gave no image");
    return {image.data, image.data + static_cast<size_t>(image.width) * image.height * 3};
}

std::vector<sd_lora_t> adapters_of(const Drawing & drawing) {
    std::vector<sd_lora_t> adapters;
    for (const Adapter & adapter : drawing.adapters) adapters.push_back({false, adapter.scale, adapter.path.c_str()});
    return adapters;
}

// Reads the weights again for each picture: that is quick, and a paused or aborted picture leaves no state behind.
std::vector<uint8_t> upscaled(Drawing & drawing) {
    const Upscaler upscaler = open_upscaler(drawing.threads);
    counts_tiles = true;
    const sd_image_t large = upscale(upscaler.get(), drawing.pictures[0].as_image(), static_cast<uint32_t>(state.scale));
    const std::unique_ptr<uint8_t, void (*)(void *)> owned(large.data, std::free);
    return pixels_of(large);
}

std::vector<uint8_t> draw(Drawing & drawing) {
    if (is_upscaler()) return upscaled(drawing);
    sd_img_gen_params_t params = drawing.params;
    params.prompt = drawing.prompt.c_str();
    params.negative_prompt = drawing.negative_prompt.c_str();
    std::vector<sd_lora_t> adapters = adapters_of(drawing);
    params.loras = adapters.data();
    params.lora_count = static_cast<uint32_t>(adapters.size());
    std::vector<sd_image_t> references;
    for (Picture & picture : drawing.pictures) {
        if (picture.use == "image") params.init_image = picture.as_image();
        else if (picture.use == "mask") params.mask_image = picture.as_image();
        else references.push_back(picture.as_image());
    }
    params.ref_images = references.data();
    params.ref_images_count = static_cast<int>(references.size());
    set_threads(state.context, drawing.threads);
    const std::unique_ptr<sd_image_t, void (*)(sd_image_t *)> images(generate_image(state.context, &params),
                                                                     [](sd_image_t * all) { free_sd_images(all, 1); });
    if (!images) throw std::runtime_error(with_complaint("the library could not draw the image"));
    // The library draws without any adapter that does not fit, and reports nothing.
    for (const Adapter & adapter : drawing.adapters) {
        if (was_applied(state.context, adapter.path)) continue;
        throw Failure(SVC_IMAGE_ERROR_ADAPTER, "nothing in the adapter " + adapter.path + " fits the model");
    }
    return pixels_of(images.get()[0]);
}

// Begins or resumes computing. Throws Stopped when the image was stopped meanwhile.
void enter(Drawing & drawing) {
    drawing.scope.emplace(drawing.number, "drawing an image");
    if (is_stopped(nullptr)) throw Stopped();
}

std::optional<Failure> attempt(Drawing & drawing) {
    try {
        forget_complaint();
        enter(drawing);
        std::vector<uint8_t> pixels = draw(drawing);
        std::lock_guard<std::mutex> lock(board.mutex);
        drawing.pixels = std::move(pixels);
        return std::nullopt;
    } catch (const std::bad_alloc &) {
        if (state.context) tidy(state.context);
        return Failure(SVC_IMAGE_ERROR_NO_MEMORY, "there is not enough memory to draw the image");
    } catch (...) {
        if (state.context) tidy(state.context);
        return caught();
    }
}

void run(const DrawingPtr & drawing) {
    {
        // A stopped image may still be freeing its memory.
        std::unique_lock<std::mutex> lock(board.mutex);
        board.changed.wait(lock, [] { return !board.busy; });
        become_busy(drawing);
    }
    const std::optional<Failure> failure = attempt(*drawing);
    drawing->scope.reset();
    std::lock_guard<std::mutex> lock(board.mutex);
    drawing->failure = failure;
    drawing->ended = true;
    board.threads--;
    end_turn(drawing);
    become_idle();
}

// Runs on the drawing's thread, between two steps: waits until the image is resumed or stopped. The image's state in
// the context is put aside, so that other images can be computed meanwhile.
void pause(const DrawingPtr & drawing) {
    const std::function<void()> put_back = is_upscaler() ? [] {} : put_aside(state.context, adapters_of(*drawing));
    drawing->scope.reset();
    {
        std::unique_lock<std::mutex> lock(board.mutex);
        drawing->is_to_pause = false;
        drawing->is_paused = true;
        end_turn(drawing);
        become_idle();
        board.changed.wait(lock, [&] { return !board.busy && (!drawing->is_paused || drawing->released); });
        become_busy(drawing);
    }
    enter(*drawing);
    if (state.context) set_threads(state.context, drawing->threads);
    put_back();
}

// Returns whether a preview is shown after this step. The first preview comes after the first step, the others at even
// distances before the last step.
bool is_shown_after(int32_t step, const Drawing & drawing) {
    const int32_t before_last = drawing.steps - 1;
    for (int32_t at = 0; at < drawing.previews; at++) {
        if (step <= before_last && step == 1 + at * before_last / drawing.previews) return true;
    }
    return false;
}

} // namespace

bool is_stopped(void *) {
    const Drawing * drawing = current;
    return abort_requested(nullptr) || (drawing && drawing->released);
}

thread_local bool counts_tiles = false;

void on_step(int step, int steps, float) {
    if (is_stopped(nullptr)) throw Stopped();
    DrawingPtr drawing;
    {
        std::lock_guard<std::mutex> lock(board.mutex);
        drawing = board.busy;
        if (!drawing) return;
        drawing->step = step;
        drawing->steps = steps;
        // The work after the last step is quick, so the image does not pause there.
        if (!drawing->is_to_pause || step == steps) return;
    }
    pause(drawing);
}

bool shows_step() {
    const Drawing * drawing = current;
    if (!drawing) return false;
    std::lock_guard<std::mutex> lock(board.mutex);
    const int32_t next = drawing->step + 1;
    return next != drawing->shown_step && is_shown_after(next, *drawing);
}

std::vector<int> & bounded(std::vector<int> & tokens) {
    const std::vector<Picture> & pictures = current.load()->pictures;
    const auto shown = std::count_if(pictures.begin(), pictures.end(), [](const Picture & one) { return one.use == "reference"; });
    const size_t most = MOST_TOKENS + static_cast<size_t>(shown) * REFERENCE_TOKENS;
    if (tokens.size() <= most) return tokens;
    const std::string count = std::to_string(tokens.size());
    throw Failure(SVC_IMAGE_ERROR_TOO_LONG, "must have at most " + std::to_string(most) + " tokens; got " + count);
}

void on_preview(int, int count, sd_image_t * images, bool, void *) {
    Drawing * drawing = current;
    if (!drawing || count < 1) return;
    std::lock_guard<std::mutex> lock(board.mutex);
    drawing->preview = {"image", images[0].width, images[0].height, pixels_of(images[0])};
    drawing->shown_step = drawing->step + 1;
    drawing->shown++;
}

void stop_drawing() {
    std::unique_lock<std::mutex> lock(board.mutex);
    board.clear();
    board.turn.reset();
    board.changed.notify_all();
    board.changed.wait(lock, [] { return board.threads == 0; });
}

} // namespace image

using namespace image;

extern "C" {

int32_t svc_image_start(const uint8_t * options, int32_t options_length, const uint8_t * pixels, int32_t pixels_length) {
    return guarded<int32_t>(-1, [&] {
        if (!is_loaded()) return fail("no model is loaded");
        const Json json = Json::parse(text_of(options, options_length));
        const DrawingPtr drawing = drawing_from(json, pixels, static_cast<size_t>(pixels_length));
        std::lock_guard<std::mutex> lock(board.mutex);
        if (board.jobs.count(drawing->number) > 0) return fail("an image of this owner is drawn");
        if (board.turn) return fail("another image is drawn");
        start_thread([drawing] { run(drawing); });
        board.threads++;
        board.turn = drawing;
        board.jobs[drawing->number] = drawing;
        return 0;
    });
}

int32_t svc_image_pause(int32_t owner) {
    return board.with(owner, [](const DrawingPtr & drawing) {
        drawing->is_to_pause = true;
        return 0;
    });
}

int32_t svc_image_resume(int32_t owner, int32_t threads) {
    return board.with(owner, [&](const DrawingPtr & drawing) {
        drawing->is_to_pause = false;
        if (!drawing->is_paused) return 0;
        if (board.turn) return fail("another image is drawn");
        board.turn = drawing;
        drawing->threads = std::max(1, threads);
        drawing->is_paused = false;
        board.changed.notify_all();
        return 0;
    });
}

int32_t svc_image_state(int32_t owner) {
    return guarded<int32_t>(-1, [&] {
        std::lock_guard<std::mutex> lock(board.mutex);
        const auto found = board.jobs.find(owner);
        if (found == board.jobs.end()) {
            // A stopped image is reported as drawing until its computation has ended.
            const bool is_ending = board.busy && board.busy->number == owner;
            return static_cast<int32_t>(is_ending ? SVC_IMAGE_STAGE_DRAWING : SVC_IMAGE_STAGE_NONE);
        }
        const Drawing & drawing = *found->second;
        if (drawing.failure) return fail(*drawing.failure);
        if (drawing.is_paused) return static_cast<int32_t>(SVC_IMAGE_STAGE_PAUSED);
        return static_cast<int32_t>(drawing.ended ? SVC_IMAGE_STAGE_DONE : SVC_IMAGE_STAGE_DRAWING);
    });
}

int32_t svc_image_progress(int32_t owner, uint8_t * out, int32_t capacity) {
    return board.with(owner, [&](const DrawingPtr & drawing) {
        const Json progress = {
            {"step", drawing->step},
            {"steps", drawing->steps},
            {"previews", drawing->shown},
            {"width", drawing->preview.width},
            {"height", drawing->preview.height},
        };
        return copy_out(progress.dump(), out, capacity);
    });
}

int32_t svc_image_preview(int32_t owner, uint8_t * out, int32_t capacity) {
    return board.with(owner, [&](const DrawingPtr & drawing) { return copy_out(drawing->preview.pixels, out, capacity); });
}

int32_t svc_image_take(int32_t owner, uint8_t * out, int32_t capacity) {
    return board.with(owner, [&](const DrawingPtr & drawing) {
        if (!drawing->ended || drawing->failure) return fail("the image is not done");
        const int32_t length = copy_out(drawing->pixels, out, capacity);
        if (length >= 0) board.jobs.erase(owner);
        return length;
    });
}

// A running image ends within one node of its graphs, a paused one as soon as no other is being computed.
void svc_image_stop(int32_t owner) {
    board.release(owner, [](const DrawingPtr & drawing) {
        end_turn(drawing);
        board.changed.notify_all();
    });
}

} // extern "C"
