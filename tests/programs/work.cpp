// C++ with templates, exceptions and the standard library: input of the compiler trials.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
};
template <int N> struct polygon : shape {
	double side;
	explicit polygon(double s) : side(s)
	{
		if (s < 0)
			throw std::invalid_argument("side " + std::to_string(N));
	}
	double area() const override
	{
		return side * side * N / 4;
	}
};
template <int N> std::unique_ptr<shape> make(int n, double side)
{
	if constexpr (N > 2) {
		if (n < N)
			return make<N - 1>(n, side);
	}
	return std::make_unique<polygon<N>>(side);
}

int main()
{
	std::map<std::string, std::vector<int>> index;
	std::regex pattern("([a-z]+)([0-9]+)");
	double total = 0;
	int failed = 0;

	for (int i = 0; i < 2000; i++) {
		std::ostringstream text;
		std::smatch match;

		text << "word" << i * 7919 % 97;
		std::string word = text.str();
		if (std::regex_match(word, match, pattern))
			index[match[1].str() + match[2].str()].push_back(i);
		try {
			total += make<12>(i % 12, i % 50 - 5)->area();
		} catch (const std::invalid_argument &error) {
			failed += static_cast<int>(std::string(error.what()).size());
		}
	}
	std::vector<std::function<int(int)>> functions;
	for (int i = 0; i < 50; i++)
		functions.push_back([i](int x) { return x * 31 + i; });
	int value = 1;
	for (auto &function : functions)
		value = function(value) % 100003;
	std::cout << total << ' ' << failed << ' ' << value << ' ' << index.size() << '\n';
	for (const auto &[word, places] : index)
		if (places.size() > 20)
			std::cout << word << ':' << std::accumulate(places.begin(), places.end(), 0)
				  << '\n';
	return 0;
}
