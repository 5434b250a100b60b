/* SPDX-License-Identifier: BSD-3-Clause */
/* median.h - the median of what was measured. */
#ifndef ROLLCALL_BENCH_MEDIAN_H
#define ROLLCALL_BENCH_MEDIAN_H

#include <stdlib.h>

static inline int compare_numbers(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Sorts the values, of which there is one at least. */
static inline double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare_numbers);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

#endif
