#pragma once

#include "llama.h"

#include <string>

namespace svc {

// Returns llama.cpp's type for "auto", "on" or "off".
inline llama_flash_attn_type flash_attention(const std::string & name) {
    if (name == "on") return LLAMA_FLASH_ATTN_TYPE_ENABLED;
    return name == "off" ? LLAMA_FLASH_ATTN_TYPE_DISABLED : LLAMA_FLASH_ATTN_TYPE_AUTO;
}

} // namespace svc
