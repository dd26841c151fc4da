// A DAG as a cudag graph: the one source that every way of making and changing a graph is tested with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "dag.hpp"
#include "test.hpp"

/// The memory that one DAG works in, and the DAG as graphs over it.
class Scenario {
  public:
    explicit Scenario(const Dag& dag) : dag_(dag), cells_(dag.steps.size() + 1) {}

    /// The graph of the DAG, with the parameters of `version`; node i is step i.
    [[nodiscard]] cudag::Graph build(const Version& version) const {
        cudag::GraphBuilder b;
        std::vector<cudag::Node> nodes;
        for (std::size_t i = 0; i < dag_.steps.size(); ++i)
            nodes.push_back(add(b, nodes, version, i));
        return std::move(b).build();
    }

    /// Gives every node of `target`, which is `graph` or an Exec made from it, the parameters of `version`.
    template <class Target>
    void update(Target& target, const cudag::Graph& graph, const Version& version) const {
        const std::vector<cudag::Node> nodes = graph.nodes();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const Step& step = dag_.steps[i];
            const std::uint32_t salt = salt_of(version, i);
            switch (step.action) {
            case Action::hash_on_device:
                target.update(nodes[i].as(mix), cells_, i, inputs(step), salt);
                break;
            case Action::hash_on_host:
                target.update(nodes[i].as<cudag::HostNode>(), host_hash(step, i, salt));
                break;
            case Action::copy:
                target.update(nodes[i].as<cudag::MemcpyNode>(), cell(i), cell(source(step, version)));
                break;
            case Action::fill:
                target.update(nodes[i].as<cudag::MemsetNode>(), cell(i), salt);
                break;
            case Action::hash_in_child:
                update_inside(target, nodes[i].as<cudag::ChildNode>().graph(), i, salt);
                break;
            case Action::hash_in_branch:
                update_inside(target, nodes[i].as<cudag::IfNode>().body(), i, salt);
                break;
            case Action::join:
                break;
            }
        }
    }

    /// What the cells hold after one launch; they are poisoned before it.
    [[nodiscard]] std::vector<std::uint32_t> run(cudag::Exec& exec) const {
        std::fill(cells_.begin(), cells_.end(), poison);
        cells_[decoy_cell()] = decoy;
        exec.launch(stream_);
        stream_.synchronize();
        return {cells_.begin(), cells_.end() - 1};
    }

  private:
    template <class Target>
    void update_inside(Target& target, const cudag::Graph& inner, std::size_t i, std::uint32_t salt) const {
        target.update(inner.find(mix).at(0), cells_, i, inputs(dag_.steps[i]), salt);
    }

    [[nodiscard]] cudag::Graph child(std::size_t i, std::uint32_t salt) const {
        cudag::GraphBuilder b;
        b.kernel({}, mix, cells_, i, inputs(dag_.steps[i]), salt);
        return std::move(b).build();
    }

    /// Pinned memory, which device and host both read and write.
    [[nodiscard]] cudag::DeviceSpan<std::uint32_t> cell(std::size_t i) const { return {cells_.data() + i, 1}; }
    [[nodiscard]] std::size_t decoy_cell() const { return dag_.steps.size(); }
    [[nodiscard]] std::size_t source(const Step& step, const Version& version) const {
        return version.copies_decoy ? decoy_cell() : step.inputs.front();
    }

    static Inputs inputs(const Step& step) {
        if (step.inputs.size() > Inputs::capacity) throw std::length_error("a kernel takes fewer inputs");
        Inputs result{static_cast<unsigned>(step.inputs.size()), {}};
        for (std::size_t i = 0; i < step.inputs.size(); ++i)
            result.cells[i] = static_cast<unsigned>(step.inputs[i]);
        return result;
    }

    [[nodiscard]] std::function<void()> host_hash(const Step& step, std::size_t i, std::uint32_t salt) const {
        return [cells = cells_.data(), read = step.inputs, i, salt] { cells[i] = hash_of(cells, read, salt); };
    }

    [[nodiscard]] cudag::Node add(cudag::GraphBuilder& b, const std::vector<cudag::Node>& nodes, const Version& version,
                                  std::size_t i) const {
        const Step& step = dag_.steps[i];
        const std::uint32_t salt = salt_of(version, i);
        std::vector<cudag::Node> before;
        for (const std::size_t earlier : step.after)
            before.push_back(nodes[earlier]);
        switch (step.action) {
        case Action::hash_on_device:
            return b.kernel({}, mix, cells_, i, inputs(step), salt).after(before);
        case Action::hash_on_host:
            return b.host(host_hash(step, i, salt)).after(before);
        case Action::copy:
            return b.memcpy(cell(i), cell(source(step, version))).after(before);
        case Action::fill:
            return b.memset(cell(i), salt).after(before);
        case Action::hash_in_child:
            return b.child(child(i, salt)).after(before);
        case Action::hash_in_branch:
            return b
                .if_(b.condition(1),
                     [&](cudag::GraphBuilder& body) { body.kernel({}, mix, cells_, i, inputs(step), salt); })
                .after(before);
        case Action::join:
            break;
        }
        return b.join(before.front(), before);
    }

    Dag dag_;
    cudag::PinnedBuffer<std::uint32_t> cells_;
    cudag::Stream stream_;
};
