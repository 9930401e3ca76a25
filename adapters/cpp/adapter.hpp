// A backend whose library works on packed arrays. An adapter defines `capabilities` and `move`. Checks, and copies from and to
// strided memory, are done here. The checks are those of the example in C, whose functions this file renames where it has its own.
#pragma once

#include "dmlcts_backend.h"

#include <stdexcept>
#include <string>
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

// A valid operator: output coordinate c of an axis reads start + step * c.
struct Operator : dmlcts_operator {
    uint32_t data_type;
    bool is_padding;
};

// The result has other sizes than the output.
struct WrongShape : std::runtime_error {
    using runtime_error::runtime_error;
};

// What the library is and lacks. Elements are copied, so `elements` is at most 2^24.
extern const dmlcts_capabilities capabilities;

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
