// cookbook: runs all recipes, or those with a text in their title, and checks every result.
#include "cookbook.hpp"
#include "program/program.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

/// The version of CUDA here, such as 12080: the oldest of headers, runtime and driver.
int cuda_version() {
    int runtime = 0, driver = 0;
    cudag::check(cudaRuntimeGetVersion(&runtime));
    cudag::check(cudaDriverGetVersion(&driver));
    return std::min({CUDART_VERSION, runtime, driver});
}

void cook(const cookbook::Recipe& recipe) {
    if (cuda_version() < recipe.cuda) {
        std::printf("%s: skipped, it needs CUDA %d.%d\n", recipe.title, recipe.cuda / 1000, recipe.cuda % 1000 / 10);
        return;
    }
    try {
        recipe.cook();
    } catch (const std::exception& error) {
        throw std::runtime_error(std::string(recipe.title) + ": " + error.what());
    }
    std::printf("%s: done\n", recipe.title);
}

} // namespace

int main(int argc, char** argv) {
    return example::run("cookbook", [&] {
        const std::string_view wanted = argc > 1 ? argv[1] : "";
        bool found = false;
        for (const auto recipes : {cookbook::build_recipes, cookbook::loop_recipes, cookbook::update_recipes,
                                   cookbook::capture_recipes, cookbook::check_recipes})
            for (const cookbook::Recipe& recipe : recipes()) {
                if (std::string_view(recipe.title).find(wanted) == std::string_view::npos) continue;
                found = true;
                cook(recipe);
            }
        if (!found) throw example::BadInput("no recipe has this text in its title");
    });
}
