// The one image that is drawn: from its description to pixels, on a thread of its own.

#include "state.hpp"

#include "../common/abort.hpp"
#include "../common/threads.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>

namespace image {
namespace {

constexpr int32_t LARGEST_SIDE = 16384;
constexpr int32_t MOST_STEPS = 1000;

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

struct Drawing {
    // Never change once it has begun.
    int32_t owner = 0;
    std::string prompt, negative_prompt;
    std::vector<Adapter> adapters;
    std::vector<Picture> pictures;
    sd_img_gen_params_t params = {};
    int32_t threads = 1;
    int32_t previews = 0;

    std::atomic<bool> stopped{false};

    // The rest is protected by the mutex.
    int32_t step = 0, steps = 0;
    // Of the step that was shown last.
    int32_t shown_step = 0;
    int32_t shown = 0;
    Picture preview;
    std::vector<uint8_t> pixels;
    std::optional<Failure> failure;
    bool ended = false;
};

using DrawingPtr = std::shared_ptr<Drawing>;

struct Board {
    std::mutex mutex;
    std::condition_variable ended;
    // What was begun last, until it is taken or stopped.
    DrawingPtr drawing;
    // What a thread works on, also when it was stopped.
    DrawingPtr busy;
};
Board & board = *new Board;
std::atomic<Drawing *> current{nullptr};

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
            throw std::runtime_error("the sides are no multiples of " + std::to_string(state.traits.multiple));
        }
    }
    const int steps = params.sample_params.sample_steps;
    if (steps < 1 || steps > MOST_STEPS) throw std::runtime_error("the steps are not from 1 to 1000");
}

DrawingPtr drawing_from(const Json & json, const uint8_t * pixels, size_t length) {
    const auto drawing = std::make_shared<Drawing>();
    drawing->owner = json.at("owner").get<int32_t>();
    drawing->prompt = json.at("prompt").get<std::string>();
    drawing->negative_prompt = json.at("negativePrompt").get<std::string>();
    drawing->threads = std::max(1, json.at("threads").get<int32_t>());
    drawing->previews = json.at("previews").get<int32_t>();
    for (const Json & one : json.at("adapters")) {
        drawing->adapters.push_back({one.at("path").get<std::string>(), one.at("scale").get<float>()});
    }
    take_pictures(json.at("pictures"), pixels, length, *drawing);
    if (state.upscaler) {
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

// Its thread.

std::vector<uint8_t> pixels_of(const sd_image_t & image) {
    if (!image.data || image.channel != 3) throw std::runtime_error("the library gave no image");
    return {image.data, image.data + static_cast<size_t>(image.width) * image.height * 3};
}

std::vector<uint8_t> upscaled(Drawing & drawing) {
    const uint32_t scale = static_cast<uint32_t>(get_upscale_factor(state.upscaler));
    const sd_image_t large = upscale(state.upscaler, drawing.pictures[0].as_image(), scale);
    const std::unique_ptr<uint8_t, void (*)(void *)> owned(large.data, std::free);
    return pixels_of(large);
}

std::vector<uint8_t> draw(Drawing & drawing) {
    if (state.upscaler) return upscaled(drawing);
    sd_img_gen_params_t params = drawing.params;
    params.prompt = drawing.prompt.c_str();
    params.negative_prompt = drawing.negative_prompt.c_str();
    std::vector<sd_lora_t> adapters;
    for (const Adapter & adapter : drawing.adapters) adapters.push_back({false, adapter.scale, adapter.path.c_str()});
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
    // The library draws without what does not fit.
    for (const Adapter & adapter : drawing.adapters) {
        if (was_applied(state.context, adapter.path)) continue;
        throw Failure(SVC_IMAGE_ERROR_ADAPTER, "nothing in the adapter " + adapter.path + " fits the model");
    }
    return pixels_of(images.get()[0]);
}

// After a computation that was broken off. An upscaler that cannot be opened again stays as it is.
void recover() {
    if (state.context) return tidy(state.context);
    try {
        open_upscaler();
    } catch (...) {
    }
}

std::optional<Failure> attempt(Drawing & drawing) {
    try {
        forget_complaint();
        AbortScope scope(drawing.owner, "drawing an image");
        if (scope.aborted_already()) throw Stopped();
        std::vector<uint8_t> pixels = draw(drawing);
        std::lock_guard<std::mutex> lock(board.mutex);
        drawing.pixels = std::move(pixels);
        return std::nullopt;
    } catch (const std::bad_alloc &) {
        recover();
        return Failure(SVC_IMAGE_ERROR_NO_MEMORY, "there is not enough memory to draw the image");
    } catch (...) {
        const Failure failure = caught();
        recover();
        return failure;
    }
}

void run(const DrawingPtr & drawing) {
    current = drawing.get();
    const std::optional<Failure> failure = attempt(*drawing);
    current = nullptr;
    std::lock_guard<std::mutex> lock(board.mutex);
    drawing->failure = failure;
    drawing->ended = true;
    board.busy.reset();
    board.ended.notify_all();
}

// The first image is shown after the first step, the others at even distances before the last one.
bool is_shown_after(int32_t step, const Drawing & drawing) {
    const int32_t before_last = drawing.steps - 1;
    for (int32_t at = 0; at < drawing.previews; at++) {
        if (step <= before_last && step == 1 + at * before_last / drawing.previews) return true;
    }
    return false;
}

// With the mutex held. Throws when nothing is drawn.
Drawing & the_drawing() {
    if (!board.drawing) throw std::runtime_error("no image is drawn");
    return *board.drawing;
}

int32_t copy_pixels(const std::vector<uint8_t> & pixels, uint8_t * out, int32_t capacity) {
    const auto length = static_cast<int32_t>(pixels.size());
    if (length > capacity) return -length;
    std::copy(pixels.begin(), pixels.end(), out);
    return length;
}

} // namespace

bool is_stopped(void *) {
    const Drawing * drawing = current;
    return abort_requested(nullptr) || (drawing && drawing->stopped);
}

void on_step(int step, int steps, float) {
    if (is_stopped(nullptr)) throw Stopped();
    Drawing * drawing = current;
    if (!drawing) return;
    std::lock_guard<std::mutex> lock(board.mutex);
    drawing->step = step;
    drawing->steps = steps;
}

bool shows_step() {
    const Drawing * drawing = current;
    if (!drawing) return false;
    std::lock_guard<std::mutex> lock(board.mutex);
    const int32_t next = drawing->step + 1;
    return next != drawing->shown_step && is_shown_after(next, *drawing);
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
    if (board.busy) board.busy->stopped = true;
    board.drawing.reset();
    board.ended.wait(lock, [] { return !board.busy; });
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
        if (board.drawing || board.busy) return fail("another image is drawn");
        start_thread([drawing] { run(drawing); });
        board.drawing = board.busy = drawing;
        return 0;
    });
}

int32_t svc_image_state(void) {
    return guarded<int32_t>(-1, [] {
        std::lock_guard<std::mutex> lock(board.mutex);
        // One that was stopped is not forgotten before it has ended: no other can begin.
        if (!board.drawing) return static_cast<int32_t>(board.busy ? SVC_IMAGE_STAGE_DRAWING : SVC_IMAGE_STAGE_NONE);
        if (board.drawing->failure) return fail(*board.drawing->failure);
        return static_cast<int32_t>(board.drawing->ended ? SVC_IMAGE_STAGE_DONE : SVC_IMAGE_STAGE_DRAWING);
    });
}

int32_t svc_image_progress(uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(-1, [&] {
        std::lock_guard<std::mutex> lock(board.mutex);
        const Drawing & drawing = the_drawing();
        const Json progress = {
            {"step", drawing.step},
            {"steps", drawing.steps},
            {"previews", drawing.shown},
            {"width", drawing.preview.width},
            {"height", drawing.preview.height},
        };
        return copy_out(progress.dump(), out, capacity);
    });
}

int32_t svc_image_preview(uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(-1, [&] {
        std::lock_guard<std::mutex> lock(board.mutex);
        return copy_pixels(the_drawing().preview.pixels, out, capacity);
    });
}

int32_t svc_image_take(uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(-1, [&] {
        std::lock_guard<std::mutex> lock(board.mutex);
        const Drawing & drawing = the_drawing();
        if (!drawing.ended || drawing.failure) return fail("the image is not done");
        const int32_t length = copy_pixels(drawing.pixels, out, capacity);
        if (length >= 0) board.drawing.reset();
        return length;
    });
}

void svc_image_stop(void) {
    guarded<int32_t>(0, [] {
        std::lock_guard<std::mutex> lock(board.mutex);
        if (board.busy) board.busy->stopped = true;
        board.drawing.reset();
        return 0;
    });
}

} // extern "C"
