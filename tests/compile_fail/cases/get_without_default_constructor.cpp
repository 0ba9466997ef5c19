// expect: CLEW_JSON and CLEW_STATE read into a default constructed object
#include <clew/value.hpp>

struct Point {
  explicit Point(int start) : x(start) {}
  int x;
};
CLEW_JSON(Point, x)

int main() { clew::Value().get<Point>(); }
