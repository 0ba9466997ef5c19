// What the cases do, done right. Were this not to compile, neither would they,
// and their failing would say nothing.
#include <clew/extension.hpp>
#include <clew/functional.hpp>
#include <clew/graph.hpp>
#include <clew/state.hpp>

struct Opaque {};

struct User {
  std::string name;
};
CLEW_JSON(User, name)

enum class Color { red };
CLEW_ENUM(Color, red)

struct State {
  std::vector<int> bar;
  int count = 0;
  Color color = Color::red;
  User user;
};
CLEW_STATE(State,
           reduced(bar, [](const clew::Value&, const clew::Value& update) { return update; }),
           reduced(count, [](int current, int update) { return current + update; }), color, user)

struct Part {
  int count = 0;
};
CLEW_STATE(Part, count)

clew::Task<Part> wait(const State&) { co_return Part{}; }

int main() {
  clew::StateGraph<State>()
      .add_node("a", [](const State&, clew::Runtime&) { return clew::Update{}; })
      .add_node("b", [](const Part& part) noexcept { return part; })
      .add_node("c", [](const auto& state) { return state; })
      .add_node("d", wait)
      .add_conditional_edges("a", [](const Part&) { return "b"; });
  clew::task("a", [](int number) { return number; });
  clew::entrypoint("a", [](int number, clew::Runtime&) { return number; });

  clew::Value value = State{};
  value.get<State>();
  value.get<std::map<std::string, std::vector<User>>>();
  value.get<std::string>();
  clew::wrap(Opaque{});
  clew::schema_of<State>();
}
