/*
 * Whether a preloaded agent belongs into this process, and our variables, taken out of the
 * program's environment.
 *
 * The C library has not looked at envp yet: its `environ` will be this very array, so entries are
 * removed in place. Behind the array lie the auxiliary words, which some runtimes find by walking
 * over it: the room that comes free is filled with words to be ignored. The texts
 * themselves are overwritten, and what follows moves up, because /proc/self/environ shows them:
 * only NULs remain at its end.
 */
#include "agent/core/agent-internal.h"
#include "agent/core/exec.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <elf.h>

/* Indexes of dw_agent.variables. */
enum { FOLDER, MODE, FILTERS, SECOND, SECOND_START, PRELOAD };

static const char *const names[DWELL_AGENT_VARIABLES] = {
	[FOLDER] = DWELL_ENV_FOLDER "=",
	[MODE] = DWELL_ENV_MODE "=",
	[FILTERS] = DWELL_ENV_FILTERS "=",
	[SECOND] = DWELL_ENV_SECOND "=",
	[SECOND_START] = DWELL_ENV_SECOND_START "=",
	[PRELOAD] = DWELL_ENV_PRELOAD "=",
};

static bool is_separator(char c)
{
	return c == ' ' || c == ':';
}

/* Where @path is an entry of the list @value, borrowed from it; NULL = nowhere. */
static char *find_entry(char *value, const char *path)
{
	const char *rest;

	for (char *entry = value; *entry;) {
		rest = dw_text_after(entry, path);
		if (rest && (!*rest || is_separator(*rest)))
			return entry;
		while (*entry && !is_separator(*entry))
			entry++;
		while (is_separator(*entry))
			entry++;
	}
	return NULL;
}

/* Take the entry @path with one separator out of the list @value; the rest is filled with NULs. */
static void remove_entry(char *value, const char *path)
{
	char *entry = find_entry(value, path), *rest;
	size_t left, length;

	if (!entry)
		return;
	rest = entry + dw_text_length(path);
	if (*rest)
		rest++;
	else if (entry > value)
		entry--;
	left = dw_text_length(rest);
	length = left + (size_t)(rest - entry);
	memmove(entry, rest, left);
	memset(entry + left, 0, length - left);
}

static int variable_of(const char *entry)
{
	for (int i = 0; i < DWELL_AGENT_VARIABLES; i++)
		if (dw_text_after(entry, names[i]))
			return i;
	return -1;
}

/* The value of @variable as children get it, NULL = they do not. */
static const char *kept(int variable)
{
	return dw_text_after(dw_agent.variables[variable], names[variable]);
}

/* Keep @entry, no preload, as children get it. */
static bool keep(int variable, const char *entry)
{
	dw_agent.variables[variable][0] = '\0';
	return dw_text_append(dw_agent.variables[variable], DWELL_AGENT_TEXT, entry);
}

/* Of preloads, children get the agents only. */
static bool keep_preload(const char *own_path)
{
	char *text = dw_agent.variables[PRELOAD];
	const char *second = kept(SECOND);

	text[0] = '\0';
	return dw_text_append(text, DWELL_AGENT_TEXT, names[PRELOAD]) &&
	       (!second || (dw_text_append(text, DWELL_AGENT_TEXT, second) &&
			    dw_text_append(text, DWELL_AGENT_TEXT, ":"))) &&
	       dw_text_append(text, DWELL_AGENT_TEXT, own_path);
}

/* Whether the program shall not see @entry any more, which is then overwritten. */
static bool hide(int variable, char *entry, const char *own_path)
{
	char *value = entry + dw_text_length(names[variable]);

	if (variable == PRELOAD && !dw_text_equal(entry, dw_agent.variables[PRELOAD])) {
		remove_entry(value, own_path);
		if (kept(SECOND))
			remove_entry(value, kept(SECOND));
		return false;
	}
	memset(entry, 0, dw_text_length(entry));
	return true;
}

/* Fill @n words behind the environment: with pairs to be ignored, or an end when they are odd. */
static void fill(char **words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		words[i] = (char *)(uintptr_t)(n % 2 == 0 && i % 2 == 0 ? AT_IGNORE : AT_NULL);
}

/* Close the gaps between the texts, which the kernel lays one after the other from @to on. */
static void close_gaps(char **envp, char *to)
{
	char *next;
	size_t bytes;

	for (; *envp && *envp >= to; envp++) {
		next = *envp + dw_text_length(*envp) + 1;
		bytes = (size_t)(next - *envp);
		if (*envp > to) {
			memmove(to, *envp, bytes);
			memset(to + bytes, 0, (size_t)(next - to) - bytes);
			*envp = to;
		}
		to += bytes;
	}
}

/* Keep our variables, as children get them. False when one is too long. */
static bool keep_all(char *const *envp, const char *path)
{
	bool fits = true;

	for (int i = 0; i < PRELOAD; i++)
		keep(i, i == SECOND || i == SECOND_START ? "" : names[i]);
	for (; *envp; envp++) {
		int variable = variable_of(*envp);

		if (variable >= 0 && variable != PRELOAD && !keep(variable, *envp))
			fits = false;
	}
	return keep_preload(path) && fits;
}

bool dw_environment_take(char **envp, const char *path, uint64_t *ret_filters)
{
	const char *const *text = (const char *const *)envp;
	char **to = envp, **from = envp, *first = *envp;
	int variable;
	bool has_folder = false;

	for (; *text; text++)
		has_folder |= dw_text_after(*text, names[FOLDER]) != NULL;
	if (!has_folder)
		return false;
	has_folder = keep_all(envp, path);
	for (; *from; from++) {
		variable = variable_of(*from);
		if (variable < 0 || !hide(variable, *from, path))
			*to++ = *from;
	}
	*to = NULL;
	fill(to + 1, (size_t)(from - to));
	close_gaps(envp, first);
	if (!has_folder)
		return false;
	dw_agent.folder[0] = '\0';
	dw_text_append(dw_agent.folder, sizeof(dw_agent.folder), kept(FOLDER));
	*ret_filters = dw_text_number(kept(FILTERS));
	return true;
}

bool dw_environment_preloads(char *const *envp, const char *path)
{
	bool is_there = false;

	for (; *envp && !is_there; envp++)
		is_there = variable_of(*envp) == PRELOAD &&
			   find_entry(*envp + dw_text_length(names[PRELOAD]), path);
	return is_there;
}

const char *dw_environment_name(int i)
{
	return names[i];
}

void dw_agent_tell_children(const char *word)
{
	dw_text_append(dw_agent.variables[MODE], DWELL_AGENT_TEXT, word);
}

const char *dw_environment_mode(void)
{
	return kept(MODE);
}

const char *dw_environment_second(void)
{
	return kept(SECOND_START);
}

bool dw_environment_be_second(const char *start)
{
	char *mode = dw_agent.variables[MODE];
	size_t n = dw_text_length(names[MODE]), length;
	const char *end = dw_text_find(start, ':');

	length = (size_t)(end - start);
	if (!*end || n + length >= DWELL_AGENT_TEXT)
		return false;
	keep(MODE, names[MODE]);
	memcpy(mode + n, start, length);
	mode[n + length] = '\0';
	dw_agent.folder[0] = '\0';
	return dw_text_append(dw_agent.folder, sizeof(dw_agent.folder), end + 1);
}

/* The system-call filters of this task by the text of its /proc status. */
static uint64_t count_filters(const char *status)
{
	const char *mode = dw_text_line(status, "Seccomp:\t");
	const char *count = dw_text_line(status, "Seccomp_filters:\t");

	/* Before Linux 5.9 only their presence is told. */
	return count ? dw_text_number(count) : mode ? dw_text_number(mode) != 0 : UINT64_MAX;
}

bool dw_filters_fit(uint64_t filters)
{
	char status[4096];

	status[dw_read_file("/proc/self/status", status, sizeof(status) - 1)] = '\0';
	return count_filters(status) <= filters;
}

/* The words behind the environment: what the kernel told about this program. */
static const Elf64_auxv_t *auxiliary(char **envp)
{
	while (*envp)
		envp++;
	return (const Elf64_auxv_t *)(envp + 1);
}

static bool is_secure(char **envp)
{
	const Elf64_auxv_t *word = auxiliary(envp);

	for (; word->a_type != AT_NULL; word++)
		if (word->a_type == AT_SECURE)
			return word->a_un.a_val != 0;
	return true;
}

static void activate(const char *path)
{
	dw_agent.is_active = !dw_region_is_abandoned() && dw_exec_program_start(path);
	if (dw_agent.is_active)
		dw_memory_start();
}

void dw_agent_wake_second(const char *start)
{
	const char *path = dw_loader_own_path();

	if (!path || !dw_environment_be_second(start))
		return;
	dw_agent.is_second = true;
	activate(path);
}

const char *dw_agent_second(void)
{
	return dw_agent.is_active ? dw_environment_second() : NULL;
}

bool dw_agent_wake(char **envp)
{
	const char *path = dw_loader_own_path();
	uint64_t filters;

	if (!path || is_secure(envp) || !dw_environment_take(envp, path, &filters))
		return false;
	if (!dw_filters_fit(filters))
		return false;
	activate(path);
	return dw_agent.is_active;
}
