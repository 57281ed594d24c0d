import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { temporaryFolder } from '../support/process.ts'
import { openOperatorSocket } from '../support/operator.ts'
import { ME, OTHER, giveBack, runUnprivileged, takeAway } from '../support/unprivileged.ts'
import { createWorld } from '../support/world.ts'

// Each test starts several processes, one after the other.
setDefaultTimeout(60_000)

type Folder = ReturnType<typeof temporaryFolder>

/** What root's first command leaves, or another user's, if it was killed. */
async function withDatabase(folder: Folder): Promise<Record<string, string>> {
  const env = { DATABASE_URL: folder.database, PORT: '0' }
  expect(await runUnprivileged(['src/cli.ts', 'tenant', 'create', '--name', 'Acme'], env)).toMatchObject({ code: 0 })
  return env
}

const NAMES = [
  'sgw.db',
  'sgw.db-wal',
  'sgw.db-shm',
  'sgw.db.lock',
  'sgw.db.mark',
  'sgw.db.backup-lock',
  '.sgw.db-litestream',
  'encryption.key',
  'development-api-key',
]

test('each file of another user ends the start with 73, and one line names it, its owner and what to do', async () => {
  using folder = temporaryFolder()
  const env = await withDatabase(folder)
  for (const name of NAMES) {
    const file = folder.file(name)
    if (name.endsWith('litestream')) mkdirSync(file)
    else if (!existsSync(file)) writeFileSync(file, '')
    takeAway(file)
    const { code, stdout, stderr } = await runUnprivileged(['src/main.ts'], env)
    giveBack(file)
    const start = `Cannot read${name.includes('key') ? '' : ' and write'} ${file} (owner ${OTHER}, mode `
    const end = `): give it to ${ME}, who runs this (chown ${ME} ${file}; chmod u+rwX ${file})\n`
    expect([name, code, stdout, stderr.replace(/\d+(?=\): give)/, '')]).toEqual([name, 73, '', `${start}${end}`])
  }
})

test('all that root’s first command left is named at once, and the commands and the doctor say the same', async () => {
  using folder = temporaryFolder()
  const env = await withDatabase(folder)
  const names = ['sgw.db', 'sgw.db-wal', 'sgw.db-shm', 'sgw.db.lock', 'sgw.db.mark', 'encryption.key'].map((name) =>
    folder.file(name),
  )
  const key = readFileSync(folder.file('encryption.key'), 'utf8')
  for (const file of names) takeAway(file)
  const said = `Cannot read and write ${names.join(', ')} (owner ${OTHER}, mode `
  const { code, stderr } = await runUnprivileged(['src/main.ts'], env)
  expect(code).toBe(73)
  expect(stderr).toStartWith(said)
  expect(stderr).toContain(`(chown ${ME} ${names.join(' ')};`)
  for (const command of [['tenant', 'create', '--name', 'Acme'], ['status'], ['messages', 'list']])
    expect(await runUnprivileged(['src/cli.ts', ...command], env)).toEqual({
      code: 1,
      stdout: '',
      stderr,
    })
  const doctor = await runUnprivileged(['src/cli.ts', 'doctor'], env)
  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining(`✗ database        ${said}`) })
  // A start with another key would make the stored secrets useless.
  expect(readFileSync(folder.file('encryption.key'), 'utf8')).toBe(key)
})

test('a folder of another user is named, with its owner, by the start and by every command', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: `file:${folder.file('data/sgw.db')}`, PORT: '0' }
  mkdirSync(folder.file('data'))
  takeAway(folder.file('data'), 0o700)
  const said = `${folder.file('data')} (owner ${OTHER}, mode `
  for (const words of [['src/main.ts'], ['src/cli.ts', 'restore']])
    expect(await runUnprivileged(words, env)).toMatchObject({
      code: 73,
      stdout: '',
      stderr: expect.stringContaining(`Cannot read and write ${said}`),
    })
  expect(
    (await runUnprivileged(['src/cli.ts', 'restore', '--check'], { ...env, LITESTREAM_REPLICA_URL: 'file:///nowhere' }))
      .stderr,
  ).toStartWith(`Cannot read and write ${said}`)
  for (const command of [['status'], ['stop'], ['tenant', 'create', '--name', 'Acme']]) {
    const { code, stderr } = await runUnprivileged(['src/cli.ts', ...command], env)
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(folder.file('data')) })
    expect(stderr).toContain(
      OTHER === ME
        ? 'chmod u+rwX'
        : `belongs to ${OTHER}, who runs this gateway, and you are ${ME}: run this as ${OTHER}`,
    )
  }
})

test('a command that may not open the control socket says whose gateway it is, and not that it stops', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const operator = openOperatorSocket(world)
  const socket = `${world.folder}/sgw.db.sock`
  takeAway(socket)
  const env = { DATABASE_URL: `file:${world.folder}/sgw.db`, NODE_ENV: 'test' }
  for (const command of [['status'], ['stop'], ['messages', 'list'], ['listen']]) {
    const { code, stderr } = await runUnprivileged(['src/cli.ts', ...command], env)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        OTHER === ME
          ? `${socket} is not accessible even to ${ME}, its owner: chmod u+rwX ${socket}\n`
          : `${socket} belongs to ${OTHER}, who runs this gateway, and you are ${ME}: run this as ${OTHER} (sudo -u ${OTHER} sgw …). If ${OTHER} is not running a gateway, the file is left over: remove it\n`,
    })
  }
  await operator.stop()
})

test('a process id and a socket that another user left do not keep a command or a start from working', async () => {
  using folder = temporaryFolder()
  const env = await withDatabase(folder)
  writeFileSync(folder.file('sgw.db.pid'), '1\n')
  takeAway(folder.file('sgw.db.pid'))
  expect(await runUnprivileged(['src/cli.ts', 'tenant', 'list', '--json'], env)).toMatchObject({ code: 0 })
  expect(existsSync(folder.file('sgw.db.pid'))).toBe(false)
})
