// Parses an answer into reasoning, content and tool calls while the model writes it.
#pragma once

#include "answer-format.hpp"

namespace svc {

class AnswerReader {
  public:
    explicit AnswerReader(std::shared_ptr<const AnswerFormat> format);

    void push(const uint8_t * bytes, size_t count);
    void push(llama_token token);

    // Returns whether the text so far contains a tool call.
    bool calls_tool();

    // Returns what the text so far contains beyond earlier reports (see svc_answer_read in shim.h). Nothing reported is
    // ever retracted. `final`: the text is complete.
    common_json read(bool final);

  private:
    bool may_call();
    size_t followed(size_t length) const;
    bool parse_to(size_t length, bool partial);
    bool parse(bool final);
    common_json updates(bool complete);
    size_t after_reasoning() const;
    std::string unread() const;

    std::shared_ptr<const AnswerFormat> format;
    std::string text;
    // Length of the text that has no trigger.
    size_t searched = 0;
    // The text does not follow the format; no more of it is parsed.
    bool broken = false;
    common_chat_msg current;
    // The part of `current` that has been reported.
    common_chat_msg reported;
    // Length of the content that came with the prompt (assistant prefill), which must not be reported again.
    size_t given = 0;
};

} // namespace svc
