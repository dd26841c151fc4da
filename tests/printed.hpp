// What a program prints.
#pragma once

#include <cstdio>
#include <string>

#include <unistd.h>

/// What `call` writes to stderr; nothing if that cannot be redirected.
template <class Call>
std::string printed(const Call& call) {
    std::FILE* const file = std::tmpfile();
    if (file == nullptr) return {};
    std::fflush(stderr);
    const int saved = dup(2);
    dup2(fileno(file), 2);
    call();
    std::fflush(stderr);
    dup2(saved, 2);
    close(saved);
    std::rewind(file);
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
}
