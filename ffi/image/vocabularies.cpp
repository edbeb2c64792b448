// Unpacks the vocabularies of text encoders when a model needs one; vendor/vocabularies.ts packs them.

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

extern "C" int mz_uncompress(unsigned char * out, unsigned long * out_length, const unsigned char * in, unsigned long length);

namespace {

std::string unpacked(const uint8_t * start, const uint8_t * end) {
    uint64_t length = 0;
    std::memcpy(&length, start, sizeof length);
    start += sizeof length;
    std::string text(length, '\0');
    auto written = static_cast<unsigned long>(length);
    auto * out = reinterpret_cast<unsigned char *>(&text[0]);
    const int result = mz_uncompress(out, &written, start, static_cast<unsigned long>(end - start));
    if (result != 0 || written != length) throw std::runtime_error("a vocabulary in the image library is damaged");
    return text;
}

} // namespace

#define SVC_VOCABULARY(load, name)                            \
    extern "C" const uint8_t svc_vocabulary_##name[];         \
    extern "C" const uint8_t svc_vocabulary_##name##_end[];   \
    std::string load();                                       \
    std::string load() { return unpacked(svc_vocabulary_##name, svc_vocabulary_##name##_end); }

#define SVC_NO_VOCABULARY(load, model)                                                    \
    std::string load();                                                                   \
    std::string load() { throw std::runtime_error("this build has no vocabulary of " model); }

SVC_VOCABULARY(load_clip_merges, clip_merges)
SVC_VOCABULARY(load_qwen2_merges, qwen_merges)
SVC_VOCABULARY(load_mistral_merges, mistral_merges)
SVC_VOCABULARY(load_mistral_vocab_json, mistral_vocab)
SVC_VOCABULARY(load_t5_tokenizer_json, t5)
SVC_VOCABULARY(load_gpt_oss_merges, gpt_oss_merges)
SVC_VOCABULARY(load_gpt_oss_vocab_json, gpt_oss_vocab)

SVC_NO_VOCABULARY(load_umt5_tokenizer_json, "UMT5")
SVC_NO_VOCABULARY(load_gemma_merges, "Gemma")
SVC_NO_VOCABULARY(load_gemma_vocab_json, "Gemma")
SVC_NO_VOCABULARY(load_gemma2_merges, "Gemma 2")
SVC_NO_VOCABULARY(load_gemma2_vocab_json, "Gemma 2")
