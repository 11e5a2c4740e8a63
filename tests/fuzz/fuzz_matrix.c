/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "trace/matrix_csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct colocation_matrix matrix = { .count = 0 };
    struct error error = { "" };

    if (matrix_csv_read((const char *)data, size, 0.95, &matrix, &error) < 0) {
        fuzz_check_error(&error);
        assert(matrix.rate == NULL);
        return 0;
    }
    assert(matrix.count == matrix.workloads.count);
    for (size_t i = 0; i < (size_t)matrix.count * matrix.count; i++)
        assert(matrix.rate[i] > 0 && matrix.rate[i] <= COLOCATION_RATE_MAX);
    colocation_matrix_done(&matrix);
    return 0;
}
