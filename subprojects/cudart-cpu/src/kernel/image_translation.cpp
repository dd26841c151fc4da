// The translation of fat binaries for NVIDIA's runtime while the program runs.
#include "image_translation.hpp"

#include "runtime/text.hpp"
#include "translated_modules.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace cudart_cpu::detail {

namespace {

namespace fs = std::filesystem;

class Folder {
  public:
    Folder() {
        std::error_code error;
        std::string path = fs::temp_directory_path(error) / "cudart-cpu-XXXXXX";
        if (!error && mkdtemp(path.data()) != nullptr) path_ = path;
    }
    ~Folder() {
        std::error_code error;
        if (!path_.empty()) fs::remove_all(path_, error);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    [[nodiscard]] bool exists() const noexcept { return !path_.empty(); }
    [[nodiscard]] std::string file(const char* name) const { return path_ / name; }

  private:
    fs::path path_;
};

/// This runtime's shared object.
fs::path own_library() {
    Dl_info info{};
    std::error_code error;
    if (dladdr(reinterpret_cast<const void*>(&translate_image), &info) == 0) return {};
    return fs::canonical(info.dli_fname, error);
}

/// Finds the tool beside the installed library, else in the sources.
fs::path translator(const fs::path& library) {
    std::error_code error;
    for (const fs::path& folder :
         {library.parent_path() / CUDART_CPU_INSTALLED_TOOLS, fs::path(CUDART_CPU_SOURCE_TOOLS)})
        if (fs::exists(folder / "translate_image.py", error)) return folder / "translate_image.py";
    return {};
}

/// The environment without LD_PRELOAD, meant for this program alone.
std::vector<char*> environment_of_tools() {
    std::vector<char*> variables;
    for (char** variable = environ; *variable != nullptr; ++variable)
        if (std::strncmp(*variable, "LD_PRELOAD=", 11) != 0) variables.push_back(*variable);
    variables.push_back(nullptr);
    return variables;
}

/// Runs a program with its output in a file. Returns the exit status; -1 if there is no such program.
int run(std::vector<std::string> words, const std::string& output) {
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t process = 0;
    const int error =
        posix_spawnp(&process, arguments.front(), &actions, nullptr, arguments.data(), environment_of_tools().data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return -1;
    int status = 0;
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR) return 0; // the program waits for its children itself: the result will show
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// Reads the reason of a tool that ended with an error.
std::string last_line(const std::string& path) {
    std::ifstream file(path);
    std::string last;
    for (std::string line; std::getline(file, line);)
        if (!line.empty()) last = line;
    constexpr std::string_view own = "cudart-cpu: ";
    return last.starts_with(own) ? last.substr(own.size()) : last;
}

} // namespace

const ptx::ModuleRow* translate_image(std::string_view image, std::string& refusal) {
    const fs::path library = own_library();
    const fs::path tool = translator(library);
    if (tool.empty()) {
        refusal =
            text("cudart-cpu's translate_image.py is not in " CUDART_CPU_INSTALLED_TOOLS " beside ", library.string());
        return nullptr;
    }
    const Folder folder;
    if (!folder.exists()) {
        refusal = "no temporary folder can be made for its translation";
        return nullptr;
    }
    const std::string made = folder.file("module.so");
    const std::string said = folder.file("said");
    std::ofstream(folder.file("image"), std::ios::binary)
        .write(image.data(), static_cast<std::streamsize>(image.size()));
    switch (run({"python3", tool, folder.file("image"), library, made}, said)) {
    case 0:
        return load_module(made.c_str(), refusal);
    case -1:
        refusal = "there is no python3 on PATH to translate its PTX";
        return nullptr;
    default:
        refusal = last_line(said);
        return nullptr;
    }
}

} // namespace cudart_cpu::detail
