import { expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { LoggedProgram, PROJECT, finished } from '../support/program.ts'
import { temporaryFolder } from '../support/process.ts'
import { recipe, textsOf } from '../support/recipes.ts'
import { FROM, TO, type World, createWorld, until } from '../support/world.ts'

// The recipes for a shell. They need curl (from 7.87) and jq.

setDefaultTimeout(60_000)

const PATH = process.env['PATH'] ?? ''

function script(file: string, text: string): void {
  writeFileSync(file, `${text}\n`)
  chmodSync(file, 0o755)
}

test('the line that prints an address prints one that works', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const page = readFileSync(join(PROJECT, 'docs/recipes.md'), 'utf8')
  const line = /^(jq -rn[^\n]+\n[^\n]+)$/m.exec(page)?.[1] ?? ''
  const { code, stdout } = await finished(['sh', '-euc', line], { PATH })
  expect([code, stdout]).toEqual([0, expect.stringContaining('%7B%7Bstatus%7D%7D%3A%20%7B%7Btitle%7D%7D')] as never)
  const { pathname, search } = new URL(stdout.trim())
  const answer = await world.call('POST', pathname + search, { body: { status: 'firing', title: 'Disk' } })
  expect([answer.status, await textsOf(world)]).toEqual([202, [[TO, 'firing: Disk']]])
})

/** A folder with the script of the recipe and its settings. */
async function withScript(world: World, run: (environment: Record<string, string>) => Promise<void>): Promise<void> {
  using folder = temporaryFolder()
  const [settings = ''] = recipe(world, 'Shell and cron')
  copyFileSync(join(PROJECT, 'examples/sgw-alert'), folder.file('sgw-alert'))
  writeFileSync(folder.file('env'), settings)
  await run({ PATH: folder.path + delimiter + PATH, SGW_ALERT_ENV: folder.file('env') })
}

test('shell and cron: a failed command texts, once, however its output looks; a refusal is seen', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await withScript(world, async (environment) => {
    const [, crontab = ''] = recipe(world, 'Shell and cron')
    const command = crontab
      .replace(/^(\S+ ){5}/, '')
      .replaceAll('/usr/local/bin/sgw-alert', 'sgw-alert')
      .replace('/usr/local/bin/backup', 'false')
    expect(await finished(['sh', '-c', command], environment)).toMatchObject({ code: 0, stderr: '' })
    const hostile = `a "quoted" $(text) & more, 100 % 'done' \\ 👋\nsecond line`
    expect(await finished(['sgw-alert', hostile], environment)).toMatchObject({ code: 0 })
    const texts = await textsOf(world)
    expect(texts).toEqual([
      [TO, expect.stringMatching(/^The backup of \S+ failed$/)],
      [TO, hostile],
    ] as never)
    expect(await finished(['sgw-alert', ''], environment)).toMatchObject({
      code: 22,
      stderr: 'curl: (22) The requested URL returned error: 400\n',
    })
    const wrong = { ...environment, SGW_ALERT_ENV: `${environment['SGW_ALERT_ENV']}-wrong` }
    writeFileSync(wrong.SGW_ALERT_ENV, `SGW_URL=${world.url}\nSGW_KEY=sgw_wrong\n`)
    expect(await finished(['sgw-alert', 'x'], wrong)).toMatchObject({
      code: 22,
      stderr: 'curl: (22) The requested URL returned error: 401\n',
    })
    expect(await textsOf(world)).toHaveLength(2)
  })
})

test('a photo from a door camera: the script uploads the picture and texts it, and a refusal is seen', async () => {
  await using world = await createWorld()
  using folder = temporaryFolder()
  const [settings = ''] = recipe(world, 'Shell and cron')
  copyFileSync(join(PROJECT, 'examples/sgw-photo'), folder.file('sgw-photo'))
  writeFileSync(folder.file('env'), settings)
  const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(50_000, 7)])
  writeFileSync(folder.file('door.jpg'), jpeg)
  writeFileSync(folder.file('page.jpg'), '<p>')
  const environment = { PATH: folder.path + delimiter + PATH, SGW_ALERT_ENV: folder.file('env') }
  const text = `Somebody "is" at the door & waits`
  expect(await finished(['sgw-photo', folder.file('door.jpg'), text], environment)).toMatchObject({ code: 0 })
  const [sent] = await until(() => {
    const messages = world.control.messages({ direction: 'Outbound' })
    return messages.length > 0 && messages
  })
  expect([sent?.text, sent?.attachments.map(({ contentType, size }) => [contentType, size])]).toEqual([
    text,
    [['image/jpeg', jpeg.length]],
  ])
  const refused = await finished(['sgw-photo', folder.file('page.jpg'), text], environment)
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('The requested URL returned error: 415')
})

test('systemd: the unit texts which unit has failed on which machine', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const [service = '', failing = ''] = recipe(world, 'systemd')
  expect(failing).toContain('OnFailure=sgw-alert@%n.service')
  await withScript(world, async (environment) => {
    const [, command = ''] = /^ExecStart=(.+)$/m.exec(service) ?? []
    const own = command.replace('/usr/local/bin/', '').replaceAll('%i', 'backup.service').replaceAll('%H', 'db1')
    expect(await finished(['sh', '-c', own], environment)).toMatchObject({ code: 0, stderr: '' })
    expect(await textsOf(world)).toEqual([[TO, 'backup.service failed on db1']])
  })
})

test('GitHub Actions: the step texts, and once for a run', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const [yaml = ''] = recipe(world, 'GitHub Actions')
  const [step] = Bun.YAML.parse(yaml) as { run: string; env: Record<string, string> }[]
  const what = (step?.env['WHAT'] ?? '')
    .replace('${{ github.workflow }}', 'CI')
    .replace('${{ github.repository }}', 'example/app')
  const environment = { PATH, SGW_KEY: world.key, WHAT: what, GITHUB_RUN_ID: '4711', GITHUB_RUN_ATTEMPT: '1' }
  // As the runner starts it.
  for (let time = 0; time < 2; time++)
    expect(await finished(['bash', '-e', '-c', step?.run ?? ''], environment)).toMatchObject({ code: 0, stderr: '' })
  expect(await textsOf(world)).toEqual([[TO, 'CI of example/app failed']])
})

test('a script that reads answers misses none over a restart, and gets a page again that it did not finish', async () => {
  await using world = await createWorld()
  using folder = temporaryFolder()
  expect(readFileSync(join(PROJECT, 'docs/recipes.md'), 'utf8')).toContain('`Restart=always`')
  mkdirSync(folder.file('work'))
  script(folder.file('work/answer'), `#!/bin/sh\n[ ! -e refuse ] || exit 1\njq -r .body >>got`)
  // The curl of a script that was killed ends later, and complains of it.
  const start = (log: string) =>
    new LoggedProgram({
      command: ['sh', join(PROJECT, 'examples/read-answers')],
      env: { PATH, SGW_URL: world.url, SGW_KEY: world.key },
      cwd: folder.file('work'),
      log: folder.file(log),
    })
  const content = (file: string): string =>
    existsSync(folder.file(`work/${file}`)) ? readFileSync(folder.file(`work/${file}`), 'utf8') : ''
  const got = (): string => content('got')
  const receive = (text: string) => world.control.injectSms({ from: TO, to: FROM, text })
  {
    await using running = start('first')
    await until(() => content('cursor') !== '')
    await receive('first "quoted" \\ 👋')
    await until(() => got() === 'first "quoted" \\ 👋\n')
    // A script that is killed before it has stored the cursor gets the page again.
    await until(async () => {
      const after = `/v1/events?after=${content('cursor').trim()}`
      return (await world.json<{ events: unknown[] }>('GET', after)).body.events.length === 0
    })
    expect(running.output()).toBe('')
  }
  await receive('while it was away')
  writeFileSync(folder.file('work/refuse'), '')
  {
    await using failing = start('second')
    expect(await failing.ended()).toBe(1)
  }
  await Bun.file(folder.file('work/refuse')).delete()
  await using again = start('third')
  await until(() => got().endsWith('while it was away\n'))
  await receive('last')
  await until(() => got().endsWith('last\n'))
  expect(got()).toBe('first "quoted" \\ 👋\nwhile it was away\nlast\n')
  expect(again.output()).toBe('')
})
