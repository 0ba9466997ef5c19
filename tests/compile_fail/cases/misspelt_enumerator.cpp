// expect: (rde.* is not a member of .*Color|no member named 'rde' in 'Color')
#include <clew/value.hpp>

enum class Color { red };
CLEW_ENUM(Color, rde)

int main() {}
