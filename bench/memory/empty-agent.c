/*
 * A profiler of the .NET runtime that does nothing: what the runtime itself takes to tell of every
 * allocation. EMPTY_EVENTS is the mask of events as a number. Built by bench/memory.py.
 */
#include <stdint.h>
#include <stdlib.h>

enum { SLOTS = 98, CREATE = 3, INITIALIZE = 3, REFERENCES = 52, NOTIFICATION = 97, EVENTS = 82 };

/* ICorProfilerInfo5 */
static const uint8_t info5[16] = {0x28, 0x29, 0x60, 0x07, 0x38, 0xce, 0x83, 0x4b,
				  0x81, 0xe7, 0x74, 0xad, 0xaf, 0x78, 0x12, 0x14};
static void *slots[SLOTS], *object[] = {slots};
static void *factory_slots[5], *factory[] = {factory_slots};

static int32_t nothing(void)
{
	return 0;
}

static int32_t fail(void)
{
	return (int32_t)0x80004005u; /* ends the walk of the whole heap */
}

static int32_t query(void *self, const void *id, void **ret)
{
	(void)id;
	*ret = self;
	return 0;
}

static int32_t create(void *self, void *outer, const void *id, void **ret)
{
	(void)self;
	(void)outer;
	return query(object, id, ret);
}

static int32_t notification_only(void *self, int32_t *ret)
{
	(void)self;
	*ret = 0;
	return 0;
}

static int32_t initialize(void *self, void ***unknown)
{
	int32_t (*ask)(void *, const void *, void **) = (*unknown)[0];
	int32_t (*set)(void *, uint32_t, uint32_t);
	const char *events = getenv("EMPTY_EVENTS");
	void *info;

	(void)self;
	if (!events || ask(unknown, info5, &info) < 0)
		return fail();
	set = (*(void ***)info)[EVENTS];
	return set(info, (uint32_t)strtoul(events, NULL, 0), 0);
}

int32_t DllGetClassObject(const void *class, const void *id, void **ret);

int32_t DllGetClassObject(const void *class, const void *id, void **ret)
{
	(void)class;
	for (int i = 0; i < SLOTS; i++)
		slots[i] = nothing;
	slots[0] = query;
	slots[INITIALIZE] = initialize;
	slots[REFERENCES] = fail;
	slots[NOTIFICATION] = notification_only;
	for (int i = 1; i < 5; i++)
		factory_slots[i] = nothing;
	factory_slots[0] = query;
	factory_slots[CREATE] = create;
	return query(factory, id, ret);
}
