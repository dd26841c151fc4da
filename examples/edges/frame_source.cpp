// Files are found and checked before the first frame is run.
#include "frame_source.hpp"

#include <algorithm>

#include "bad_input.hpp"
#include "generated_frame.hpp"

namespace edges {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> images_in(const fs::path& directory) {
    std::vector<fs::path> images;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
        const fs::path extension = entry.path().extension();
        if (extension == ".pgm" || extension == ".ppm") {
            images.push_back(entry.path());
        }
    }
    if (images.empty()) {
        throw BadInput(directory.string() + ": the directory holds no *.pgm or *.ppm file");
    }
    std::sort(images.begin(), images.end());
    return images;
}

std::vector<fs::path> expand(const std::vector<fs::path>& inputs) {
    std::vector<fs::path> files;
    for (const fs::path& input : inputs) {
        const fs::file_status status = fs::status(input);
        if (fs::is_directory(status)) {
            const std::vector<fs::path> found = images_in(input);
            files.insert(files.end(), found.begin(), found.end());
        } else if (!fs::exists(status)) {
            throw BadInput(input.string() + ": no such file or directory");
        } else if (fs::is_regular_file(status)) {
            files.push_back(input);
        } else {
            throw BadInput(input.string() + ": neither a file nor a directory");
        }
    }
    return files;
}

} // namespace

FrameSource::FrameSource(Size size, std::size_t count) : size_(size), count_(count) {}

FrameSource::FrameSource(const std::vector<fs::path>& inputs) : files_(expand(inputs)) {
    size_ = probe_image(files_.front());
    count_ = files_.size();
    for (const fs::path& file : files_) {
        const Size size = probe_image(file);
        if (size != size_) {
            throw BadInput("frames of different sizes: " + files_.front().string() + " is " + to_string(size_) + ", " +
                           file.string() + " is " + to_string(size));
        }
    }
}

std::string FrameSource::name(std::size_t index) const {
    return files_.empty() ? "frame " + std::to_string(index) : files_[index].string();
}

std::string FrameSource::result_name(std::size_t index) const {
    const std::string digits = std::to_string(index);
    const std::string number = std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
    return files_.empty() ? number + ".pgm" : number + "_" + files_[index].stem().string() + ".pgm";
}

Image FrameSource::read(std::size_t index) const {
    if (files_.empty()) {
        return generate_frame(size_, index);
    }
    Image image = read_image(files_[index]);
    if (image.size != size_) {
        throw BadInput(files_[index].string() + ": its size changed while the program ran");
    }
    return image;
}

} // namespace edges
