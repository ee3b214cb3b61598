/* Has code in two segments: .far is put far away by the linker's command line. */
#include <stdio.h>

__attribute__((section(".far"), noinline)) static int far_away(int n)
{
	return n + 1;
}

int main(void)
{
	printf("%d\n", far_away(41));
	return 0;
}
