// Serves this machine's devices to other machines by llama.cpp's RPC protocol, to permitted networks only.
//
// The protocol has neither encryption nor a password, and its server has no access list: connections are accepted here,
// and only permitted ones are given to the server.

#include "../common/platform.hpp"
#include "compute-threads.hpp"
#include "sockets.hpp"
#include "spread.hpp"

#include "ggml-backend-impl.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace svc {
namespace {

// Maximum number of clients that wait while another is served.
constexpr size_t MOST_WAITING = 16;
// A connection that sends nothing for this long is closed: it is not a client's.
constexpr int GREETING_MS = 5000;
// A machine that was switched off sends nothing any more. Its connection ends after this many idle seconds and this
// many unanswered probes, each this many seconds apart.
constexpr int IDLE_SECONDS = 30;
constexpr int PROBES = 3;
constexpr int PROBE_SECONDS = 10;

#ifdef _WIN32
constexpr char RPC_LIBRARY[] = "ggml-rpc.dll";
#else
constexpr char RPC_LIBRARY[] = "libggml-rpc.so";
#endif

using Serve = void (*)(int fd, ggml_backend_t * backends, size_t count);

struct Network {
    uint32_t address;
    uint32_t mask;
};

struct Client {
    int fd;
    std::string address;
};

struct Worker {
    std::vector<ggml_backend_dev_t> devices;
    std::vector<ggml_backend_t> backends;
    std::vector<Network> allowed;
    Serve serve = nullptr;
    std::mutex mutex;
    std::condition_variable comes;
    std::deque<Client> waiting;
};
Worker & worker = *new Worker;

size_t most_memory = 0;
void (*memory_of_machine)(ggml_backend_dev_t, size_t *, size_t *) = nullptr;

void note(ggml_log_level level, const std::string & text) { keep_log_line(level, text.c_str()); }

// Reports the available memory, because ggml reports all memory of the machine as free.
void free_memory(ggml_backend_dev_t device, size_t * free, size_t * total) {
    memory_of_machine(device, free, total);
    *free = std::min(*free, most_memory);
    std::FILE * file = std::fopen("/proc/meminfo", "re");
    if (!file) return;
    char line[128];
    unsigned long long kilobytes = 0;
    while (std::fgets(line, sizeof line, file)) {
        if (std::sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1) *free = std::min<size_t>(*free, kilobytes * 1024);
    }
    std::fclose(file);
}

ggml_status (*compute_on_cpu)(ggml_backend_t, ggml_cgraph *) = nullptr;

// Computes as for this machine's own models: with fewer threads while other programs need the cores.
ggml_status compute_measured(ggml_backend_t backend, ggml_cgraph * graph) {
    use_compute_threads(backend);
    const MeasuredComputation measured;
    return compute_on_cpu(backend, graph);
}

Network network(const std::string & text) {
    const size_t slash = text.find('/');
    const int bits = std::stoi(text.substr(slash + 1));
    in_addr address = {};
    if (slash == std::string::npos || bits < 0 || bits > 32 || inet_pton(AF_INET, text.substr(0, slash).c_str(), &address) != 1) {
        throw std::runtime_error(text + " is not a network");
    }
    const uint32_t mask = bits == 0 ? 0 : ~uint32_t{0} << (32 - bits);
    return {ntohl(address.s_addr) & mask, mask};
}

bool is_allowed(const sockaddr_in & peer) {
    const uint32_t address = ntohl(peer.sin_addr.s_addr);
    return std::any_of(worker.allowed.begin(), worker.allowed.end(),
                       [&](const Network & one) { return (address & one.mask) == one.address; });
}

void choose_devices(const std::vector<std::string> & names) {
    std::string known;
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        known += (known.empty() ? "" : ", ") + std::string(ggml_backend_dev_name(device));
        const auto type = ggml_backend_dev_type(device);
        const bool is_gpu = type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU;
        if (names.empty() && is_gpu) worker.devices.push_back(device);
    }
    for (const auto & name : names) {
        ggml_backend_dev_t device = ggml_backend_dev_by_name(name.c_str());
        if (!device) throw std::runtime_error("there is no device " + name + "; there are " + known);
        worker.devices.push_back(device);
    }
    if (worker.devices.empty()) worker.devices.push_back(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU));
}

void open_devices(int threads) {
    for (ggml_backend_dev_t device : worker.devices) {
        ggml_backend_t backend = ggml_backend_dev_init(device, nullptr);
        if (!backend) throw std::runtime_error(with_complaint(std::string("cannot use ") + ggml_backend_dev_name(device)));
        worker.backends.push_back(backend);
        if (ggml_backend_dev_type(device) != GGML_BACKEND_DEVICE_TYPE_CPU) continue;
        memory_of_machine = device->iface.get_memory;
        device->iface.get_memory = free_memory;
        create_compute_threads(threads, false);
        compute_on_cpu = backend->iface.graph_compute;
        backend->iface.graph_compute = compute_measured;
    }
}

// Returns the serving function of libggml-rpc, which is already loaded.
Serve serving_function() {
    void * function = function_of(state.libraries + "/" + RPC_LIBRARY, "svc_rpc_serve");
    if (!function) throw std::runtime_error(std::string(RPC_LIBRARY) + " is missing: rebuild the native libraries");
    return reinterpret_cast<Serve>(function);
}

void configure(int fd) {
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
#ifdef TCP_KEEPIDLE
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, IDLE_SECONDS);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, PROBE_SECONDS);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, PROBES);
#endif
}

// Serves one client at a time: the devices' memory belongs to the client that came first.
void serve_clients() {
    for (;;) {
        Client client;
        {
            std::unique_lock<std::mutex> lock(worker.mutex);
            worker.comes.wait(lock, [] { return !worker.waiting.empty(); });
            client = worker.waiting.front();
            worker.waiting.pop_front();
        }
        if (!is_readable(client.fd, GREETING_MS)) {
            close_socket(client.fd);
            continue;
        }
        note(GGML_LOG_LEVEL_INFO, "serving " + client.address);
        worker.serve(client.fd, worker.backends.data(), worker.backends.size());
        note(GGML_LOG_LEVEL_INFO, client.address + " has gone");
    }
}

void accept_clients(int listener) {
    std::string refused;
    for (;;) {
        sockaddr_in peer = {};
        socklen_t size = sizeof peer;
        const int fd = static_cast<int>(accept(listener, reinterpret_cast<sockaddr *>(&peer), &size));
        if (fd < 0) {
            // The connection has already ended, or no more files can be opened; only the latter needs a pause.
            if (errno != EINTR && errno != ECONNABORTED) std::this_thread::sleep_for(std::chrono::milliseconds(100));
            continue;
        }
        char address[INET_ADDRSTRLEN] = "";
        inet_ntop(AF_INET, &peer.sin_addr, address, sizeof address);
        if (!is_allowed(peer)) {
            close_socket(fd);
            // Repeated attempts from one address are logged once.
            if (refused != address) note(GGML_LOG_LEVEL_WARN, "refused " + std::string(address) + ", which --allow does not name");
            refused = address;
            continue;
        }
        configure(fd);
        std::lock_guard<std::mutex> lock(worker.mutex);
        if (worker.waiting.size() == MOST_WAITING) {
            close_socket(worker.waiting.front().fd);
            worker.waiting.pop_front();
        }
        worker.waiting.push_back({fd, address});
        worker.comes.notify_one();
    }
}

// Opens the listening socket.
int listen_at(const std::string & host, int port) {
    const auto refuse = [&](int fd) {
        const std::string reason = socket_error();
        if (fd >= 0) close_socket(fd);
        throw std::runtime_error("cannot listen on " + host + ":" + std::to_string(port) + " (" + reason + ")");
    };
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) throw std::runtime_error(host + " is not an IPv4 address");
    start_sockets();
    const int fd = static_cast<int>(socket(AF_INET, SOCK_STREAM, 0));
    if (fd < 0) refuse(fd);
    reuse_address(fd);
    if (bind(fd, reinterpret_cast<sockaddr *>(&address), sizeof address) < 0 || ::listen(fd, SOMAXCONN) < 0) refuse(fd);
    return fd;
}

int port_of(int listener) {
    sockaddr_in address = {};
    socklen_t size = sizeof address;
    getsockname(listener, reinterpret_cast<sockaddr *>(&address), &size);
    return ntohs(address.sin_port);
}

common_json device_info(ggml_backend_dev_t device) {
    size_t free = 0;
    size_t total = 0;
    ggml_backend_dev_memory(device, &free, &total);
    common_json info = common_json::object();
    info["name"] = ggml_backend_dev_name(device);
    info["description"] = ggml_backend_dev_description(device);
    info["free"] = free;
    info["total"] = total;
    return info;
}

} // namespace
} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_worker_start(const uint8_t * config_json, int32_t config_length) {
    return guarded<int32_t>(-1, [&] {
        if (worker.serve) return fail("this process is a worker already");
        const common_json config = parse_json(config_json, config_length);
        for (const auto & text : config.at("allow").get<std::vector<std::string>>()) worker.allowed.push_back(network(text));
        most_memory = config.at("memory").get<size_t>();
        const Serve serve = serving_function();
        choose_devices(config.at("devices").get<std::vector<std::string>>());
        open_devices(config.at("threads").get<int>());
        const int listener = listen_at(config.at("host").get<std::string>(), config.at("port").get<int>());
        worker.serve = serve;
        start_thread([listener] { accept_clients(listener); });
        start_thread([] { serve_clients(); });
        return port_of(listener);
    });
}

int32_t svc_worker_devices(uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(-1, [&] {
        common_json devices = common_json::array();
        for (ggml_backend_dev_t device : worker.devices) devices.push_back(device_info(device));
        return copy_out(devices.dump_safe(), out, capacity);
    });
}

} // extern "C"
