#!/usr/bin/env python3
"""Every way in which a mapping can be wrong is found, with a small library and CUDA header made for that."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # this folder is in the source tree
import coverage

API = r"""
#define CUDART_VERSION  13010
/** \defgroup CUDART_STREAM Stream Management */
extern __host__ cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t *stream);
extern __host__ cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t stream);
/** \defgroup CUDART_GRAPH Graph Management. See ::cudaGraphRumour(). */
extern __host__ cudaError_t CUDARTAPI cudaGraphCreate(cudaGraph_t *graph);
 extern __host__ cudaError_t CUDARTAPI cudaGraphLaunch(
    cudaGraphExec_t exec);
extern __host__ cudaError_t CUDARTAPI cudaGraphLaunch_ptsz(cudaGraphExec_t exec);
/** \defgroup CUDART_LIBRARY Library Management */
extern __host__ cudaError_t CUDARTAPI cudaLibraryUnload(cudaLibrary_t library);
"""
TYPES = """
enum __device_builtin__ cudaGraphNodeType {
    cudaGraphNodeTypeKernel = 0x00, /**< not cudaGraphNodeTypeRumour */
    cudaGraphNodeTypeCount
};
"""
DEVICE = """
extern __device__ __cudart_builtin__ cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
static inline __device__ __cudart_builtin__ cudaError_t CUDARTAPI cudaGraphLaunch_ptsz(cudaGraphExec_t exec)
{
    return cudaGraphRumour(exec);
}
extern __device__ __cudart_builtin__ cudaError_t CUDARTAPI cudaDeviceGetLimit(size_t *value);
"""
DRIVER = r"""
typedef enum CUgraphNodeType_enum {
    CU_GRAPH_NODE_TYPE_KERNEL = 0, /**< not CU_GRAPH_NODE_TYPE_RUMOUR */
    CU_GRAPH_NODE_TYPE_BATCH_MEM_OP = 12,
    CU_GRAPH_NODE_TYPE_RESERVED_16 = 16
} CUgraphNodeType;
/** \defgroup CUDA_STREAM Stream Management */
CUresult CUDAAPI cuStreamIsCapturing(CUstream hStream);
CUresult CUDAAPI cuStreamCaptureAlone(CUstream hStream);
/** \defgroup CUDA_GRAPH Graph Management */
CUresult CUDAAPI cuGraphCreate(CUgraph *phGraph);
CUresult CUDAAPI cuGraphLaunch_v2(CUgraphExec hGraphExec);
CUresult CUDAAPI cuGraphLaunch_ptsz(CUgraphExec hGraphExec);
CUresult CUDAAPI cuGraphAddBatchMemOpNode(CUgraphNode *phGraphNode);
/** \defgroup CUDA_OCCUPANCY Occupancy */
CUresult CUDAAPI cuOccupancyOther(int *count);
"""
PUBLIC = """
template <class Self> class Named { public: void label(); };
class GraphBuilder : public Named<GraphBuilder> {
  public:
    GraphBuilder(); // unlike a comment()
    void kernel(int (*)(int));
  private:
    void secret();
};
struct Exec { void launch(); };
inline void launch_next() { cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch); }
enum class NodeKind { kernel };
void check(int);
"""
SOURCE = """
void create() { cudaGraphCreate(&graph); use(cudaGraphNodeTypeKernel); }
// cudaStreamIsCapturing(stream)
void load() { fetch_needed(result.graph_launch, "cuGraphLaunch"); fetch_optional(result.is_capturing, "cuStreamIsCapturing"); }
void launch() { driver().graph_launch(exec); }
auto add() { return fetched<decltype(Calls::add)>("cuGraphAddBatchMemOpNode"); }
"""
GOOD = """
== Graphs
cudaGraphCreate | GraphBuilder::GraphBuilder, GraphBuilder::label | a graph is made
cudaGraphLaunch | Exec::launch | a graph is launched; a long name, in two parts
cudaGraphNodeTypeKernel | NodeKind::kernel, check | a graph is made
== Capture
cudaStreamIsCapturing (12.4-) | - | not yet: capture | a stream says that it captures
cudaGraphOld (12.4-12.9) | - | gone
cudaGraphNew (13.2-) | - | newer than this header
device:cudaGraphLaunch | launch_next | a graph is launched
driver:CU_GRAPH_NODE_TYPE_BATCH_MEM_OP | - | of the driver alone
driver:cuGraphAddBatchMemOpNode | GraphBuilder::kernel | a graph is made
driver:cuStreamCaptureAlone | - | for others
"""


class Coverage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        for name, text in {
                "toolkit/cuda_runtime_api.h": API, "toolkit/driver_types.h": TYPES,
                "toolkit/cuda_device_runtime_api.h": DEVICE, "toolkit/cuda.h": DRIVER, "include/cudag/graph.hpp": PUBLIC,
                "include/cudag/detail/inner.hpp": "void inner(int);", "lib/create.cpp": SOURCE, "builder/empty.cpp": "",
                "tests/graph/graph.cpp": 'TEST_CASE("a graph is made", "[a]") {}\nTEST_CASE("a graph is launched") {}\n'
                                         'TEST_CASE("a long name, "\n          "in two parts", "[a]") {}',
                f"{coverage.CONFORMANCE}/capture.cpp": 'TEST_CASE("a stream says that it captures", "[a]") {}'}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        self.header = coverage.read_header(root / "toolkit")
        self.library = coverage.Library(root)

    def problems(self, mapping):
        return coverage.problems(coverage.read_mapping(mapping), self.header, self.library)

    def changed(self, old, new):
        self.assertIn(old, GOOD)
        return self.problems(GOOD.replace(old, new))

    def assert_problem(self, found, *words):
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def test_a_good_mapping_has_no_problems(self):
        self.assertEqual(self.problems(GOOD), [])

    def test_the_header_gives_graph_and_capture_functions_and_kinds(self):
        self.assertEqual(self.header.version, (13, 1))
        self.assertEqual(self.header.names, {"cudaGraphCreate", "cudaGraphLaunch", "cudaStreamIsCapturing",
                                             "cudaGraphNodeTypeKernel", "device:cudaGraphLaunch",
                                             "driver:CU_GRAPH_NODE_TYPE_BATCH_MEM_OP", "driver:cuGraphAddBatchMemOpNode",
                                             "driver:cuStreamCaptureAlone"})

    def test_a_missing_row_is_found(self):
        found = self.changed("cudaGraphCreate | GraphBuilder::GraphBuilder, GraphBuilder::label | a graph is made\n", "")
        self.assert_problem(found, "cudaGraphCreate of CUDA 13.1 has no row")

    def test_a_missing_kind_is_found(self):
        found = self.changed("cudaGraphNodeTypeKernel | NodeKind::kernel, check | a graph is made\n", "")
        self.assert_problem(found, "cudaGraphNodeTypeKernel of CUDA 13.1 has no row")

    def test_a_missing_function_of_the_driver_alone_is_found(self):
        found = self.changed("driver:cuStreamCaptureAlone | - | for others\n", "")
        self.assert_problem(found, "driver:cuStreamCaptureAlone of CUDA 13.1 has no row")

    def test_a_claim_about_the_driver_without_a_use_is_found(self):
        self.library.called.remove("driver:cuGraphAddBatchMemOpNode")
        self.assert_problem(self.problems(GOOD), "driver:cuGraphAddBatchMemOpNode counts as covered")

    def test_a_row_of_no_function_is_found(self):
        self.assert_problem(self.changed("cudaGraphNew (13.2-)", "cudaGraphNew"), "cudaGraphNew does not exist in CUDA 13.1")

    def test_a_range_that_leaves_the_header_out_is_found(self):
        self.assert_problem(self.changed("cudaStreamIsCapturing (12.4-)", "cudaStreamIsCapturing (13.2-)"),
                            "cudaStreamIsCapturing exists in CUDA 13.1")
        self.assert_problem(self.changed("cudaGraphCreate |", "cudaGraphCreate (12.4-12.9) |"), "cudaGraphCreate exists in CUDA 13.1")

    def test_a_function_with_two_rows_is_found(self):
        self.assert_problem(self.problems(GOOD + "cudaGraphOld (12.4-12.9) | - | twice"), "cudaGraphOld is there twice")

    def test_a_call_that_is_not_declared_is_found(self):
        for call in ("Exec::start", "Launcher::launch", "GraphBuilder::secret", "GraphBuilder::comment", "inner", "nothing"):
            with self.subTest(call):
                self.assert_problem(self.changed("Exec::launch", call), f"declares no {call}")

    def test_a_claim_without_a_use_is_found(self):
        # It is named in a comment and fetched from the driver, but never called.
        found = self.changed("- | not yet: capture | a stream says that it captures", "Exec::launch | a graph is made")
        self.assert_problem(found, "cudaStreamIsCapturing counts as covered")

    def test_a_use_that_the_mapping_denies_is_found(self):
        found = self.changed("cudaGraphCreate | GraphBuilder::GraphBuilder, GraphBuilder::label | a graph is made",
                             "cudaGraphCreate | - | not yet")
        self.assert_problem(found, "cudaGraphCreate counts as not covered")

    def test_what_the_host_calls_does_not_count_for_the_device(self):
        self.library.called.remove("device:cudaGraphLaunch")
        self.assertIn("cudaGraphLaunch", self.library.called)
        self.assert_problem(self.problems(GOOD), "device:cudaGraphLaunch counts as covered")

    def test_a_test_that_does_not_exist_is_found(self):
        self.assert_problem(self.changed("a graph is launched;", "a graph flies;"), 'tests/graph has no test "a graph flies"')

    def test_a_test_of_the_wrong_folder_is_found(self):
        self.assert_problem(self.changed("a graph is launched;", "a stream says that it captures;"), "tests/graph has no test")
        self.assert_problem(self.changed("| a stream says that it captures", "| a graph is made"), "tests/conformance has no test")

    def test_malformed_lines_are_refused_with_their_number(self):
        for line in ("cudaGraphCreate", "cudaGraphCreate | Exec", "cudaGraphCreate | - |", "cudaGraphCreate | Exec | a | b",
                     "cudaGraphCreate 13.1 | - | why", "cudaGraphCreate | - | why | a | b"):
            with self.subTest(line), self.assertRaisesRegex(coverage.Malformed, "functions.txt:2: "):
                coverage.read_mapping("== Graphs\n" + line)
        with self.assertRaises(coverage.Malformed):
            coverage.read_mapping("cudaGraphCreate | - | no topic")

    def test_the_page_counts_and_shows_every_row(self):
        page = coverage.markdown(coverage.read_mapping(GOOD))
        self.assertIn("| functions | 2 | 1 | 2 |", page)
        self.assertIn("| kinds of node | 1 | 0 | 1 |", page)
        self.assertIn("| functions of the driver alone | 1 | 0 | 1 |", page)
        self.assertIn("| `cuStreamCaptureAlone` | – | for others |", page)
        self.assertIn("| functions of the device | 1 | 0 | 0 |", page)
        self.assertIn("| `cudaGraphLaunch` | `Exec::launch` | a graph is launched; a long name, in two parts |", page)
        self.assertIn("| `cudaGraphOld` (12.4 to 12.9) | – | gone |", page)
        self.assertIn("| `cudaGraphNew` (13.2) | – | newer than this header |", page)


unittest.main()
