# A thin face over scripts/ and Meson: each target is a line or two that can be run by hand.
.PHONY: all demo test check check-long bench install setup format lint clean

PREFIX ?= /usr/local
BUILD ?= build

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) programs
	@scripts/page

$(BUILD)/build.ninja:
	@scripts/setup --check build
	@meson setup $(BUILD) --prefix=$(PREFIX)

# Install what is missing (apt-get; root or sudo).
setup:
	@scripts/setup check

# Install what is missing, build, profile a real program, print the report.
demo:
	@scripts/setup build
	@$(MAKE) --no-print-directory all
	@scripts/demo $(BUILD)

# Unit tests, golden files and the corpora of the fuzz targets: what one runs all day, in less than a minute.
test: $(BUILD)/build.ninja
	@meson test -C $(BUILD) --quiet --suite unit --suite golden --suite fuzz-replay

# Install what is missing, build and run all tests and lints; what CI runs.
check:
	@scripts/setup check
	@scripts/page
	@scripts/check

# The suites that take too long for every change.
check-long:
	@scripts/setup long
	@scripts/check-long

# Measure against perf and others; prints tables, writes nothing into the tree. With AGAINST=COMMIT
# against that commit, and fail where a cost grows.
bench: all
	@scripts/setup bench
	@AGAINST=$(AGAINST) scripts/bench $(BUILD)

# Honours PREFIX and DESTDIR.
install: all
	@meson configure $(BUILD) -Dprefix=$(PREFIX)
	@ninja -C $(BUILD) programs
	@meson install -C $(BUILD) --quiet --no-rebuild

format:
	@scripts/lint --fix format

lint:
	@scripts/lint

clean:
	@rm -rf $(BUILD) build-check build-fuzz
