/*
 * Names of methods that NativeAOT has compiled, from symbols as it writes them.
 */
#include "check.h"

#include "base/buf.h"
#include "code/clr/native-name.h"

#include <stdlib.h>
#include <string.h>

/* What is wrong with the name of @symbol, whose method is called @name. NULL = nothing. */
static const char *wrong(const char *symbol, const char *name, const char *want)
{
	struct dw_buf b = DW_BUF_INIT;
	bool is = dw_native_name_put(&b, &(struct dw_native_method){symbol, name, "shop"});
	bool is_right = want ? is && !strcmp(dw_buf_str(&b), want) : !is && !b.len;

	if (!is_right)
		printf("# %s is called %s\n", symbol, dw_buf_str(&b));
	dw_buf_release(&b);
	return is_right ? NULL : symbol;
}

struct sample {
	const char *symbol, *name, *want;
};

static const struct sample samples[] = {
	{"shop_Shop_Program__X<System___Canon>", "X", "Shop.Program.X<T>"},
	{"shop_Shop_Program__Over", "Over", "Shop.Program.Over"},
	{"shop_Shop_Box_1<Int32>__Fill", "Fill", "Shop.Box<int>.Fill"},
	{"shop_Shop_Box_1<System___Canon>__Make<System___Canon>", "Make", "Shop.Box<T>.Make<T>"},
	{"shop_Shop_Box_1_Inner_1<System___Canon__Int32>__Go", "Go", "Shop.Box<T1>.Inner<int>.Go"},
	{"shop_Shop_Program__Later_d__4__MoveNext", "MoveNext", "Shop.Program.Later.MoveNext"},
	{"shop_Shop_Program___c___Main_b__6_2", "<Main>b__6_2", "Shop.Program.Main.lambda_6_2"},
	{"shop_Shop_Program___c__DisplayClass6_0___Main_b__2", "<Main>b__2",
	 "Shop.Program.Main.lambda_2"},
	{"shop_Shop_Program___Main_g__Local_6_0", "<Main>g__Local|6_0", "Shop.Program.Main.Local"},
	{"shop_Shop_Program___Main_g__LocalLater_6_1_d__MoveNext", "MoveNext",
	 "Shop.Program.Main.LocalLater.MoveNext"},
	{"shop_Shop_Program___c___Main_b__6_3_d__MoveNext", "MoveNext",
	 "Shop.Program.Main.lambda_6_3.MoveNext"},
	{"S_P_CoreLib_System_Collections_Generic_Dictionary_2<System___Canon__Int32>__TryInsert",
	 "TryInsert", "System.Collections.Generic.Dictionary<T1,int>.TryInsert"},
	{"S_P_CoreLib_System_Runtime_CompilerServices_AsyncTaskMethodBuilder_1_"
	 "AsyncStateMachineBox_1<Int64__shop_Shop_Program__Later_d__4>__ExecuteFromThreadPool",
	 "ExecuteFromThreadPool",
	 "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<long>.AsyncStateMachineBox<"
	 "Shop.Program.Later>.ExecuteFromThreadPool"},
	{"<Boxed>S_P_CoreLib_System_ReadOnlySpan_1<System___Canon>__<unbox>"
	 "S_P_CoreLib_System_ReadOnlySpan_1__Equals",
	 NULL, "System.ReadOnlySpan.Equals"},
	{"Object___ctor", ".ctor", "object..ctor"},
	{"System_Console_System_IO_ConsoleStream___ctor", ".ctor", "System.IO.ConsoleStream..ctor"},
	{"My_Lib_My_Lib_Thing__Do", "Do", "My.Lib.Thing.Do"},
};

TEST(names_as_in_c_sharp)
{
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
		CHECK(!wrong(samples[i].symbol, samples[i].name, samples[i].want));
}

TEST(names_without_debug_information)
{
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
		CHECK(!wrong(samples[i].symbol, NULL, samples[i].want));
	CHECK(!wrong("RhBoxAny", NULL, NULL));
	CHECK(!wrong("__DelegateCtor_S_P_CoreLib_System_Delegate__Go", NULL, NULL));
}

TEST(names_that_are_none)
{
	static const char pieces[] = "A<>__d_1c<>_bg9.";
	unsigned seed = 1;

	for (int i = 0; i < 200000; i++) {
		char *text = malloc(40), *name = malloc(4);
		size_t n = (size_t)(seed >> 8) % 39;
		struct dw_buf b = DW_BUF_INIT;

		for (size_t k = 0; k < n; k++) {
			seed = seed * 1103515245 + 12345;
			text[k] = pieces[(seed >> 16) % (sizeof pieces - 1)];
		}
		text[n] = 0;
		seed = seed * 1103515245 + 12345;
		memcpy(name, text + (n > 3 ? n - 3 : 0), 4 < n + 1 ? 4 : n + 1);
		dw_native_name_put(&b, &(struct dw_native_method){text, NULL, "A"});
		dw_native_name_put(&b, &(struct dw_native_method){text, name, "A"});
		dw_buf_release(&b);
		free(text);
		free(name);
	}
}

TEST_MAIN()
