// Draws images with stable-diffusion.cpp's public functions alone, as its own program would, to compare svc's pixels
// and times with. `driver MODEL TEXT_ENCODER TAESD THREADS`; each input line is SEED, SAMPLER, STEPS, PROMPT and the
// path of a file for the pixels, separated by tabs. Prints for each image the milliseconds per step.

#include "ggml-backend.h"
#include "stable-diffusion.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

// svc computes graphs through its own function, which can stop them. This one never stops any.
extern "C" ggml_status svc_image_compute(ggml_backend_t backend, ggml_cgraph * graph) {
    return ggml_backend_graph_compute(backend, graph);
}

static double now() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static std::vector<double> steps;
static void on_progress(int step, int, float, void *) {
    if (step > 0) steps.push_back(now());
}

int main(int, char ** arguments) {
    sd_set_progress_callback(on_progress, nullptr);
    sd_ctx_params_t params;
    sd_ctx_params_init(&params);
    params.diffusion_model_path = arguments[1];
    params.llm_path = arguments[2];
    params.taesd_path = arguments[3];
    params.n_threads = std::atoi(arguments[4]);
    params.enable_mmap = true;
    sd_ctx_t * context = new_sd_ctx(&params);
    if (!context) return 1;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream fields(line);
        std::string seed, sampler, count, prompt, path;
        for (std::string * field : {&seed, &sampler, &count, &prompt, &path}) std::getline(fields, *field, '\t');
        sd_img_gen_params_t wanted;
        sd_img_gen_params_init(&wanted);
        wanted.prompt = prompt.c_str();
        wanted.width = wanted.height = 128;
        wanted.seed = std::stoll(seed);
        wanted.sample_params.sample_method = str_to_sample_method(sampler.c_str());
        wanted.sample_params.sample_steps = std::stoi(count);
        wanted.sample_params.guidance.txt_cfg = 1;
        steps.clear();
        sd_image_t * images = generate_image(context, &wanted);
        if (!images) return 1;
        FILE * file = std::fopen(path.c_str(), "wb");
        std::fwrite(images[0].data, 1, static_cast<size_t>(images[0].width) * images[0].height * 3, file);
        std::fclose(file);
        const size_t last = std::stoul(count) - 1;
        std::printf("%f\n", last > 0 ? (steps.at(last) - steps.front()) / static_cast<double>(last) : 0);
        std::fflush(stdout);
        free_sd_images(images, 1);
    }
    free_sd_ctx(context);
}
