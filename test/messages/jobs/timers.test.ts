import { expect, test } from 'bun:test'
import { silentLog } from '../../../src/core/log.ts'
import { Timers } from '../../../src/messages/jobs/timers.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { until } from '../../support/world.ts'

test('work that is scheduled again replaces work that has not begun, and nothing runs after a stop', async () => {
  const clock = manualClock()
  const timers = new Timers(clock, silentLog)
  const ran: string[] = []
  const run = (name: string) => async () => void ran.push(name)
  timers.once('again', 60_000, run('first'))
  clock.advance(30_000)
  timers.once('again', 60_000, run('second'))
  clock.advance(59_999)
  expect(ran).toEqual([])
  clock.advance(1)
  await until(() => ran.length > 0)
  expect(ran).toEqual(['second'])
  timers.once('again', 60_000, run('third'))
  timers.once('again', 60_000, run('fourth'))
  await timers.stop()
  clock.advance(120_000)
  expect(ran).toEqual(['second'])
})

test('work that fails runs again at its usual time', async () => {
  const clock = manualClock()
  const timers = new Timers(clock, silentLog)
  const times: number[] = []
  timers.every('work', 1000, 0, () => {
    times.push(clock.monotonic())
    throw new Error('of the work')
  })
  clock.advance(3500)
  await timers.stop()
  clock.advance(3500)
  expect(times).toEqual([0, 1000, 2000, 3000])
})
