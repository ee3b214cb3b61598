/* What all commands share: parsing by their table, help, and the one line of an error. */
#include "cli/command.h"

#include "base/cleanup.h"
#include "base/out.h"
#include "format/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void dw_command_help(const struct dw_command *self)
{
	struct dw_out out;

	dw_out_init_fd(&out, STDOUT_FILENO);
	dw_out_printf(&out, "dwell %s%s%s\n\n%s\n", self->name, *self->synopsis ? " " : "",
		      self->synopsis, self->help);
	if (self->options->name) {
		dw_out_puts(&out, "\nOptions:\n");
		dw_options_help(self->options, &out);
	}
	if (self->list)
		self->list(&out);
	dw_out_close(&out);
}

int dw_command_parse(const struct dw_command *self, char **argv, void *into, int *first)
{
	struct dw_error err = DW_ERROR_INIT;
	int rc = dw_options_parse(self->options, self->leading, argv, into, first, &err);

	if (rc == 1) {
		dw_command_help(self);
		return DWELL_EXIT_OK;
	}
	if (rc == DWELL_ERR_USAGE)
		rc = dw_command_misuse(self, &err);
	else if (rc)
		rc = dw_command_fail(&err, self->misuse == DWELL_EXIT_USAGE ? DWELL_EXIT_BAD
									    : self->misuse);
	else
		rc = -1;
	dw_error_clear(&err);
	return rc;
}

/* Print a message and the lines below it with what could control the terminal escaped: it may quote
 * names from a session or from the command line. */
static void print_message(struct dw_out *out, const struct dw_error *err)
{
	dw_text_put(out, dw_error_message(err));
	for (const char *at = err->lines; at && *at;) {
		size_t n = strcspn(++at, "\n");
		char *line = strndup(at, n);

		dw_out_puts(out, "\n");
		dw_text_put(out, line ? line : "");
		free(line);
		at += n;
	}
}

int dw_command_misuse(const struct dw_command *self, const struct dw_error *err)
{
	struct dw_out out;

	dw_out_init_fd(&out, STDERR_FILENO);
	dw_out_printf(&out, "dwell %s: ", self->name);
	print_message(&out, err);
	dw_out_printf(&out, " (see 'dwell help %s')\n", self->name);
	dw_out_close(&out);
	return self->misuse;
}

int dw_command_wrong(const struct dw_command *self, const char *fmt, ...)
{
	struct dw_error err = DW_ERROR_INIT;
	dw_auto(dw_buf) message = DW_BUF_INIT;
	va_list args;
	int code;

	va_start(args, fmt);
	dw_buf_vprintf(&message, fmt, args);
	va_end(args);
	dw_misuse(&err, "%s", dw_buf_str(&message));
	code = dw_command_misuse(self, &err);
	dw_error_clear(&err);
	return code;
}

int dw_command_fail(const struct dw_error *err, int exit_code)
{
	struct dw_out out;

	dw_out_init_fd(&out, STDERR_FILENO);
	dw_out_puts(&out, "dwell: ");
	print_message(&out, err);
	dw_out_puts(&out, "\n");
	dw_out_close(&out);
	return exit_code;
}
