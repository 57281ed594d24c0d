import { expect, test } from 'bun:test'
import type { Condition } from '../../../src/operator/conditions/condition.ts'
import type { Judgement } from '../../../src/operator/conditions/judge.ts'
import { finding } from '../../../src/operator/doctor/finding.ts'
import { withConditions } from '../../../src/operator/doctor/with-conditions.ts'

const condition = (what: string, more: Partial<Condition> = {}): Condition => ({
  what,
  fix: 'Mend it.',
  overText: 'Resolved.',
  detail: {},
  ...more,
})
const judged = (check: string, found: Condition[] | null, error: unknown = null): Judgement => ({
  source: { alert: 'some_alert', check, find: async () => found ?? [] },
  found,
  error,
})
const judgedWell = (check: string, allWell: string, found: Condition[] | null = []): Judgement => {
  const { source, ...rest } = judged(check, found)
  return { ...rest, source: { ...source, allWell } }
}

test('while all is well, a check says what its probe found and what each condition says then', () => {
  const probed = [
    finding('queue', 'ok', ''),
    finding('backup', 'ok', 'at most 1 s behind'),
    finding('disk', 'ok', 'free'),
  ]
  const well = [
    judgedWell('queue', 'none is old'),
    judgedWell('queue', 'none is long'),
    judgedWell('backup', 'none is lost'),
    judgedWell('log', 'it is short'),
  ]
  expect(withConditions(probed, well)).toEqual([
    finding('queue', 'ok', 'none is old; none is long'),
    finding('backup', 'ok', 'at most 1 s behind; none is lost'),
    finding('disk', 'ok', 'free'),
    finding('log', 'ok', 'it is short'),
  ])
  const long = judgedWell('queue', 'none is long', [condition('One is long', { level: 'warn' })])
  const warned = finding('backup', 'warn', 'off')
  expect(withConditions([finding('queue', 'ok', ''), warned], [...well.slice(0, 3), long])).toEqual([
    finding('queue', 'warn', 'One is long. Mend it.'),
    warned,
  ])
})

test('a warning of a probe stands beside the conditions of its check, and the worse one gives the level', () => {
  const probed = [finding('webhooks', 'warn', 'one is refused'), finding('queue', 'ok', 'short')]
  const warned = judged('webhooks', [condition('One has failed', { level: 'warn' })])
  expect(withConditions(probed, [warned])).toEqual([
    finding('webhooks', 'warn', 'One has failed. Mend it. one is refused'),
    finding('queue', 'ok', 'short'),
  ])
  expect(withConditions(probed, [warned, judged('webhooks', [condition('Two has')])])[0]).toMatchObject({
    level: 'fail',
    detail: 'One has failed. Mend it. Two has. Mend it. one is refused',
  })
})

test('a condition of a check that has no probe has a line of its own, and a source that has found nothing has none', () => {
  const found = judged('log', [condition('It is long', { level: 'warn' })])
  expect(withConditions([finding('queue', 'ok', 'short')], [found, judged('standby', [])])).toEqual([
    finding('queue', 'ok', 'short'),
    finding('log', 'warn', 'It is long. Mend it.'),
  ])
})

test('a check whose conditions cannot be read fails, although its probe has found nothing', () => {
  const unread = judged('subscriptions', null, new Error('no such table'))
  expect(withConditions([finding('subscriptions', 'ok', 'every one')], [unread])[0]).toMatchObject({
    level: 'fail',
    detail: expect.stringContaining('could not be checked'),
  })
})

test('of many conditions ten are told, and how many more there are', () => {
  const many = Array.from({ length: 13 }, (_, number) => condition(`Extension ${number} fails`))
  const [{ detail } = { detail: '' }] = withConditions([finding('extensions', 'ok', '')], [judged('extensions', many)])
  expect(detail.match(/Extension \d+ fails/g)).toHaveLength(10)
  expect(detail).toEndWith('And 3 more.')
})
