import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestGateway, startTestGateway } from '../../src/testing/index.ts'
import { temporaryFolder } from '../support/process.ts'
import { PROJECT, finished } from '../support/program.ts'

// These tests run both programs of docs/recipes.md, "Many at once", unchanged.

const SECTION = readFileSync(join(PROJECT, 'docs/recipes.md'), 'utf8').split('\n## Many at once\n')[1] ?? ''
const block = (language: string): string => new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(SECTION)?.[1] ?? ''

const ZONES = ['America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Pacific/Auckland', 'America/Los_Angeles']
const PEOPLE = ZONES.map((zone, index) => ({ phone: `+1555555018${index}`, zone }))
const CSV = ['phone,zone,text', ...PEOPLE.map(({ phone, zone }) => `${phone},${zone},See you tomorrow.`), ''].join('\n')

const folder = temporaryFolder()
afterAll(() => folder[Symbol.dispose]())

beforeAll(() => {
  mkdirSync(folder.file('node_modules'))
  symlinkSync(PROJECT, folder.file('node_modules/sgw'))
  writeFileSync(folder.file('many.py'), block('python'))
  writeFileSync(folder.file('many.ts'), block('ts'))
  writeFileSync(folder.file('reminders.csv'), CSV)
})

const RUNS = [
  ...(Bun.which('python3') === null ? [] : [{ language: 'Python', command: `python3 many.py` }]),
  { language: 'TypeScript', command: `'${process.execPath}' many.ts` },
]

/** The gateway behind a listener that answers every third request with a 429. */
function busy(gateway: TestGateway): { url: string; refused: () => number } & Disposable {
  let requests = 0
  let refused = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      if (++requests % 3 === 0) {
        refused++
        return Response.json({ error: 'Too many requests' }, { status: 429, headers: { 'retry-after': '0' } })
      }
      const { pathname } = new URL(request.url)
      const { method, headers } = request
      return fetch(gateway.url + pathname, { method, headers, body: await request.text() })
    },
  })
  return { url: server.url.origin, refused: () => refused, [Symbol.dispose]: () => void server.stop(true) }
}

/** The day after tomorrow, so that nine o'clock is ahead in every zone. */
const dayOf = (now: number): string => new Date(now + 2 * 86_400_000).toISOString().slice(0, 10)

/** Runs a program of the page for one day, beside a gateway. */
const runner =
  (command: string, gateway: TestGateway, url = gateway.url) =>
  (day: string, people = 'reminders.csv') =>
    finished(
      ['sh', '-c', `${command} ${day} < ${people}`],
      {
        PATH: process.env['PATH'] ?? '',
        SGW_URL: url,
        SGW_KEY: gateway.apiKey,
        SGW_FROM: gateway.numbers[0] ?? '',
      },
      folder.path,
    )

const scheduledFor = async (gateway: TestGateway, day: string) =>
  Array.fromAsync(gateway.client.sms.list({ userId: `reminders-${day}`, state: 'scheduled', include: 'delivery' }))

test.each(RUNS)(
  'the $language program schedules each text once, at nine there, through 429s and a second run',
  async ({ command }) => {
    await using gateway = await startTestGateway()
    using front = busy(gateway)
    const day = dayOf(Date.now())
    const run = runner(command, gateway, front.url)
    const first = await run(day)
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(front.refused()).toBeGreaterThan(0)
    expect((await run(day)).stdout).toBe(first.stdout)

    const scheduled = (await scheduledFor(gateway, day)).map(({ to, sendAt }) => [to, sendAt])
    expect(scheduled).toHaveLength(PEOPLE.length)
    for (const { phone, zone } of PEOPLE) {
      const at = scheduled.find(([to]) => to === phone)?.[1] ?? ''
      expect([zone, new Date(at).toLocaleString('sv-SE', { timeZone: zone })]).toEqual([zone, `${day} 09:00:00`])
    }
  },
)

test.each(RUNS)('after a cancel the $language program sends the texts again under another key', async ({ command }) => {
  await using gateway = await startTestGateway()
  const day = dayOf(Date.now())
  const run = runner(command, gateway)
  await run(day)
  for (const { messageId } of await scheduledFor(gateway, day)) await gateway.client.sms.cancel(messageId)
  await run(day)
  expect(await scheduledFor(gateway, day)).toEqual([])
  expect(await run(`${day} second`)).toMatchObject({ code: 0, stderr: '' })
  expect(await scheduledFor(gateway, day)).toHaveLength(PEOPLE.length)
})

test.each(RUNS)('the $language program sends nothing for a day that is past or is none', async ({ command }) => {
  await using gateway = await startTestGateway()
  const run = runner(command, gateway)
  const past = await run(dayOf(Date.now() - 4 * 86_400_000))
  expect(past).toMatchObject({ code: 1, stdout: '' })
  for (const { phone } of PEOPLE) expect(past.stderr).toMatch(new RegExp(`\\${phone}\\b.*9:00 is past there`))
  expect(await run('tomorrow')).toMatchObject({ code: 1, stdout: '' })
  expect(await Array.fromAsync(gateway.client.sms.list())).toEqual([])
})

test.each(RUNS)('the $language program names the rows that fail, and schedules the others', async ({ command }) => {
  await using gateway = await startTestGateway()
  const [first, second, third] = PEOPLE
  const rows = [first?.phone, '555', second?.phone].map((phone) => `${phone},Europe/Berlin,See you.`)
  const wrongZone = `${third?.phone},Europe/Nowhere,See you.`
  writeFileSync(folder.file('wrong.csv'), ['phone,zone,text', ...rows, wrongZone, ''].join('\n'))
  const day = dayOf(Date.now())
  const { code, stderr } = await runner(command, gateway)(day, 'wrong.csv')
  expect({ code, lines: stderr.trim().split('\n') }).toEqual({
    code: 1,
    lines: [expect.stringMatching(/^555\b.*to/), expect.stringContaining(third?.phone ?? '?')],
  })
  const scheduled = (await scheduledFor(gateway, day)).map(({ to }) => to)
  expect(scheduled.toSorted()).toEqual([first?.phone, second?.phone].map(String).toSorted())
})
