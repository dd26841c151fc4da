// The observers that the environment asks for: CUDAG_LOG, CUDAG_DOT and CUDAG_TRACE.
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>
#include <cudag/observer.hpp>

#include "cuda/observing.hpp"
#include "label_map.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

/// A file for lines. Reports its first failure on stderr. Never closed: static objects may still write.
class LineFile {
  public:
    LineFile(std::FILE* file, std::string name) : file_(file), name_(std::move(name)) {}

    void write(std::string_view line) {
        const std::lock_guard lock(mutex_);
        const bool written =
            std::fwrite(line.data(), 1, line.size(), file_) == line.size() && std::fputc('\n', file_) != EOF;
        if (std::fflush(file_) == 0 && written) return;
        if (!std::exchange(has_failed_, true))
            std::fprintf(stderr, "cudag: %s: a line could not be written: %s\n", name_.c_str(), std::strerror(errno));
    }

  private:
    std::mutex mutex_;
    std::FILE* file_;
    std::string name_; ///< of the variable, and the path
    bool has_failed_ = false;
};

/// Returns the value of a variable, with the process's number for each "%p"; empty if it is not set.
std::string value_of(const char* variable) {
    const char* const value = std::getenv(variable);
    std::string text = value == nullptr ? "" : value;
    for (std::size_t at = text.find("%p"); at != std::string::npos; at = text.find("%p", at))
        text.replace(at, 2, std::to_string(::getpid()));
    return text;
}

std::string named(const char* variable, const std::string& value) {
    return fmt::format("{}={}", variable, value);
}

/// Opens the file for a variable; null, with a line on stderr, if this fails.
std::shared_ptr<LineFile> open_lines(const char* variable, const std::string& value, const char* mode) {
    std::FILE* const file = std::fopen(value.c_str(), mode);
    if (file == nullptr) {
        std::fprintf(stderr,
                     "cudag: %s: the file cannot be opened for writing: %s; name a file in an existing folder. Nothing "
                     "is written for this variable\n",
                     named(variable, value).c_str(), std::strerror(errno));
        return nullptr;
    }
    return std::make_shared<LineFile>(file, named(variable, value));
}

Observer log_to(std::shared_ptr<LineFile> file) {
    return [file = std::move(file), begin = std::chrono::steady_clock::now()](const Observation& event) {
        const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin;
        file->write(fmt::format("cudag {} {:.6f} {}", ::getpid(), since.count(), to_string(event)));
    };
}

/// Returns `name` with "-" for characters that are unusual in file names.
std::string as_file_name(std::string_view name) {
    constexpr std::size_t longest = 64;
    std::string result;
    for (const char c : name.substr(0, longest)) {
        const bool is_usual = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        result += is_usual ? c : '-';
    }
    return result.empty() ? "graph" : result;
}

/// Writes pictures into a folder. Reports its first failure on stderr.
class PictureFolder {
  public:
    explicit PictureFolder(std::string folder) : folder_(std::move(folder)) {}

    void draw(const Graph& graph) {
        constexpr std::size_t readable = 200; // nodes
        const std::string path =
            fmt::format("{}/cudag-{}-{:04}-{}.dot", folder_, ::getpid(), ++drawn_, as_file_name(graph.name()));
        const std::string text = graph.dot({.color = DotColor::kind, .fold = graph.node_count() > readable});
        std::FILE* const file = std::fopen(path.c_str(), "w");
        const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
        const bool closed = file != nullptr && std::fclose(file) == 0;
        if (written && closed) return;
        if (!has_failed_.exchange(true))
            std::fprintf(stderr, "cudag: CUDAG_DOT: the picture %s could not be written: %s\n", path.c_str(),
                         std::strerror(errno));
    }

  private:
    std::string folder_;
    std::atomic<unsigned> drawn_ = 0;
    std::atomic<bool> has_failed_ = false;
};

bool is_writable_folder(const std::string& folder) {
    if (::access((folder + "/.").c_str(), W_OK | X_OK) == 0) return true;
    std::fprintf(stderr,
                 "cudag: %s: the folder cannot be written: %s; make it before the program starts. No pictures are "
                 "written\n",
                 named("CUDAG_DOT", folder).c_str(), std::strerror(errno));
    return false;
}

} // namespace

std::vector<Observer> observers_of_environment() {
    std::vector<Observer> observers;
    if (const std::string log = value_of("CUDAG_LOG"); !log.empty())
        if (auto file = log == "stderr" ? std::make_shared<LineFile>(stderr, "CUDAG_LOG=stderr")
                                        : open_lines("CUDAG_LOG", log, "a"))
            observers.push_back(log_to(std::move(file)));
    if (const std::string folder = value_of("CUDAG_DOT"); !folder.empty() && is_writable_folder(folder))
        observers.emplace_back([pictures = std::make_shared<PictureFolder>(folder)](const Observation& event) {
            if (const auto* made = event.find<ObservedInstantiation>()) pictures->draw(made->graph);
        });
    if (const std::string trace = value_of("CUDAG_TRACE"); !trace.empty())
        if (auto file = open_lines("CUDAG_TRACE", trace, "w"))
            observers.emplace_back([file = std::move(file),
                                    number = std::make_shared<std::atomic<unsigned>>(0)](const Observation& event) {
                if (const auto* made = event.find<ObservedInstantiation>())
                    file->write(label_line(made->exec, ++*number));
            });
    return observers;
}

} // namespace cudag::detail
