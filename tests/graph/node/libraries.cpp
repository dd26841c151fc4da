// Libraries of kernels: loaded, asked for their kernels, and kept by what launches them.
#include "functions.hpp"

#if CUDART_VERSION >= 12080

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

using cudag::Exec;
using cudag::Function;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Library;
using cudag::Stream;

namespace {

/// A graph that fills `cells` by a library that nobody else has.
Graph fill_by_library(cudag::DeviceSpan<int> cells, int value) {
    GraphBuilder b;
    b.kernel({.grid = static_cast<unsigned>(cells.size())}, load_library().function("library_fill"), cells, value);
    return std::move(b).build();
}

} // namespace

TEST_CASE("a library has its kernels by name", "[graph][library]") {
    const Library library = load_library();
    CHECK(library.kernel_names() == std::vector<std::string>{"library_fill"});
    const Function fill = library.function("library_fill");
    CHECK(to_string(fill) == "library_fill of 2 parameters (8 and 4 bytes)");
    CHECK(fill == library.function("library_fill"));
    const auto error = refused<GraphError>([&] { static_cast<void>(library.function("fill")); });
    CHECK(error.code() == cuda_code(cudaErrorSymbolNotFound));
    CHECK_THAT(error.what(), ContainsSubstring("kernel \"fill\"") &&
                                 ContainsSubstring("the library has library_fill: C++ mangles names"));
}

TEST_CASE("a library comes from text, an image, a file, or CUDA", "[graph][library]") {
    load_library(); // tells a CPU runtime what the text says
    const std::string text = library_text;
    std::optional<Library> library;
    SECTION("text") {
        library = Library::from_ptx(text);
    }
    SECTION("an image") {
        library = Library::from_image(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
    }
    SECTION("a file") {
        const auto path =
            std::filesystem::temp_directory_path() / ("cudag_library_" + std::to_string(getpid()) + ".ptx");
        std::ofstream(path) << text;
        library = Library::from_file(path.string());
        std::filesystem::remove(path);
    }
    SECTION("CUDA") {
        cudaLibrary_t native = nullptr;
        cudag::check(cudaLibraryLoadData(&native, library_text, nullptr, nullptr, 0, nullptr, nullptr, 0));
        library = Library::adopt(native);
        CHECK(library->native() == native);
    }
    const auto cells = device({0, 0});
    GraphBuilder b;
    b.kernel({.grid = 2}, library->function("library_fill"), cells, 5);
    run(std::move(b));
    CHECK(read(cells) == std::vector{5, 5});
}

TEST_CASE("what is no library is refused", "[graph][library]") {
    CHECK_THAT(refused<GraphError>([] { static_cast<void>(Library::from_image({})); }).what(),
               ContainsSubstring("the image is empty"));
    CHECK_THAT(refused<GraphError>([] { static_cast<void>(Library::adopt(nullptr)); }).what(),
               ContainsSubstring("the library is null"));
    CHECK_THAT(refused<GraphError>([] { static_cast<void>(Library::from_file("/nowhere/kernels.ptx")); }).what(),
               ContainsSubstring("library \"/nowhere/kernels.ptx\": cudaLibraryLoadFromFile"));
}

TEST_CASE("what is no code is refused when the library is made", "[graph][library]") {
    const auto require_refused = [](const char* subject, const char* operation, const auto& make) {
        const auto error = refused<GraphError>([&] { static_cast<void>(make()); });
        CHECK(error.code() == cuda_code(cudaErrorInvalidKernelImage));
        CHECK_THAT(error.what(), ContainsSubstring(subject) && ContainsSubstring("is no code that CUDA can load") &&
                                     ContainsSubstring(operation));
    };
    require_refused("Library::from_ptx: the text", "cudaLibraryLoadData", [] { return Library::from_ptx("garbage"); });
    require_refused("Library::from_ptx: the text", "cudaLibraryLoadData", [] { return Library::from_ptx(""); });
    require_refused("Library::from_image: the image", "cudaLibraryLoadData", [] {
        return Library::from_image(std::as_bytes(std::span("garbage"))); // with its end
    });
    const auto path = std::filesystem::temp_directory_path() / ("cudag_no_library_" + std::to_string(getpid()));
    std::ofstream(path) << "garbage\n";
    require_refused(path.c_str(), "cudaLibraryLoadFromFile", [&] { return Library::from_file(path.string()); });
    std::filesystem::remove(path);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("a library without kernels has no names of kernels", "[graph][library]") {
    const Library library = Library::from_ptx(".version 8.0\n.target sm_80\n.address_size 64\n");
    CHECK(library.kernel_names().empty());
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    const auto error = refused<GraphError>([&] { static_cast<void>(library.function("fill")); });
    CHECK_THAT(error.what(), ContainsSubstring("the library has no kernels"));
}

TEST_CASE("what was adopted and is no code has no names of kernels either", "[graph][library]") {
    cudaLibrary_t native = nullptr;
    cudag::check(cudaLibraryLoadData(&native, "garbage", nullptr, nullptr, 0, nullptr, nullptr, 0));
    const Library library = Library::adopt(native);
    const auto error = refused<GraphError>([&] { static_cast<void>(library.kernel_names()); });
    CHECK_THAT(error.what(), ContainsSubstring("kernel_names: the library is no code that CUDA can load"));
}

TEST_CASE("a library lives as long as a graph, a clone or an exec may launch its kernels", "[owners][library]") {
    const auto cells = device({0, 0});
    const Stream stream;
    std::optional<Exec> exec;
    {
        std::optional<Graph> clone;
        {
            const Graph graph = fill_by_library(cells.span(), 7);
            clone = graph.clone();
        }
        exec = clone->instantiate();
    }
    run(*exec, stream);
    CHECK(read(cells) == std::vector{7, 7});
}

TEST_CASE("a library's captured launch keeps it", "[capture][library]") {
    const auto cells = device({0, 0});
    const Stream stream;
    const Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
        cudag::launch(s, {.grid = 2}, load_library().function("library_fill"), cells.data(), 4);
    });
    Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cells) == std::vector{4, 4});
}

TEST_CASE("updates of a launch by a library keep the library", "[owners][library]") {
    const auto cells = device({0, 0});
    const Graph graph = fill_by_library(cells.span(), 1);
    Exec exec = graph.instantiate();
    const auto node = graph.nodes().at(0).as<cudag::FunctionNode>();
    const Stream stream;
    exec.update(node, cells, 2);
    run(exec, stream);
    exec.update(node, cudag::arg(1, 3));
    run(exec, stream);
    CHECK(read(cells) == std::vector{3, 3});
}

#endif
