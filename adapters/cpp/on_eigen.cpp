// Eigen, held to the page of its Tensor module: stridedSlice ("Similar to NumPy's") and pad.
#include <unsupported/Eigen/CXX11/Tensor>

#include "adapter.hpp"

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

static const dmlcts_lack lacks[] = {{"PADDING1", "PaddingMode != CONSTANT", "pad has a constant only"}};
const dmlcts_capabilities capabilities = {
    .name = "eigen",
    .version = TEXT(EIGEN_WORLD_VERSION) "." TEXT(EIGEN_MAJOR_VERSION) "." TEXT(EIGEN_MINOR_VERSION),
    .feature_level = 0x6400,
    .data_types = 0xFFE,
    .least_rank = 1,
    .greatest_rank = MOST_AXES,
    .lack_count = std::size(lacks),
    .elements = 1 << 24,
    .lacks = lacks,
};

template <typename T, int Rank> void move_as(const Operator &made, const uint8_t *input, uint8_t *output) {
    Eigen::array<Eigen::Index, Rank> shape, first, stop, step;
    Eigen::array<std::pair<Eigen::Index, Eigen::Index>, Rank> widths;
    for (int axis = 0; axis < Rank; axis++) {
        shape[axis] = made.input.sizes[axis], first[axis] = made.start[axis], step[axis] = made.step[axis];
        stop[axis] = first[axis] + step[axis] * (made.output.sizes[axis] - 1) + (step[axis] < 0 ? -1 : 1);
        widths[axis] = {-made.start[axis], made.output.sizes[axis] - made.input.sizes[axis] + made.start[axis]};
    }
    Eigen::TensorMap<const Eigen::Tensor<T, Rank, Eigen::RowMajor>> from(reinterpret_cast<const T *>(input), shape);
    Eigen::Tensor<T, Rank, Eigen::RowMajor> to;
    T value;
    memcpy(&value, made.value, sizeof value);
    if (made.is_padding) to = from.pad(widths, value);
    else to = from.stridedSlice(first, stop, step);
    keep(made, to, to.dimensions(), output);
}

void move(const Operator &made, const uint8_t *input, uint8_t *output) {
    with_type<Eigen::half>(made.data_type, [&](auto value) {
        using T = decltype(value);
        switch (made.input.rank) {
        case 1: return move_as<T, 1>(made, input, output);
        case 2: return move_as<T, 2>(made, input, output);
        case 3: return move_as<T, 3>(made, input, output);
        case 4: return move_as<T, 4>(made, input, output);
        case 5: return move_as<T, 5>(made, input, output);
        case 6: return move_as<T, 6>(made, input, output);
        case 7: return move_as<T, 7>(made, input, output);
        default: return move_as<T, 8>(made, input, output);
        }
    });
}
