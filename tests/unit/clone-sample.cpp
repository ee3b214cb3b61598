// A small library for tests of the clone engine: one of each kind of code that clones differ in.
// Linked without libraries, so that it stays small; nobody runs it.
extern "C" {
extern int data[] __attribute__((visibility("hidden")));
int data[64] = {1, 2, 3};
int elsewhere(int x);
void may_throw(int x) noexcept(false);
void *lookup(const char *name);

int leaf(int x) __attribute__((visibility("hidden")));
int leaf(int x)
{
	return x + data[x & 63];
}

int tail(int x)
{
	return x > 3 ? elsewhere(x + 1) : leaf(x);
}

int by_table(int x)
{
	switch (x) {
	case 0:
		return elsewhere(7);
	case 1:
		return data[5];
	case 2:
		return tail(x) + 1;
	case 3:
		return data[6] * 3;
	case 4:
		return leaf(x) * leaf(x + 1);
	case 5:
		return elsewhere(1) - 9;
	case 6:
		return data[9] ^ 12;
	}
	return -1;
}

int by_goto(const unsigned char *code)
{
	static const void *const labels[] = {&&more, &&less, &&end};
	int x = 0;

	goto *labels[*code++ % 3];
more:
	x += data[*code & 63];
	goto *labels[*code++ % 3];
less:
	x -= 2;
	goto *labels[*code++ % 3];
end:
	return x;
}

int by_pointer(int (*f)(int), int x)
{
	return f(x) + 1;
}

int by_tail_pointer(int (*f)(int), int x)
{
	return f(x + 1);
}
}

// Loops that reach 127 bytes only, a lock prefix, a jump to another function's end.
asm(".text\n"
    ".globl by_loop\n"
    ".type by_loop, @function\n"
    "by_loop:\n"
    ".cfi_startproc\n"
    "1:	dec %rdi\n"
    "	loop 1b\n"
    "	jrcxz 2f\n"
    "	lock incl data(%rip)\n"
    "2:	xbegin 1b\n"
    "	push %rbx\n"
    ".cfi_adjust_cfa_offset 8\n"
    ".cfi_offset %rbx, -16\n"
    "	pop %rbx\n"
    ".cfi_adjust_cfa_offset -8\n"
    "	jnz leaf\n"
    "	ret $0\n"
    ".cfi_endproc\n"
    ".size by_loop, . - by_loop\n");

// Calls of all kinds, one that keeps its return address, and system calls with and without free
// stack below rsp; a load of the stack pointer.
asm(".text\n"
    ".globl by_calls\n"
    ".type by_calls, @function\n"
    "by_calls:\n"
    ".cfi_startproc\n"
    "	push %rbx\n"
    ".cfi_adjust_cfa_offset 8\n"
    ".cfi_offset %rbx, -16\n"
    "	mov %rdi, %rbx\n"
    "	call *elsewhere@GOTPCREL(%rip)\n"
    "	call elsewhere@PLT\n"
    "	call *%rbx\n"
    "	call *%r11\n"
    "	call *8(%rsp)\n"
    "	call *0x1234(%r12,%rcx,8)\n"
    "	notrack call *-8(%rbp)\n"
    "	call *%fs:0x10\n"
    "	call *callee(%rip)\n"
    "	mov $39, %eax\n"
    "	syscall\n"
    "	lea 1f(%rip), %rax\n"
    "	call elsewhere@PLT\n"
    "1:	mov $0x12345678, %eax\n"
    "	mov $24, %eax\n"
    "	syscall\n"
    "	call leaf\n"
    "	nop\n"
    "	call leaf\n"
    "	nop\n"
    "	call leaf\n"
    "	pop %rbx\n"
    ".cfi_adjust_cfa_offset -8\n"
    "	ret\n"
    ".cfi_endproc\n"
    ".size by_calls, . - by_calls\n"
    ".globl by_red_zone\n"
    ".type by_red_zone, @function\n"
    "by_red_zone:\n"
    ".cfi_startproc\n"
    "	mov %rdi, -8(%rsp)\n"
    "	mov $39, %eax\n"
    "	syscall\n"
    "	call *-8(%rsp)\n"
    "	ret\n"
    ".cfi_endproc\n"
    ".size by_red_zone, . - by_red_zone\n"
    ".globl by_free_stack\n"
    ".type by_free_stack, @function\n"
    "by_free_stack:\n"
    ".cfi_startproc\n"
    "	mov $24, %eax\n"
    "	syscall\n"
    "	ret\n"
    ".cfi_endproc\n"
    ".size by_free_stack, . - by_free_stack\n"
    ".globl switches\n"
    ".type switches, @function\n"
    "switches:\n"
    ".cfi_startproc\n"
    "	mov %rsp, (%rdi)\n"
    "	mov %rsi, %rsp\n"
    "	call elsewhere@PLT\n"
    "	jmp elsewhere@PLT\n"
    ".cfi_endproc\n"
    ".size switches, . - switches\n"
    ".data\n"
    ".balign 8\n"
    "callee: .quad 0\n"
    ".text\n");

struct Base {
	virtual ~Base();
	int x;
};
struct Derived : Base {
	~Derived();
};

struct Cleanup {
	int x;
	~Cleanup()
	{
		elsewhere(x);
	}
};

extern "C" int catches(int x)
{
	Cleanup c{x};

	try {
		may_throw(x);
		Cleanup d{x + 1};
		may_throw(x + 1);
	} catch (const Base &e) {
		return e.x;
	} catch (int i) {
		return i;
	} catch (...) {
		elsewhere(3);
	}
	return leaf(x);
}

extern "C" int promises(int x) noexcept
{
	may_throw(x);
	return x;
}

extern "C" void rethrows(int x)
{
	try {
		may_throw(x);
	} catch (Derived &) {
		throw;
	}
}
