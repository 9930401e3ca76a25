// A backend whose library works on packed arrays. An adapter defines `capabilities` and `move`. Checks, and copies from and to
// strided memory, are done here. The checks are those of the example in C, whose functions this file renames where it has its own.
#pragma once

#include "dmlcts_backend.h"

#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#define dmlcts_create example_create
#define dmlcts_destroy example_destroy
#define dmlcts_describe example_describe
#define dmlcts_run example_run
#include "../../crates/backend/c/example_backend.c"
#undef dmlcts_create
#undef dmlcts_destroy
#undef dmlcts_describe
#undef dmlcts_run

// The data types FLOAT32 (1) to INT64 (11).
const uint32_t ALL_TYPES = 0xFFE;

// The text of a version whose numbers are macros.
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)
#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

// A valid operator: output coordinate c of an axis reads start + step * c.
struct Operator : dmlcts_operator {
    uint32_t data_type;
    bool is_padding;

    // The end of a slice, which is left out. A negative one means that the first element is taken as well.
    int64_t stop(uint32_t axis) const {
        return start[axis] + step[axis] * (int64_t(output.sizes[axis]) - 1) + (step[axis] < 0 ? -1 : 1);
    }

    // The elements that a padding adds in front and behind.
    int64_t before(uint32_t axis) const { return -start[axis]; }
    int64_t behind(uint32_t axis) const { return int64_t(output.sizes[axis]) - input.sizes[axis] - before(axis); }

    // The value of a padding with a constant.
    template <typename T> T padding_value() const {
        T made;
        memcpy(&made, value, sizeof made);
        return made;
    }
};

// The result has other sizes than the output.
struct WrongShape : std::runtime_error {
    using runtime_error::runtime_error;
};

// What the library is and lacks.
extern const dmlcts_capabilities capabilities;

// The capabilities of a library with all operators and ranks. Elements are copied, so `elements` is 2^24.
template <size_t Count>
dmlcts_capabilities library(const char *name, const char *version, uint32_t data_types, const dmlcts_lack (&lacks)[Count]) {
    dmlcts_capabilities made = {};
    made.name = name;
    made.version = version;
    made.feature_level = 0x6400;
    made.data_types = data_types;
    made.least_rank = 1;
    made.greatest_rank = MOST_AXES;
    made.lack_count = Count;
    made.elements = 1 << 24;
    made.lacks = lacks;
    return made;
}

// Moves the elements of a packed input to a packed output.
void move(const Operator &made, const uint8_t *input, uint8_t *output);

// Calls a function with a value of the data type.
template <typename Half, typename Function> void with_type(uint32_t data_type, Function function) {
    switch (data_type) {
    case 1: return function(float());
    case 2: return function(Half());
    case 3: return function(uint32_t());
    case 4: return function(uint16_t());
    case 5: return function(uint8_t());
    case 6: return function(int32_t());
    case 7: return function(int16_t());
    case 8: return function(int8_t());
    case 9: return function(double());
    case 10: return function(uint64_t());
    case 11: return function(int64_t());
    default: throw std::runtime_error("the data type is not declared");
    }
}

// Calls a function with the rank as a constant.
template <int Rank = MOST_AXES, typename Function> void with_rank(uint32_t rank, Function function) {
    if (rank == Rank) return function(std::integral_constant<int, Rank>());
    if constexpr (Rank > 1) with_rank<Rank - 1>(rank, function);
}

// Writes what the library returned into the packed output.
template <typename Array, typename Shape> void keep(const Operator &made, const Array &array, const Shape &shape, uint8_t *output) {
    for (uint32_t axis = 0; axis < made.output.rank; axis++)
        if (uint64_t(shape[axis]) != made.output.sizes[axis])
            throw WrongShape("axis " + std::to_string(axis) + " has " + std::to_string(shape[axis]) + " elements");
    memcpy(output, array.data(), made.output.count * made.output.width);
}

const dmlcts_capabilities *dmlcts_describe(dmlcts_backend *) { return &capabilities; }

dmlcts_result dmlcts_create(dmlcts_backend *, const dmlcts_desc *desc, dmlcts_operator **created, dmlcts_reason *reason) {
    dmlcts_operator made = {};
    dmlcts_result result = make(desc, &made, reason);
    if (result == DMLCTS_OK) *created = new Operator{made, desc->input->data_type, !strcmp(desc->operator_name, "PADDING1")};
    return result;
}

void dmlcts_destroy(dmlcts_backend *, dmlcts_operator *created) { delete static_cast<Operator *>(created); }

// Where an element lies, in elements.
static uint64_t place(const tensor &t, uint64_t element) {
    uint64_t found = 0;
    for (uint32_t axis = t.rank; axis-- > 0; element /= t.sizes[axis]) found += element % t.sizes[axis] * t.strides[axis];
    return found;
}

dmlcts_result dmlcts_run(dmlcts_backend *, dmlcts_operator *created, const dmlcts_memory *memory, dmlcts_reason *reason) {
    const Operator &made = *static_cast<Operator *>(created);
    const tensor &from = made.input, &to = made.output;
    const size_t width = from.width;
    try {
        std::vector<uint8_t> input(from.count * width), output(to.count * width);
        for (uint64_t element = 0; element < from.count; element++)
            memcpy(&input[element * width], memory->input + place(from, element) * width, width);
        move(made, input.data(), output.data());
        for (uint64_t element = 0; element < to.count; element++)
            memcpy(memory->output + place(to, element) * width, &output[element * width], width);
        return DMLCTS_OK;
    } catch (const std::bad_alloc &) {
        return refuse(reason, DMLCTS_OUT_OF_MEMORY, "no memory for the packed tensors");
    } catch (const WrongShape &error) {
        return refuse(reason, DMLCTS_WRONG_SHAPE, error.what());
    } catch (const std::exception &error) {
        return refuse(reason, DMLCTS_FAILED, error.what());
    }
}
