// All of clew::core in one include. nlohmann.hpp stays apart: it needs a
// library that core does not.
#pragma once

#include <clew/canonical.hpp>
#include <clew/cipher.hpp>
#include <clew/convert.hpp>
#include <clew/dialect.hpp>
#include <clew/encrypted.hpp>
#include <clew/error.hpp>
#include <clew/extension.hpp>
#include <clew/ids.hpp>
#include <clew/json.hpp>
#include <clew/messages.hpp>
#include <clew/msgpack.hpp>
#include <clew/python_types.hpp>
#include <clew/reducers.hpp>
#include <clew/serde.hpp>
#include <clew/state.hpp>
#include <clew/time.hpp>
#include <clew/uuid.hpp>
#include <clew/value.hpp>
