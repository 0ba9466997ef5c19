// A reducer says how an update to a channel meets what is there. CLEW_STATE
// (state.hpp) gives a field one; a field without one keeps the last update.
//
//   CLEW_STATE(State, topic, reduced(log, append), reduced(cost, add))
//
//   append   list after list: {"log", {"one more"}}
//   add      numbers are summed; strings and lists are joined
//   merge    entries of the update replace or follow those of an object
//   max      the greater of two numbers or strings; of equals the current one
//   union_   the elements of both; a Python set
//
// These work on Values and share structure: a step costs what the update adds,
// except that union_ looks through the set. Null, which is what a channel holds
// before its first update, counts as empty. What does not fit is a ValueError
// that names the reducer.
//
// Any other function or lambda may be a reducer too, written for Values or for
// the type of its field:
//
//   Value keep_ten(const Value& current, const Value& update);
//   std::set<int> both(std::set<int> current, const std::set<int>& update);
//
// The latter sees a default constructed value in place of null. Reducers may
// run in any thread, several at a time.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <clew/value.hpp>

namespace clew {

using Reducer = std::function<Value(const Value& current, const Value& update)>;

namespace reducers {

Value append(const Value& current, const Value& update);
Value add(const Value& current, const Value& update);
Value merge(const Value& current, const Value& update);
Value max(const Value& current, const Value& update);
Value union_(const Value& current, const Value& update);

}  // namespace reducers

using reducers::add;
using reducers::append;
using reducers::max;
using reducers::merge;
using reducers::union_;

namespace detail {

template <class F>
concept ValueReducer = std::is_invocable_r_v<Value, const F&, const Value&, const Value&>;

template <class F, class T>
concept TypedReducer = !std::same_as<T, Value> && std::is_invocable_r_v<T, const F&, T, T>;

// A call operator that is a template or overloaded, as of std::plus<> or a
// lambda with `auto` parameters.
template <class F>
concept Generic = std::is_class_v<F> && !requires { &F::operator(); };

template <class T>
T read_or_default(const Value& value) {
  if constexpr (std::default_initializable<T>) {
    if (value.is_null()) return T{};
  }
  return read<T>(value);
}

template <class T, class F>
Reducer typed_reducer(F reduce) {
  return [reduce = std::move(reduce)](const Value& current, const Value& update) {
    T reduced = std::invoke(reduce, read_or_default<T>(current), read<T>(update));
    return Value(std::as_const(reduced));
  };
}

// The reducer that `reduce` is for a field of type T. A generic one is called
// with Ts, since its body seldom fits a Value; all others say what they take.
template <class T, class F>
Reducer make_reducer(F reduce) {
  constexpr bool is_typed = [] {
    if constexpr (Generic<F>) {
      return TypedReducer<F, T>;
    } else if constexpr (ValueReducer<F>) {
      return false;
    } else {
      return TypedReducer<F, T>;
    }
  }();
  if constexpr (is_typed) {
    return typed_reducer<T>(std::move(reduce));
  } else {
    static_assert(ValueReducer<F>,
                  "not a reducer: reduced(field, reducer) takes a function or lambda of the form "
                  "Value(const Value& current, const Value& update), or T(T current, T update) "
                  "where T is the type of the field");
    if constexpr (ValueReducer<F>) {
      return Reducer(std::move(reduce));
    } else {
      return Reducer();
    }
  }
}

}  // namespace detail
}  // namespace clew
