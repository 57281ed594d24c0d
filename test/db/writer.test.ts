import { expect, test } from 'bun:test'
import { type Gate, openGate } from '../../src/db/gate.ts'
import { type RowOperation, createWriter } from '../../src/db/writer.ts'
import { commitTo } from '../../src/db/replicated-gate.ts'
import { temporaryFolder } from '../support/process.ts'

interface NoteRow extends Record<string, string | null> {
  id: string
  text: string | null
}

const INSERT_NOTE: RowOperation<NoteRow> = {
  key: 'id',
  statements: [
    'INSERT INTO notes (id, text) SELECT input.id, input.text FROM input',
    `UPDATE notes SET seen = 1 WHERE id IN (SELECT input.id FROM input) AND text != 'unseen' RETURNING id AS key, text`,
  ],
}

const KEEP_FIRST: RowOperation<NoteRow> = {
  key: 'id',
  statements: [
    'INSERT INTO notes (id, text) SELECT input.id, input.text FROM input WHERE true ON CONFLICT DO NOTHING RETURNING id AS key',
  ],
}

/** Opens a file with a table, and a gate that records the size of each commit. */
async function openNotes(path: string): Promise<{ gate: Gate; commits: number[] }> {
  const gate = await openGate({ url: `file:${path}`, pragmas: ['journal_mode = WAL'] })
  await gate.execute('CREATE TABLE notes (id TEXT PRIMARY KEY, text TEXT NOT NULL, seen INTEGER)')
  const commits: number[] = []
  const batch: Gate['batch'] = (statements) => {
    commits.push(statements.length)
    return gate.batch(statements)
  }
  return { gate: { ...gate, batch }, commits }
}

const idsOf = async (gate: Gate): Promise<string[]> =>
  (await gate.execute('SELECT id FROM notes ORDER BY id')).rows.map((row) => String(row['id']))

const insert = (id: string) => ({
  sql: 'INSERT INTO notes (id, text) VALUES (?1, ?2) RETURNING id, text',
  args: [id, `text of ${id}`],
})

test('units that wait together share a commit, and each caller gets its own results', async () => {
  using folder = temporaryFolder()
  const { gate, commits } = await openNotes(folder.file('notes.db'))
  const writer = createWriter(commitTo(gate))
  const results = await Promise.all(
    ['a', 'b', 'c'].map((id) => writer.write([insert(id), { sql: 'SELECT ?1 AS echo', args: [id] }])),
  )
  expect(commits).toEqual([6])
  expect(results.map((result) => [result[0]?.rows[0]?.['text'], result[1]?.rows[0]?.['echo'], result.length])).toEqual([
    ['text of a', 'a', 2],
    ['text of b', 'b', 2],
    ['text of c', 'c', 2],
  ])
  await gate.close()
})

test('rows of one operation share statements, and a RETURNING row reaches only the caller with its key', async () => {
  using folder = temporaryFolder()
  const { gate, commits } = await openNotes(folder.file('notes.db'))
  const writer = createWriter(commitTo(gate))
  const texts = ['one', 'unseen', 'three', 'unseen', 'five']
  const [rows, single] = await Promise.all([
    Promise.all(texts.map((text, index) => writer.row(INSERT_NOTE, { id: `n${index}`, text }))),
    writer.write([insert('single')]),
  ])
  // The five rows become statements of four rows and of one row, two each, and there is one single statement.
  expect(commits).toEqual([5])
  expect(rows.map((found) => found.map((row) => [row['key'], row['text']]))).toEqual([
    [['n0', 'one']],
    [],
    [['n2', 'three']],
    [],
    [['n4', 'five']],
  ])
  expect(single[0]?.rows[0]?.['id']).toBe('single')
  await gate.close()
})

test('a commit of up to 64 rows runs each statement of an operation at most three times', async () => {
  using folder = temporaryFolder()
  const { gate, commits } = await openNotes(folder.file('notes.db'))
  const writer = createWriter(commitTo(gate))
  for (let rows = 1; rows <= 64; rows++)
    await Promise.all(
      Array.from({ length: rows }, (_, index) => writer.row(INSERT_NOTE, { id: `${rows}.${index}`, text: 'text' })),
    )
  const runs = commits.map((statements) => statements / INSERT_NOTE.statements.length)
  expect(runs.length).toBe(64)
  expect(Math.max(...runs)).toBe(3)
  await gate.close()
})

interface LogRow extends Record<string, string> {
  id: string
}

const LOG: RowOperation<LogRow> = {
  key: 'id',
  statements: [
    'INSERT INTO log (id) SELECT input.id FROM input WHERE true ON CONFLICT DO NOTHING RETURNING id AS key, seq AS log_seq',
    `UPDATE log SET marks = marks + 1 FROM input WHERE log.id = input.id AND log.id != 'unmarked' RETURNING log.id AS key`,
  ],
}

/** Returns the rows that the callers got, and the rows of the table. */
async function logged(ids: readonly string[], before: readonly string[] = []) {
  using folder = temporaryFolder()
  const gate = await openGate({ url: `file:${folder.file('log.db')}`, pragmas: ['journal_mode = WAL'] })
  await gate.execute(
    'CREATE TABLE log (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, marks INTEGER NOT NULL DEFAULT 0)',
  )
  for (const id of before) await gate.execute({ sql: 'INSERT INTO log (id) VALUES (?)', args: [id] })
  const writer = createWriter(commitTo(gate))
  const returned = await Promise.all(ids.map((id) => writer.row(LOG, { id })))
  const { rows } = await gate.execute('SELECT seq, id, marks FROM log ORDER BY seq')
  await gate.close()
  return { returned, rows }
}

test('each caller gets the rows with its key, in statements of any number of rows', async () => {
  const ids = Array.from({ length: 101 }, (_, index) => `n${index}`)
  const { returned, rows } = await logged(ids, ['earlier'])
  expect(rows.map((row) => [row['id'], row['marks']])).toEqual([['earlier', 0], ...ids.map((id) => [id, 1])])
  const seqOf = new Map(rows.map((row) => [row['id'], row['seq']]))
  expect(returned).toEqual(ids.map((id) => [{ key: id, log_seq: seqOf.get(id) ?? null }, { key: id }]))
})

test('a caller whose row a statement did not change gets no row of it', async () => {
  const { returned, rows } = await logged(['a', 'known', 'unmarked', 'b'], ['known'])
  expect(rows.map((row) => [row['id'], row['marks']])).toEqual([
    ['known', 1],
    ['a', 1],
    ['unmarked', 0],
    ['b', 1],
  ])
  const seqOf = (id: string) => rows.find((row) => row['id'] === id)?.['seq']
  expect(returned).toEqual([
    [{ key: 'a', log_seq: seqOf('a') }, { key: 'a' }],
    [{ key: 'known' }],
    [{ key: 'unmarked', log_seq: seqOf('unmarked') }],
    [{ key: 'b', log_seq: seqOf('b') }, { key: 'b' }],
  ] as never)
})

/** What one statement returns for each of three rows, or its error. */
async function answersTo(sql: string) {
  const gate = await openGate({ url: ':memory:', pragmas: [] })
  const writer = createWriter(commitTo(gate))
  const operation: RowOperation<Record<string, string | number | null>> = { key: 'id', statements: [sql] }
  const values = ['word', 0.5, null]
  const rows = values.map((from, id) => ({ text: `text ${id}`, from, unread: 10n as unknown as string, id }))
  const answers = await Promise.allSettled(rows.map((row) => writer.row(operation, row)))
  await gate.close()
  return answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : String(answer.reason)))
}

test('a statement gets what it reads of each row by `input.`, in any order and as often as it likes, and nothing else', async () => {
  const own = 'input.id AS key, input.text, input.text AS again, typeof(input."from") AS type'
  const noColumns = `'it''s input.a' AS literal -- nor input.b, it's text\n /* nor input.c */`
  const literal = "it's input.a"
  expect(await answersTo(`SELECT ${own}, ${noColumns} FROM input`)).toEqual([
    [{ key: 0, text: 'text 0', again: 'text 0', type: 'text', literal }],
    [{ key: 1, text: 'text 1', again: 'text 1', type: 'real', literal }],
    [{ key: 2, text: 'text 2', again: 'text 2', type: 'null', literal }],
  ])
})

test('a column without `input.`, or one that the rows do not have, fails at the first call', async () => {
  const noColumn = /no such column: text/
  expect(await answersTo('SELECT input.id AS key, text FROM input')).toEqual(
    Array(3).fill(expect.stringMatching(noColumn)),
  )
  const noMember = 'Error: A row has no txet, but its statement reads input.txet'
  expect(await answersTo('SELECT input.id AS key, input.txet FROM input')).toEqual(Array(3).fill(noMember))
})

test('two simultaneous rows with one key each get their own results', async () => {
  using folder = temporaryFolder()
  const { gate, commits } = await openNotes(folder.file('notes.db'))
  const writer = createWriter(commitTo(gate))
  const rows = [
    { id: 'a', text: 'first' },
    { id: 'b', text: 'beside' },
    { id: 'a', text: 'second' },
  ]
  const returned = await Promise.all(rows.map((row) => writer.row(KEEP_FIRST, row)))
  expect(returned.map((answers) => answers.length)).toEqual([1, 1, 0])
  expect((await gate.execute('SELECT text FROM notes ORDER BY id')).rows).toEqual([
    { text: 'first' },
    { text: 'beside' },
  ])
  expect(commits.length).toBeGreaterThan(1)
  await gate.close()
})

test('a bad unit fails alone with its own error, and the others are committed', async () => {
  using folder = temporaryFolder()
  const { gate } = await openNotes(folder.file('notes.db'))
  const writer = createWriter(commitTo(gate))
  const outcomes = await Promise.allSettled([
    writer.row(INSERT_NOTE, { id: 'a', text: 'fine' }),
    writer.row(INSERT_NOTE, { id: 'b', text: null }),
    writer.write([insert('c'), { sql: 'INSERT INTO nowhere VALUES (1)', args: [] }]),
    writer.write([insert('d')]),
    writer.row(INSERT_NOTE, { id: 'a', text: 'twice' }),
  ])
  expect(outcomes.map((outcome) => outcome.status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
    'rejected',
  ])
  expect(outcomes[1]).toMatchObject({ reason: { code: 'SQLITE_CONSTRAINT_NOTNULL' } })
  expect(outcomes[4]).toMatchObject({ reason: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } })
  expect(await idsOf(gate)).toEqual(['a', 'd'])
  await gate.close()
})

test('a bad unit among many is found in few commits, and the order of the others is kept', async () => {
  using folder = temporaryFolder()
  const { gate } = await openNotes(folder.file('notes.db'))
  let commits = 0
  const counted: Gate = { ...gate, batch: (statements) => (commits++, gate.batch(statements)) }
  const writer = createWriter(commitTo(counted))
  const ids = Array.from({ length: 64 }, (_, number) => `note ${String(number).padStart(2, '0')}`)
  const outcomes = await Promise.allSettled(
    ids.map((id, number) => writer.row(INSERT_NOTE, { id, text: number === 40 ? null : 'fine' })),
  )
  expect(outcomes.flatMap(({ status }, number) => (status === 'rejected' ? [number] : []))).toEqual([40])
  expect(commits).toBeLessThan(16)
  const stored = await gate.values('SELECT id FROM notes ORDER BY rowid')
  expect(stored.map(([id]) => id)).toEqual(ids.filter((_, number) => number !== 40))
  await gate.close()
})

test('a value that cannot be written fails alone', async () => {
  using folder = temporaryFolder()
  const { gate } = await openNotes(folder.file('notes.db'))
  const writer = createWriter(commitTo(gate))
  const outcomes = await Promise.allSettled([
    writer.row(INSERT_NOTE, { id: 'a', text: 'fine' }),
    writer.row(INSERT_NOTE, { id: 'b', text: 10n as unknown as string }),
  ])
  expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected'])
  await writer.write([insert('c')])
  expect(await idsOf(gate)).toEqual(['a', 'c'])
  await gate.close()
})

test('a failing storage rejects all waiting writes after one try, and later writes succeed again', async () => {
  using folder = temporaryFolder()
  const { gate } = await openNotes(folder.file('notes.db'))
  let full = true
  let tries = 0
  const failing: Gate['batch'] = (statements) => {
    tries++
    return full
      ? Promise.reject(Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }))
      : gate.batch(statements)
  }
  const writer = createWriter(commitTo({ batch: failing }))
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((id) => writer.write([insert(id)])))
  expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(outcomes[2]).toMatchObject({ reason: { code: 'SQLITE_FULL' } })
  expect(tries).toBe(1)
  full = false
  await writer.write([insert('d')])
  expect(await idsOf(gate)).toEqual(['d'])
  await gate.close()
})

test('a promise resolves after its commit, and drained waits for all of them', async () => {
  using folder = temporaryFolder()
  const { gate, commits } = await openNotes(folder.file('notes.db'))
  const writer = createWriter(commitTo(gate))
  const resolved: string[] = []
  const ids = Array.from({ length: 1200 }, (_, index) => `n${String(index).padStart(4, '0')}`)
  for (const id of ids) void writer.row(INSERT_NOTE, { id, text: 'x' }).then(() => resolved.push(id))
  await writer.drained()
  expect(resolved.length).toBe(1200)
  expect(commits.length).toBe(3)
  expect(await idsOf(gate)).toEqual(ids)
  await gate.close()
})

test('what is to be alone has a commit of its own, between those that came before and after it', async () => {
  const commits: string[][] = []
  const writer = createWriter((statements) => {
    commits.push(statements.map((statement) => (typeof statement === 'string' ? statement : statement.sql)))
    return Promise.resolve({ results: statements.map(() => ({ rows: [], changes: 0 })), confirmed: null })
  })
  const statement = (sql: string) => [{ sql, args: [] }]
  await Promise.all([
    writer.write(statement('a')),
    writer.write(statement('b')),
    writer.alone(statement('piece 1')),
    writer.alone(statement('piece 2')),
    writer.write(statement('c')),
  ])
  expect(commits).toEqual([['a', 'b'], ['piece 1'], ['piece 2'], ['c']])
})
