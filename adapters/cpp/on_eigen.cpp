// Eigen, held to the page of its Tensor module: stridedSlice ("Similar to NumPy's") and pad.
#include <unsupported/Eigen/CXX11/Tensor>

#include "adapter.hpp"

static const dmlcts_lack lacks[] = {{"PADDING1", "PaddingMode != CONSTANT", "pad has a constant only"}};
const dmlcts_capabilities capabilities =
    library("eigen", VERSION(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION), ALL_TYPES, lacks);

template <typename T, int Rank> void move_as(const Operator &made, const uint8_t *input, uint8_t *output) {
    Eigen::array<Eigen::Index, Rank> shape, first, stop, step;
    Eigen::array<std::pair<Eigen::Index, Eigen::Index>, Rank> widths;
    for (int axis = 0; axis < Rank; axis++) {
        shape[axis] = made.input.sizes[axis];
        first[axis] = made.start[axis];
        stop[axis] = made.stop(axis);
        step[axis] = made.step[axis];
        widths[axis] = {made.before(axis), made.behind(axis)};
    }
    Eigen::TensorMap<const Eigen::Tensor<T, Rank, Eigen::RowMajor>> from(reinterpret_cast<const T *>(input), shape);
    Eigen::Tensor<T, Rank, Eigen::RowMajor> to;
    if (made.is_padding) to = from.pad(widths, made.padding_value<T>());
    else to = from.stridedSlice(first, stop, step);
    keep(made, to, to.dimensions(), output);
}

void move(const Operator &made, const uint8_t *input, uint8_t *output) {
    with_type<Eigen::half>(made.data_type, [&](auto element) {
        with_rank(made.input.rank, [&](auto rank) { move_as<decltype(element), rank>(made, input, output); });
    });
}
