// A DAG as a cudag graph: the one source that every way of making and changing a graph is tested with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "dag.hpp"
#include "step_nodes.hpp"
#include "step_streams.hpp"
#include "test.hpp"

/// How a DAG becomes a graph.
enum class Way {
    built,    ///< node by node, with a GraphBuilder
    captured, ///< out of streams; only recordable DAGs
    region,   ///< captured into a builder, but for steps that are not recordable: nodes between such regions
    regions,  ///< the same in more regions than that takes
};

/// The memory that one DAG works in, and the DAG as graphs over it.
class Scenario {
  public:
    explicit Scenario(const Dag& dag, Way way = Way::built) : dag_(dag), way_(way), cells_(dag.steps.size() + 1) {}

    /// The graph of the DAG, with the parameters of `version`.
    [[nodiscard]] cudag::Graph make(const Version& version) const {
        if (way_ == Way::captured)
            return cudag::capture(stream_, [&](cudag::StreamCapture& c) { record(c, version, whole(dag_)); });
        cudag::GraphBuilder b({.races = cudag::Races::allowed}); // kernels get all cells, and use some
        StepNodes nodes(dag_, b);
        for (const Part& part : parts()) {
            if (is_captured(part))
                nodes.region(part, b.capture(stream_, [&](cudag::StreamCapture& c) { record(c, version, part); }));
            else
                enqueue(nodes, version, part);
        }
        return std::move(b).build();
    }

    /// Whether a graph has the order of its DAG, and not a stricter one: a region comes after all that any of its steps
    /// comes after.
    [[nodiscard]] bool is_exact() const { return way_ == Way::built || parts().size() == 1; }

    /// Which steps come after which others in `graph`, by its edges.
    [[nodiscard]] Order order(const cudag::Graph& graph) const {
        const std::vector<cudag::Node> nodes = graph.nodes();
        const auto number = [&](const cudag::Node& node) {
            return static_cast<std::size_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
        };
        Order all(nodes.size(), std::vector<bool>(nodes.size()));
        std::vector<std::vector<std::size_t>> before(nodes.size());
        for (const cudag::Edge& edge : graph.edges())
            before[number(edge.to)].push_back(number(edge.from));
        for (std::size_t i = 0; i < nodes.size(); ++i)
            for (const std::size_t from : before[i]) {
                if (from >= i) throw std::logic_error("nodes are made in an order that the DAG allows");
                all[i][from] = true;
                for (std::size_t earlier = 0; earlier < from; ++earlier)
                    if (all[from][earlier]) all[i][earlier] = true;
            }

        Order order(dag_.steps.size(), std::vector<bool>(dag_.steps.size()));
        const std::vector<std::size_t> step_of = steps();
        for (std::size_t i = 0; i < nodes.size(); ++i)
            for (std::size_t earlier = 0; earlier < i; ++earlier)
                if (all[i][earlier] && is_work(step_of[i]) && is_work(step_of[earlier]))
                    order[step_of[i]][step_of[earlier]] = true;
        return order;
    }

    /// Gives every node of `target`, which is `graph` or an Exec made from it, the parameters of `version`.
    template <class Target>
    void update(Target& target, const cudag::Graph& graph, const Version& version) const {
        const std::vector<cudag::Node> nodes = graph.nodes();
        const std::vector<std::size_t> step_of = steps();
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            const std::size_t i = step_of[n];
            const Step& step = dag_.steps[i];
            const std::uint32_t salt = salt_of(version, i);
            switch (step.action) {
            case Action::hash_on_device:
                target.update(nodes[n].as(mix), cells_, i, inputs(step), salt);
                break;
            case Action::hash_on_host:
                target.update(nodes[n].as<cudag::HostNode>(), host_hash(step, i, salt));
                break;
            case Action::copy:
                target.update(nodes[n].as<cudag::MemcpyNode>(), cell(i), cell(source(step, version)));
                break;
            case Action::fill:
                target.update(nodes[n].as<cudag::MemsetNode>(), cell(i), salt);
                break;
            case Action::hash_in_child:
                update_inside(target, nodes[n].as<cudag::ChildNode>().graph(), i, salt);
                break;
            case Action::hash_in_branch:
                update_inside(target, nodes[n].as<cudag::IfNode>().body(), i, salt);
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
    /// What becomes a region each, or else nodes.
    [[nodiscard]] std::vector<Part> parts() const {
        if (way_ == Way::built || way_ == Way::captured) return {whole(dag_)};
        return parts_of(dag_, way_ == Way::region ? dag_.steps.size() : 8);
    }
    /// A region without work would be a node all the same.
    [[nodiscard]] bool is_captured(const Part& part) const {
        bool has_work = false;
        for (std::size_t i = part.first; i < part.end; ++i) {
            if (!is_recordable(dag_.steps[i])) return false;
            has_work = has_work || is_work(i);
        }
        return way_ != Way::built && has_work;
    }

    /// The step of each node of a graph, in order: streams wait for each other without nodes.
    [[nodiscard]] std::vector<std::size_t> steps() const {
        std::vector<std::size_t> steps;
        for (const Part& part : parts())
            for (std::size_t i = part.first; i < part.end; ++i)
                if (!is_captured(part) || is_work(i)) steps.push_back(i);
        return steps;
    }

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
    [[nodiscard]] bool is_work(std::size_t step) const { return dag_.steps[step].action != Action::join; }

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

    /// The one source: the steps of a part, to `to`, which is StepNodes or StepStreams.
    template <class To>
    void enqueue(To& to, const Version& version, const Part& part) const {
        for (std::size_t i = part.first; i < part.end; ++i) {
            const Step& step = dag_.steps[i];
            const std::uint32_t salt = salt_of(version, i);
            switch (step.action) {
            case Action::hash_on_device:
                to.kernel(mix, cells_, i, inputs(step), salt);
                break;
            case Action::hash_on_host:
                to.host(host_hash(step, i, salt));
                break;
            case Action::copy:
                to.copy(cell(i), cell(source(step, version)));
                break;
            case Action::fill:
                to.fill(cell(i), salt);
                break;
            case Action::hash_in_child:
                to.child(child(i, salt));
                break;
            case Action::hash_in_branch:
                to.branch([&](cudag::GraphBuilder& body) { body.kernel({}, mix, cells_, i, inputs(step), salt); });
                break;
            case Action::join:
                to.join();
                break;
            }
        }
    }

    void record(cudag::StreamCapture& capture, const Version& version, const Part& part) const {
        StepStreams streams(dag_, part, capture, sides_);
        enqueue(streams, version, part);
        streams.finish();
    }

    Dag dag_;
    Way way_;
    cudag::PinnedBuffer<std::uint32_t> cells_;
    cudag::Stream stream_;
    mutable std::vector<cudag::Stream> sides_; ///< for captures that fork
};
