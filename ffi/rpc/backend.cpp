// llama.cpp's RPC backend, compiled from its own sources as a compute backend that is loaded at run time. The sources
// are one unit here to add a function that llama.cpp's server lacks: serving a connection that was accepted elsewhere.

#include "ggml-backend-impl.h"
#include "ggml-cpp.h"
#include "ggml-impl.h"

#include <memory>

// Both files define this macro.
#define RPC_DEBUG RPC_TRANSPORT_DEBUG
// A socket for an existing file descriptor can only be made through private members.
#define private public
#include "ggml-rpc/transport.h"
#undef private
#include "ggml-rpc/transport.cpp"
#undef RPC_DEBUG
#undef LOG_DBG
#include "ggml-rpc/ggml-rpc.cpp"

// Serves the client connected to `fd`, with these backends as its devices, until it disconnects; then closes `fd` and
// frees what the client has allocated. Input that is not a message of the protocol ends the connection, or the process.
extern "C" __attribute__((visibility("default"))) void svc_rpc_serve(int fd, ggml_backend_t * backends, size_t count) {
    auto socket = std::make_shared<socket_t>(std::make_unique<socket_t::impl>(fd));
    rpc_serve_client(std::vector<ggml_backend_t>(backends, backends + count), nullptr, socket);
}
