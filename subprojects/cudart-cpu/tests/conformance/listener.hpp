// A listener to CUDA's log.
#pragma once

#include "test.hpp"

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

/// Collects what a log callback is told.
struct Listener {
    struct Line {
        std::string text;
        cudaLogLevel level;
        std::thread::id thread;
    };

    Listener() { REQUIRE_CUDA(cudaLogsRegisterCallback(&Listener::hear, this, &handle)); }
    ~Listener() { stop(); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    void stop() {
        if (handle != nullptr) {
            CHECK(cudaLogsUnregisterCallback(handle) == cudaSuccess);
        }
        handle = nullptr;
    }
    std::vector<std::string> texts() const {
        std::vector<std::string> result;
        for (const Line& line : lines) {
            result.push_back(line.text);
        }
        return result;
    }

    static void CUDART_CB hear(void* self, cudaLogLevel level, char* text, std::size_t length) {
        static_cast<Listener*>(self)->lines.push_back({std::string(text, length), level, std::this_thread::get_id()});
    }

    std::vector<Line> lines;
    cudaLogsCallbackHandle handle = nullptr;
};
