// pages: runs the program of one page of docs/, or of all; `--pictures FOLDER` writes the pictures of their graphs,
// too.
#include "pages.hpp"
#include "program/program.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace {

std::filesystem::path picture_folder; // empty: none

} // namespace

void pages::picture(const std::string& name, const std::string& dot) {
    if (picture_folder.empty()) return;
    std::ofstream file(picture_folder / (name + ".dot"));
    if (!(file << dot).flush()) throw std::runtime_error("cannot write the picture " + name);
}

int main(int argc, char** argv) {
    return example::run("pages", [&] {
        const std::pair<std::string_view, void (*)()> programs[] = {
            {"first", pages::first},       {"graphs", pages::graphs},       {"kinds", pages::kinds},
            {"races", pages::races},       {"plan", pages::plan},           {"updates", pages::updates},
            {"capture", pages::capture},   {"errors", pages::errors},       {"migrate", pages::migrate},
            {"pictures", pages::pictures}, {"topics", pages::topics},       {"profile", pages::profile},
            {"faults", pages::faults},     {"tracing", pages::tracing},     {"text", pages::text},
            {"verify", pages::verify},     {"probe", pages::probe},         {"compare", pages::compare},
            {"ranks", pages::ranks_agree}, {"segments", pages::segments},   {"functions", pages::functions},
            {"compose", pages::compose},   {"footprint", pages::footprint}, {"buckets", pages::buckets},
            {"release", pages::release},   {"pools", pages::pools},         {"green", pages::green_contexts}};
        if (argc == 3 && std::string_view(argv[1]) == "--pictures") picture_folder = argv[2];
        const std::string_view name = argc > 1 && picture_folder.empty() ? argv[1] : "";
        bool found = false;
        for (const auto& [page, program] : programs) {
            if (!name.empty() && page != name) continue;
            found = true;
            program();
        }
        if (!found) {
            std::string names;
            for (const auto& [page, program] : programs)
                names += std::string(page) + " | ";
            throw example::BadInput("usage: pages [" + names + "--pictures FOLDER]");
        }
    });
}
