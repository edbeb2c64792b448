#include "threads.hpp"

#include <pthread.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

namespace svc {
namespace {

constexpr size_t STACK_BYTES = 64 << 20;
using Body = std::function<void()>;

void * run(void * body) {
    (*std::unique_ptr<Body>(static_cast<Body *>(body)))();
    return nullptr;
}

} // namespace

void start_thread(Body body) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    auto owned = std::make_unique<Body>(std::move(body));
    pthread_t thread;
    const int result = pthread_create(&thread, &attributes, run, owned.get());
    pthread_attr_destroy(&attributes);
    if (result != 0) throw std::runtime_error(std::string("cannot start a thread: ") + std::strerror(result));
    owned.release();
}

} // namespace svc
