/*
 * The program that `make demo` profiles: a small shop in SQLite, linked with the library as the
 * distribution built it, optimised and without debug information of its own.
 *
 * It fills a table of orders, then asks the questions that shops ask. A few seconds of work, most
 * of it in SQLite's own functions: parsing, B-trees, sorting, string functions. With the argument
 * "few" a tenth of it.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORDERS = 200000, ROUNDS = 5, FEW_ORDERS = 20000 };

static void check(sqlite3 *db, int code)
{
	if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
		fprintf(stderr, "orders: %s\n", sqlite3_errmsg(db));
		exit(1);
	}
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* A checksum in the program's own code, called by SQLite for every row. */
static void checksum(sqlite3_context *context, int n, sqlite3_value **values)
{
	const unsigned char *text = sqlite3_value_text(values[0]);
	uint32_t sum = 2166136261u;

	(void)n;
	for (int round = 0; text && round < 12; round++)
		for (const unsigned char *c = text; *c; c++)
			sum = (sum ^ *c) * 16777619u;
	sqlite3_result_int64(context, sum);
}

static void fill_orders(sqlite3 *db, int orders)
{
	sqlite3_stmt *insert;
	uint32_t random = 1;

	check(db, sqlite3_exec(db,
			       "create table orders(id integer primary key, customer text,"
			       " article int, price real, note text);"
			       "create index by_customer on orders(customer);",
			       NULL, NULL, NULL));
	check(db, sqlite3_prepare_v2(db, "insert into orders values (?, ?, ?, ?, ?)", -1, &insert,
				     NULL));
	check(db, sqlite3_exec(db, "begin", NULL, NULL, NULL));
	for (int id = 0; id < orders; id++) {
		char customer[32], note[96];

		snprintf(customer, sizeof(customer), "customer-%05u", next_random(&random) % 20000);
		snprintf(note, sizeof(note), "please leave parcel %d with neighbour number %u", id,
			 next_random(&random) % 100);
		sqlite3_bind_int(insert, 1, id);
		sqlite3_bind_text(insert, 2, customer, -1, SQLITE_TRANSIENT);
		sqlite3_bind_int(insert, 3, (int)(next_random(&random) % 500));
		sqlite3_bind_double(insert, 4, next_random(&random) % 10000 / 100.0);
		sqlite3_bind_text(insert, 5, note, -1, SQLITE_TRANSIENT);
		check(db, sqlite3_step(insert));
		sqlite3_reset(insert);
	}
	check(db, sqlite3_exec(db, "commit", NULL, NULL, NULL));
	sqlite3_finalize(insert);
}

/* Run one question to its end; the number of rows. */
static int ask(sqlite3 *db, const char *question)
{
	sqlite3_stmt *statement;
	int rows = 0, code;

	check(db, sqlite3_prepare_v2(db, question, -1, &statement, NULL));
	while ((code = sqlite3_step(statement)) == SQLITE_ROW)
		rows++;
	check(db, code);
	sqlite3_finalize(statement);
	return rows;
}

int main(int argc, char **argv)
{
	static const char *const questions[] = {
		"select customer, sum(price) total from orders group by customer order by total desc",
		"select article, count(*) from orders where note like '%number 7%' group by article",
		"select upper(replace(note, 'parcel', 'order')) from orders order by 1 limit 100",
		"select checksum(note) % 64 bucket, count(*) from orders group by bucket",
		"select a.id from orders a join orders b on a.customer = b.customer and a.price <"
		" b.price where a.article = 7",
	};
	sqlite3 *db = NULL;
	int rows = 0, orders = argc > 1 && !strcmp(argv[1], "few") ? FEW_ORDERS : ORDERS;

	check(db, sqlite3_open(":memory:", &db));
	check(db, sqlite3_create_function(db, "checksum", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
					  NULL, checksum, NULL, NULL));
	fill_orders(db, orders);
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++)
			rows += ask(db, questions[i]);
	printf("%d orders, %d rows of answers\n", orders, rows);
	sqlite3_close(db);
	return 0;
}
