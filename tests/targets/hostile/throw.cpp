/*
 * C++ exceptions: deep, nested, thrown again, through C code, out of handlers, foreign, forced.
 */
#include "hostile.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

namespace
{
int destroyed;
volatile int sink;

struct guard {
	int number;
	explicit guard(int n) : number(n)
	{
	}
	~guard()
	{
		destroyed++;
		sink = sink + number;
	}
};

struct special : std::runtime_error {
	using runtime_error::runtime_error;
};

struct copied {
	int value;
	explicit copied(int v) : value(v)
	{
	}
	copied(const copied &other) : value(other.value + 1)
	{
	}
};

NOINLINE int deep(int depth, int what)
{
	guard here(depth);
	int result;

	if (depth == 0) {
		switch (what) {
		case 0:
			throw special("special");
		case 1:
			throw copied(42);
		case 2:
			throw 7;
		case 3:
			throw std::string("text");
		case 4:
			throw what * 2.5;
		default:
			return 1;
		}
	}
	result = deep(depth - 1, what) + 1;
	sink = sink + result;
	return result;
}

NOINLINE int throws_again(int depth, int what)
{
	guard here(1);

	try {
		return deep(depth, what);
	} catch (std::exception &) {
		sink = sink + 1;
		throw;
	} catch (int &number) {
		number++;
		throw;
	}
}

NOINLINE int nested(int depth, int what)
{
	try {
		guard here(2);

		return throws_again(depth, what);
	} catch (copied &first) {
		try {
			throw copied(first.value + 1);
		} catch (copied &second) {
			return -second.value;
		}
	}
}

void run_deep()
{
	long total = 0;

	for (int i = 0; i < 300; i++)
		for (int what = 0; what < 6; what++) {
			try {
				total += nested(i % 50, what);
			} catch (special &) {
				total += 100;
			} catch (int number) {
				total += number;
			} catch (double) {
				total += 3;
			} catch (...) {
				total += 1000;
			}
		}
	printf("total %ld, destroyed %d, sink %d\n", total, destroyed, sink);
}

int compare(const void *left, const void *right)
{
	int a = *static_cast<const int *>(left), b = *static_cast<const int *>(right);

	if (a == -77777)
		throw 3;
	return a - b;
}

/* Through a C library's function that is not instrumented. */
void run_through_c()
{
	static int numbers[500];
	int caught = 0;

	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 500; i++)
			numbers[i] = i == round * 5 ? -77777 : (i * 7919) % 500;
		try {
			qsort(numbers, 500, sizeof(int), compare);
		} catch (int number) {
			caught += number;
		}
	}
	printf("caught %d\n", caught);
}

void run_library_throws()
{
	std::string text("abc");
	int caught = 0;

	for (int i = 0; i < 200; i++) {
		try {
			sink = sink + text.at(static_cast<size_t>(i));
		} catch (const std::out_of_range &) {
			caught++;
		}
		try {
			delete[] new int[static_cast<size_t>(-1) / 8 - static_cast<size_t>(i)];
		} catch (const std::bad_alloc &) {
			caught++;
		}
	}
	printf("caught %d\n", caught);
}

struct try_block {
	guard member;
	explicit try_block(int n)
	try : member(n) {
		if (n & 1)
			throw n;
	} catch (int &number) {
		number += 1000;
	}
};

void run_constructors()
{
	int sum = 0;

	for (int i = 0; i < 100; i++) {
		try {
			try_block block(i);

			sum++;
		} catch (int number) {
			sum += number;
		}
	}
	printf("sum %d, destroyed %d\n", sum, destroyed);
}

struct throws_at_end {
	~throws_at_end() noexcept(false)
	{
		guard here(std::uncaught_exceptions());

		if (!std::uncaught_exceptions())
			throw 11;
	}
};

void run_destructors()
{
	int sum = 0;

	for (int i = 0; i < 100; i++) {
		try {
			throws_at_end object;

			if (i & 1)
				throw 5;
		} catch (int number) {
			sum += number;
		}
	}
	printf("sum %d, destroyed %d\n", sum, destroyed);
}

void *throw_in_thread(void *argument)
{
	std::exception_ptr *carried = static_cast<std::exception_ptr *>(argument);

	try {
		nested(20, 0);
	} catch (...) {
		*carried = std::current_exception();
	}
	return nullptr;
}

void run_other_thread()
{
	int sum = 0;

	for (int i = 0; i < 20; i++) {
		std::exception_ptr carried;
		pthread_t thread;

		pthread_create(&thread, nullptr, throw_in_thread, &carried);
		pthread_join(thread, nullptr);
		try {
			std::rethrow_exception(carried);
		} catch (const special &error) {
			sum += static_cast<int>(strlen(error.what()));
		}
	}
	printf("sum %d, destroyed %d\n", sum, destroyed);
}

/* What ends the program, in children: their last words are compared too. */
NOINLINE void must_not_throw(int what) noexcept
{
	deep(3, what);
}

#if __cplusplus < 201703L
NOINLINE void throws_ints(int what) throw(int)
{
	deep(3, what);
}

void run_specification()
{
	std::set_unexpected([] { throw 99; });
	for (int what = 0; what < 6; what++) {
		try {
			throws_ints(what);
			puts("nothing");
		} catch (int number) {
			printf("number %d\n", number);
		}
	}
}
#endif

int status_of_child(void (*function)())
{
	int status;

	fflush(stdout);
	if (fork() == 0) {
		dup2(1, 2);
		function();
		_exit(0);
	}
	wait(&status);
	return status;
}

void run_terminate()
{
	printf("noexcept: %x\n", status_of_child([] { must_not_throw(0); }) & 0x7f);
	printf("uncaught: %x\n", status_of_child([] { deep(4, 2); }) & 0x7f);
	printf("handler: %x\n", status_of_child([] {
		       std::set_terminate([] { _exit(33); });
		       must_not_throw(3);
	       }));
	printf("nothing to throw: %x\n", status_of_child([] { throw; }) & 0x7f);
}

#ifndef __clang__
void on_signal(int number)
{
	throw number;
}

NOINLINE int divide(int number, volatile int *by)
{
	guard here(number);

	return number / *by;
}

/* Built with -fnon-call-exceptions: the faulting instruction throws. */
void run_from_handler()
{
	struct sigaction action = {};
	int sum = 0, zero = 0;

	action.sa_handler = on_signal;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGFPE, &action, nullptr);
	sigaction(SIGSEGV, &action, nullptr);
	for (int i = 0; i < 200; i++) {
		try {
			sum += divide(i, i & 1 ? &zero : nullptr);
		} catch (int number) {
			sum += number;
		}
	}
	printf("sum %d, destroyed %d\n", sum, destroyed);
}

#endif

void delete_foreign(_Unwind_Reason_Code, _Unwind_Exception *)
{
	sink = sink + 1;
}

NOINLINE void throw_foreign(_Unwind_Exception *exception)
{
	guard here(1);

	_Unwind_RaiseException(exception);
	puts("nobody caught it");
}

void run_foreign()
{
	int caught = 0;

	for (int i = 0; i < 200; i++) {
		_Unwind_Exception exception = {};

		memcpy(&exception.exception_class, "HOSTILE", 8);
		exception.exception_cleanup = delete_foreign;
		try {
			guard here(2);

			throw_foreign(&exception);
		} catch (int) {
			puts("an int?");
		} catch (...) {
			caught++;
		}
	}
	printf("caught %d, deleted %d, destroyed %d\n", caught, sink - 3 * 200, destroyed);
}

struct forced {
	_Unwind_Exception exception;
	uintptr_t until;
	int frames;
	void *back[5];
};

_Unwind_Reason_Code stop(int, _Unwind_Action actions, _Unwind_Exception_Class,
			 _Unwind_Exception *exception, _Unwind_Context *context, void *argument)
{
	forced *force = static_cast<forced *>(argument);

	(void)exception;
	force->frames++;
	if ((actions & _UA_END_OF_STACK) || _Unwind_GetCFA(context) >= force->until)
		__builtin_longjmp(force->back, 1);
	return _URC_NO_REASON;
}

NOINLINE void unwind_by_force(forced *force, int depth)
{
	guard here(depth);

	if (depth)
		unwind_by_force(force, depth - 1);
	else
		_Unwind_ForcedUnwind(&force->exception, stop, force);
	sink = sink + 1;
}

NOINLINE int force_once(int depth)
{
	forced force = {};

	force.until = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
	if (__builtin_setjmp(force.back) == 0)
		unwind_by_force(&force, depth);
	return force.frames;
}

void run_forced()
{
	int frames = 0;

	for (int i = 0; i < 100; i++)
		frames += force_once(i % 10);
	printf("frames at least %d, destroyed %d\n", frames >= 550 ? 550 : frames, destroyed);
}

void *exit_thread(void *)
{
	guard here(1);

	try {
		guard inner(2);

		pthread_exit(const_cast<char *>("out"));
	} catch (int) {
		puts("an int?");
	} catch (...) {
		destroyed += 1000;
		throw;
	}
	return nullptr;
}

void run_thread_exit()
{
	for (int i = 0; i < 20; i++) {
		pthread_t thread;
		void *result;

		pthread_create(&thread, nullptr, exit_thread, nullptr);
		pthread_join(thread, &result);
		CHECK(!strcmp(static_cast<char *>(result), "out"));
	}
	printf("destroyed %d\n", destroyed);
}

/* Catching by filters: pointers, bases, const, arrays, functions. */
struct left_base {
	virtual ~left_base() = default;
	int left = 1;
};
struct right_base {
	virtual ~right_base() = default;
	int right = 2;
};
struct both : left_base, right_base {
};

NOINLINE int throw_kind(int kind)
{
	static both object;

	switch (kind) {
	case 0:
		throw both();
	case 1:
		throw &object;
	case 2:
		throw "characters";
	case 3:
		throw nullptr;
	case 4:
		throw throw_kind;
	default:
		throw 'c';
	}
}

void run_filters()
{
	for (int kind = 0; kind < 6; kind++) {
		try {
			throw_kind(kind);
		} catch (right_base &base) {
			printf("right %d\n", base.right);
		} catch (left_base *base) {
			printf("left %d\n", base ? base->left : 0);
		} catch (const char *text) {
			printf("text %s\n", text ? text : "none");
		} catch (int (*function)(int)) {
			printf("function %d\n", function == throw_kind);
		} catch (...) {
			puts("something else");
		}
	}
}

const hostile_case cases[] = {
	{"deep", run_deep},
	{"through-c", run_through_c},
	{"library-throws", run_library_throws},
	{"constructors", run_constructors},
	{"destructors", run_destructors},
	{"other-thread", run_other_thread},
#if __cplusplus < 201703L
	{"specification", run_specification},
#endif
	{"terminate", run_terminate},
#ifndef __clang__
	{"from-handler", run_from_handler},
#endif
	{"foreign", run_foreign},
	{"forced", run_forced},
	{"thread-exit", run_thread_exit},
	{"filters", run_filters},
	{nullptr, nullptr},
};
} // namespace

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
