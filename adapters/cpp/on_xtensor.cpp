// xtensor, held to its own pages: "Views" (strided_view, range) and "xpad" ("Pad an array"). It is built as C++17, since pad of
// xtensor 0.24.3 crashes as C++20.
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xpad.hpp>
#include <xtensor/xstrided_view.hpp>

#include "adapter.hpp"

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

static const dmlcts_lack lacks[] = {
    {"PADDING1", "PaddingMode == EDGE", "pad has no such mode"},
    {"PADDING1", "PaddingMode == REFLECTION and any axis max(StartPadding, EndPadding) >= InputTensor.Sizes",
     "pad reflects less than a whole axis"},
    {"PADDING1", "PaddingMode in [SYMMETRIC, WRAP] and any axis max(StartPadding, EndPadding) > InputTensor.Sizes",
     "pad repeats at most a whole axis"},
};
const dmlcts_capabilities capabilities = {
    .name = "xtensor",
    .version = TEXT(XTENSOR_VERSION_MAJOR) "." TEXT(XTENSOR_VERSION_MINOR) "." TEXT(XTENSOR_VERSION_PATCH),
    .feature_level = 0x6400,
    .data_types = 0xFFA, // all but FLOAT16
    .least_rank = 1,
    .greatest_rank = MOST_AXES,
    .lack_count = std::size(lacks),
    .elements = 1 << 24,
    .lacks = lacks,
};

void move(const Operator &made, const uint8_t *input, uint8_t *output) {
    using xt::placeholders::_;
    using xt::pad_mode;
    // In DirectML's order. EDGE is never asked.
    const pad_mode modes[] = {pad_mode::constant, pad_mode::constant, pad_mode::reflect, pad_mode::symmetric, pad_mode::wrap};
    with_type<uint16_t>(made.data_type, [&](auto value) {
        using T = decltype(value);
        std::vector<size_t> shape(made.input.sizes, made.input.sizes + made.input.rank);
        xt::xarray<T> from = xt::adapt(reinterpret_cast<const T *>(input), made.input.count, xt::no_ownership(), shape), to;
        if (made.is_padding) {
            std::vector<std::vector<size_t>> widths;
            for (uint32_t axis = 0; axis < made.input.rank; axis++) {
                size_t before = -made.start[axis];
                widths.push_back({before, made.output.sizes[axis] - made.input.sizes[axis] - before});
            }
            memcpy(&value, made.value, sizeof value);
            to = xt::pad(from, widths, modes[made.mode], value);
        } else {
            xt::xstrided_slice_vector slices;
            for (uint32_t axis = 0; axis < made.input.rank; axis++) {
                ptrdiff_t first = made.start[axis], step = made.step[axis];
                ptrdiff_t stop = first + step * (made.output.sizes[axis] - 1) + (step < 0 ? -1 : 1);
                if (stop < 0) slices.push_back(xt::range(first, _, step));
                else slices.push_back(xt::range(first, stop, step));
            }
            to = xt::strided_view(from, slices);
        }
        keep(made, to, to.shape(), output);
    });
}
