# A thin face over scripts/ and Meson: each target is one line that can be run by hand.
.PHONY: all demo check check-long bench install setup format lint clean

PREFIX ?= /usr/local
BUILD ?= build

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@meson setup $(BUILD) --prefix=$(PREFIX)
