// What test_node_postgres.py asks of node-postgres; prints one object as JSON. Arguments: port, user, password.
const {Client, Pool} = require('pg');
let Cursor = null;
try { Cursor = require('pg-cursor'); } catch (error) { /* without it, no cursor is tried */ }
const [port, user, password] = process.argv.slice(2);
const where = {host: '127.0.0.1', port: +port, user, password, database: 'freshet'};
const failure = async (promise) => {
  try { await promise; return null; } catch (e) { return [e.code, e.position ?? null, e.severity, !!e.hint]; }
};

(async () => {
  const said = {};
  const wrong = new Client({...where, password: 'wrong'});
  said.wrong = await failure(wrong.connect());
  const c = new Client(where);
  const notices = [];
  c.on('notice', (n) => notices.push(n.code));
  await c.connect();

  await c.query(`create table kinds (id bigint primary key, i int, n numeric(10,2), d double precision, b boolean,
    t text, j json, day date, ts timestamp, tz timestamptz, raw bytea, u uuid, span interval,
    ints int[], texts text[])`);
  const values = ['9007199254740993', 7, '1.50', 0.1, true, 'hé\'llo', {a: [1, null]}, '2024-02-29',
    '2024-01-01 01:02:03.5', new Date(Date.UTC(2024, 0, 1)), Buffer.from([0, 255]),
    '00000000-0000-0000-0000-000000000005', '3 days 00:00:05', [1, null, 3], ['a', 'b "c"', null]];
  const marks = values.map((_, i) => '$' + (i + 1)).join(',');
  const put = await c.query(`insert into kinds values (${marks}) returning *`, values);
  said.tag = [put.command, put.rowCount];
  const row = put.rows[0];
  said.row = {...row, day: row.day.toDateString(), ts: row.ts.getMilliseconds(), raw: [...row.raw]};
  said.types = put.fields.map((f) => f.dataTypeID);

  const named = {name: 'by id', text: 'select t from kinds where id = $1', rowMode: 'array'};
  said.named = [];
  for (const id of ['9007199254740993', '1']) said.named.push((await c.query({...named, values: [id]})).rows);
  said.none = (await c.query('select id from kinds where t = any($1)', [['x']])).rows;
  said.several = (await c.query('select 1 as a; select 2 as b')).map((r) => r.rows);

  said.failures = {
    table: await failure(c.query('select * from nope')),
    column: await failure(c.query('select nope from kinds where id = $1', [1])),
    syntax: await failure(c.query('selec 1')),
    twice: await failure(c.query('insert into kinds (id) values ($1)', ['9007199254740993'])),
    value: await failure(c.query('select * from kinds where id = $1', ['x'])),
    listen: await failure(c.query('listen news')),
  };
  await c.query('begin');
  await failure(c.query('select 1 / 0, nope'));
  said.failures.block = await failure(c.query('select 1'));
  await c.query('rollback');
  said.after = (await c.query('select count(*) from kinds')).rows[0].count;

  if (Cursor) {
    const cursor = c.query(new Cursor('select range as n from range(1000) order by 1'));
    said.read = [(await cursor.read(3)).map((r) => r.n), (await cursor.read(2)).map((r) => r.n)];
    await cursor.close();
    said.read.push((await c.query('select 1 as n')).rows);
  }

  const pool = new Pool({...where, max: 10});
  await pool.query('create table pooled (id int primary key)');
  const ids = [...Array(40).keys()];
  await Promise.all(ids.map((id) => pool.query('insert into pooled values ($1)', [id])));
  const together = await Promise.all(ids.map((id) => pool.query('select id from pooled where id = $1', [id])));
  said.pool = [together.map((r) => r.rows[0].id).join() === ids.join(), pool.totalCount];
  const client = await pool.connect();
  await client.query('begin');
  await client.query('delete from pooled');
  await client.query('rollback');
  client.release();
  said.kept = (await pool.query('select count(*)::int as n from pooled')).rows[0].n;
  await pool.end();
  await c.end();
  console.log(JSON.stringify(said));
})().catch((error) => { console.error(error); process.exit(1); });
