/*
 * Words counted in C++, for the calls that it makes: templates, virtual functions, comparisons
 * within the library's algorithms, std::function, destructors while an exception passes.
 */
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
};

struct square : shape {
	double side;
	explicit square(double s) : side(s)
	{
	}
	double area() const override;
};

struct circle : shape {
	double radius;
	explicit circle(double r) : radius(r)
	{
	}
	double area() const override;
};

__attribute__((noinline)) double square::area() const
{
	return side * side;
}

__attribute__((noinline)) double circle::area() const
{
	return radius * radius * 3.14;
}

struct guard {
	int &alive;
	explicit guard(int &a) : alive(a)
	{
		alive++;
	}
	__attribute__((noinline)) ~guard()
	{
		alive--;
	}
};

__attribute__((noinline)) void dig(int depth, int &alive)
{
	guard here(alive);

	if (!depth)
		throw std::runtime_error("the bottom");
	dig(depth - 1, alive);
	alive += 0 * depth;
}

__attribute__((noinline)) int survive(int times)
{
	int alive = 0, caught = 0;

	for (int i = 0; i < times; i++)
		try {
			dig(i % 20, alive);
		} catch (const std::runtime_error &) {
			caught++;
		}
	return caught + alive;
}

__attribute__((noinline)) std::string word(unsigned &seed)
{
	std::string text;

	for (unsigned n = 3 + (seed >> 16) % 20; n; n--) {
		seed = seed * 1103515245 + 12345;
		text += static_cast<char>('a' + (seed >> 16) % 6);
	}
	return text;
}

} // namespace

int main()
{
	std::map<std::string, int> counts;
	std::vector<std::unique_ptr<shape>> shapes;
	std::vector<std::string> words;
	std::function<bool(const std::string &, const std::string &)> shorter =
		[](const std::string &a, const std::string &b) {
			return a.size() != b.size() ? a.size() < b.size() : a < b;
		};
	unsigned seed = 1;
	double sum = 0;

	for (int i = 0; i < 2000; i++) {
		words.push_back(word(seed));
		counts[words.back().substr(0, 2)]++;
		if (i % 3)
			shapes.push_back(std::make_unique<square>(i));
		else
			shapes.push_back(std::make_unique<circle>(i));
	}
	std::sort(words.begin(), words.end(), shorter);
	for (const auto &s : shapes)
		sum += s->area();
	std::printf("%zu %s %.0f %d\n", counts.size(), words.front().c_str(), sum, survive(500));
	return 0;
}
