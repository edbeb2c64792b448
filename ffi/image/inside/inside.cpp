#include "inside.hpp"

// Included before the macros below, so that the calls in these headers keep their names.
#include "core/ggml_extend.hpp"
#include "core/util.h"
#include "tokenizers/tokenizer.h"

#define pretty_progress image::on_step
#define sd_should_preview_denoised image::shows_step
#define parse_prompt_attention image::weighted_parts
#define pad_tokens(tokens, ...) pad_tokens(image::bounded(tokens), __VA_ARGS__)
#include "src/stable-diffusion.cpp"
#undef pad_tokens
#undef parse_prompt_attention
#undef pretty_progress
#undef sd_should_preview_denoised

#include <initializer_list>
#include <map>
#include <utility>

namespace image {
namespace {

using Names = String2TensorStorage;

bool has(const Names & names, std::initializer_list<const char *> parts) {
    for (const auto & [name, tensor] : names) {
        for (const char * part : parts) {
            if (name.find(part) != std::string::npos) return true;
        }
    }
    return false;
}

bool begins(const Names & names, std::initializer_list<const char *> starts) {
    for (const auto & [name, tensor] : names) {
        for (const char * start : starts) {
            if (starts_with(name, start)) return true;
        }
    }
    return false;
}

template <typename Model> void collect(const std::shared_ptr<Model> & model, std::vector<ggml_tensor *> & tensors) {
    if (!model) return;
    std::map<std::string, ggml_tensor *> own;
    model->get_param_tensors(own);
    for (const auto & [name, tensor] : own) tensors.push_back(tensor);
}

} // namespace

Part part_of(const std::string & path) {
    ModelLoader loader;
    if (!loader.init_from_file(path)) return Part::unreadable;
    const Names & names = loader.get_tensor_storage_map();
    if (names.empty()) return Part::unreadable;
    if (begins(names, {"model.diffusion_model.", "first_stage_model.", "cond_stage_model.", "conditioner.", "unet."})) return Part::whole;
    if (has(names, {"text_model.", "transformer.resblocks."})) {
        return has(names, {"layers.12.", "resblocks.12."}) ? Part::clip_g : Part::clip_l;
    }
    if (begins(names, {"enc.blk."}) || has(names, {"encoder.block.0.", "SelfAttention"})) return Part::t5;
    if (begins(names, {"blk.", "model.layers.", "language_model.", "model.language_model.", "token_embd."})) return Part::llm;
    if (begins(names, {"v.blk.", "visual.", "mm."})) return Part::llm_vision;
    if (begins(names, {"decoder.", "encoder.", "vae.", "quant_conv.", "post_quant_conv."})) return Part::decoder;
    return Part::diffusion;
}

Traits traits_of(const sd_ctx_t * context) {
    StableDiffusionGGML & sd = *context->sd;
    Traits traits;
    traits.family = model_version_to_str[sd.version];
    traits.multiple = sd.get_vae_scale_factor() * sd.get_diffusion_model_down_factor();
    traits.draws = sd_version_supports_image_generation(sd.version);
    const auto & decoder = sd.preview_vae ? sd.preview_vae : sd.first_stage_model;
    traits.has_tiny_decoder = std::dynamic_pointer_cast<TinyImageAutoEncoder>(decoder) != nullptr ||
                              std::dynamic_pointer_cast<TinyVideoAutoEncoder>(decoder) != nullptr;
    traits.is_transformer = sd_version_is_dit(sd.version);
    traits.takes_references = sd_version_supports_ref_latent_img_cfg(sd.version);
    traits.needs_reference = sd_version_is_unet_edit(sd.version) || sd_version_is_pid(sd.version);
    return traits;
}

bool read_weights(sd_ctx_t * context) {
    StableDiffusionGGML & sd = *context->sd;
    std::vector<ggml_tensor *> tensors;
    collect(sd.cond_stage_model, tensors);
    collect(sd.clip_vision, tensors);
    collect(sd.diffusion_model, tensors);
    collect(sd.first_stage_model, tensors);
    collect(sd.preview_vae, tensors);
    if (!sd.model_manager->prepare_params(tensors)) return false;
    sd.model_manager->release_compute_backend_params(tensors);
    return true;
}

void set_threads(sd_ctx_t * context, int32_t threads) { context->sd->n_threads = threads; }

bool was_applied(const sd_ctx_t * context, const std::string & path) {
    for (const auto & adapter : context->sd->runtime_lora_models) {
        if (adapter->file_path == path && !adapter->applied_lora_tensors.empty()) return true;
    }
    return false;
}

std::function<void()> put_aside(sd_ctx_t * context, std::vector<sd_lora_t> adapters) {
    StableDiffusionGGML & sd = *context->sd;
    // Safe to free: each step allocates its compute buffers and prepares the weights again.
    sd.diffusion_model->runner_done();
    const auto tiling = sd.vae_tiling_params;
    const auto noise = std::exchange(sd.rng, sd.get_rng(CUDA_RNG));
    const auto sampler_noise = std::exchange(sd.sampler_rng, sd.rng);
    const bool was_adapted = !sd.runtime_lora_models.empty();
    return [=, &sd] {
        sd.diffusion_model->runner_done();
        sd.vae_tiling_params = tiling;
        sd.rng = noise;
        sd.sampler_rng = sampler_noise;
        if (was_adapted || !sd.runtime_lora_models.empty()) sd.apply_loras(adapters.data(), static_cast<uint32_t>(adapters.size()));
    };
}

void tidy(sd_ctx_t * context) {
    StableDiffusionGGML & sd = *context->sd;
    if (sd.cond_stage_model) sd.cond_stage_model->runner_done();
    if (sd.diffusion_model) sd.diffusion_model->runner_done();
    if (sd.first_stage_model) sd.first_stage_model->runner_done();
    if (sd.preview_vae) sd.preview_vae->runner_done();
}

} // namespace image
