import { expect, test } from 'bun:test'
import { copyFileSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Deployment } from '../support/deployment.ts'
import { LITESTREAM } from '../support/litestream.ts'
import { temporaryFolder } from '../support/process.ts'
import { LoggedProgram, PROJECT, finished, freePort } from '../support/program.ts'

/** The shell blocks of the section, with a folder of the test for the backup. */
function blocksOf(section: string, backup: string): string[] {
  const page =
    readFileSync(join(PROJECT, 'docs/backup.md'), 'utf8').split(`## ${section}\n`)[1]?.split('\n## ')[0] ?? ''
  return [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) =>
    block.replace('file:///backups/sgw', `file://${backup}`),
  )
}

test('the commands for a backup from source copy the database, and restore it after the data folder is lost', async () => {
  using folder = temporaryFolder()
  for (const name of ['bin', 'deploy', 'src', 'package.json', 'node_modules', 'litestream.yml'])
    symlinkSync(join(PROJECT, name), folder.file(name))
  const port = freePort()
  writeFileSync(folder.file('.env'), `PORT=${port}\n`)
  const [set = '', start = '', drill = ''] = blocksOf('From source', folder.file('backup'))
  const env = { PATH: [dirname(process.execPath), dirname(LITESTREAM), process.env['PATH']].join(':'), BUN_OPTIONS: '' }
  expect(await finished(['sh', '-euc', set], env, folder.path)).toMatchObject({ code: 0, stderr: '' })
  const run = async (work: () => Promise<void>): Promise<void> => {
    const command = ['sh', '-euc', start.replace(/^PATH=/m, 'exec env PATH=')]
    await using gateway = new LoggedProgram({ command, env, cwd: folder.path, log: folder.file('log') })
    await gateway.serving(`http://127.0.0.1:${port}/health`, 40_000)
    await work()
    gateway.signal('SIGTERM')
    expect([await gateway.ended(), gateway.output()]).toEqual([0, expect.anything()])
  }
  const tenants = () => finished(['bun', 'run', '--silent', 'sgw', 'tenant', 'list'], env, folder.path)
  await run(async () => {
    const create = ['bun', 'run', '--silent', 'sgw', 'tenant', 'create', '--name', 'Acme']
    expect((await finished(create, env, folder.path)).code).toBe(0)
  })
  expect(await finished(['sh', '-euc', drill], env, folder.path)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^integrity +ok$/m),
  })
  copyFileSync(folder.file('data/encryption.key'), folder.file('key'))
  rmSync(folder.file('data'), { recursive: true })
  const { code, stderr } = await finished(['sh', '-euc', start], { ...env, PORT: String(port) }, folder.path)
  expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining('encryption.key is missing') })
  copyFileSync(folder.file('key'), folder.file('data/encryption.key'))
  await run(async () => expect((await tenants()).stdout).toContain('Acme'))
})

test('the commands for an earlier moment restore the state of then, and the status says when that was done', async () => {
  await using deployment = await Deployment.create()
  await deployment.start()
  const names = async (): Promise<string[]> =>
    (await deployment.command<{ name: string }[]>('tenant', 'list')).map(({ name }) => name)
  await deployment.command('tenant', 'create', '--name', 'Before')
  await Bun.sleep(COPIED_MS)
  const moment = new Date().toISOString()
  await Bun.sleep(COPIED_MS)
  await deployment.command('tenant', 'create', '--name', 'After')
  expect(await names()).toContain('After')
  await deployment.stop()
  const [restore = ''] = blocksOf('After a loss', deployment.replica)
  const commands = restore.replaceAll('/data', deployment.volume).replace(/(--timestamp) \S+/, `$1 ${moment}`)
  const restoredAfter = new Date().toISOString()
  const { code, stdout } = await finished(['sh', '-uc', commands], deployment.env())
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^restored +true$/m) })
  await deployment.start()
  expect([(await names()).includes('Before'), (await names()).includes('After')]).toEqual([true, false])
  const { backup } = await deployment.command<{ backup: { restoredAt: string } }>('status')
  expect(backup.restoredAt > restoredAfter).toBe(true)
  await deployment.stop()
}, 60_000)

/** Longer than Litestream waits before it copies. */
const COPIED_MS = 2500
