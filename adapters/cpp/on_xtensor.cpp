// xtensor, held to its own pages: "Views" (strided_view, range) and "xpad" ("Pad an array"). It is built as C++17, since pad of
// xtensor 0.24.3 crashes as C++20.
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xpad.hpp>
#include <xtensor/xstrided_view.hpp>

#include "adapter.hpp"

static const dmlcts_lack lacks[] = {
    {"PADDING1", "PaddingMode == EDGE", "pad has no such mode"},
    {"PADDING1", "PaddingMode == REFLECTION and any axis max(StartPadding, EndPadding) >= InputTensor.Sizes",
     "pad reflects less than a whole axis"},
    {"PADDING1", "PaddingMode in [SYMMETRIC, WRAP] and any axis max(StartPadding, EndPadding) > InputTensor.Sizes",
     "pad repeats at most a whole axis"},
};
const uint32_t all_but_float16 = ALL_TYPES & ~(1 << 2);
const dmlcts_capabilities capabilities =
    library("xtensor", VERSION(XTENSOR_VERSION_MAJOR, XTENSOR_VERSION_MINOR, XTENSOR_VERSION_PATCH), all_but_float16, lacks);
// In DirectML's order. EDGE is never asked.
static const xt::pad_mode modes[] = {
    xt::pad_mode::constant, xt::pad_mode::constant, xt::pad_mode::reflect, xt::pad_mode::symmetric, xt::pad_mode::wrap};

void move(const Operator &made, const uint8_t *input, uint8_t *output) {
    using xt::placeholders::_;
    std::vector<size_t> shape(made.input.sizes, made.input.sizes + made.input.rank);
    std::vector<std::vector<size_t>> widths;
    xt::xstrided_slice_vector slices;
    for (uint32_t axis = 0; axis < made.input.rank; axis++) {
        widths.push_back({size_t(made.before(axis)), size_t(made.behind(axis))});
        if (made.stop(axis) < 0) slices.push_back(xt::range(made.start[axis], _, made.step[axis]));
        else slices.push_back(xt::range(made.start[axis], made.stop(axis), made.step[axis]));
    }
    with_type<uint16_t>(made.data_type, [&](auto element) {
        using T = decltype(element);
        xt::xarray<T> from = xt::adapt(reinterpret_cast<const T *>(input), made.input.count, xt::no_ownership(), shape), to;
        if (made.is_padding) to = xt::pad(from, widths, modes[made.mode], made.padding_value<T>());
        else to = xt::strided_view(from, slices);
        keep(made, to, to.shape(), output);
    });
}
