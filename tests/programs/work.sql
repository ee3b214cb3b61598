create table words (id integer primary key, word text, number integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
insert into words select i, 'word' || (i * 7919 % 997), i * i % 1009 from n;
create index by_word on words (word, number);
select word, count(*), sum(number), min(id) from words group by word order by 3 desc, word limit 5;
select count(*) from words a join words b on a.word = b.word and a.id < b.id where a.number < 20;
update words set number = number + 1 where word like 'word1%';
delete from words where id % 7 = 0;
select sum(number), count(*), group_concat(id, '-') from (select * from words order by number, id limit 10);
begin; insert into words values (1000001, 'gone', 0); rollback;
select count(*) from words where word = 'gone';
select json_group_array(id) from (select id from words order by id desc limit 3);
pragma integrity_check;
