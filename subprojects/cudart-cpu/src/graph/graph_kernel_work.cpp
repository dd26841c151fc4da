// Kernel nodes: a kernel's launch with its attributes.
#include "graph_kernel_work.hpp"

#include "kernel/device_node.hpp"
#include "kernel/kernel_name.hpp"

namespace cudart_cpu::detail {

namespace {

/// Shortens "_Z5scalePfif" to "scale": without return type and parameters.
std::string short_name(const std::string& mangled) {
    std::string name = readable_name(mangled.c_str());
    if (!name.empty() && name.back() == ')') {
        std::size_t depth = 0;
        std::size_t at = name.size();
        do {
            --at;
            if (name[at] == ')')
                ++depth;
            else if (name[at] == '(')
                --depth;
        } while (depth > 0 && at > 0);
        name.resize(at);
    }
    return name.starts_with("void ") ? name.substr(5) : name;
}

} // namespace

KernelWork::KernelWork(const KernelParams& params, const KernelAttributes& attributes)
    : kernel_(params.kernel), grid_(params.grid), block_(params.block),
      shared_bytes_(
          (validate_launch(kernel_, params.grid, params.block, params.shared_bytes, attributes.shared_memory_mode),
           params.shared_bytes)),
      arguments_(kernel_, params.params, params.extra), attributes_(attributes), device_params_(make_device_params()) {
    validate_attributes(kernel_, grid_, block_, shared_bytes_, attributes_);
}

KernelWork::KernelWork(const KernelWork& other, const KernelAttributes& attributes)
    : Work(other), kernel_(other.kernel_), grid_(other.grid_), block_(other.block_), shared_bytes_(other.shared_bytes_),
      arguments_(other.arguments_), attributes_(attributes), device_params_(make_device_params()) {
    validate_launch(kernel_, grid_, block_, shared_bytes_, attributes_.shared_memory_mode);
    validate_attributes(kernel_, grid_, block_, shared_bytes_, attributes_);
}

std::shared_ptr<DeviceParams> KernelWork::make_device_params() const {
    return attributes_.device_node ? std::make_shared<DeviceParams>(kernel_, grid_, block_, arguments_) : nullptr;
}

void KernelWork::attach(const void* exec, bool enabled) const {
    if (!device_params_) return;
    device_params_->set_enabled(enabled);
    attributes_.device_node->attach(exec, device_params_);
}

void KernelWork::detach(const void* exec) const noexcept {
    if (device_params_) attributes_.device_node->detach(exec);
}

std::string KernelWork::refuse_clone() const {
    return device_params_ ? "Cloning is not supported for graphs containing device-updatable kernel node(s)" : "";
}

std::string KernelWork::refuse_second_exec() const {
    return device_params_ ? "Graphs with device-updatable kernel nodes nodes cannot be instantiated more than once"
                          : "";
}

std::string KernelWork::title() const {
    return text("kernel ", short_name(kernel_name(kernel_)));
}

std::string KernelWork::details() const {
    return text(title(), " grid ", grid_, " block ", block_, " shared ", shared_bytes_, " B priority ",
                attributes_.priority, " cooperative ", attributes_.cooperative, " cluster ", attributes_.cluster);
}

void KernelWork::run() const {
    if (device_params_) return device_params_->run();
    run_kernel(kernel_, grid_, block_, arguments_.pointers(),
               {shared_bytes_, attributes_.cooperative, attributes_.cluster});
}

std::optional<Refusal> KernelWork::refuse_node_update(const Work& next) const {
    const KernelEntry& other = static_cast<const KernelWork&>(next).kernel_;
    if (next.device() != device())
        return Refusal{cudaGraphExecUpdateErrorUnsupportedFunctionChange,
                       text("kernel ", kernel_name(other), " belongs to device ", next.device(),
                            ", the node to device ", device())};
    if (next.context() != context())
        return Refusal{cudaGraphExecUpdateErrorUnsupportedFunctionChange,
                       text("the context of kernel ", kernel_name(other), " cannot change")};
    return std::nullopt;
}

std::optional<Refusal> KernelWork::refuse_graph_update(const Work& next, bool fixed_priority) const {
    const KernelAttributes& other = static_cast<const KernelWork&>(next).attributes_;
    const auto changed = [](const char* attribute) {
        return Refusal{cudaGraphExecUpdateErrorAttributesChanged,
                       text("The ", attribute, " attribute cannot change as part of a kernel node update")};
    };
    if (other.cooperative != attributes_.cooperative) return changed("cooperative");
    if (other.nvlink_centric != attributes_.nvlink_centric)
        return changed("nvlink utlization centric scheduling"); // the driver's spelling
    if (fixed_priority && other.priority != attributes_.priority) return changed("priority");
    return refuse_node_update(next);
}

} // namespace cudart_cpu::detail
