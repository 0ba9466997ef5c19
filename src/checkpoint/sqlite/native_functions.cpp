// For SQL: the values of versions that are stored as differences.
#include <clew/json.hpp>

#include "checkpoint/sqlite/native_layout.hpp"

namespace clew::sqlite {

void NativeLayout::add_functions(Connection& connection) const {
  using Arguments =
      std::vector<std::string>;  // thread_id, checkpoint_ns, channel, version, packed_in
  const auto value_of = [this, &connection](const Arguments& key) {
    NativeReader reader(connection, *serializer_, key[0], key[1]);
    const VersionChain& chain = reader.value(key[2], Value(key[3]), {key[4]});
    return chain.empty() ? std::nullopt : std::optional(chain.value());
  };
  connection.add_function("clew_value", 5, [this, value_of](const Arguments& key) {
    const auto value = value_of(key);
    return value ? Value::bytes(serializer_->dumps_typed(*value).bytes) : Value();
  });
  connection.add_function("clew_json", 5, [value_of](const Arguments& key) {
    const auto value = value_of(key);
    return value ? Value(to_json(*value)) : Value();
  });
  connection.execute(
      "CREATE TEMP VIEW IF NOT EXISTS checkpoint_values AS"
      " SELECT thread_id, checkpoint_ns, checkpoint_ns_hash, channel, version,"
      " clew_value(thread_id, checkpoint_ns, channel, version, packed_in) AS blob_data,"
      " clew_json(thread_id, checkpoint_ns, channel, version, packed_in) AS json"
      " FROM checkpoint_blobs");
}

}  // namespace clew::sqlite
