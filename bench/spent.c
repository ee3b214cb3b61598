/* spent FILE COMMAND...: run it and write to FILE the processor time, user and system, that it and
 * its children used, in seconds. A program of its own, so that it can stand behind a profiler. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	int status = 0;
	FILE *file;
	pid_t pid = argc < 3 ? -1 : fork();

	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return 125;
	file = fopen(argv[1], "w");
	if (!file)
		return 125;
	fprintf(file, "%.6f\n", seconds(usage.ru_utime) + seconds(usage.ru_stime));
	fclose(file);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 124;
}
