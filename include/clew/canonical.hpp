// A description of any Value that uses only JSON and loses nothing: how test
// vectors and other languages compare what they decoded.
//
//   to_json(canonical(Value{{"when", some_date}, {"ratio", 0.5}}));
//   // {"when": {"$ext": 1, "module": "datetime", "name": "date", "args": [2024, 2, 29]},
//   //  "ratio": {"$float": "0.5"}}
//
//   null, bool, string, list       themselves
//   int                            itself up to 2^53 - 1 either way, else {"$int": text}
//   float                          {"$float": text} as Python's repr: 1.0, -0.0, 1e+100, nan, inf
//   bytes                          {"$bytes": hex}
//   object                         itself if no key starts with '$', else as a map
//   map                            {"$map": [[key, value], ...]}
//   extension, by its code         {"$ext": code, "module": m, "name": n, ...} with
//     0                              "arg": x
//     1                              "args": [...]
//     2, 4                           "kwargs": {...}
//     3                              "arg": x, "method": s
//     5                              "kwargs": {...}, "method": s
//     6 (no module and name)         "dtype": s, "shape": [...], "order": "C" or "F", "data": hex
//     7 (no module and name)         "value": x
//     of another code or shape       {"$ext": code, "raw": hex}
//   bytearray, pickle              {"$bytearray": hex}, {"$pickle": hex}
//
// May be called from any thread.
#pragma once

#include <clew/value.hpp>

namespace clew {

// Throws SerdeError if `value` is nested deeper than 1100 levels or holds a C++
// object (wrap(), extension.hpp), which has no description outside the process.
Value canonical(const Value& value);

}  // namespace clew
