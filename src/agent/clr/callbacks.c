/* The two objects that the runtime knows; see callbacks.h. Both are static and never end. */
#include "agent/clr/callbacks.h"

#include "agent/core/bytes.h"
#include "wire/region.h"

static uint32_t count_references(void *self)
{
	(void)self;
	return 1;
}

static int32_t do_nothing(void)
{
	return DWELL_HR_OK;
}

static bool is_equal(const struct dw_guid *a, const struct dw_guid *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* IUnknown and the interfaces that the callbacks stand for: ICorProfilerCallback to ..11. */
static const struct dw_guid known[] = {
	{0x00000000, 0x0000, 0x0000, {0xc0, 0, 0, 0, 0, 0, 0, 0x46}},
	{0x176fbed1, 0xa55c, 0x4796, {0x98, 0xca, 0xa9, 0xda, 0x0e, 0xf8, 0x83, 0xe7}},
	{0x8a8cc829, 0xccf2, 0x49fe, {0xbb, 0xae, 0x0f, 0x02, 0x22, 0x28, 0x07, 0x1a}},
	{0x4fd2ed52, 0x7731, 0x4b8d, {0x94, 0x69, 0x03, 0xd2, 0xcc, 0x30, 0x86, 0xc5}},
	{0x7b63b2e3, 0x107d, 0x4d48, {0xb2, 0xf6, 0xf6, 0x1e, 0x22, 0x94, 0x70, 0xd2}},
	{0x8dfba405, 0x8c9f, 0x45f8, {0xbf, 0xfa, 0x83, 0xb1, 0x4c, 0xef, 0x78, 0xb5}},
	{0xfc13df4b, 0x4448, 0x4f4f, {0x95, 0x0c, 0xba, 0x8d, 0x19, 0xd0, 0x0c, 0x36}},
	{0xf76a2dba, 0x1d52, 0x4539, {0x86, 0x6c, 0x2a, 0xa5, 0x18, 0xf9, 0xef, 0xc3}},
	{0x5bed9b15, 0xc079, 0x4d47, {0xbf, 0xe2, 0x21, 0x5a, 0x14, 0x0c, 0x07, 0xe0}},
	{0x27583ec3, 0xc8f5, 0x482f, {0x80, 0x52, 0x19, 0x4b, 0x8c, 0xe4, 0x70, 0x5a}},
	{0xcec5b60e, 0xc69c, 0x495f, {0x87, 0xf6, 0x84, 0xd2, 0x8e, 0xe1, 0x6f, 0xfb}},
	{0x42350846, 0xaaed, 0x47f7, {0xb1, 0x28, 0xfd, 0x0c, 0x98, 0x88, 0x1c, 0xde}},
};
static const struct dw_guid class_factory = {
	0x00000001, 0x0000, 0x0000, {0xc0, 0, 0, 0, 0, 0, 0, 0x46}};
static const struct dw_guid own_class = DWELL_CLR_CLASS_GUID;

static int32_t query_callback(void *self, const struct dw_guid *id, void **ret)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!is_equal(id, &known[i]))
			continue;
		*ret = self;
		return DWELL_HR_OK;
	}
	*ret = NULL;
	return DWELL_HR_NO_INTERFACE;
}

static int32_t notification_only(void *self, int32_t *ret)
{
	(void)self;
	*ret = 0;
	return DWELL_HR_OK;
}

static void *callback_object[] = {dw_clr_callbacks};

static int32_t query_factory(void *self, const struct dw_guid *id, void **ret)
{
	bool is_known = is_equal(id, &known[0]) || is_equal(id, &class_factory);

	*ret = is_known ? self : NULL;
	return is_known ? DWELL_HR_OK : DWELL_HR_NO_INTERFACE;
}

static int32_t create(void *self, void *outer, const struct dw_guid *id, void **ret)
{
	(void)self;
	*ret = NULL;
	return outer ? DWELL_HR_NO_AGGREGATE : query_callback(callback_object, id, ret);
}

static void *factory[] = {query_factory, count_references, count_references, create, do_nothing};
static void *factory_object[] = {factory};

/* What the agent does not listen to does nothing. */
static void fill(void)
{
	void **all = dw_clr_callbacks;

	all[DWELL_CB_QUERY] = query_callback;
	all[DWELL_CB_ADD_REF] = all[DWELL_CB_RELEASE] = count_references;
	all[DWELL_CB_NOTIFICATION_ONLY] = notification_only;
	for (int i = 0; i < DWELL_CB_SLOTS; i++)
		if (!all[i])
			all[i] = do_nothing;
}

/* What the runtime looks for in a profiler's file. */
int32_t DllGetClassObject(const struct dw_guid *class, const struct dw_guid *id, void **ret);

__attribute__((visibility("default"))) int32_t
DllGetClassObject(const struct dw_guid *class, const struct dw_guid *id, void **ret)
{
	*ret = NULL;
	fill();
	return is_equal(class, &own_class) ? query_factory(factory_object, id, ret)
					   : DWELL_HR_NO_CLASS;
}
