import { expect, test } from 'bun:test'
import { MAX_LINES_PER_MINUTE, createLog, unexpected } from '../../src/core/log.ts'

const MINUTE = 60_000

function setUp(format: 'json' | 'pretty' = 'json') {
  const lines: string[] = []
  let now = 0
  const log = createLog({ level: 'debug', format, write: (line) => lines.push(line), now: () => now })
  return { log, lines, pass: (ms: number) => void (now += ms) }
}

test('of one message a minute has a bounded number of lines, and the next minute says how many were left out', () => {
  const { log, lines, pass } = setUp()
  for (let time = 0; time < 60_005; time++) log.warn({ requestId: `req_${time}` }, 'connect link refused')
  log.info({}, 'another message')
  expect(lines).toHaveLength(MAX_LINES_PER_MINUTE + 1)
  pass(MINUTE)
  log.info({}, 'later')
  const [summary, last, ...more] = lines.slice(MAX_LINES_PER_MINUTE + 1).map((line) => JSON.parse(line) as object)
  expect(more).toEqual([])
  expect(summary).toMatchObject({
    level: 'warn',
    msg: 'connect link refused',
    leftOut: 60_005 - MAX_LINES_PER_MINUTE,
    time: expect.any(String),
  })
  expect(last).toMatchObject({ level: 'info', msg: 'later' })
  pass(MINUTE)
  log.warn({}, 'connect link refused')
  expect(JSON.parse(lines.at(-1) ?? '')).not.toHaveProperty('leftOut')
})

test('an audit is never left out, and leaves out no other line', () => {
  const { log, lines } = setUp()
  for (let time = 0; time < 200; time++) log.audit({ session: `ses_${time}` }, 'a change')
  for (let time = 0; time < MAX_LINES_PER_MINUTE; time++) log.info({}, 'a change')
  log.audit({ session: 'ses_last' }, 'a change')
  expect(lines).toHaveLength(200 + MAX_LINES_PER_MINUTE + 1)
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ level: 'info', msg: 'a change', session: 'ses_last' })
})

test('debug lines are not counted', () => {
  const { log, lines } = setUp()
  for (let time = 0; time < 200; time++) log.debug({}, 'a detail')
  expect(lines).toHaveLength(200)
})

test('a pretty line cannot move the cursor of a terminal', () => {
  const { log, lines } = setUp('pretty')
  log.warn({ code: 'CMN\u001B[2J\u009B2J\r\nforged\u202E' }, 'refused')
  expect(lines.join('')).toEndWith(String.raw`refused code=CMN\u001b[2J\u009b2J\u000d\u000aforged\u202e`.concat('\n'))
})

test('the message and stack of a cause are written only where that is wanted', () => {
  const written = (causes: boolean, format: 'json' | 'pretty'): string => {
    const lines: string[] = []
    createLog({ level: 'info', format, causes, write: (line) => lines.push(line) }).error(
      unexpected(new Error('no such column: colour')),
      'request failed',
    )
    return lines.join('')
  }
  for (const format of ['json', 'pretty'] as const) {
    expect(written(true, format)).toContain('no such column: colour')
    expect(written(true, format)).toContain('log.test.ts')
    expect(written(false, format)).not.toContain('colour')
    expect(written(false, format)).not.toContain('log.test.ts')
    expect(written(false, format)).toMatch(/request failed/)
  }
})
