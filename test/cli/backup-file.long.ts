import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { sgw, startProgram, startServer, temporaryFolder } from '../support/process.ts'
import { FROM, TO, until } from '../support/world.ts'

const messagesIn = (path: string): string[] => {
  using database = new Database(path, { readonly: true })
  return database
    .query<{ body: string }, []>('SELECT body FROM messages ORDER BY seq')
    .all()
    .map(({ body }) => body)
}

/** What is said to a person after the copy. */
const keep = (key: string): string =>
  `The copy does not contain the encryption key: also keep ${key}, in another place. Without it, the secrets in the copy are lost (docs/backup.md)\n`

test.concurrent('beside a server under load, backup writes a checked copy of all accepted messages, from which a gateway can start', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database, KEY_LIMIT_PER_MINUTE: '100000' }
  await using server = await startServer(env)
  await server.printed(/limit=1/)
  const key = readFileSync(folder.file('development-api-key'), 'utf8').trim()
  const send = async (body: string): Promise<number> => {
    const headers = { authorization: `Bearer ${key}` }
    const message = JSON.stringify({ from: FROM, to: TO, body })
    return (await fetch(`${server.url}/v1/sms/send`, { method: 'POST', headers, body: message })).status
  }
  expect(await send('before')).toBe(202)
  let isOver = false
  const load = (async () => {
    for (let number = 0; !isOver; number++) expect(await send(`meanwhile ${number}`)).toBe(202)
  })()
  const target = folder.file('copy.db')
  const { code, stdout, stderr } = await sgw(['backup', target, '--json'], env)
  isOver = true
  await load
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({ file: target, bytes: statSync(target).size, integrity: 'ok' })
  expect(messagesIn(target)).toContain('before')
  expect((statSync(target).mode & 0o777).toString(8)).toBe('600')
  expect(readdirSync(folder.path).filter((name) => name.includes('part'))).toEqual([])
  const listed = await sgw(['--json', 'tenant', 'list'], { DATABASE_URL: `file:${target}` })
  expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'Development' }])
}, 30_000)

test.concurrent('without a server, backup also copies the WAL of a killed server', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database }
  {
    await using server = await startServer(env)
    await server.printed(/limit=1/)
    server.kill('SIGKILL')
    await server.ended()
  }
  expect(statSync(folder.file('sgw.db-wal')).size).toBeGreaterThan(0)
  const target = folder.file('copy.db')
  const { code, stdout, stderr } = await sgw(['backup', target], env)
  expect(code).toBe(0)
  expect(stdout).toMatch(/^integrity +ok$/m)
  expect(stderr).toBe(keep(folder.file('encryption.key')))
  const configured = { ...env, ENCRYPTION_KEYS: readFileSync(folder.file('encryption.key'), 'utf8').trim() }
  const again = await sgw(['backup', folder.file('again.db')], configured)
  expect(again).toMatchObject({ code: 0, stderr: keep('ENCRYPTION_KEYS') })
  const named = { ...env, ENCRYPTION_KEYS_FILE: folder.file('encryption.key') }
  const third = await sgw(['backup', folder.file('third.db')], named)
  expect(third).toMatchObject({ code: 0, stderr: keep(folder.file('encryption.key')) })
  using database = new Database(target, { readonly: true })
  expect(database.query('SELECT name FROM tenants').all()).toEqual([{ name: 'Development' }])
}, 30_000)

test.concurrent('backup overwrites no file, leaves no file if it fails, and does not copy a damaged database', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database }
  const target = folder.file('copy.db')
  const refused = async (file: string, text: string): Promise<void> => {
    const ended = await sgw(['backup', file, '--json'], env)
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: 1, stdout: '' })
    expect(ended.stderr).toContain(text)
  }
  await refused(target, 'There is no database at')
  expect(existsSync(folder.file('sgw.db'))).toBe(false)
  await sgw(['tenant', 'create', '--name', 'Acme'], env)
  writeFileSync(target, 'precious')
  await refused(target, 'exists')
  expect(readFileSync(target, 'utf8')).toBe('precious')
  await refused(folder.file('nowhere/copy.db'), 'There is no folder')
  expect((await sgw(['backup'], env)).code).toBe(2)
  truncateSync(folder.file('sgw.db'), 40_960)
  await refused(folder.file('other.db'), 'docs/runbooks.md')
  expect(existsSync(folder.file('other.db'))).toBe(false)
}, 30_000)

/** A database of which a copy takes so long that a test can interrupt it. */
function writeBigDatabase(path: string): void {
  using database = new Database(path, { create: true })
  database.run('CREATE TABLE big (value BLOB)')
  database.run(
    'INSERT INTO big WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150) SELECT zeroblob(1000000) FROM n',
  )
}

test.concurrent('a backup removes what killed backups left in its folder, and not what another one is writing', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database }
  writeBigDatabase(folder.file('sgw.db'))
  mkdirSync(folder.file('copies'))
  const copies = (): string[] => readdirSync(folder.file('copies')).toSorted()
  const parts = (): string[] => copies().filter((name) => /part-[0-9]+$/.test(name))
  const begin = async (name: string) => {
    const program = startProgram('src/cli.ts', ['backup', folder.file(`copies/${name}`)], env)
    await until(() => parts().some((part) => part.startsWith(name)))
    return program
  }
  await using slow = await begin('slow.db')
  slow.kill('SIGSTOP')
  expect((await sgw(['backup', folder.file('copies/other.db')], env)).code).toBe(0)
  expect(parts()).toHaveLength(1)
  slow.kill('SIGCONT')
  expect((await slow.ended()).code).toBe(0)
  {
    await using killed = await begin('killed.db')
    killed.kill('SIGKILL')
    await killed.ended()
  }
  expect(parts()).toHaveLength(1)
  writeFileSync(folder.file('copies/film.part-1'), 'of another program')
  // As root every file can be removed, so a folder stands for what cannot.
  mkdirSync(folder.file('copies/film.sgw-part-1'))
  expect(await sgw(['backup', folder.file('copies/next.db')], env)).toMatchObject({
    code: 0,
    stderr: keep(folder.file('encryption.key')),
  })
  expect(copies()).toEqual(['film.part-1', 'film.sgw-part-1', 'next.db', 'other.db', 'slow.db'])
}, 60_000)
