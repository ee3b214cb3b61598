/*
 * The clone image: what the collector makes of one module's code and the agent maps beside it.
 *
 * One file, mapped whole: an offset in the file is the same offset in the area, the address range
 * that the agent gives it. The file is also an ELF file (ET_DYN, with segments, .eh_frame_hdr and a
 * symbol table for the clones), so that unwinders that open what dl_iterate_phdr() names can read
 * it; the agent reads this header only. Parts, each page-aligned where rights change:
 *
 *	ELF header, program headers; this header at DWELL_CLONE_HEADER_OFFSET;	r
 *	that of the debuggers' object at DWELL_CLONE_OBJECT_OFFSET
 *	code: trampolines, then the clones					r-x
 *	slots: one page of constants, one page wiped on fork			r--, rw-
 *	unwind tables, LSDAs, jump tables, functions, instructions, patches,
 *	relocations, symbols							r--
 *
 * Behind all that the file has final code, which is no part of the area: what stands for the pages
 * of clones when nothing is measured any more. Probes are nops there (wire/no-probe.h), and clones
 * with one at the entry begin with a jump to the module, for an area that lies @distance behind it.
 *
 * "Module offset" = svma minus the svma of the module's lowest segment's page; "area offset" = from
 * the start of the area. Clone code refers to its module by distances. They are right when the area
 * lies @distance behind the module; elsewhere the agent adds the difference at the relocations.
 * All numbers are little-endian. The maker checks what it writes; the agent checks the header, the
 * module's headers, the code that was cloned and the old bytes of every patch, and nothing else.
 */
#pragma once

#include <elf.h>
#include <stdint.h>

#define DWELL_CLONE_MAGIC "dwclone"

enum {
	DWELL_CLONE_VERSION = 14,
	DWELL_CLONE_HEADER_OFFSET = 0x400,
	DWELL_CLONE_OBJECT_OFFSET = 0xc00,
};

/* What probes the clones hold. */
enum dw_clone_probes {
	DWELL_PROBES_NONE,
	DWELL_PROBES_COUNT,
	DWELL_PROBES_SYSTEM_CALLS, /* around system calls only; of other functions nothing is cloned
				    */
	DWELL_PROBES_TIME,	   /* entries, exits, calls out, and system calls */
};

/* A part of the file: @n records from the area offset @at on. */
struct dw_clone_part {
	uint32_t at;
	uint32_t n;
};

/* Which bytes a module has: the segments as the loader maps them (wire/identity.h). */
struct dw_module_identity {
	uint64_t code_hash;    /* of the executable segments' bytes */
	uint64_t headers_hash; /* of the program header table's bytes */
	uint64_t code_bytes;
};

/* How a place in the area depends on where module and area are. d = (area - module) - distance. */
enum dw_clone_relocation {
	DWELL_RELOC_TO_MODULE,	 /* int32: subtract d (a distance from the area to the module) */
	DWELL_RELOC_FROM_MODULE, /* int32: add d (a distance from the module to the area) */
	DWELL_RELOC_AREA_64, /* uint64, an address in the area made for fixed_start + distance or,
				without fixed_start, for area address 0: add the difference */
	DWELL_RELOC_AREA_32, /* the same as uint32, for non-PIE code; must fit */
	DWELL_RELOC_THREAD,  /* int32: add the offset of the agent's thread word from %fs */
	DWELL_RELOCATIONS
};

/*
 * Where a signal may interrupt a trampoline: from @again on it has changed nothing yet and may
 * start there once more; from @commit on it does nothing but 64-bit stores of registers (mov %r64,
 * disp8(%r64)), until at @end all is done; to @over it only gives the registers back. Area offsets;
 * @again 0 = no more.
 */
struct dw_clone_trampoline {
	uint32_t again, commit, end, over;
};

enum { DWELL_CLONE_TRAMPOLINES = 28 };

/* A trampoline, by what its callers have just done. Nothing may be in use below rsp at any. */
enum dw_trampoline {
	/* in images with DWELL_PROBES_NONE and _COUNT */
	DWELL_TRAMPOLINE_COUNT, /* rax saved at -16(%rsp), the function's index in eax */
	DWELL_TRAMPOLINE_LEAVE, /* nothing */
	/* in images with DWELL_PROBES_TIME and _SYSTEM_CALLS */
	DWELL_TRAMPOLINE_ENTER, /* at an entry: rax saved at -16(%rsp), the index in eax */
	DWELL_TRAMPOLINE_EXIT,	/* before a return or a jump to another function: nothing */
	/* before a call of an import: rax saved at -16(%rsp), functions.n + its index in eax */
	DWELL_TRAMPOLINE_OUT,
	/* before a call through a pointer: rax saved at -16(%rsp), the callee's address in rax */
	DWELL_TRAMPOLINE_OUT_POINTER,
	/* behind both kinds of calls, and those of what may end in a call of TAIL: nothing */
	DWELL_TRAMPOLINE_RETURN,
	DWELL_TRAMPOLINE_LANDING,    /* at a landing pad: nothing */
	DWELL_TRAMPOLINE_CALL_BEGIN, /* before a system call: nothing */
	DWELL_TRAMPOLINE_CALL_END,   /* behind it: nothing */
	/* before a statement: rax saved at -16(%rsp), functions.n + imports.n + its index in eax */
	DWELL_TRAMPOLINE_LINE,
	DWELL_TRAMPOLINE_TAIL, /* before a jump to an import that ends a function: as OUT */
	/* what probes of calls that are measured no more call instead, with a counter's place
	 * (dw_counter()) in eax */
	DWELL_TRAMPOLINE_COUNTED,	  /* for ENTER and OUT */
	DWELL_TRAMPOLINE_COUNTED_TAIL,	  /* for TAIL */
	DWELL_TRAMPOLINE_COUNTED_POINTER, /* for OUT_POINTER, with what that has in rax */
	DWELL_TRAMPOLINES_N
};

struct dw_clone_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes;
	uint8_t maker[20]; /* build-id of the dwell that made it */
	uint32_t probes;   /* enum dw_clone_probes */
	struct dw_module_identity module;
	uint64_t cloned_hash;  /* of what the clones were made from: the runs of dw_identity_run(),
				  so  that an image is never put beside other code */
	uint64_t module_bytes; /* from the lowest to the end of the highest segment */
	int64_t distance;      /* of the area from the module's start that needs no relocation */
	uint64_t fixed_start;  /* of a module that is not position-independent, else 0 */
	uint32_t bytes;	       /* of the area, whole pages */
	uint32_t code_at;      /* whole pages */
	uint32_t code_bytes;
	uint32_t constants_at;	  /* one page: addresses the agent fills in, then r-- */
	uint32_t wiped_at;	  /* one page, wiped on fork */
	uint32_t eh_frame_hdr_at; /* as PT_GNU_EH_FRAME; 0 = none */
	uint32_t eh_frame_hdr_bytes;
	uint32_t eh_frame_at;
	uint32_t eh_frame_bytes;
	struct dw_clone_part functions;	   /* struct dw_clone_function_entry, by module offset */
	struct dw_clone_part instructions; /* bytes, see dw_clone_function_entry */
	struct dw_clone_part patches;	   /* struct dw_clone_patch, by module offset */
	struct dw_clone_part relocations[DWELL_RELOCATIONS]; /* uint32_t area offsets, by enum
								dw_clone_relocation */
	struct dw_clone_part returns; /* struct dw_clone_return, by module offset */
	struct dw_clone_part imports; /* struct dw_clone_import */
	uint32_t probed_start; /* module offsets that hold all probed functions: calls through */
	uint32_t probed_end;   /* pointers to there do not leave the instrumented code */
	struct dw_clone_trampoline trampolines[DWELL_CLONE_TRAMPOLINES];
	uint32_t signals_at; /* area offset where a trampoline lets handlers run that its slow path
				has put off; 0 = nowhere */
	uint32_t moves_at;   /* area offsets: the slow path's first instruction, which moves the */
	uint32_t moved_at;   /* stack pointer, and where it is back; 0 = no trampoline has one */
	uint32_t trampoline_at[DWELL_TRAMPOLINES_N]; /* by enum dw_trampoline, area offset; 0 = not
							in the image */
	uint32_t system_calls;			     /* with trampolines around them */
	uint32_t system_calls_left;		     /* instructions without */
	struct dw_clone_part statements; /* struct dw_clone_statement, by module offset */
	uint32_t statements_left;	 /* that were asked for and have no probe */
	uint32_t final_bytes;		 /* of final code, whole pages, in the file at @bytes */
	uint32_t final_from;		 /* area offset of what it stands for, a whole page */
	/* uint32_t area offsets of the calls that clones hold, by enum dw_trampoline, rising */
	struct dw_clone_part trampoline_calls[DWELL_TRAMPOLINES_N];
};

/* Sections of the ELF file that an image is, and of the debuggers' object. */
enum dw_clone_section {
	DWELL_CLONE_SECTION_NONE,
	DWELL_CLONE_SECTION_TEXT,
	DWELL_CLONE_SECTION_EH_FRAME,
	DWELL_CLONE_SECTION_EH_FRAME_HDR,
	DWELL_CLONE_SECTION_SYMTAB,
	DWELL_CLONE_SECTION_STRTAB,
	DWELL_CLONE_SECTION_NAMES,
	DWELL_CLONE_SECTIONS
};

/*
 * The head of the debuggers' object: a relocatable ELF file that lies in the area once more, for
 * debuggers that do not know the image's file (src/agent/clones/debugger.h). In the image its
 * addresses are area offsets. The agent copies it to the same place of the constants page, which is
 * the process's own anyway, and makes them addresses: nothing more of the image becomes the
 * process's own, and symbols and unwind table are read by none but debuggers. Offsets of sections
 * count from there. Its .text is the area from its start on, so that values of symbols are area
 * offsets as in the image's own table. That one ends where those symbols begin that the module does
 * not have: what is shown to the program has only names that the module has.
 */
struct dw_clone_object {
	Elf64_Ehdr head;
	Elf64_Shdr sections[DWELL_CLONE_SECTIONS]; /* of those of no use the type is SHT_NULL */
};

_Static_assert(DWELL_CLONE_HEADER_OFFSET + sizeof(struct dw_clone_header) <=
		       DWELL_CLONE_OBJECT_OFFSET,
	       "room for the header");

/* Why a function runs as it is. 0 = it was cloned. Texts: dw_clone_reason_text() in src/clone. */
enum dw_clone_reason {
	DWELL_CLONED,
	DWELL_LEFT_NOT_CHOSEN,	   /* by --include, --exclude */
	DWELL_LEFT_START,	   /* _start, a thread's start: the kernel enters them */
	DWELL_LEFT_UNDECODABLE,	   /* bytes that are no instruction */
	DWELL_LEFT_ENTRY_OVERLAP,  /* a branch into an instruction's middle */
	DWELL_LEFT_NO_ROOM,	   /* no place for the jump at its entry */
	DWELL_LEFT_RED_ZONE,	   /* an indirect jump with no free stack below it */
	DWELL_LEFT_RESTARTABLE,	   /* holds an address of a restartable sequence */
	DWELL_LEFT_RETURN_ADDRESS, /* its calls need their return addresses, and cannot keep them */
	DWELL_LEFT_AFTER_CALL,	   /* what follows one of its calls may be data or is skipped */
	DWELL_LEFT_UNWIND,	   /* its unwind table or LSDA cannot be rewritten */
	DWELL_LEFT_OWN_CALL,	   /* calls into its own middle */
	DWELL_LEFT_INSTRUCTION,	   /* an instruction that cannot be moved */
	DWELL_LEFT_RUNTIME,	   /* its language's runtime looks up return addresses */
	DWELL_LEFT_TEMPLATE,	   /* code that its program copies elsewhere */
	DWELL_LEFT_WRITTEN,	   /* put back at run time: its text was made writable */
	DWELL_LEFT_LIMIT,	   /* a limit of dwell */
	DWELL_LEFT_REASONS
};

enum dw_clone_flag {
	DWELL_CLONE_COLD = 1,	/* a part of another function, entered by jumps only: no probes */
	DWELL_CLONE_PROBED = 2, /* has probes */
	DWELL_CLONE_REDIRECTED = 4, /* a patch at its entry leads to the clone */
	DWELL_CLONE_TAILS_OUT = 8,  /* may end in a jump out of the instrumented code, itself or
				       where it jumps to */
	DWELL_CLONE_SWITCHES = 16,  /* loads the stack pointer: may go on on another stack */
	DWELL_CLONE_SLOWEST = 32,   /* several of its slowest calls are wanted */
};

/*
 * One range of the unwind table. Instructions: from instructions.at + @instructions on, one byte
 * for each instruction: length in the module << 4 | length in the clone; a low half of 15 is
 * followed by the clone's length as uint16. Everything in the clone belongs to an instruction: the
 * probe at the entry to the first (@prefix_bytes of it), translations to the jump, the jump to what
 * follows the range to the last, the trampoline of a landing pad to the pad's first, the probe of a
 * statement to the statement's first. Branches to the first instruction from inside go behind the
 * prefix, all but exceptions behind a landing pad's trampoline, those of the same line behind a
 * statement's probe.
 */
struct dw_clone_function_entry {
	uint32_t start; /* module offset */
	uint32_t bytes;
	uint32_t clone_at; /* area offset, 0 when left alone */
	uint32_t clone_bytes;
	uint32_t instructions;
	uint16_t prefix_bytes;
	uint8_t reason; /* enum dw_clone_reason */
	uint8_t flags;	/* enum dw_clone_flag */
};

/* What a patch writes. */
enum dw_clone_patch_kind {
	DWELL_PATCH_JUMP, /* e9 and the distance to area offset @target */
	DWELL_PATCH_HOP,  /* eb and the byte @target: to a jump in padding nearby */
};

struct dw_clone_patch {
	uint32_t at; /* module offset */
	uint32_t target;
	uint32_t function; /* index of the function it belongs to */
	uint8_t old[5];	   /* the module's bytes there (2 of them for a hop) */
	uint8_t kind;
	uint8_t unused[2];
};

/*
 * A call that leaves its original return address on the stack: the clone jumps to the module's call
 * instruction, and a patch behind that one leads back. For the agent's translation of addresses.
 */
struct dw_clone_return {
	uint32_t at;	   /* module offset of the return address */
	uint32_t clone_at; /* where the patch there leads: the trampoline RETURN, or what follows */
};

/*
 * An external callee: outside the instrumented code, and called by its name, through a pointer that
 * the loader fills; or a function of the module's own that was left alone.
 */
struct dw_clone_import {
	uint32_t slot;	/* module offset of the pointer, 0 = none */
	uint32_t stub;	/* module offset of the PLT stub that jumps there, or of the function
			   itself; 0 = none: the call goes through the pointer */
	uint32_t flags; /* enum dw_clone_import_flag */
	uint32_t unused;
};

/* The first instruction of a statement, with a probe in front. */
struct dw_clone_statement {
	uint32_t at;	   /* module offset */
	uint32_t function; /* index of the one it stands in */
};

enum dw_clone_import_flag {
	DWELL_IMPORT_SWITCHES = 1, /* by its name it goes on on another stack: swapcontext() */
};

/* Indexes of 8-byte words in the constants page. */
enum dw_clone_constant {
	DWELL_CONSTANT_SLOW_COUNT, /* address of void slow(uint64_t area, uint32_t function), which
				      the count trampoline calls instead of counting, on an aligned
				      stack, flags kept by the trampoline; vector registers are the
				      function's to keep. 0 = nothing is called */
	DWELL_CONSTANT_SLOW,	   /* where the trampolines that measure time go on when they must
				      (src/clone/trampolines/time-x86-64.S says how); 0 = nowhere */
	DWELL_CONSTANT_FIRST_ID,   /* key of the image's function 0 */
	DWELL_CONSTANT_PROBED,	   /* address of what header.probed_start is */
	DWELL_CONSTANT_PROBED_BYTES,
	DWELL_CONSTANT_DISABLED,   /* address of a uint32_t: probes go on slowly when it is another
				 than struct dw_tree_thread.disabled_serial */
	DWELL_CONSTANT_AREA_BYTES, /* as header.bytes */
};

/* Indexes of 8-byte words in the wiped page; 0 after a fork. */
enum dw_clone_wiped {
	DWELL_WIPED_COUNTS, /* address of uint64 calls[functions.n] of this module */
	DWELL_WIPED_ALIVE,  /* not 0: this process has a region of its own */
	DWELL_WIPED_PLACES, /* address of int32_t places[functions.n + imports.n]: where calls are
			       counted that are measured no more, by dw_counter(), or 0 = not known,
			       1 = nowhere */
};
