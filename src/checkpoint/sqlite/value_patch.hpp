// The way from one version of a value to the next, as a value that can be
// stored in its place.
//
//   Value patch = *make_patch(older, newer);
//   apply_patch(older, patch) == newer;      // down to the order of keys
//
// A patch is a list:
//   ["list", kept, tail, [[position, element], ...]]   the first `kept` elements, some of
//                                                       them replaced, then those of `tail`
//   ["object", {key: value}, {key: patch}, [key, ...]]  entries set, patched, and erased
#pragma once

#include <optional>

#include <clew/value.hpp>

namespace clew::sqlite {

// Nothing if there is no patch that is much smaller than `newer` itself. Costs
// what was changed if the two share structure, else a comparison of both.
std::optional<Value> make_patch(const Value& older, const Value& newer);

// Throws SerdeError if the patch is damaged or does not fit.
Value apply_patch(const Value& older, const Value& patch);

// Throws that error unless it fits.
void require_fit(bool fits);

}  // namespace clew::sqlite
