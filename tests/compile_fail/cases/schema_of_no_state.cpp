// expect: schema_of<T>\(\): this type is not a state; write CLEW_STATE\(T, fields...\) after it
#include <clew/state.hpp>

struct User {
  std::string name;
};
CLEW_JSON(User, name)

int main() { clew::schema_of<User>(); }
