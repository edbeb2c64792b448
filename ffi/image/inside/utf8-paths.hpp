// Included before each source of stable-diffusion.cpp on Windows: paths are UTF-8, and the functions that it opens files
// with expect the system's own encoding there.
#pragma once

#include "../../common/windows.hpp"

#include <filesystem>
#include <fstream>
#include <string>

namespace std {
// In this namespace, because upstream writes std::ifstream.
struct svc_ifstream : ifstream {
    svc_ifstream() = default;
    svc_ifstream(const string & path, openmode mode) : ifstream(filesystem::u8path(path), mode) {}
    void open(const string & path, openmode mode) { ifstream::open(filesystem::u8path(path), mode); }
};
} // namespace std

#define ifstream svc_ifstream
#define GetFileAttributesA(name) GetFileAttributesW(std::filesystem::u8path(name).c_str())
#define CreateFileA(name, ...) CreateFileW(std::filesystem::u8path(name).c_str(), __VA_ARGS__)
