// expect: (nmae.* is not a member of .*User|no member named 'nmae' in 'User')
#include <clew/value.hpp>

struct User {
  std::string name;
};
CLEW_JSON(User, nmae)

int main() {}
