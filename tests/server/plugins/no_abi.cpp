// A library that has nothing to do with graphs.
extern "C" int answer() { return 42; }
