/* SLICE, SLICE1 and PADDING1 in C: a whole backend as a shared library.
 *
 *     cc -std=c11 -O2 -shared -fPIC -I../include -o libexample.so example_backend.c
 *     dmlcts run --suite ci --backend dylib:./libexample.so
 *
 * It shows what a backend has to do, in the plainest way: validate a desc (most of the file), keep for each axis how
 * its output coordinates map to input coordinates, and copy element by element. Elements are moved as bytes, so that no bit of a float is touched.
 */
#include "dmlcts_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = 8 };
/* An output whose axes interleave is looked at element by element, up to here. */
static const uint64_t MOST_INTERLEAVED = 1u << 20;
/* The coordinate that stands for the padding's value. */
static const int64_t PADDING = -1;

/* Says why, and with which result. */
static dmlcts_result refuse(dmlcts_reason *reason, dmlcts_result result, const char *why) {
    snprintf(reason->text, sizeof reason->text, "%s", why);
    return result;
}

#define INVALID(why) return refuse(reason, DMLCTS_INVALID, why)

/* The bytes of an element, by DML_TENSOR_DATA_TYPE; 0 for what is not supported. */
static uint32_t element_bytes(uint32_t data_type) {
    static const uint8_t bytes[] = {0, 4, 2, 4, 2, 1, 4, 2, 1, 8, 8, 8};
    return data_type < sizeof bytes ? bytes[data_type] : 0;
}

/* A tensor that is valid. */
typedef struct tensor {
    uint32_t rank, width;
    uint32_t sizes[MOST_AXES];
    uint64_t strides[MOST_AXES]; /* in elements */
    uint64_t count;
} tensor;

struct dmlcts_operator {
    tensor input, output;
    /* Output coordinate c of an axis reads start + step * c; outside of the input, what the padding mode says. */
    int64_t start[MOST_AXES], step[MOST_AXES];
    int32_t mode;
    uint8_t value[8];
};

/* Whether two elements of a tensor lie in the same place: 1, 0, or -1 where that would take too long to find out. */
static int overlaps(const tensor *t) {
    uint32_t order[MOST_AXES], axes = 0;
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        if (t->sizes[axis] < 2) continue;
        if (t->strides[axis] == 0) return 1;
        uint32_t place = axes++;
        for (; place > 0 && t->strides[order[place - 1]] > t->strides[axis]; place--) order[place] = order[place - 1];
        order[place] = axis;
    }
    uint64_t reach = 0;
    int is_nested = 1;
    for (uint32_t i = 0; i < axes; i++) {
        if (t->strides[order[i]] <= reach) is_nested = 0;
        reach += (t->sizes[order[i]] - 1) * t->strides[order[i]];
    }
    if (is_nested) return 0;
    /* Axes that interleave: the places themselves say it. */
    if (t->count > MOST_INTERLEAVED || reach > (uint64_t)UINT32_MAX) return -1;
    uint8_t *is_taken = (uint8_t *)calloc(reach / 8 + 1, 1);
    if (is_taken == NULL) return -1;
    int found = 0;
    for (uint64_t element = 0; element < t->count && !found; element++) {
        uint64_t left = element, place = 0;
        for (uint32_t axis = t->rank; axis-- > 0; left /= t->sizes[axis]) place += left % t->sizes[axis] * t->strides[axis];
        found = is_taken[place / 8] >> place % 8 & 1;
        is_taken[place / 8] |= (uint8_t)(1u << place % 8);
    }
    free(is_taken);
    return found;
}

/* Checks one tensor (page: DML_BUFFER_TENSOR_DESC). */
static dmlcts_result check_tensor(const dmlcts_tensor *from, int is_output, tensor *to, dmlcts_reason *reason) {
    if (from == NULL) INVALID("a tensor is null");
    to->rank = from->dimension_count;
    to->width = element_bytes(from->data_type);
    if (to->width == 0) INVALID("the data type is not one of this operator's");
    if (to->rank < 1 || to->rank > MOST_AXES) INVALID("the dimension count is not from 1 to 8");
    if (from->sizes == NULL || from->sizes_length != to->rank) INVALID("Sizes has not one value an axis");
    if (from->strides != NULL && from->strides_length != to->rank) INVALID("Strides has not one value an axis");
    uint64_t span = 1;
    to->count = 1;
    for (uint32_t axis = to->rank; axis-- > 0;) {
        uint64_t size = from->sizes[axis], stride = from->strides != NULL ? from->strides[axis] : to->count;
        if (size == 0) INVALID("a size is 0");
        /* Both stay below 2^32, so that neither product exceeds 64 bits. */
        to->count *= size;
        if (to->count > UINT32_MAX) INVALID("there are more than 2^32 - 1 elements");
        span += (size - 1) * stride;
        if (span > UINT32_MAX) INVALID("the strides span more than 2^32 - 1 elements");
        to->sizes[axis] = (uint32_t)size;
        to->strides[axis] = stride;
    }
    if (from->total_tensor_size_in_bytes < (span * to->width + 3) / 4 * 4) INVALID("TotalTensorSizeInBytes is too small");
    uint32_t alignment = from->guaranteed_base_offset_alignment;
    if (alignment != 0 && ((alignment & (alignment - 1)) != 0 || alignment < to->width))
        INVALID("GuaranteedBaseOffsetAlignment is no power of two of the element's size or more");
    if (from->flags > (is_output ? 0u : 1u)) INVALID("the flags are not for this tensor");
    if (is_output && from->strides != NULL) {
        int found = overlaps(to);
        if (found > 0) INVALID("the output overlaps itself");
        if (found < 0) return refuse(reason, DMLCTS_UNSUPPORTED, "an output this large whose axes interleave");
    }
    return DMLCTS_OK;
}

/* The member of this name. Its kind and its place are those of DirectML.h's struct. */
static const dmlcts_member *member(const dmlcts_desc *desc, const char *name) {
    for (uint32_t i = 0; i < desc->member_count; i++)
        if (strcmp(desc->members[i].name, name) == 0) return &desc->members[i];
    return NULL;
}

/* The values of a list that has one for each axis; null otherwise. */
static const uint32_t *list(const dmlcts_desc *desc, const char *name, uint32_t rank) {
    const dmlcts_member *found = member(desc, name);
    return found != NULL && found->kind == DMLCTS_UINTS && found->length == rank ? found->value.as_uints : NULL;
}

/* Page: ns-directml-dml_slice_operator_desc. */
static dmlcts_result slice(const dmlcts_desc *desc, dmlcts_operator *made, dmlcts_reason *reason) {
    uint32_t rank = made->input.rank;
    const uint32_t *offsets = list(desc, "Offsets", rank), *sizes = list(desc, "Sizes", rank);
    const uint32_t *strides = list(desc, "Strides", rank);
    if (offsets == NULL || sizes == NULL || strides == NULL) INVALID("a list has not one value an axis");
    for (uint32_t axis = 0; axis < rank; axis++) {
        uint64_t size = sizes[axis], stride = strides[axis], offset = offsets[axis];
        if (size != made->output.sizes[axis]) INVALID("OutputTensor.Sizes are not Sizes");
        /* The page is silent about a stride of 0, and about one that no INT holds; DirectML refuses both. */
        if (stride == 0 || stride > INT32_MAX) INVALID("a stride is 0, or above INT_MAX");
        if (offset + (size - 1) * stride >= made->input.sizes[axis]) INVALID("the slice reads outside of the input");
        made->start[axis] = (int64_t)offset;
        made->step[axis] = (int64_t)stride;
    }
    return DMLCTS_OK;
}

/* Page: ns-directml-dml_slice1_operator_desc. */
static dmlcts_result slice1(const dmlcts_desc *desc, dmlcts_operator *made, dmlcts_reason *reason) {
    uint32_t rank = made->input.rank;
    const uint32_t *offsets = list(desc, "InputWindowOffsets", rank), *sizes = list(desc, "InputWindowSizes", rank);
    const dmlcts_member *strides = member(desc, "InputWindowStrides");
    if (offsets == NULL || sizes == NULL || strides == NULL || strides->length != rank || strides->value.as_ints == NULL)
        INVALID("a list has not one value an axis");
    for (uint32_t axis = 0; axis < rank; axis++) {
        int64_t offset = offsets[axis], size = sizes[axis], stride = strides->value.as_ints[axis];
        if (size < 1 || stride == 0 || offset + size > made->input.sizes[axis])
            INVALID("a window is empty, its stride is 0, or it reaches outside of the input");
        if (made->output.sizes[axis] > 1 + (size - 1) / (stride < 0 ? -stride : stride))
            INVALID("the output is larger than what the window holds");
        /* A negative stride begins at the far end of the window. */
        made->start[axis] = offset + (stride < 0 ? size - 1 : 0);
        made->step[axis] = stride;
    }
    return DMLCTS_OK;
}

/* Which coordinate an axis of n elements has at a place that may lie outside of it. */
static int64_t folded(int32_t mode, int64_t at, int64_t n) {
    if (at >= 0 && at < n) return at;
    if (mode == 0) return PADDING;
    if (mode == 1) return at < 0 ? 0 : n - 1;
    int64_t period = mode == 2 ? 2 * (n - 1) : mode == 3 ? 2 * n : n;
    if (period == 0) return 0;
    int64_t within = (at % period + period) % period;
    if (mode == 2) return within < n ? within : period - within;
    if (mode == 3) return within < n ? within : period - 1 - within;
    return within;
}

/* Page: ns-directml-dml_padding1_operator_desc. The modes are CONSTANT, EDGE, REFLECTION, SYMMETRIC and WRAP. */
static dmlcts_result padding1(const dmlcts_desc *desc, dmlcts_operator *made, dmlcts_reason *reason) {
    uint32_t rank = made->input.rank;
    const dmlcts_member *mode = member(desc, "PaddingMode"), *type = member(desc, "PaddingValueDataType");
    const dmlcts_member *value = member(desc, "PaddingValue");
    const uint32_t *starts = list(desc, "StartPadding", rank), *ends = list(desc, "EndPadding", rank);
    if (mode == NULL || mode->value.as_int < 0 || mode->value.as_int > 4) INVALID("PaddingMode is no mode");
    if (type == NULL || type->value.as_uint != desc->input->data_type) INVALID("PaddingValueDataType is not that of the tensors");
    if (value == NULL || starts == NULL || ends == NULL) INVALID("a list has not one value an axis");
    made->mode = mode->value.as_int;
    memcpy(made->value, value->value.as_bytes, sizeof made->value);
    for (uint32_t axis = 0; axis < rank; axis++) {
        uint64_t size = (uint64_t)made->input.sizes[axis] + starts[axis] + ends[axis];
        if (size != made->output.sizes[axis]) INVALID("OutputTensor.Sizes are not the input's with both paddings");
        made->start[axis] = -(int64_t)starts[axis];
        made->step[axis] = 1;
    }
    return DMLCTS_OK;
}

uint32_t dmlcts_abi_version(void) { return DMLCTS_ABI_VERSION; }

dmlcts_result dmlcts_open(dmlcts_backend **backend, dmlcts_reason *reason) {
    (void)backend, (void)reason; /* There is nothing to keep. */
    return DMLCTS_OK;
}

void dmlcts_close(dmlcts_backend *backend) { (void)backend; }

const dmlcts_capabilities *dmlcts_describe(dmlcts_backend *backend) {
    static const char *const operators[] = {"SLICE", "SLICE1", "PADDING1"};
    static const dmlcts_capabilities capabilities = {
        .name = "example-c",
        .version = "1.0",
        .operators = operators,
        .operator_count = 3,
        .feature_level = 0x6400,
        .data_types = 0xFFE, /* FLOAT32 (1) to INT64 (11) */
        .least_rank = 1,
        .greatest_rank = MOST_AXES,
    };
    (void)backend;
    return &capabilities;
}

void dmlcts_destroy(dmlcts_backend *backend, dmlcts_operator *created) {
    (void)backend;
    free(created);
}

static dmlcts_result make(const dmlcts_desc *desc, dmlcts_operator *made, dmlcts_reason *reason) {
    dmlcts_result result = check_tensor(desc->input, 0, &made->input, reason);
    if (result == DMLCTS_OK) result = check_tensor(desc->output, 1, &made->output, reason);
    if (result != DMLCTS_OK) return result;
    if (desc->input->data_type != desc->output->data_type || made->input.rank != made->output.rank)
        INVALID("the tensors' types or dimension counts differ");
    const dmlcts_member *count = member(desc, "DimensionCount");
    if (count == NULL || count->value.as_uint != made->input.rank) INVALID("DimensionCount is not that of the tensors");
    if (strcmp(desc->operator_name, "SLICE") == 0) return slice(desc, made, reason);
    if (strcmp(desc->operator_name, "SLICE1") == 0) return slice1(desc, made, reason);
    if (strcmp(desc->operator_name, "PADDING1") == 0) return padding1(desc, made, reason);
    return refuse(reason, DMLCTS_UNSUPPORTED, "there is no such operator here");
}

dmlcts_result dmlcts_create(dmlcts_backend *backend, const dmlcts_desc *desc, dmlcts_operator **created,
                            dmlcts_reason *reason) {
    dmlcts_operator *made = (dmlcts_operator *)calloc(1, sizeof *made);
    if (made == NULL) return refuse(reason, DMLCTS_OUT_OF_MEMORY, "no memory for an operator");
    dmlcts_result result = make(desc, made, reason);
    if (result == DMLCTS_OK)
        *created = made;
    else
        dmlcts_destroy(backend, made);
    return result;
}

dmlcts_result dmlcts_run(dmlcts_backend *backend, dmlcts_operator *created, const dmlcts_memory *memory,
                         dmlcts_reason *reason) {
    const tensor *input = &created->input, *output = &created->output;
    uint32_t at[MOST_AXES] = {0}, width = output->width;
    (void)backend, (void)reason;
    for (uint64_t element = 0; element < output->count; element++) {
        uint64_t from = 0, to = 0;
        int is_padding = 0;
        for (uint32_t axis = 0; axis < output->rank; axis++) {
            int64_t place = created->start[axis] + created->step[axis] * (int64_t)at[axis];
            place = folded(created->mode, place, input->sizes[axis]);
            is_padding |= place == PADDING;
            from += (uint64_t)place * input->strides[axis];
            to += at[axis] * output->strides[axis];
        }
        memcpy(memory->output + to * width, is_padding ? created->value : memory->input + from * width, width);
        for (uint32_t axis = output->rank; axis-- > 0 && ++at[axis] == output->sizes[axis];) at[axis] = 0;
    }
    return DMLCTS_OK;
}
