// C++ exceptions through many frames, with work in the functions that throw and that catch.
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace storm {

struct Failure : std::runtime_error {
	int depth;
	Failure(int at, const std::string &text) : std::runtime_error(text), depth(at) {}
};

static volatile uint64_t sink;

template <typename T> __attribute__((noinline)) T spin(T value, int steps)
{
	for (int i = 0; i < steps; i++)
		value = value * 6364136223846793005u + 1;
	sink = value;
	return value;
}

__attribute__((noinline)) void sink_into(int depth)
{
	std::string held = "destroyed on the way out, too long to stay inside the object";

	if (depth == 0) {
		spin<uint64_t>(1, 2000);
		throw Failure(depth, held);
	}
	sink_into(depth - 1);
	sink = sink + held.size();
}

} // namespace storm

int main()
{
	int caught = 0;

	for (int i = 0; i < 20000; i++) {
		try {
			storm::sink_into(20);
		} catch (const storm::Failure &failure) {
			caught += failure.depth == 0;
			storm::spin<uint64_t>(2, 2000);
		}
	}
	std::printf("%d\n", caught);
	return caught == 20000 ? 0 : 1;
}
