// expect: get<std::string_view>\(\) could outlive the text it points to: use get<std::string>\(\)
#include <clew/value.hpp>

int main() { clew::Value("a").get<std::string_view>(); }
