import { expect, test } from 'bun:test'
import { filled, parseTemplate, usualText } from '../../../src/api/sms/template.ts'
import { Random } from '../../security/malformed-requests.ts'

const textOf = (template: string, body: unknown): string | null => {
  const parsed = parseTemplate(template)
  return parsed === null ? null : filled(parsed, body)
}

test('a path finds members of objects and elements of arrays; everything else is text', () => {
  const body = { alerts: [{ labels: { host: 'db1', 'cpu load': 0.93 } }, null], ok: false, n: null }
  const cases: [string, string][] = [
    ['{{alerts.0.labels.host}} is down', 'db1 is down'],
    ['{{ alerts.0.labels.cpu load }}', '0.93'],
    ['{{alerts.0}} {{ok}} [{{n}}{{alerts.1}}{{nothing.at.all}}]', '{"labels":{"host":"db1","cpu load":0.93}} false []'],
    ['{ok} }} {{ok}}} $& ${ok}', '{ok} }} false} $& ${ok}'],
    ['  {{nothing}} \n text \t', 'text'],
    ['{{alerts.00.labels.host}}{{alerts.-1}}{{alerts.1.x}}{{alerts.9}}', ''],
  ]
  for (const [template, text] of cases) expect([template, textOf(template, body)]).toEqual([template, text])
  expect(textOf('{{0.a}}', [{ a: 'of an array' }])).toBe('of an array')
})

test('an empty path or segment and an unclosed {{ do not parse', () => {
  for (const template of [
    '{{}}',
    '{{ }}',
    '{{.a}}',
    '{{a.}}',
    '{{a..b}}',
    '{{a. .b}}',
    'text {{a',
    '{{a}} {{',
    '{{a{{b}}',
  ])
    expect([template, parseTemplate(template)]).toEqual([template, null])
})

test('no length, no character of a string and no inherited name is found, but a member of that name is', () => {
  const names = [
    'length',
    '0',
    'constructor.name',
    '__proto__',
    '__proto__.constructor.name',
    'toString',
    'at',
    'map.name',
  ]
  for (const name of names)
    for (const body of [{}, { a: {} }, [], 'text', 5, null, true])
      expect([name, body, textOf(`{{${name}}}{{a.${name}}}`, body)]).toEqual([name, body, ''])
  for (const name of names.filter((each) => each !== '0'))
    expect([name, textOf(`{{${name}}}`, [['a']])]).toEqual([name, ''])
  const own = JSON.parse('{"__proto__":{"length":7},"constructor":"mine"}') as object
  expect(textOf('{{__proto__.length}} {{constructor}}', own)).toBe('7 mine')
})

test('a long text is cut to 1600 units between two characters, and ends with …', () => {
  const cases: [unit: string, times: number, length: number][] = [
    ['a', 1600, 1600],
    ['a', 1601, 1600],
    ['😀', 800, 1600],
    ['😀', 801, 1599],
    // Eight units each: a family is one character.
    ['👨‍👩‍👧', 201, 1593],
    ['🇩🇪', 401, 1597],
  ]
  for (const [unit, times, length] of cases) {
    const text = textOf('{{a}}', { a: unit.repeat(times) }) ?? ''
    expect([unit, times, text.length]).toEqual([unit, times, length])
    expect(text.replace(/…$/, '').replaceAll(unit, '')).toBe('')
    expect(text.endsWith('…')).toBe(unit.length * times > 1600)
  }
  const spaced = { a: `x${' '.repeat(3000)}`, b: 'y', c: ' ' }
  expect(textOf('{{a}}{{c}}', spaced)).toBe('x')
  expect(textOf('{{a}}{{b}}', spaced)).toBe(`x${' '.repeat(1598)}…`)
})

test('without a template the first usual place with a visible character counts', () => {
  const grafana = { commonAnnotations: { summary: 'common' }, alerts: [{ annotations: { summary: 'first' } }] }
  expect(usualText(grafana)).toBe('common')
  expect(usualText({ ...grafana, commonAnnotations: {} })).toBe('first')
  expect(usualText({ summary: 's', title: 't', msg: 'm', message: 'e', text: 'x' })).toBe('x')
  expect(usualText({ text: ' \n', message: '\u200b\u0000', msg: 5, title: { a: 1 }, summary: ' shown ' })).toBe('shown')
  for (const body of [{}, [], 'text', null, 7, { Text: 'x' }, { text: ['x'] }, Object.create({ text: 'inherited' })])
    expect(usualText(body)).toBe('')
})

const SEED = Number(Bun.env['FUZZ_SEED'] ?? 20_261_127)

test(`random templates and bodies: never an error, never more than a plain replacement gives (FUZZ_SEED=${SEED})`, () => {
  const random = new Random(SEED)
  for (let round = 0; round < 20_000; round++) {
    const body = JSON.parse(JSON.stringify(randomValue(random, 4))) as unknown
    const template = Array.from({ length: 1 + random.below(6) }, () => randomPart(random)).join('')
    const text = textOf(template, body)
    const whole = replaced(template, body)
    if (text === null || whole === null) expect([template, text]).toEqual([template, whole])
    else if (whole.length <= 1600) expect(text).toBe(whole)
    else expect(whole.startsWith(text.slice(0, -1)) && text.endsWith('…') && text.length <= 1600).toBe(true)
    expect(text?.isWellFormed() ?? true).toBe(true)
    expect(usualText(body).length).toBeLessThanOrEqual(1600)
  }
})

const SEGMENTS = ['a', 'b', '0', '1', 'length', '__proto__', 'constructor', 'toString', 'text', ' a ', 'é😀']
const TEXTS = ['', ' ', 'x', '{', '}', '}}', '{{', '\n', '😀', '👨‍👩‍👧', 'a'.repeat(1590), ' '.repeat(1700), '$&']

const randomPart = (random: Random): string =>
  random.chance(0.5)
    ? random.pick(TEXTS)
    : `{{${Array.from({ length: random.below(4) }, () => random.pick(SEGMENTS)).join('.')}}}`

function randomValue(random: Random, depth: number): unknown {
  const leaf = depth === 0 || random.chance(0.3)
  if (leaf) return random.pick<unknown>([null, true, 0, -0.5, 1e21, ...TEXTS])
  const items = Array.from({ length: random.below(4) }, () => randomValue(random, depth - 1))
  if (random.chance(0.4)) return items
  const named = items.map((item) => `${JSON.stringify(random.pick(SEGMENTS))}:${JSON.stringify(item)}`)
  return JSON.parse(`{${named.join()}}`) as unknown
}

/** What a template means, without a limit. */
function replaced(template: string, body: unknown): string | null {
  let parses = true
  const text = template.replaceAll(/\{\{((?:(?!\{\{)[\s\S])*?)\}\}|\{\{/g, (_, path: string | undefined) => {
    const segments = (path ?? '').trim().split('.')
    if (segments.some((segment) => segment.trim() === '')) parses = false
    const value = segments.reduce(memberOf, body)
    return typeof value === 'string' ? value : (JSON.stringify(value ?? '') ?? '').replace(/^""$/, '')
  })
  return parses ? text.trim() : null
}

const memberOf = (value: unknown, segment: string): unknown =>
  typeof value === 'object' && value !== null && Object.keys(value).includes(segment)
    ? (value as Record<string, unknown>)[segment]
    : undefined

test('a value is looked up and written once, however often a template repeats it', () => {
  const work = { looked: 0, written: 0 }
  const value = { toJSON: () => (work.written++, {}) }
  const body = new Proxy(
    { a: value },
    { getOwnPropertyDescriptor: (target, name) => (work.looked++, Reflect.getOwnPropertyDescriptor(target, name)) },
  )
  const once = textOf('{{a}}', body)
  const lookedOnce = work.looked
  expect(once).toBe('{}')
  expect(textOf('{{a}}{{ a }}'.repeat(150), body)).toBe('{}'.repeat(300))
  expect(work).toEqual({ looked: 2 * lookedOnce, written: 2 })
})

test('a value of blanks that is repeated shows as much as if it had been short', () => {
  const blanks = {
    a: ' '.repeat(100_000),
    b: `${' '.repeat(5000)}x`,
    c: `${'😀'.repeat(799)}a😀 ${' '.repeat(3000)}b`,
    d: '\n',
  }
  expect(textOf('{{a}}'.repeat(399), blanks)).toBe('')
  expect(textOf('{{a}}{{d}}{{b}}', blanks)).toBe('x')
  expect(textOf('x{{b}}', blanks)).toBe(`x${' '.repeat(1598)}…`)
  expect(textOf('{{c}}', blanks)).toBe(`${'😀'.repeat(799)}a…`)
  expect(textOf('x{{a}}{{a}}y', blanks)).toBe(`x${' '.repeat(1598)}…`)
  expect(textOf('x{{a}}{{a}}', blanks)).toBe('x')
})
