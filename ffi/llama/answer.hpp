// Takes an answer apart while the model writes it: reasoning, content, tool calls.
#pragma once

#include "answer-format.hpp"

namespace svc {

class AnswerReader {
  public:
    explicit AnswerReader(std::shared_ptr<const AnswerFormat> format);

    void push(const uint8_t * bytes, size_t count);

    // What the text so far has that earlier calls did not report (see svc_answer_read in shim.h). Nothing reported is
    // ever taken back. `final`: the text is complete.
    common_json read(bool final);

  private:
    size_t followed(size_t length) const;
    bool parse_to(size_t length, bool partial);
    bool parse(bool final);
    common_json news(bool complete);
    std::string unread() const;

    std::shared_ptr<const AnswerFormat> format;
    std::string text;
    // The text does not follow the format, and nothing more of it is parsed.
    bool broken = false;
    common_chat_msg current;
    // As far as it has been reported.
    common_chat_msg reported;
    // Of an answer whose beginning was given: the length of that, which nobody wants to hear again.
    size_t given = 0;
};

} // namespace svc
