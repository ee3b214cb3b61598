/* What all commands share: parsing by their table, help, and the one line of an error. */
#include "cli/command.h"

#include "base/out.h"

#include <stdio.h>
#include <unistd.h>

void dw_command_help(const struct dw_command *self)
{
	struct dw_out out;

	dw_out_init_fd(&out, STDOUT_FILENO);
	dw_out_printf(&out, "dwell %s %s\n\n%s\n\nOptions:\n", self->name, self->synopsis,
		      self->help);
	dw_options_help(self->options, &out);
	if (self->details)
		dw_out_printf(&out, "\n%s", self->details);
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
	rc = rc ? dw_command_misuse(self, &err) : -1;
	dw_error_clear(&err);
	return rc;
}

int dw_command_misuse(const struct dw_command *self, const struct dw_error *err)
{
	fprintf(stderr, "dwell %s: %s (see 'dwell help %s')\n", self->name, dw_error_message(err),
		self->name);
	return self->misuse;
}

int dw_command_fail(const struct dw_error *err, int exit_code)
{
	fprintf(stderr, "dwell: %s\n", dw_error_message(err));
	return exit_code;
}
