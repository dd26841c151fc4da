// pages: runs the program of one page of docs/, or of all.
#include "pages.hpp"
#include "program/program.hpp"

#include <string_view>
#include <utility>

int main(int argc, char** argv) {
    return example::run("pages", [&] {
        const std::pair<std::string_view, void (*)()> programs[] = {
            {"graphs", pages::graphs},   {"races", pages::races},     {"plan", pages::plan},
            {"updates", pages::updates}, {"capture", pages::capture}, {"errors", pages::errors},
            {"migrate", pages::migrate}};
        const std::string_view name = argc > 1 ? argv[1] : "";
        bool found = false;
        for (const auto& [page, program] : programs) {
            if (!name.empty() && page != name) continue;
            found = true;
            program();
        }
        if (!found)
            throw example::BadInput("usage: pages [graphs | races | plan | updates | capture | errors | migrate]");
    });
}
