import { expect, test } from 'bun:test'
import { createProgram } from '../../src/cli/program.ts'

const never = (): never => {
  throw new Error('the command was reached')
}

/** What a command line prints, and how it ends. */
async function said(line: string): Promise<string> {
  let text = ''
  const write = (more: string): void => void (text += more)
  const program = createProgram(never, never, { writeOut: write, writeErr: write })
  await program.parseAsync(line.split(' '), { from: 'user' }).catch(() => undefined)
  return text
}

test.each([
  ['sned --to +15555550199 hi', 'send'],
  ['app update-webhook', null],
  ['app revoke', 'sgw app deactivate'],
  ['app rotate', 'rotate-key'],
  ['tenant rotate-key', 'sgw app rotate-key'],
  ['extensions sever', null],
  ['cancel msg_0a1b2c3d4e5f', 'sgw messages cancel'],
  ['tenant disconnect', 'sgw extensions disconnect'],
  ['messages shwo', 'show'],
  ['queue', 'sgw status'],
  ['contact +15555550177', 'sgw messages list'],
  ['tenant show', 'sgw tenant list'],
  ['messages lsit --help', 'list'],
])('sgw %s: unknown, and the suggestion is %p', async (line, meant) => {
  const [error, suggestion, ...rest] = (await said(line)).trimEnd().split('\n')
  expect(error).toStartWith("error: unknown command '")
  expect(meant === null ? null : suggestion).toBe(meant === null ? null : `(Did you mean ${meant}?)`)
  expect([suggestion, ...rest].at(-1)).toMatch(/^Help: sgw.* --help$/)
})

test('every required option stands in the usage, and all that are missing are named at once', async () => {
  expect(await said('send --help')).toStartWith('Usage: sgw send TEXT --from NUMBER --to NUMBER [options]\n')
  expect(await said('send hi')).toBe(
    "error: required options '--from <number>', '--to <number>' not specified\nHelp: sgw send --help\n",
  )
})

test('a text without quotes is told from a word too many', async () => {
  const send = await said('send --from +15555550100 --to +15555550199 Hello you')
  expect(send).toContain('\n(A text of several words needs quotes)\nHelp: sgw send --help\n')
  expect(await said('messages list extra')).not.toContain('quotes')
})

test('help takes the words of a command, and runs none', async () => {
  expect(await said('help messages list')).toBe(await said('messages list --help'))
  expect(await said('help messages')).toBe(await said('messages --help'))
  expect(await said('help message lists extra')).toBe(
    "error: unknown command 'lists'\n(Did you mean list?)\nHelp: sgw messages --help\n",
  )
  expect(await said('help nonsense')).toBe("error: unknown command 'nonsense'\nHelp: sgw --help\n")
  expect(await said('help backup file')).toBe(await said('backup --help'))
})

test.each(['messages list --limit abc', 'webhooks list --page 0', 'simulate fail --times 1.5'])(
  'sgw %s names what the option takes',
  async (line) => {
    expect(await said(line)).toMatch(/^error: option .* is invalid\. Give a whole number, 1 or more\.\nHelp: /)
  },
)

test('messages that were delivered are asked for as sent ones', async () => {
  expect(await said('messages list --status delivered')).toContain('ones are sent: see --state.\nHelp: ')
  expect(await said('messages list --status failed')).toBe('')
  expect(await said('messages list --state delivered')).toContain('waiting, scheduled, failed, cancelled, undelivered')
  expect(await said('messages list --state undelivered')).toBe('')
})

test.each(['trigger create --callback-url https://example.com/sms', 'extensions connect', 'extensions invite'])(
  'sgw %s needs an app or a tenant',
  async (line) => {
    expect(await said(line)).toStartWith("error: required option '--app <app>' or '--tenant <tenant>' not specified\n")
  },
)
