// A library as an earlier version of Clew would have made it.
#include <cstdint>

extern "C" std::uint64_t clew_plugin_abi() { return 0; }
