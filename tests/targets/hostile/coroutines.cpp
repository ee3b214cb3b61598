/*
 * C++20 coroutines, objects with the life of a thread or of the program, virtual calls.
 */
#include "hostile.h"

#include <coroutine>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace
{
struct generator {
	struct promise_type {
		long value = 0;
		std::exception_ptr error;

		generator get_return_object()
		{
			return generator{std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(long number) noexcept
		{
			value = number;
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			error = std::current_exception();
		}
	};
	explicit generator(std::coroutine_handle<promise_type> h) : handle(h)
	{
	}
	generator(generator &&other) noexcept : handle(std::exchange(other.handle, nullptr))
	{
	}
	~generator()
	{
		if (handle)
			handle.destroy();
	}
	bool next()
	{
		handle.resume();
		if (handle.promise().error)
			std::rethrow_exception(handle.promise().error);
		return !handle.done();
	}
	long value() const
	{
		return handle.promise().value;
	}

	std::coroutine_handle<promise_type> handle;
};

int destroyed;

struct guard {
	int number = 0;
	~guard()
	{
		destroyed += number;
	}
};

generator count(long from, long to)
{
	guard here{1};

	for (long i = from; i < to; i++)
		co_yield i;
}

generator chain(int depth)
{
	guard here{10};

	if (depth == 0) {
		co_yield 1;
		throw depth + 5;
	}
	generator inner = chain(depth - 1);
	while (inner.next())
		co_yield inner.value() + depth;
}

void run_generators()
{
	long sum = 0;

	for (int i = 0; i < 200; i++) {
		generator numbers = count(i, i + 50);

		while (numbers.next())
			sum += numbers.value();
		generator unfinished = count(0, 100);

		unfinished.next();
	}
	printf("sum %ld, destroyed %d\n", sum, destroyed);
}

void run_exceptions()
{
	long sum = 0, caught = 0;

	for (int i = 0; i < 100; i++) {
		generator deep = chain(i % 20);

		try {
			while (deep.next())
				sum += deep.value();
		} catch (int number) {
			caught += number;
		}
	}
	printf("sum %ld, caught %ld, destroyed %d\n", sum, caught, destroyed);
}

struct thread_object {
	std::vector<int> numbers = std::vector<int>(10, 3);
	~thread_object()
	{
		__atomic_add_fetch(&destroyed, numbers[5], __ATOMIC_RELAXED);
	}
};

thread_local thread_object object;
thread_local std::unique_ptr<guard> pointer;

void run_thread_locals()
{
	for (int i = 0; i < 50; i++) {
		std::thread thread([] {
			object.numbers[5]++;
			pointer = std::make_unique<guard>(guard{0});
			pointer->number = 100;
		});

		thread.join();
	}
	printf("destroyed %d\n", destroyed);
}

struct speaks {
	bool is_loud = false;
	~speaks()
	{
		if (is_loud)
			puts("a static object goes");
	}
};

speaks global;

void run_static_objects()
{
	static speaks local;

	global.is_loud = local.is_loud = true;
	object.numbers[0] = 1;
}

struct shape {
	virtual ~shape() = default;
	virtual long area(long scale) const = 0;
};
struct square : virtual shape {
	long side = 3;
	long area(long scale) const override
	{
		return side * side * scale;
	}
};
struct named {
	virtual ~named() = default;
	long id = 5;
	virtual long number() const
	{
		return id;
	}
};
struct both : named, square {
	long area(long scale) const override
	{
		return square::area(scale) + number();
	}
	long number() const override
	{
		return 7;
	}
};

/* Calls through thunks that adjust the object, and through pointers to members. */
void run_virtual()
{
	std::vector<std::unique_ptr<shape>> shapes;
	long (shape::*member)(long) const = &shape::area;
	long sum = 0;

	for (int i = 0; i < 100; i++) {
		if (i & 1)
			shapes.push_back(std::make_unique<both>());
		else
			shapes.push_back(std::make_unique<square>());
	}
	for (const auto &one : shapes) {
		sum += one->area(2) + (one.get()->*member)(3);
		if (const named *name = dynamic_cast<const named *>(one.get()))
			sum += name->number();
	}
	printf("sum %ld\n", sum);
}

const hostile_case cases[] = {
	{"generators", run_generators},
	{"exceptions", run_exceptions},
	{"thread-locals", run_thread_locals},
	{"static-objects", run_static_objects},
	{"virtual", run_virtual},
	{nullptr, nullptr},
};
} // namespace

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
